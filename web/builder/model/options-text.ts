import { idOf, labelOf, type Option } from '#ast/basics/options.ts';
import { freshId } from './element-ids.ts';

/** What an entry of a list is called, at the beginning of a label. */
export const nouns = { option: 'Option', row: 'Row' } as const;

/** A pasted list as options: a line each, without bullets and numbers, blank lines and repetitions. */
export function readOptions(text: string): string[] {
  const lines = text
    .split(/\r\n|[\r\n\t]/)
    .map((line) => line.replace(/^\s*(?:[-*•–]|\d+[.)])\s+/, '').trim());
  return [...new Set(lines.filter(Boolean))];
}

/** A new option, or row, that nobody has written yet: a form with one of them cannot be published. */
export function blankOption(options: readonly Option[], noun: keyof typeof nouns): Option {
  const ids = new Set(options.map(idOf));
  return { id: freshId(`${noun}_${options.length + 1}`, ids), label: '' };
}

/** The first ones of a new question. */
export const blankOptions = (noun: keyof typeof nouns, count: number): Option[] =>
  Array.from({ length: count }, (_, index) => ({ id: `${noun}_${index + 1}`, label: '' }));

/** What stands in the place of one that nobody has written yet. */
export const sayPlace = (noun: keyof typeof nouns, index: number): string => `${nouns[noun]} ${index + 1}`;

/** A list of options after a key or a paste, and which of them is written then. */
type Written = { readonly options: readonly Option[]; readonly at: number };

/**
 * What a key in the text of an option does to the list: Enter adds one below, Backspace in an empty one takes it away, Alt
 * and an arrow moves it, an arrow goes on. Undefined for a key of the text box itself.
 */
export function pressedIn(
  { options, at }: Written,
  { key, altKey }: { key: string; altKey: boolean },
  { noun, text, maxItems }: { noun: keyof typeof nouns; text: string; maxItems: number },
): Written | undefined {
  const by = key === 'ArrowUp' ? -1 : key === 'ArrowDown' ? 1 : 0;
  if (by !== 0) {
    const target = at + by;
    if (target < 0 || target >= options.length) return { options, at };
    return {
      options: altKey ? options.toSpliced(at, 1).toSpliced(target, 0, options[at]!) : options,
      at: target,
    };
  }
  const next = options[at + 1];
  // The one that waits to be written, as the blank ones of a new question do.
  if (key === 'Enter' && next !== undefined && labelOf(next) === '') return { options, at: at + 1 };
  if (key === 'Enter' && options.length < maxItems)
    return { options: options.toSpliced(at + 1, 0, blankOption(options, noun)), at: at + 1 };
  if (key === 'Backspace' && text === '' && options.length > 1)
    return { options: options.toSpliced(at, 1), at: Math.max(0, at - 1) };
  return undefined;
}

/** A list that is pasted in the place of one: as many options as it has lines. Undefined for a text of one line. */
export function pastedIn({ options, at }: Written, text: string, maxItems: number): Written | undefined {
  const lines = readOptions(text);
  if (lines.length < 2) return undefined;
  const others = options.toSpliced(at, 1).map(labelOf);
  const labels = [...others.slice(0, at), ...lines, ...others.slice(at)].filter(Boolean);
  const all = fromLines([...new Set(labels)], options.toSpliced(at, 1)).slice(0, maxItems);
  return {
    options: all,
    at: Math.max(
      0,
      all.findIndex((option) => labelOf(option) === lines.at(-1)),
    ),
  };
}

/** Lines as options: those that are among `options` already stay what they are. */
export const fromLines = (lines: readonly string[], options: readonly Option[]): Option[] =>
  lines.map((line) => options.find((option) => labelOf(option) === line) ?? optionCalled(line, options));

/**
 * An option with another label. What answers may keep of it already, which is `published`, goes on as its id; a plain
 * text that nobody has answered becomes another text, and so does one that was not written yet.
 */
export function relabelled(
  option: Option,
  label: string,
  others: readonly Option[],
  published: ReadonlySet<string>,
): Option {
  const id = idOf(option);
  const details = typeof option === 'string' ? {} : option;
  const isPlain = typeof option === 'string' || (option.label === '' && Object.keys(option).length === 2);
  if (label !== '' && isPlain && !published.has(id)) return optionCalled(label, others);
  return tidyOption({ ...details, id, label });
}

/** An option as short as it can be written: one that says nothing but its id is a text. */
export function tidyOption(option: Exclude<Option, string>): Option {
  return option.id === option.label && Object.keys(option).length === 2 ? option.id : option;
}

/** A plain text, or with an id of its own where another option has that text for its id. */
function optionCalled(label: string, others: readonly Option[]): Option {
  const ids = others.map(idOf);
  if (!ids.includes(label)) return label;
  for (let number = 2; ; number += 1) {
    const id = `${label} ${number}`;
    if (!ids.includes(id)) return { id, label };
  }
}
