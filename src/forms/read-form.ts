import type { Queryable } from '#kit/statement.ts';
import { tagOf } from '#kit/tag-of.ts';
import { presentForm } from './present.ts';
import { requireForm } from './require-form.ts';

/** A form as it is shown, with its ETag. @throws ApiError not_found. */
export async function readForm(db: Queryable, key: { workspaceId: string; formId: string }) {
  const row = await requireForm(db, key);
  return { body: presentForm(row), tag: tagOf(row.updated_at, row.submission_count) };
}
