import { getProperty } from '#ast/basics/json.ts';
import { answerLimits } from '#ast/basics/limits.ts';
import { countRows, parseGroupFieldName, type RawAnswers } from '#ast/form/fields.ts';
import { type Composite, type Form, listQuestions } from '#ast/form/tree.ts';
import type { FilesByName } from '#ast/logic/evaluate.ts';

/** Returns the HTML name of a row of a repeatable group, counted from 0: `group[0]`. */
export function rowName(group: string, index: number): string {
  return `${group}[${index}]`;
}

/** Counts the rows that the page shows: the posted rows, but at least one. */
export function countShownRows(group: Composite, answers: RawAnswers, files: FilesByName): number {
  return Math.max(1, countRows(group, answers, files));
}

/**
 * Returns the posted answers with every row that the page showed, as listed by the hidden `_row=group[1]`
 * inputs among `controls`. A row of unchecked checkboxes posts nothing else, and would disappear from the
 * next page. Added rows are empty, and `checkAnswers` drops them.
 */
export function restoreRows(
  form: Form,
  answers: RawAnswers,
  controls: readonly (readonly [name: string, value: string])[],
): RawAnswers {
  const shown = new Map<string, number>();
  for (const [name, value] of controls) {
    // Parsed as a field of the row, so that there is only one grammar for names.
    const row = name === '_row' ? parseGroupFieldName(`${value}[row]`) : undefined;
    if (row)
      shown.set(row.group, Math.min(answerLimits.rows, Math.max(shown.get(row.group) ?? 0, row.index + 1)));
  }
  const restored = { ...answers };
  for (const { kind, element } of listQuestions(form)) {
    const { id } = element.attrs;
    const rows = getProperty(answers, id) ?? [];
    // Validation rejects a value that is not a list of rows.
    if (kind !== 'group' || !Array.isArray(rows)) continue;
    const missing = Math.max(0, (shown.get(id) ?? 0) - rows.length);
    if (missing > 0) restored[id] = [...rows, ...Array.from({ length: missing }, () => ({}))];
  }
  return restored;
}
