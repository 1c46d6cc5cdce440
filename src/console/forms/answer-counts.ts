import type { Database } from '#kit/database.ts';
import { countAnswers } from './queries.ts';

/** Submissions that are looked at: 10,000 with 20 answers each took 0.2 s. */
const scanLimit = 10_000;

/**
 * How many stored submissions answer each element, for "deleting this affects 12 answers": exact up to
 * `scanLimit` submissions, and over the newest of them in a larger form. Rows of a group count once, for the group.
 */
export async function countAnswersByElement(database: Database, workspaceId: string, formId: string) {
  const rows = await countAnswers(database, { workspace_id: workspaceId, form_id: formId, limit: scanLimit });
  const scanned = rows.find(({ element }) => element === null)?.count ?? 0;
  const counts = rows.flatMap(({ element, count }) => (element === null ? [] : [[element, count] as const]));
  return { scanned, counts: Object.fromEntries(counts) };
}
