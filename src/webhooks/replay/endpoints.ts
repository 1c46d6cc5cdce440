import { Type } from 'typebox';
import type { Database } from '#kit/database.ts';
import { asWireValue } from '#kit/http.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { readTimeRange } from '#kit/time-range.ts';
import { requireWebhook } from '../read-webhooks.ts';
import type { ReplayFilter } from '../replay-filter.ts';
import { Replay, ReplayQuery } from '../shapes.ts';
import { cancelReplay, countReplayDeliveries, listReplays, readReplay, startReplay } from './replay.ts';

/** Operations that send many deliveries again. */
export function replayEndpoints(context: { database: Database }) {
  const { database } = context;
  return {
    listReplays: operation({
      summary: 'List replays',
      description: 'Returns the last ten replays of a webhook, newest first.',
      permission: 'webhooks:read',
      params: idParameter,
      reply: { status: 200, description: 'The replays.', schema: Type.Object({ data: Type.Array(Replay) }) },
      async run({ params, ...scope }) {
        const replays = await listReplays(database, await requireWebhook(database, scope, params.id));
        return { body: { data: replays.map(asWireValue) } };
      },
    }),

    countReplay: operation({
      summary: 'Count replay',
      description: 'Returns how many deliveries a replay would send now.',
      permission: 'webhooks:read',
      params: idParameter,
      query: ReplayQuery,
      reply: {
        status: 200,
        description: 'The number of deliveries.',
        schema: Type.Object({ total: Type.Integer() }),
      },
      async run({ params, query, ...scope }) {
        const place = await requireWebhook(database, scope, params.id);
        return { body: { total: await countReplayDeliveries(database, place, filterOf(query)) } };
      },
    }),

    startReplay: operation({
      summary: 'Start replay',
      description:
        'Sends deliveries again in the background, with their original ids. Only failed deliveries are sent by default. 409 if the webhook is paused, or another replay of it is running.',
      permission: 'webhooks:write',
      audit: 'entry',
      params: idParameter,
      body: ReplayQuery,
      example: { body: { status: 'Failed', event: 'submission.created' } },
      errors: ['conflict'],
      reply: { status: 202, description: 'The replay.', schema: Replay },
      async run({ params, body, ...scope }) {
        const place = await requireWebhook(database, scope, params.id);
        const request = { filter: filterOf(body), by: scope.actor };
        return { body: asWireValue(await startReplay(context, place, request)) };
      },
    }),

    cancelReplay: operation({
      summary: 'Cancel replay',
      description: 'Stops the replay. Requests in flight complete. 409 if it has already ended.',
      permission: 'webhooks:write',
      audit: 'entry',
      params: idParameter,
      errors: ['conflict'],
      reply: { status: 200, description: 'The replay.', schema: Replay },
      async run({ params, ...scope }) {
        const place = { workspaceId: scope.workspaceId, replayId: params.id };
        await requireWebhook(database, scope, (await readReplay(database, place)).webhook_id);
        return { body: asWireValue(await cancelReplay(context, place)) };
      },
    }),
  };
}

const filterOf = ({ status = 'Failed', event, ...sent }: ReplayQuery): ReplayFilter => ({
  status: status === 'any' ? null : status,
  event: event ?? null,
  since: readTimeRange(sent).from ?? null,
  until: readTimeRange(sent).to ?? null,
});
