import { type Option, optionIdOf, optionLabelOf } from '#ast/basics/options.ts';
import { freshId } from './element-ids.ts';

/** The nouns for entries of a list, capitalized. */
export const optionNouns = { option: 'Option', row: 'Row' } as const;

/** Splits a pasted list into options, one per line, without bullets, numbers, blank lines or duplicates. */
export function splitOptionLines(text: string): string[] {
  const lines = text
    .split(/\r\n|[\r\n\t]/)
    .map((line) => line.replace(/^\s*(?:[-*•–]|\d+[.)])\s+/, '').trim());
  return [...new Set(lines.filter(Boolean))];
}

/** Creates an option or row without a label. A form that has one cannot be published. */
export function blankOption(options: readonly Option[], noun: keyof typeof optionNouns): Option {
  const ids = new Set(options.map(optionIdOf));
  return { id: freshId(`${noun}_${options.length + 1}`, ids), label: '' };
}

/** Creates the first options of a new question. */
export const createFirstOptions = (noun: keyof typeof optionNouns): Option[] =>
  Array.from({ length: 3 }, (_, index) => ({ id: `${noun}_${index + 1}`, label: '' }));

/** Returns the placeholder of an option or row without a label. */
export const optionPlaceholder = (noun: keyof typeof optionNouns, index: number): string =>
  `${optionNouns[noun]} ${index + 1}`;

/** A list of options after a key press or a paste, and the index of the edited option. */
type OptionListState = { readonly options: readonly Option[]; readonly at: number };

/**
 * Handles a key in the text of an option: Enter adds one below, Backspace removes an empty one, Alt+arrow
 * moves it, an arrow selects the next one. Returns undefined if the text box should handle the key itself.
 */
export function handleOptionKey(
  { options, at }: OptionListState,
  { key, altKey }: { key: string; altKey: boolean },
  { noun, text, maxItems }: { noun: keyof typeof optionNouns; text: string; maxItems: number },
): OptionListState | undefined {
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
  // Enter goes to the next option if that one is still empty, as in a new question.
  if (key === 'Enter' && next !== undefined && optionLabelOf(next) === '') return { options, at: at + 1 };
  if (key === 'Enter' && options.length < maxItems)
    return { options: options.toSpliced(at + 1, 0, blankOption(options, noun)), at: at + 1 };
  if (key === 'Backspace' && text === '' && options.length > 1)
    return { options: options.toSpliced(at, 1), at: Math.max(0, at - 1) };
  return undefined;
}

/** Replaces an option with a pasted list, one option per line. Returns undefined for a single line. */
export function pasteOptionList(
  { options, at }: OptionListState,
  text: string,
  maxItems: number,
): OptionListState | undefined {
  const lines = splitOptionLines(text);
  if (lines.length < 2) return undefined;
  const others = options.toSpliced(at, 1).map(optionLabelOf);
  const labels = [...others.slice(0, at), ...lines, ...others.slice(at)].filter(Boolean);
  const all = optionsFromLines([...new Set(labels)], options.toSpliced(at, 1)).slice(0, maxItems);
  return {
    options: all,
    at: Math.max(
      0,
      all.findIndex((option) => optionLabelOf(option) === lines.at(-1)),
    ),
  };
}

/** Converts lines to options, and reuses those already in `options`. */
export const optionsFromLines = (lines: readonly string[], options: readonly Option[]): Option[] =>
  lines.map(
    (line) => options.find((option) => optionLabelOf(option) === line) ?? optionCalled(line, options),
  );

/**
 * Changes the label of an option. If answers may contain the option (`published`), it keeps its id. A plain
 * string without answers is replaced, and so is an empty option.
 */
export function relabelOption(
  option: Option,
  label: string,
  others: readonly Option[],
  published: ReadonlySet<string>,
): Option {
  const id = optionIdOf(option);
  const details = typeof option === 'string' ? {} : option;
  const isPlain = typeof option === 'string' || (option.label === '' && Object.keys(option).length === 2);
  if (label !== '' && isPlain && !published.has(id)) return optionCalled(label, others);
  return shortenOption({ ...details, id, label });
}

/** Simplifies an option: if its label equals its id and it has no details, it becomes a plain string. */
export function shortenOption(option: Exclude<Option, string>): Option {
  return option.id === option.label && Object.keys(option).length === 2 ? option.id : option;
}

/**
 * Creates an option as a plain string, or with a different id if an option already uses that string as its
 * id.
 */
function optionCalled(label: string, others: readonly Option[]): Option {
  const ids = others.map(optionIdOf);
  if (!ids.includes(label)) return label;
  for (let number = 2; ; number += 1) {
    const id = `${label} ${number}`;
    if (!ids.includes(id)) return { id, label };
  }
}
