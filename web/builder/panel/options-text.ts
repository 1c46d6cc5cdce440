import { idOf, labelOf, type Option } from '#ast/answers/options.ts';

/** What an entry of a list is called, at the beginning of a label. */
export const nouns = { option: 'Option', row: 'Row' } as const;

/** A pasted list as options: a line each, without bullets and numbers, blank lines and repetitions. */
export function readOptions(text: string): string[] {
  const lines = text
    .split(/\r\n|[\r\n\t]/)
    .map((line) => line.replace(/^\s*(?:[-*•–]|\d+[.)])\s+/, '').trim());
  return [...new Set(lines.filter(Boolean))];
}

/** A new option, or row, that no other is called. */
export function nextOption(options: readonly Option[], noun: keyof typeof nouns): Option {
  const labels = options.map(labelOf);
  for (let number = options.length + 1; ; number += 1) {
    const label = `${nouns[noun]} ${number}`;
    if (!labels.includes(label)) return optionCalled(label, options);
  }
}

/** Lines as options: those that are among `options` already stay what they are. */
export const fromLines = (lines: readonly string[], options: readonly Option[]): Option[] =>
  lines.map((line) => options.find((option) => labelOf(option) === line) ?? optionCalled(line, options));

/**
 * An option with another label. What answers may keep of it already, which is `published`, goes on as its id; a plain
 * text that nobody has answered becomes another text.
 */
export function relabelled(
  option: Option,
  label: string,
  others: readonly Option[],
  published: ReadonlySet<string>,
): Option {
  const id = idOf(option);
  if (typeof option === 'string' && !published.has(option)) return optionCalled(label, others);
  const details = typeof option === 'string' ? {} : option;
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
