import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import type { Queryable } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { releaseFiles } from '../changes/queries.ts';
import { takePlace } from '../exactly-once/maximum.ts';
import { digestOf, type Submitted } from '../exactly-once/repeat.ts';
import { takeAnswers, takeTurn } from '../taken/take.ts';
import { addToCount } from '../queries.ts';
import { claimAll, giveEditLink, storedColumns, tellCreated, type Writing } from '../writing.ts';
import { findOwnFiles, lockProgress, writeProgress } from './queries.ts';

/**
 * Turns what was saved under a key into the completed submission, in its own row: with its event, its counts and its
 * search text. Undefined when nothing waits under the key.
 * @throws ApiError gone, conflict; AnswersTaken.
 */
export async function completeProgress(
  context: { database: Database; vault: Vault; wakeQueue: () => void },
  writing: Writing & { key: string },
): Promise<{ submission: Submitted; editToken?: string } | undefined> {
  const { live, key } = writing;
  const form = { workspace_id: live.workspaceId, form_id: live.id };
  const done = await transaction(context.database, async (client) => {
    if (!(await takePlace(client, live, key))) return undefined;
    const limited = await takeTurn(client, { workspaceId: live.workspaceId, formId: live.id });
    const [saved] = await lockProgress(client, { ...form, key });
    if (!saved) return undefined;
    const completedAt = now();
    const completed = { ...writing, id: saved.id };
    await writeProgress(client, {
      ...storedColumns(completed),
      id: saved.id,
      status: 'completed',
      key_digest: digestOf(writing.answers, live.fields),
      now: completedAt,
      completed_at: completedAt,
    });
    if (limited) await takeAnswers(client, limited, saved.id);
    await keepFiles(client, completed);
    // In one order with every other change of the two (changes/edit.ts). What lay in the trash was not counted.
    await addToCount(client, { ...form, status: 'completed', change: 1 });
    if (!saved.is_trashed) await addToCount(client, { ...form, status: 'incomplete', change: -1 });
    const link = await giveEditLink(client, context.vault, completed);
    const deliveries = await tellCreated(client, completed, completedAt);
    return { submission: { id: saved.id, completedAt }, link, deliveries };
  });
  if (!done) return undefined;
  if (done.deliveries > 0) context.wakeQueue();
  return { submission: done.submission, ...done.link };
}

/** Gives the submission exactly the files of its answers: new ones are claimed, and those left out are let go. */
export async function keepFiles(
  db: Queryable,
  writing: Pick<Writing, 'live' | 'id' | 'fileIds'>,
): Promise<void> {
  const key = { workspace_id: writing.live.workspaceId, submission_id: writing.id };
  const kept = [...writing.fileIds];
  const own = kept.length === 0 ? [] : await findOwnFiles(db, { ...key, ids: kept });
  const ownIds = new Set(own.map((file) => file.id));
  await claimAll(
    db,
    writing,
    kept.filter((id) => !ownIds.has(id)),
  );
  await releaseFiles(db, { ...key, kept });
}
