import { isRecord } from '#ast/json.ts';
import type { Database } from '#kit/database.ts';
import { mapInTurns } from '#kit/turns.ts';
import { findHits, readCharacters } from '../hits.ts';

/** The JSON of a submission's answers and reference values, as text. */
type Texts = { answers: string; reference: string };

/** The words that a search found in each submission, for the console to mark; none without a search. */
export async function findRowHits(
  database: Database,
  { language, q }: { language: string; q: string | undefined },
  rows: readonly Texts[],
): Promise<string[][]> {
  if (q === undefined || rows.length === 0) return rows.map(() => []);
  const lengthOf = ({ answers, reference }: Texts): number => answers.length + reference.length;
  return findHits(database, { language, q }, await mapInTurns(rows, lengthOf, beginningOf));
}

/** As much of a submission's texts as hits are looked for in. */
function beginningOf({ answers, reference }: Texts): string {
  let beginning = '';
  for (const text of textsIn([JSON.parse(answers), JSON.parse(reference)])) {
    beginning += `${text}\n`;
    if (beginning.length > readCharacters) break;
  }
  return beginning;
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string' || typeof value === 'number') yield String(value);
  else if (Array.isArray(value)) for (const item of value) yield* textsIn(item);
  else if (isRecord(value)) for (const item of Object.values(value)) yield* textsIn(item);
}
