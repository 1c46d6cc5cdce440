import { belowId, type Cut } from '#kit/cursor.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { SubmissionRow } from '../present.ts';
import {
  listBelow,
  listBelowByStatus,
  listSubmissions,
  listSubmissionsByStatus,
  type SubmissionStatus,
} from '../queries.ts';

/** A submission, and not the row of an empty page. */
export type FoundSubmission = SubmissionRow & { id: string };
const isFound = <Row extends SubmissionRow>(row: Row): row is Row & FoundSubmission => row.id !== null;

type Listed = { workspace_id: string; form_id: string; status: SubmissionStatus | null };

/**
 * The part of a form's submissions that is asked for, newest first, and how many there are, or were when the reading by
 * cursor began: only its beginning counts.
 * @throws ApiError not_found.
 */
export async function readList(
  database: Database,
  form: Listed,
  cut: Cut,
): Promise<{ found: FoundSubmission[]; total: number }> {
  const { limit, offset, total } = cut;
  if (total !== undefined) {
    const list = form.status ? listBelowByStatus : listBelow;
    const rows = await list(database, { ...form, below_id: belowId(cut), limit });
    if (rows.length === 0) throw new ApiError('not_found');
    return { found: rows.filter(isFound), total };
  }
  const list = form.status ? listSubmissionsByStatus : listSubmissions;
  const rows = await list(database, { ...form, limit, offset });
  if (rows.length === 0) throw new ApiError('not_found');
  return { found: rows.filter(isFound), total: rows[0]!.total };
}
