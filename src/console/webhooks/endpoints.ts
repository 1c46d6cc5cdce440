import { ApiError } from '#kit/errors.ts';
import { readPage } from '#kit/pagination.ts';
import { only } from '#kit/statement.ts';
import { changeWebhook } from '#webhooks/editing/change-webhook.ts';
import { retryDelivery } from '#webhooks/delivery-log.ts';
import { createWebhook, deleteWebhook, mostWebhooks } from '#webhooks/editing/webhooks.ts';
import { consoleEndpoint, type ConsoleRoute } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import { listDeliveries, readDelivery } from './deliveries.ts';
import { readHealth } from './delivery-health.ts';
import { readWebhooks } from './health.ts';
import { findDeliveryLine } from './queries.ts';
import { replayRoutes } from './replays.ts';
import { requireWebhook } from './require-webhook.ts';
import {
  type ChangedWebhook,
  type CreatedWebhook,
  DeliveryQuery,
  deliveryParameters,
  formParameter,
  NewWebhook,
  type SentTest,
  TestRequest,
  WebhookChange,
  type WebhookDetail,
  type WebhookList,
  webhookParameters,
} from './shapes.ts';
import { testWebhook } from './test-webhook.ts';
import { workbenchRoutes } from './workbench.ts';

type Services = Pick<
  ConsoleServices,
  'config' | 'database' | 'links' | 'requestCounter' | 'vault' | 'wakeQueue'
>;

/** The webhooks of a form and their delivery log. Viewers may look, editors may change. */
export function webhooksConsoleRoutes(services: Services): readonly ConsoleRoute[] {
  return [
    ...webhookRoutes(services),
    ...deliveryRoutes(services),
    ...replayRoutes(services),
    ...workbenchRoutes(services),
  ];
}

const form = '/workspaces/:workspace/forms/:form/webhooks';
const one = `${form}/:webhook`;

/** The first send, and a retry after each delay (docs/rules.md 1). */
const mostAttempts = ({ config }: Services): number => config.webhookRetryDelays.length + 1;

function webhookRoutes(services: Services): readonly ConsoleRoute[] {
  const { database } = services;

  const list = consoleEndpoint({
    role: 'viewer',
    params: formParameter,
    async run({ workspaceId, params }) {
      const { webhooks, secretsAllowed } = await readWebhooks(database, { workspaceId, formId: params.form });
      const body: WebhookList = {
        data: webhooks,
        secrets_allowed: secretsAllowed,
        most_attempts: mostAttempts(services),
        pause_days: services.config.webhookPauseDays,
        most_webhooks: mostWebhooks,
      };
      return { status: 200, body };
    },
  });

  const read = consoleEndpoint({
    role: 'viewer',
    params: webhookParameters,
    async run({ workspaceId, params }) {
      const place = { workspaceId, formId: params.form, webhookId: params.webhook };
      const { webhooks, secretsAllowed } = await readWebhooks(database, place);
      const webhook = only(webhooks);
      if (!webhook) throw new ApiError('not_found');
      const body: WebhookDetail = {
        webhook,
        secrets_allowed: secretsAllowed,
        most_attempts: mostAttempts(services),
        pause_days: services.config.webhookPauseDays,
      };
      return { status: 200, body };
    },
  });

  const create = consoleEndpoint({
    role: 'editor',
    params: formParameter,
    body: NewWebhook,
    async run({ workspaceId, params, body }) {
      const { pauses_on_failure: pausesOnFailure, ...webhook } = body;
      const place = { workspaceId, formId: params.form };
      const made = await createWebhook(services, { ...place, ...webhook, pausesOnFailure });
      return { status: 201, body: { id: made.id, secret: made.secret ?? null } satisfies CreatedWebhook };
    },
  });

  const change = consoleEndpoint({
    role: 'editor',
    params: webhookParameters,
    body: WebhookChange,
    async run({ workspaceId, params, body }) {
      await requireWebhook(database, workspaceId, params);
      const { pauses_on_failure: pausesOnFailure, ...change } = body;
      const place = { workspaceId, webhookId: params.webhook };
      const changed = await changeWebhook(services, { ...place, ...change, pausesOnFailure });
      return { status: 200, body: { secret: changed.secret ?? null } satisfies ChangedWebhook };
    },
  });

  const remove = consoleEndpoint({
    role: 'editor',
    params: webhookParameters,
    async run({ workspaceId, params }) {
      await requireWebhook(database, workspaceId, params);
      await deleteWebhook(services, { workspaceId, webhookId: params.webhook });
      return { status: 204 };
    },
  });

  return [
    ['GET', form, list],
    ['POST', form, create],
    ['GET', one, read],
    ['PATCH', one, change],
    ['DELETE', one, remove],
  ];
}

function deliveryRoutes(services: Services): readonly ConsoleRoute[] {
  const { database } = services;

  const test = consoleEndpoint({
    role: 'editor',
    params: webhookParameters,
    body: TestRequest,
    async run({ workspaceId, params, body }) {
      await requireWebhook(database, workspaceId, params);
      const { event: kind, url, submissions } = body;
      const place = { workspaceId, formId: params.form, webhookId: params.webhook };
      const ids = await testWebhook(services, { ...place, kind, url, submissions });
      return { status: 202, body: { id: ids.at(-1)!, ids } satisfies SentTest };
    },
  });

  const list = consoleEndpoint({
    role: 'viewer',
    params: webhookParameters,
    query: DeliveryQuery,
    async run({ workspaceId, params, query }) {
      await requireWebhook(database, workspaceId, params);
      const place = { workspaceId, webhookId: params.webhook };
      return { status: 200, body: await listDeliveries(database, place, query, readPage(query)) };
    },
  });

  const read = consoleEndpoint({
    role: 'viewer',
    params: deliveryParameters,
    async run({ workspaceId, params }) {
      await requireWebhook(database, workspaceId, params);
      const place = { workspaceId, webhookId: params.webhook, deliveryId: params.delivery };
      return { status: 200, body: await readDelivery(services, place) };
    },
  });

  const retry = consoleEndpoint({
    role: 'editor',
    params: deliveryParameters,
    async run({ workspaceId, params }) {
      await requireWebhook(database, workspaceId, params);
      const delivery = { workspace_id: workspaceId, webhook_id: params.webhook, id: params.delivery };
      if (!only(await findDeliveryLine(database, delivery))) throw new ApiError('not_found');
      await retryDelivery(services, { workspaceId, deliveryId: params.delivery });
      return { status: 202 };
    },
  });

  const health = consoleEndpoint({
    role: 'viewer',
    params: webhookParameters,
    async run({ workspaceId, params }) {
      await requireWebhook(database, workspaceId, params);
      return { status: 200, body: await readHealth(database, { workspaceId, webhookId: params.webhook }) };
    },
  });

  return [
    ['GET', `${one}/health`, health],
    ['POST', `${one}/tests`, test],
    ['GET', `${one}/deliveries`, list],
    ['GET', `${one}/deliveries/:delivery`, read],
    ['POST', `${one}/deliveries/:delivery/retry`, retry],
  ];
}
