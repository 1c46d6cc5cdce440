import { checkSettings, type Settings } from '#ast/settings.ts';
import { validateStructure } from '#ast/validate.ts';
import { bareItem, type ErrorItem } from '#kit/errors.ts';
import type { Queryable } from '#kit/statement.ts';
import { findMissingImages } from '../images/images.ts';
import type { Judgement } from '../shapes.ts';
import { findWarnings } from './lint.ts';
import { elements, formAttributes, isElementType, stepAttributes } from '#ast/elements.ts';
import { isRecord, own } from '#ast/json.ts';
import { limits } from '#ast/limits.ts';
import { quote } from '#ast/problems.ts';
import { mistakesBetween, mostMistakes } from '#kit/nearest.ts';

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
