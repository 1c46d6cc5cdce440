import { digestModes } from '#ast/settings.ts';
import { now } from '#kit/clock.ts';
import { deleteMailsAbout } from '#kit/outbox/queries.ts';
import { only, type Queryable } from '#kit/statement.ts';
import { reportNews } from '#workspaces/mail-news.ts';
import { blankSnapshot } from '#webhooks/event.ts';
import { recordEvent, recordEvents, type SubmissionEvent } from '#webhooks/record-event.ts';
import { deleteEventsOf } from '#webhooks/upkeep/queries.ts';
import { eventOf, type FormKey } from '../changes/event.ts';
import { listFiles } from '../changes/edited-answers.ts';
import { deleteRows } from '../changes/remove.ts';
import { searchColumns } from '../search-columns.ts';
import { joinTurn } from '../taken/queries.ts';
import {
  countBelongings,
  deleteInvitations,
  listAgain,
  listInvitationsOf,
  lockToErase,
  stripSubmission,
} from './queries.ts';
import { stripAnswers } from './strip-answers.ts';

const nothingGone = {
  submissions: 0,
  /** Submissions of which only the answers are gone that tell who somebody is. */
  stripped: 0,
  files: 0,
  notes: 0,
  changes: 0,
  links: 0,
  events: 0,
  deliveries: 0,
  mails: 0,
  invitations: 0,
};

/** How much is gone, of each kind. A receipt says so, and nothing of what it was. */
export type Gone = typeof nothingGone;

/** What an erasing did: what is gone, the files whose bytes have to follow, and how many deliveries will be made. */
export type Erased = { gone: Gone; fileIds: string[]; deliveries: number };

/**
 * THE deed of erasing submissions, in the caller's transaction, wherever they lie: with their answers, history, notes,
 * tags, search text and links go the events that told of them, with their deliveries and attempts, the mails about them,
 * sent or waiting, and the invitations that they came by. Their files become nobody's: who needs them gone now removes
 * them (removeTakenFiles), and the sweep does within seconds. `submission.deleted` goes out, without anything that was
 * answered, for those that had been completed. At most some hundred at a time, so that nobody waits for the locks.
 * @param options.keepsOpenInvitations whether the invitation of what nobody completed stays: its person may still come.
 * @returns what is gone; deliveries that are not 0: wake the queue after the commit.
 */
export async function eraseSubmissions(
  db: Queryable,
  key: FormKey,
  ids: readonly string[],
  options = { keepsOpenInvitations: false },
): Promise<Erased> {
  const rows = await lockToErase(db, keyOf(key, ids));
  const traces = await eraseTraces(db, key, rows, options);
  const told = rows.filter((row) => row.completed_at !== null);
  const deliveries = await recordEvents(
    db,
    key.workspaceId,
    key.formId,
    told.map((row) => blanked(eventOf('submission.deleted', key, row))),
  );
  await deleteRows(db, key, rows);
  return { ...traces, gone: { ...traces.gone, submissions: rows.length }, deliveries };
}

/**
 * The same of what tells who somebody is: the answers to elements that ask for that (#ast/identifies.ts), every answer in
 * which `isSaid` finds the person, all reference values, tags, notes, history, links, events, mails and invitations.
 * The other answers stay, and `submission.updated` goes out with these.
 */
export async function eraseIdentity(
  db: Queryable,
  key: FormKey,
  ids: readonly string[],
  isSaid: (text: string) => boolean,
): Promise<Erased> {
  await joinTurn(db, { workspace_id: key.workspaceId, form_id: key.formId });
  const rows = await lockToErase(db, keyOf(key, ids));
  const traces = await eraseTraces(db, key, rows, { keepsOpenInvitations: false });
  const kept: string[] = [];
  let deliveries = 0;
  for (const row of rows) {
    const answers = stripAnswers(row.structure, row.answers, isSaid);
    const files = listFiles(row.structure, answers).map(({ id }) => id);
    kept.push(...files);
    const stripped = { ...row, answers, reference: {} };
    await stripSubmission(db, {
      workspace_id: key.workspaceId,
      form_id: key.formId,
      id: row.id,
      answers: JSON.stringify(answers),
      has_files: files.length > 0,
      kept_files: files,
      kept_elements: Object.keys(answers),
      updated_at: new Date(Math.max(now().getTime(), row.updated_at.getTime() + 1)),
      ...searchColumns(row.structure, row.settings, stripped),
    });
    if (row.completed_at === null || row.is_trashed) continue;
    deliveries += await recordEvent(db, { ...key, ...eventOf('submission.updated', key, stripped) });
  }
  const fileIds = traces.fileIds.filter((id) => !kept.includes(id));
  const gone = { ...traces.gone, stripped: rows.length, files: fileIds.length };
  return { gone, fileIds, deliveries };
}

const keyOf = ({ workspaceId, formId }: FormKey, ids: readonly string[]) => ({
  workspace_id: workspaceId,
  form_id: formId,
  ids: [...ids],
});

const blanked = (event: SubmissionEvent): SubmissionEvent => ({
  ...event,
  told: blankSnapshot(event.snapshot),
});

type Row = Awaited<ReturnType<typeof lockToErase>>[number];

/** Erases what others keep of submissions, and counts what hangs on their rows. */
async function eraseTraces(
  db: Queryable,
  key: FormKey,
  rows: readonly Row[],
  { keepsOpenInvitations }: { keepsOpenInvitations: boolean },
): Promise<{ gone: Gone; fileIds: string[] }> {
  const { workspaceId: workspace_id } = key;
  const ids = rows.map(({ id }) => id);
  const belongings = only(await countBelongings(db, { workspace_id, ids }))!;
  const over = keepsOpenInvitations ? rows.filter((row) => row.completed_at !== null) : rows;
  const invitations = await listInvitationsOf(db, {
    workspace_id,
    submission_ids: over.map(({ id }) => id),
  });
  const invited = only(await deleteInvitations(db, { workspace_id, ids: invitations.map(({ id }) => id) }))!;
  const told = only(await deleteEventsOf(db, { workspace_id, submission_ids: ids }))!;
  const letters = await deleteMailsAbout(db, { workspace_id, submission_ids: ids });
  const others = new Set(letters.flatMap(({ other_ids }) => other_ids));
  if (others.size > 0) await tellAgain(db, key, rows[0]!, [...others]);
  const { file_ids: fileIds, ...counts } = belongings;
  return {
    fileIds,
    gone: {
      ...nothingGone,
      ...counts,
      ...told,
      files: fileIds.length,
      mails: letters.length + invited.mails,
      invitations: invited.invitations,
    },
  };
}

/** A digest that waited told of others too: they are told of in the next one. */
async function tellAgain(
  db: Queryable,
  { workspaceId, formId }: FormKey,
  { settings }: Row,
  ids: readonly string[],
): Promise<void> {
  const digest = only(
    await listAgain(db, {
      workspace_id: workspaceId,
      form_id: formId,
      submission_ids: [...ids],
      mode: settings.notification_digest ?? digestModes[1],
    }),
  );
  if (digest?.is_new) await reportNews(db, workspaceId, { kind: 'digest_due', formId });
}
