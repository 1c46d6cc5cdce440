import { isRecord, own } from '#ast/basics/json.ts';
import { limits } from '#ast/basics/limits.ts';
import { quote } from '#ast/basics/problems.ts';
import { elements, formAttributes, isElementType, stepAttributes } from '#ast/form/elements.ts';
import {
  type Form,
  isInput,
  isSeen,
  languagesOf,
  optionsOf,
  type PlacedElement,
  placeholderOf,
  walkElements,
} from '#ast/form/tree.ts';
import { checkSettings, type Settings } from '#ast/settings.ts';
import { listTexts, missingIn } from '#ast/texts.ts';
import { validateStructure } from '#ast/validate.ts';
import { bareItem, type ErrorItem } from '#kit/errors.ts';
import { mistakesBetween, mostMistakes } from '#kit/nearest.ts';
import type { Queryable } from '#kit/statement.ts';
import { findMissingImages } from './images/images.ts';
import type { Judgement } from './shapes.ts';

type Warning = Judgement['warnings'][number];
type Place = { readonly node: Readonly<Record<string, unknown>>; readonly path: readonly number[] };

const nodeNames = ['type', 'attrs', 'children'];
const optionNames = ['id', 'label', 'points', 'image', 'capacity', 'show_when'];
/** Names by which programs mark attributes of their own. */
const ownPrefix = /^(?:x[-_]|data[-_]|_)/i;
/** Names with fewer letters are too alike to guess from: `max` and `min`. */
const leastLetters = 4;

/**
 * Finds what is probably a slip in a structure, valid or not: names of attributes that look like a misspelling of a known
 * one, and composites without children. Other unknown names are the caller's own and stay silent.
 */
function findSlips(structure: unknown): Warning[] {
  const found: Warning[] = [];
  const open: Place[] = isRecord(structure) ? [{ node: structure, path: [] }] : [];
  for (let next = open.shift(), seen = 0; next && seen <= limits.elements; next = open.shift(), seen += 1) {
    const { node, path } = next;
    const attrs = own(node, 'attrs');
    const children = own(node, 'children') ?? [];
    const type = own(node, 'type');
    const warn = (rule: string, message: string): void => void found.push({ rule, message, path: [...path] });
    const check = (object: unknown, known: readonly string[], where: string): void => {
      if (!isRecord(object)) return;
      for (const name of Object.keys(object)) {
        const meant = meantBy(name, known);
        if (meant !== undefined)
          warn(
            'misspelt-attribute',
            `${where} has ${quote(name)}, which is not known. Did you mean ${quote(meant)}?`,
          );
      }
    };
    const name = nameOf(type, attrs);
    check(node, nodeNames, name);
    check(attrs, knownNames(type), name);
    for (const list of isRecord(attrs) ? [own(attrs, 'options'), own(attrs, 'rows')] : [])
      if (Array.isArray(list)) for (const option of list) check(option, optionNames, `An option of ${name}`);
    if (type === 'composite' && Array.isArray(children) && children.length === 0)
      warn('empty-composite', `${name} has no elements, so it asks nothing.`);
    if (Array.isArray(children))
      for (const [index, child] of children.entries())
        if (isRecord(child)) open.push({ node: child, path: [...path, index] });
  }
  return found;
}

function knownNames(type: unknown): readonly string[] {
  if (type === 'form') return Object.keys(formAttributes);
  if (type === 'step') return Object.keys(stepAttributes);
  return isElementType(type) ? Object.keys(elements[type].attrs) : [];
}

/** The known name that an unknown one probably means: another spelling of it, or one with a mistake or two. */
function meantBy(name: string, known: readonly string[]): string | undefined {
  if (known.includes(name) || ownPrefix.test(name) || name.length > longestKnown + 2) return undefined;
  const letters = fold(name);
  const near = known.map((each) => ({ each, mistakes: mistakesBetween(letters, fold(each)) }));
  const [best] = near.toSorted((one, other) => one.mistakes - other.mistakes);
  if (!best) return undefined;
  const isLongEnough = Math.min(letters.length, fold(best.each).length) >= leastLetters;
  return best.mistakes === 0 || (isLongEnough && best.mistakes <= mostMistakes(fold(best.each)))
    ? best.each
    : undefined;
}

/** `helpText`, `help-text` and `help_text` are one name. */
const fold = (name: string): string => name.toLowerCase().replaceAll(/[_\-\s.]/g, '');

const longestKnown = 32;

function nameOf(type: unknown, attrs: unknown): string {
  const id = isRecord(attrs) ? own(attrs, 'id') : undefined;
  if (typeof id === 'string') return quote(id);
  return `The ${isElementType(type) || type === 'step' ? type : 'form'}`;
}

/** As many as problems of a structure are told (ast/limits.ts). */
const mostWarnings = 100;

/** A form as it may be stored, and its settings where they are sent; neither is checked. */
export type Candidate = { readonly structure: unknown; readonly settings?: unknown };

/**
 * Everything that storing a form would be refused for, at once, of its structure and of its settings, and
 * what is probably a slip. Without problems also what makes the form hard to fill in. Stores nothing.
 */
export async function judgeForm(
  db: Queryable,
  workspaceId: string,
  { structure, settings }: Candidate,
): Promise<Judgement> {
  const checked = validateStructure(structure);
  const problems: ErrorItem[] = checked.ok
    ? []
    : checked.errors.map((error) => ({ ...error, path: [...error.path] }));
  let known: Settings | undefined;
  if (settings !== undefined) {
    const read = checkSettings(settings, checked.ok ? checked.form : undefined);
    if (!read.ok) problems.push(...read.errors);
    else known = read.settings;
  }
  const form = checked.ok ? checked.form : undefined;
  problems.push(...(await findMissingImages(db, workspaceId, { settings: known, form })));
  // A misspelt name is often the reason for a problem, so slips are also told beside problems.
  const slips = findSlips(structure);
  const others = checked.ok && problems.length === 0 ? findWarnings(checked.form, known) : [];
  return { problems: problems.map(bareItem), warnings: [...slips, ...others].slice(0, mostWarnings) };
}

/** From so many options on, a list to choose from is quicker to go through than buttons that are all read out. */
const mostButtons = 7;

/**
 * What is valid and still keeps people with disabilities from filling in a form well, each with the path of its node.
 * Contrast is not among it: a theme that cannot be read is refused (ast/theme/check-theme.ts).
 */
function findWarnings(form: Form, settings: Settings = {}): Warning[] {
  return [
    ...untitledSteps(form),
    ...untranslated(form, settings),
    ...[...walkElements(form)].flatMap(warningsOf(form)),
  ];
}

/** So many of the texts that a language lacks are named. */
const namedTexts = 5;

/** What each language lacks: visitors read it in the form's own. */
function untranslated(form: Form, settings: Settings): Warning[] {
  const texts = listTexts({ structure: form, settings });
  return languagesOf(form)
    .slice(1)
    .flatMap((language): Warning[] => {
      const missing = missingIn(texts, language);
      if (missing.length === 0) return [];
      const named = missing.slice(0, namedTexts).map(({ key }) => key);
      const more = missing.length - named.length;
      const which = `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
      const count = `${missing.length} of ${texts.length} texts`;
      return [
        {
          rule: 'untranslated',
          message: `${count} are not translated to ${quote(language)}: ${which}.`,
          path: [],
        },
      ];
    });
}

function untitledSteps({ children: steps }: Form): Warning[] {
  if (steps.length < 2) return [];
  return steps.flatMap(({ attrs }, index) =>
    attrs?.title?.trim()
      ? []
      : [
          {
            rule: 'untitled-step',
            message: `Step ${index + 1} has no title: who cannot see the page is not told where they are.`,
            path: [index],
          },
        ],
  );
}

const untitledContent = (type: 'heading' | 'paragraph', path: readonly number[]): Warning => ({
  rule: 'empty-content',
  message: `The ${type} shows nothing: give it a "label".`,
  path: [...path],
});

/** The words of a label as they are heard. */
const heard = (label: string): string => label.trim().toLowerCase();

function warningsOf(form: Form): (placed: PlacedElement) => Warning[] {
  const seen = new Map<string, number>();
  const isLong = form.children.length > 1;
  return ({ element, path, parent }) => {
    if (element.type === 'heading' || element.type === 'paragraph')
      return element.attrs?.label?.trim() ? [] : [untitledContent(element.type, path)];
    if (!isInput(element) || !isSeen(element)) return [];
    const { label } = element.attrs;
    const placeholder = 'placeholder' in elements[element.type].attrs ? placeholderOf(element) : undefined;
    const place = `${path[0]} ${parent?.attrs.id ?? ''} ${heard(label)}`;
    seen.set(place, (seen.get(place) ?? 0) + 1);
    const found: [rule: string, message: string][] = [];
    if (!/[\p{L}\p{N}]/u.test(label))
      found.push(['wordless-label', `The label ${quote(label)} has no word that can be read out.`]);
    if (seen.get(place)! > 1)
      found.push([
        'repeated-label',
        `Another question of this ${isLong ? 'step' : 'form'} is called ${quote(label)} too: by ear they are the same.`,
      ]);
    if (placeholder !== undefined && heard(placeholder) === heard(label))
      found.push([
        'placeholder-as-label',
        `The placeholder of ${quote(label)} repeats its label: it says nothing more.`,
      ]);
    else if (placeholder !== undefined && placeholder.length > 40 && element.attrs.help_text === undefined)
      found.push([
        'placeholder-as-help',
        `The placeholder of ${quote(label)} is gone as soon as somebody types: make it the help text.`,
      ]);
    if (element.type === 'radio' && optionsOf(element).length > mostButtons)
      found.push([
        'many-buttons',
        `${quote(label)} shows ${optionsOf(element).length} buttons, which are all gone through one by one: a dropdown is quicker.`,
      ]);
    return found.map(([rule, message]) => ({ rule, message, path: [...path] }));
  };
}
