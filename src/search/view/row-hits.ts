import { isRecord } from '#ast/json.ts';
import type { Database } from '#kit/database.ts';
import { findHits } from '../hits.ts';

/** The JSON of a submission's answers and reference values. */
type Texts = { answers: object; reference: object };

/** The words that a search found in each submission, for the console to mark; none without a search. */
export async function findRowHits(
  database: Database,
  { language, q }: { language: string; q: string | undefined },
  rows: readonly Texts[],
): Promise<string[][]> {
  if (q === undefined || rows.length === 0) return rows.map(() => []);
  const texts = rows.map(({ answers, reference }) => [...textsIn([answers, reference])].join('\n'));
  return findHits(database, { language, q }, texts);
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string' || typeof value === 'number') yield String(value);
  else if (Array.isArray(value)) for (const item of value) yield* textsIn(item);
  else if (isRecord(value)) for (const item of Object.values(value)) yield* textsIn(item);
}
