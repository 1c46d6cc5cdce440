import { isRecord } from '#ast/json.ts';
import { uuidPattern } from '#kit/clock.ts';
import type { Queryable } from '#kit/statement.ts';
import type { ArrivedFile } from './edited-answers.ts';
import type { FormKey } from './event.ts';
import { findHeldFiles } from '#files/stored-files.ts';

/** As many files as answers may name at once are looked for. */
const most = 1_000;

/** The files that answers name, as far as they were uploaded for this form and are nobody's yet. */
export async function findArrived(
  db: Queryable,
  { workspaceId, formId }: FormKey,
  answers: unknown,
): Promise<readonly ArrivedFile[]> {
  const ids = [...new Set(idsIn(answers))].slice(0, most);
  if (ids.length === 0) return [];
  return findHeldFiles(db, {
    workspace_id: workspaceId,
    form_id: formId,
    ids,
    key: null,
    submission_id: null,
  });
}

/** Every text of answers that may be an id: of a question, or of one in rows. */
function* idsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') {
    if (uuidPattern.test(value)) yield value;
  } else if (Array.isArray(value) || isRecord(value))
    for (const part of Object.values(value)) yield* idsIn(part);
}
