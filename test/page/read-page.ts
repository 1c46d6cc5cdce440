import { type ElementType, elementDefinitions } from '#ast/form/elements.ts';
import { inputRules, isInputType } from '#ast/form/input-rules.ts';
import type { Form, FormNode } from '#ast/form/tree.ts';
import type { InputRules } from '#ast/types/rules.ts';
import { renderForm } from '#page/render/form.ts';
import { everythingShown, type FormPageView } from '#page/render/view.ts';
import { problemsByLocale, wordsByLocale } from '#page/words/choose-locale.ts';
import { element, formOf } from '../ast/forms.ts';

/** Pages for the tests of this room, and a strict parser of them. Product code does not import this file. */

/** Returns a first view of a form: no answers, no errors. */
export function viewOf(form: Form, more: Partial<FormPageView> = {}): FormPageView {
  const limits = { fileBytes: 10_485_760, filesPerElement: 10 };
  return {
    form,
    action: '/f/1',
    values: {},
    errors: [],
    files: new Map(),
    language: 'en',
    step: 0,
    shown: everythingShown([...form.children.keys()]),
    today: '2026-01-31',
    words: wordsByLocale.en,
    sentences: problemsByLocale.en,
    numberLocale: 'en',
    limits,
    ...more,
  };
}

/** Returns the elements of the page of a form with these nodes. */
export function readPage(nodes: readonly FormNode[], more: Partial<FormPageView> = {}): Tag[] {
  return readMarkup(renderForm(viewOf(formOf(...nodes), more)));
}

/** Every input type that a visitor fills in. */
export const inputTypes: readonly string[] = Object.keys(elementDefinitions).filter(
  (type) => isInputType(type) && !(inputRules[type] as InputRules).isUnasked,
);

/** One of every element type except the composite, each with its type as its id. */
export const everyElement: readonly FormNode[] = [
  ...inputTypes.map((type) => element(type, type, { help_text: `Help with ${type}` })),
  ...Object.keys(elementDefinitions)
    .filter((type) => elementDefinitions[type as ElementType].group === 'content')
    .map((type) => element(type, type)),
];

/** One element of a page, with its text and that of its children. */
export type Tag = {
  readonly tag: string;
  readonly attrs: Readonly<Record<string, string>>;
  readonly text: string;
};

type OpenTag = { tag: string; attrs: Record<string, string>; text: string };

const tokens =
  /<!doctype html>|<style>[^<]*<\/style>|<script type="application\/json" id="_form">[^<]*<\/script>|<\/(?<close>[a-z]+\d?)>|<(?<open>[a-z]+\d?)(?<attrs>(?: [a-z-]+(?:="[^"<>]*")?)*)>|(?<text>[^<>"']+)/gy;
const emptyTags = ['br', 'hr', 'img', 'input', 'link', 'meta'];

/**
 * Parses a page far more strictly than a browser does. Every tag is closed in order. Attributes are in double
 * quotes and appear at most once. Text contains no quote, no angle bracket, and `&` only in the five
 * entities.
 * @throws if the markup breaks a rule.
 */
export function readMarkup(markup: string): Tag[] {
  const found: OpenTag[] = [];
  const open: OpenTag[] = [];
  let end = 0;
  for (const match of markup.matchAll(tokens)) {
    end = match.index + match[0].length;
    const { open: tag, close, attrs = '', text } = match.groups ?? {};
    if (text !== undefined) for (const outer of open) outer.text += decode(text);
    if (close !== undefined && open.pop()?.tag !== close) throw new Error(`</${close}> closes nothing`);
    if (tag === undefined) continue;
    const read = { tag, attrs: readAttributes(attrs), text: '' };
    found.push(read);
    if (!emptyTags.includes(tag)) open.push(read);
  }
  if (end !== markup.length || open.length > 0)
    throw new Error(`not strict markup: ${markup.slice(end, end + 80)}`);
  return found;
}

function readAttributes(text: string): Record<string, string> {
  const attrs: Record<string, string> = {};
  for (const [, name, value = ''] of text.matchAll(/ ([a-z-]+)(?:="([^"]*)")?/g)) {
    if (Object.hasOwn(attrs, name!)) throw new Error(`${name} twice in ${text}`);
    attrs[name!] = decode(value);
  }
  return attrs;
}

const characters: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

function decode(text: string): string {
  return text.replaceAll(/&(\w*|#39);|&/g, (entity, name: string | undefined) => {
    const character = name === undefined ? undefined : characters[name];
    if (character === undefined) throw new Error(`a bare ${entity} in ${text}`);
    return character;
  });
}

/**
 * Returns the one element with this id.
 * @throws if there is none or more than one.
 */
export function byId(page: readonly Tag[], id: string): Tag {
  const [found, ...others] = page.filter(({ attrs }) => attrs['id'] === id);
  if (!found || others.length > 0)
    throw new Error(`${others.length + (found ? 1 : 0)} elements with the id ${id}`);
  return found;
}
