import { readDelivery } from '#webhooks/log/deliveries.ts';
import { openFileLinks } from '#files/link.ts';
import { now } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import { deliveryLog, retryDelivery } from '#webhooks/delivery-log.ts';
import { listWebhooks } from '#webhooks/editing/webhooks.ts';
import { countReplay, cancelReplay, listReplays, startReplay } from '#webhooks/replay/replay.ts';
import type { ReplayFilter } from '#webhooks/replay/filter.ts';
import type { Database } from '#kit/database.ts';
import { command, flag, optional, PartlyDone, required } from './command.ts';
import { findWorkspace } from './find-place.ts';
import { date, event, id, UsageError, type Value } from './values.ts';

/** Words of --status, and the deliveries that they mean. */
const replayed = { Failed: 'Failed', Success: 'Success', any: null } as const;
const statusOption: Value<keyof typeof replayed> = {
  shows: Object.keys(replayed).join('|'),
  mustBe: `one of ${Object.keys(replayed).join(', ')}`,
  read: (given) => (Object.hasOwn(replayed, given) ? (given as keyof typeof replayed) : undefined),
};
export const deliveryCommands = [
  command({
    name: 'delivery list',
    summary: 'Lists the deliveries of a webhook, newest first.',
    options: { webhook: required(id) },
    async run({ database }, { webhook }) {
      const workspaceId = await findWorkspace(database, 'webhook', webhook);
      return { data: await deliveryLog({ database }, { workspaceId, webhookId: webhook }) };
    },
  }),
  command({
    name: 'delivery show',
    summary: 'Shows a delivery: its body, and every attempt with what was sent, answered and decided.',
    parameters: { id },
    async run({ config, database, vault }, { id }) {
      const workspaceId = await findWorkspace(database, 'delivery', id);
      const links = openFileLinks({ vault, publicUrl: config.publicUrl, now });
      return readDelivery({ database, links }, { workspaceId, deliveryId: id });
    },
  }),
  command({
    name: 'delivery retry',
    summary: 'Sends a failed delivery again, at once; a running server does it.',
    parameters: { id },
    async run({ database }, { id }) {
      const workspaceId = await findWorkspace(database, 'delivery', id);
      await retryDelivery({ database }, { workspaceId, deliveryId: id });
      return { id };
    },
  }),
  command({
    name: 'delivery replay',
    summary:
      'Sends deliveries of a webhook, or of all active webhooks of a form, again under their own ids: those that failed, unless --status says else. A running server does it; --dry-run only counts.',
    options: {
      webhook: optional(id),
      form: optional(id),
      status: optional(statusOption),
      event: optional(event),
      since: optional(date),
      until: optional(date),
      'dry-run': flag,
    },
    async run({ database }, { webhook, form, status = 'Failed', event: kind = null, since, until, ...more }) {
      if ((webhook === undefined) === (form === undefined))
        throw new UsageError('Either --webhook or --form says what is replayed.');
      const workspaceId = await findWorkspace(
        database,
        webhook === undefined ? 'form' : 'webhook',
        (webhook ?? form)!,
      );
      const filter: ReplayFilter = {
        status: replayed[status],
        event: kind,
        since: since?.toISOString() ?? null,
        until: until?.toISOString() ?? null,
      };
      const replay = (webhookId: string) =>
        more['dry-run']
          ? countReplay(database, { workspaceId, webhookId }, filter).then((total) => ({
              webhook_id: webhookId,
              total,
            }))
          : startReplay({ database }, { workspaceId, webhookId }, { filter, userId: null });
      if (webhook !== undefined) return { data: [await replay(webhook)] };
      return replayEach(await activeWebhooks(database, workspaceId, form!), replay);
    },
  }),
  command({
    name: 'delivery replays',
    summary: 'Lists the last replays of a webhook, newest first, with how far they are.',
    options: { webhook: required(id) },
    async run({ database }, { webhook }) {
      const workspaceId = await findWorkspace(database, 'webhook', webhook);
      return { data: await listReplays(database, { workspaceId, webhookId: webhook }) };
    },
  }),
  command({
    name: 'delivery cancel',
    summary: 'Cancels a replay: what it put on its way before is still sent.',
    parameters: { replay: id },
    async run({ database }, { replay }) {
      const workspaceId = await findWorkspace(database, 'replay', replay);
      return cancelReplay({ database }, { workspaceId, replayId: replay });
    },
  }),
];

/**
 * One after the other. A webhook that cannot be replayed now keeps none of the others waiting.
 * @throws PartlyDone naming those, with what was begun.
 */
async function replayEach(
  webhooks: readonly string[],
  replay: (webhookId: string) => Promise<object>,
): Promise<object> {
  const data: object[] = [];
  const refused: string[] = [];
  for (const webhookId of webhooks) {
    try {
      data.push(await replay(webhookId));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refused.push(`${webhookId}: ${error.message}`);
    }
  }
  if (refused.length === 0) return { data };
  const said = `${refused.length} of ${webhooks.length} webhooks could not be replayed:`;
  throw new PartlyDone([said, ...refused].join('\n  '), { data });
}

/** A paused webhook is not replayed. */
async function activeWebhooks(database: Database, workspaceId: string, formId: string): Promise<string[]> {
  const webhooks = await listWebhooks({ database }, { workspaceId, formId });
  return webhooks.filter(({ active }) => active).map(({ id }) => id);
}
