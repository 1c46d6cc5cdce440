import type { Database } from '#kit/database.ts';
import { mapInTurns } from '#kit/turns.ts';
import type { Asked } from '../ask.ts';
import { findHits, readCharacters, type SayOption, soughtBy, textsOf } from '../hits.ts';
import type { OptionLabels } from '../option-labels.ts';

/** The JSON of a submission's answers and reference values, as text. */
type Texts = { answers: string; reference: string };

/** The words that a search found in each submission of a form, for the console to mark; none without a search. */
export async function findRowHits(
  { database, optionLabels }: { database: Database; optionLabels: OptionLabels },
  asked: Asked['index'] | undefined,
  form: { workspaceId: string; formId: string; version: number; language: string },
  rows: readonly Texts[],
): Promise<string[][]> {
  if (asked === undefined || rows.length === 0) return rows.map(() => []);
  const labels = await optionLabels(form.workspaceId, [{ id: form.formId, version: form.version }]);
  const sayOption = labels(form.formId);
  const lengthOf = ({ answers, reference }: Texts): number => answers.length + reference.length;
  const texts = await mapInTurns(rows, lengthOf, (row) => beginningOf(row, sayOption));
  return findHits(
    database,
    soughtBy(asked),
    texts.map((text) => ({ text, language: form.language })),
  );
}

/** As much of a submission's texts as hits are looked for in. */
function beginningOf(row: Texts, sayOption: SayOption | undefined): string {
  let beginning = '';
  for (const { text } of textsOf({ ...row, sayOption })) {
    beginning += `${text}\n`;
    if (beginning.length > readCharacters) break;
  }
  return beginning;
}
