import { cancelReplay, countReplay, listReplays, readReplay, startReplay } from '#webhooks/replay/replay.ts';
import type { ReplayFilter } from '#webhooks/replay/filter.ts';
import { ApiError } from '#kit/errors.ts';
import { consoleEndpoint, type ConsoleRoute } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import {
  type Replay,
  type ReplayCount,
  type ReplayList,
  replayParameters,
  ReplayQuery,
  webhookParameters,
} from './shapes.ts';
import { requireWebhook } from './require-webhook.ts';

const all = '/workspaces/:workspace/forms/:form/webhooks/:webhook/replays';

/** Sending deliveries again, many at a time. Viewers may look, editors may do it. */
export function replayRoutes(services: Pick<ConsoleServices, 'database'>): readonly ConsoleRoute[] {
  const { database } = services;

  const list = consoleEndpoint({
    role: 'viewer',
    params: webhookParameters,
    async run({ workspaceId, params }) {
      await requireWebhook(database, workspaceId, params);
      const replays = await listReplays(database, { workspaceId, webhookId: params.webhook });
      return { status: 200, body: { data: replays.map(present) } satisfies ReplayList };
    },
  });

  const count = consoleEndpoint({
    role: 'viewer',
    params: webhookParameters,
    query: ReplayQuery,
    async run({ workspaceId, params, query }) {
      await requireWebhook(database, workspaceId, params);
      const place = { workspaceId, webhookId: params.webhook };
      const total = await countReplay(database, place, filterOf(query));
      return { status: 200, body: { total } satisfies ReplayCount };
    },
  });

  const start = consoleEndpoint({
    role: 'editor',
    params: webhookParameters,
    body: ReplayQuery,
    async run({ workspaceId, user, params, body }) {
      await requireWebhook(database, workspaceId, params);
      const place = { workspaceId, webhookId: params.webhook };
      const request = { filter: filterOf(body), userId: user.id };
      return { status: 202, body: present(await startReplay(services, place, request)) };
    },
  });

  const cancel = consoleEndpoint({
    role: 'editor',
    params: replayParameters,
    async run({ workspaceId, params }) {
      await requireWebhook(database, workspaceId, params);
      const place = { workspaceId, replayId: params.replay };
      if ((await readReplay(database, place)).webhook_id !== params.webhook) throw new ApiError('not_found');
      return { status: 200, body: present(await cancelReplay(services, place)) };
    },
  });

  return [
    ['GET', all, list],
    ['GET', `${all}/count`, count],
    ['POST', all, start],
    ['POST', `${all}/:replay/cancel`, cancel],
  ];
}

const filterOf = ({ status = 'Failed', event, since, until }: ReplayQuery): ReplayFilter => ({
  status: status === 'any' ? null : status,
  event: event ?? null,
  since: since ?? null,
  until: until ?? null,
});

type Found = Awaited<ReturnType<typeof readReplay>>;

const present = ({ id, state, filter, total, done, created_at, ended_at }: Found): Replay => ({
  id,
  state,
  filter,
  total,
  done,
  created_at: created_at.toISOString(),
  ended_at: ended_at?.toISOString() ?? null,
});
