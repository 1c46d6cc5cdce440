import { now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { type Failures, tellFailures, workOff } from '#kit/periodic.ts';
import { noteByRetention } from '#workspaces/audit/note-person.ts';
import { eraseSubmissions } from '../erase/erase.ts';
import { statement } from '#kit/statement.ts';
import { keptFor } from '#workspaces/retention.ts';
import { dueBy, placeOf } from './due-rows.ts';

const found = (kind: 'submissions' | 'incomplete' | 'trash' | 'files') =>
  statement(
    `retention.find_${kind}`,
    'now limit without',
    'workspace_id form_id id',
    `/* sweep: across workspaces */
     select x.workspace_id, x.form_id, x.id
       from workspaces w
       join forms f on f.workspace_id = w.id and f.deleted_at is null and ${keptFor(kind)} is not null
        and f.id <> all ($without)
       cross join lateral (
         select x.workspace_id, x.form_id, x.id from ${placeOf[kind].from}
          where ${dueBy(kind, '$now')} limit $limit) x
      limit $limit`,
  );

/** Submissions and files whose time is over, in all workspaces; `without` the forms that are named. */
const findDue = {
  submissions: found('submissions'),
  incomplete: found('incomplete'),
  trash: found('trash'),
  files: found('files'),
};

const locked = (kind: 'submissions' | 'incomplete' | 'trash') =>
  statement(
    `retention.lock_${kind}`,
    'workspace_id form_id ids now',
    'id',
    `select x.id from workspaces w
       join forms f on f.workspace_id = w.id and f.id = $form_id
       join submissions x on x.workspace_id = f.workspace_id and x.id = any ($ids)
      where w.id = $workspace_id and ${dueBy(kind, '$now')}
      order by x.id for update of x`,
  );

/** Of these those whose time is still over: somebody may have gone on with one, or brought it back. */
const lockDue = {
  submissions: locked('submissions'),
  incomplete: locked('incomplete'),
  trash: locked('trash'),
};

/** Makes files nobody's: the sweep removes them within seconds. */
const releaseFiles = statement(
  'retention.release_files',
  'workspace_id ids now',
  '',
  `update files set submission_id = null, claimed_at = $now where workspace_id = $workspace_id and id = any ($ids)`,
);

/** Rows of one transaction: short enough that nobody waits for its locks. */
const batch = 200;

type Context = { database: Database; wakeQueue: () => void };
type Due = Awaited<ReturnType<typeof findDue.files>>[number];
type Kind = keyof typeof findDue;

/**
 * Erases what has been kept for as long as its workspace, or its form, says: completed and incomplete submissions, the trash, and
 * files. It is the deed that erases a person's (erase/erase.ts), a batch at a time, until nothing is due. Mails, deliveries and
 * the audit log have sweeps of their own, by the same rules.
 * @throws AggregateError for the forms with which it failed; the others are done, and these are tried in the next run.
 */
export async function applyRetention(context: Context): Promise<void> {
  const failures: Failures = new Map();
  for (const kind of ['trash', 'incomplete', 'submissions', 'files'] as const)
    await workOff(failures, {
      batch,
      find: ({ limit, without }) => findDue[kind](context.database, { now: now(), limit, without }),
      partOf: (row) => row.form_id,
      work: (rows) => end(context, kind, rows),
    });
  tellFailures(failures);
}

/** @param rows of one form. */
async function end({ database, wakeQueue }: Context, kind: Kind, rows: readonly Due[]): Promise<void> {
  const { workspace_id, form_id } = rows[0]!;
  const ids = rows.map(({ id }) => id);
  const key = { workspaceId: workspace_id, formId: form_id };
  const deliveries = await transaction(database, async (client) => {
    if (kind === 'files') {
      await releaseFiles(client, { workspace_id, ids, now: now() });
      await noteByRetention(client, { ...key, kind, count: ids.length });
      return 0;
    }
    const still = await lockDue[kind](client, { workspace_id, form_id, ids, now: now() });
    if (still.length === 0) return 0;
    const due = still.map(({ id }) => id);
    const erased = await eraseSubmissions(client, key, due, { keepsOpenInvitations: true });
    await noteByRetention(client, { ...key, kind, count: due.length });
    return erased.deliveries;
  });
  if (deliveries > 0) wakeQueue();
}
