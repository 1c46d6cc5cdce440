import { idOf, type Option } from '#ast/answers/options.ts';
import { elementIdSource, isElementId } from '#ast/element-id.ts';
import type { Condition, Jump } from '#ast/logic/condition.ts';
import { limits } from '#ast/limits.ts';
import { cutToBytes, fitsBytes, isCleanText } from '#ast/text.ts';
import type { Part } from './source.ts';

/** A node of a form that is being made; what is wrong in it, `finishSketch` finds. */
export type Sketched = { type: string; attrs: Record<string, unknown>; children: Sketched[] };

/** A form that is being made of a document, its settings, and of which part each node was made. */
export type Sketch = {
  readonly form: Sketched;
  readonly settings: Record<string, unknown>;
  readonly origins: Map<Sketched, Part>;
  /** An id for an element or a step: the one that is wished for, where it can be one, else one of its words. */
  readonly newId: (wished: string | undefined, words?: string) => string;
};

export function newSketch(): Sketch {
  const taken = new Set<string>(['end']);
  const counts = new Map<string, number>();
  return {
    form: node('form', { name: 'Imported form' }),
    settings: {},
    origins: new Map(),
    newId: (wished, words = '') => {
      const base = isTelling(wished) ? wished : slugOf(words);
      // Counted by what they have in common: of thousands of long ones each would be looked for behind all others.
      const stem = base.slice(0, 58);
      let count = counts.get(stem) ?? 0;
      let id = base;
      while (taken.has(id)) id = `${stem}_${(count += 1) + 1}`;
      counts.set(stem, count);
      taken.add(id);
      return id;
    },
  };
}

export const node = (type: string, attrs: Record<string, unknown> = {}): Sketched => ({
  type,
  attrs: Object.fromEntries(Object.entries(attrs).filter(([, value]) => value !== undefined)),
  children: [],
});

/** Whether a form has as many elements as it may have. */
export const isFull = ({ origins }: Sketch): boolean => origins.size >= limits.elements;

/** Adds a node where it belongs, and says of which part it was made. Beyond what a form may have nothing is added. */
export function add(sketch: Sketch, parent: Sketched, made: Sketched, part: Part): void {
  if (isFull(sketch)) {
    part.leaveOut(`A form has at most ${limits.elements} elements.`);
    return;
  }
  parent.children.push(made);
  sketch.origins.set(made, part);
  const { id } = made.attrs;
  part.map(typeof id === 'string' ? `${made.type} "${id}"` : made.type);
}

/** Another step behind the last one. */
export function addStep(sketch: Sketch, attrs: Record<string, unknown> = {}, part?: Part): Sketched {
  const step = node('step', attrs);
  sketch.form.children.push(step);
  if (part) sketch.origins.set(step, part);
  return step;
}

/** An id that only a machine gave is not worth keeping: it says nothing in a file of answers. */
const isTelling = (id: string | undefined): id is string =>
  id !== undefined && isElementId(id) && !/^[0-9a-f]{8}-|[0-9a-f]{12}|[0-9A-HJKMNP-TV-Z]{20}/.test(id);

function slugOf(words: string): string {
  const slug = words
    .slice(0, 200)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+/, '')
    .slice(0, 40)
    .replace(/_+$/, '');
  return isElementId(slug) ? slug : 'question';
}

const braces = new RegExp(String.raw`\{\{( ?(${elementIdSource}) ?\}\})?`, 'gu');

/** A text of a form: whole, of characters that can be stored, and with no `{{…}}` but those in `shown`. */
export function tidy(text: string, shown: ReadonlySet<string> = new Set()): string {
  const clean = isCleanText(text) ? text : text.replaceAll('\u0000', '').toWellFormed();
  return clean
    .replace(braces, (whole, rest: string | undefined, id: string) =>
      rest !== undefined && shown.has(id) ? whole : `{ {${rest ?? ''}`,
    )
    .trim();
}

/** The text of a part, as long as it may be here; what is cut off is said. Blank is undefined. */
export function words(
  part: Part,
  most: number = limits.labelBytes,
  write: (text: string) => string = tidy,
): string | undefined {
  const text = write(part.word() ?? '');
  if (text === '') return undefined;
  if (fitsBytes(text, most)) return text;
  part.change(`It is cut to ${most} bytes.`);
  return cutToBytes(text, most);
}

/** The same on one line. */
export const line = (part: Part, write: (text: string) => string = tidy): string | undefined =>
  words(part, limits.labelBytes, (text) => write(text).replace(/\s+/g, ' '));

/** A longer text, such as a description. */
export const prose = (part: Part, write?: (text: string) => string): string | undefined =>
  words(part, limits.textBytes, write);

/** An option as a form has it, where id and label may be the same. Of two that are the same, the second is left out. */
export function optionsOf(
  parts: readonly Part[],
  read: (part: Part) => { id: string | undefined; label: string | undefined; points?: number | undefined },
): Option[] {
  const [ids, labels] = [new Set<string>(), new Set<string>()];
  parts[limits.options]?.leaveOut(
    `A question has at most ${limits.options} options; those behind it are left out too.`,
  );
  return parts.slice(0, limits.options).flatMap((part): Option[] => {
    const { label, id = label, points } = read(part);
    if (label === undefined || id === undefined) {
      part.leaveOut('An option without a text.');
      return [];
    }
    if (ids.has(id) || labels.has(label)) {
      part.leaveOut('There is such an option already.');
      return [];
    }
    ids.add(id);
    labels.add(label);
    if (id === label && points === undefined) return [label];
    return [{ id, label, ...(points !== undefined && { points }) }];
  });
}

/** Several conditions as one; undefined of none. */
export function joined(kind: 'all' | 'any', conditions: readonly Condition[]): Condition | undefined {
  const [first] = conditions;
  if (conditions.length < 2) return first;
  return kind === 'all' ? { all: conditions } : { any: conditions };
}

/**
 * That the answer to a question is none of its options, but a text that was written beside them.
 * @returns undefined where conditions cannot ask for it: of several choices, and where no other answer is taken.
 */
export function otherChosen({ type, attrs }: Sketched): Condition | undefined {
  if ((type !== 'radio' && type !== 'dropdown') || attrs['other'] !== true) return undefined;
  const element = String(attrs['id']);
  const value = ((attrs['options'] ?? []) as readonly Option[]).map(idOf);
  return { all: [{ element, is: 'answered' }, { not: { element, is: 'one_of', value } }] };
}

/** The first number from `least` on that lies in whole steps from `base`: steps of a form begin at its least number. */
export function firstInSteps(least: number, step: number, base = 0): number {
  const steps = Math.ceil(Number(((least - base) / step).toPrecision(12)));
  return Number((base + steps * step).toPrecision(15));
}

/** Adds where a step leads under a condition, or always. */
export function addJump(step: Sketched, jump: Jump): void {
  const jumps = (step.attrs['jumps'] ??= []) as Jump[];
  jumps.push(jump);
}

export function setTheme(sketch: Sketch, name: string, value: unknown): void {
  sketch.settings['theme'] = { ...(sketch.settings['theme'] as object | undefined), [name]: value };
}
