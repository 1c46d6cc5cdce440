import { newId, now, timeOfId } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { announceJobs, enqueueJob } from '#kit/queue.ts';
import {
  columns,
  json,
  nullable,
  type Queryable,
  requireRow,
  type RowOf,
  statement,
  timestamp,
} from '#kit/statement.ts';
import { meant, type ReplayFilter } from './filter.ts';
import { cancelReplayRow, filter, isMeant, replayJob, type ReplayJobPayload } from './replay-job.ts';
import { failedReason } from '#kit/queue/park-job.ts';

const countMeant = statement(
  'webhooks.count_meant',
  filter,
  'count',
  `select count(*) as count from deliveries where ${isMeant}`,
);

/** Kept from changing, so that a webhook's replays begin one by one. */
const lockForReplay = statement(
  'webhooks.lock_for_replay',
  'workspace_id id',
  'form_id active is_replaying:boolean',
  `select webhooks.form_id, webhooks.active,
          exists (select from replays
                   where replays.workspace_id = webhooks.workspace_id and replays.webhook_id = webhooks.id
                     and finished_at is null and cancelled_at is null
                     and ${failedReason('replays', 'replay_id')} is null) as is_replaying
     from webhooks
     join forms on forms.workspace_id = webhooks.workspace_id and forms.id = webhooks.form_id
    where webhooks.workspace_id = $workspace_id and webhooks.id = $id and forms.deleted_at is null
      for no key update of webhooks`,
);

const replayColumns = columns(
  'id webhook_id total:integer done created_at cancelled_at:timestamp? finished_at?',
  'failed_reason?',
  { filter: json<ReplayFilter>() },
);

const replay = `id, webhook_id, filter, total, done, created_at, cancelled_at, finished_at,
  ${failedReason('replays', 'replay_id')} as failed_reason`;

const insertReplay = statement(
  'webhooks.insert_replay',
  [
    'workspace_id id form_id webhook_id requested_by? total:integer created_at',
    {
      filter: json<ReplayFilter>(),
      /** Set when there is nothing to do. */
      finished_at: nullable(timestamp),
    },
  ],
  replayColumns,
  `insert into replays (workspace_id, id, form_id, webhook_id, requested_by, filter, total, created_at, finished_at)
   values ($workspace_id, $id, $form_id, $webhook_id, $requested_by, $filter, $total, $created_at, $finished_at)
   returning ${replay}`,
);

const findReplay = statement(
  'webhooks.find_replay',
  'workspace_id id',
  replayColumns,
  `select ${replay} from replays where workspace_id = $workspace_id and id = $id`,
);

/** The last replays of a webhook, newest first. */
const selectReplays = statement(
  'webhooks.select_replays',
  'workspace_id webhook_id limit',
  replayColumns,
  `select ${replay} from replays
    where workspace_id = $workspace_id and webhook_id = $webhook_id
    order by id desc
    limit $limit`,
);

/** A replay as its webhook shows it. `done` of `total` were put on their way; what changed meanwhile is left out. */
type Replay = Omit<Row, 'cancelled_at' | 'finished_at'> & {
  state: 'running' | 'finished' | 'cancelled' | 'failed';
  /** When it was finished or cancelled. */
  ended_at: Date | null;
};
type Row = RowOf<typeof replayColumns>;

type WebhookPlace = { workspaceId: string; webhookId: string };

/** How many deliveries a replay would send again now. */
export async function countReplay(db: Queryable, place: WebhookPlace, filter: ReplayFilter): Promise<number> {
  const [counted] = await countMeant(db, meant(place, filter, newId()));
  return counted!.count;
}

/**
 * Sends deliveries of a webhook again, under their own ids, as a job in the background (replay-job.ts). Those that are
 * on their way are not among them, nor are tests, nor what happens from now on.
 * @throws ApiError not_found; conflict when the webhook is paused, or a replay of it is under way.
 */
export async function startReplay(
  { database }: { database: Database },
  { workspaceId, webhookId }: WebhookPlace,
  { filter, userId }: { filter: ReplayFilter; userId: string | null },
): Promise<Replay> {
  const id = newId();
  const replay = await transaction(database, async (client) => {
    const webhook = requireRow(await lockForReplay(client, { workspace_id: workspaceId, id: webhookId }));
    if (!webhook.active) throw new ApiError('conflict', 'The webhook is paused. Resume it first.');
    if (webhook.is_replaying)
      throw new ApiError('conflict', 'A replay of this webhook is under way already.');
    const [counted] = await countMeant(client, meant({ workspaceId, webhookId }, filter, id));
    const total = counted!.count;
    if (total > 0) {
      await enqueueJob(client, {
        workspace_id: workspaceId,
        id: newId(),
        kind: replayJob,
        lane: `${replayJob} ${webhookId}`,
        payload: { replay_id: id } satisfies ReplayJobPayload,
        delay: 0,
      });
    }
    const [inserted] = await insertReplay(client, {
      workspace_id: workspaceId,
      id,
      form_id: webhook.form_id,
      webhook_id: webhookId,
      requested_by: userId,
      filter,
      total,
      created_at: timeOfId(id),
      finished_at: total === 0 ? now() : null,
    });
    return inserted!;
  });
  // Not through a queue's wake: the command line has no queue, and a running server hears this.
  await announceJobs(database);
  return present(replay);
}

/**
 * Sends nothing more of a replay. What was put on its way before is still sent.
 * @throws ApiError not_found; conflict when it is over.
 */
export async function cancelReplay(
  { database }: { database: Queryable },
  { workspaceId, replayId }: { workspaceId: string; replayId: string },
): Promise<Replay> {
  const place = { workspace_id: workspaceId, id: replayId };
  const cancelled = await cancelReplayRow(database, { ...place, now: now() });
  const found = requireRow(await findReplay(database, place));
  if (cancelled.length === 0) throw new ApiError('conflict', 'This replay is over.');
  return present(found);
}

/** @throws ApiError not_found. */
export async function readReplay(
  db: Queryable,
  { workspaceId, replayId }: { workspaceId: string; replayId: string },
): Promise<Replay> {
  const found = requireRow(await findReplay(db, { workspace_id: workspaceId, id: replayId }));
  return present(found);
}

/** The last ten replays of a webhook, newest first. */
export async function listReplays(
  db: Queryable,
  { workspaceId, webhookId }: WebhookPlace,
): Promise<Replay[]> {
  const rows = await selectReplays(db, { workspace_id: workspaceId, webhook_id: webhookId, limit: 10 });
  return rows.map(present);
}

const present = ({ cancelled_at, finished_at, ...replay }: Row): Replay => ({
  ...replay,
  state: cancelled_at
    ? 'cancelled'
    : finished_at
      ? 'finished'
      : replay.failed_reason === null
        ? 'running'
        : 'failed',
  ended_at: cancelled_at ?? finished_at,
});
