import { own } from '#ast/basics/json.ts';
import { answerLimits } from '#ast/basics/limits.ts';
import { countRows, parseRowName, type RawAnswers } from '#ast/form/fields.ts';
import { type Composite, type Form, listQuestions } from '#ast/form/tree.ts';
import type { FilesByName } from '#ast/logic/evaluate.ts';

/** The name of a row of a repeatable composite, counted from 0: `group[0]`. */
export function rowName(group: string, index: number): string {
  return `${group}[${index}]`;
}

/** How many rows the page shows: as many as were sent, and at least one. */
export function countShownRows(group: Composite, answers: RawAnswers, held: FilesByName): number {
  return Math.max(1, countRows(group, answers, held));
}

/**
 * The posted answers with every row that the page showed; its hidden `_row=group[1]` inputs name them among
 * `controls`. A row of boxes left unchecked posts nothing else: without this, it would be gone from the page that
 * comes back. Rows added here are empty, which `checkAnswers` drops.
 */
export function restoreRows(
  form: Form,
  answers: RawAnswers,
  controls: readonly (readonly [name: string, value: string])[],
): RawAnswers {
  const shown = new Map<string, number>();
  for (const [name, value] of controls) {
    // Read as the name of a field in that row, so that names have one grammar.
    const row = name === '_row' ? parseRowName(`${value}[row]`) : undefined;
    if (row)
      shown.set(row.group, Math.min(answerLimits.rows, Math.max(shown.get(row.group) ?? 0, row.index + 1)));
  }
  const restored = { ...answers };
  for (const { kind, element } of listQuestions(form)) {
    const { id } = element.attrs;
    const rows = own(answers, id) ?? [];
    // What is not a list of rows stays as it is, for the check to refuse.
    if (kind !== 'group' || !Array.isArray(rows)) continue;
    const missing = Math.max(0, (shown.get(id) ?? 0) - rows.length);
    if (missing > 0) restored[id] = [...rows, ...Array.from({ length: missing }, () => ({}))];
  }
  return restored;
}
