import type { Static } from 'typebox';
import type { FileLinks } from '#files/stored-files.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { idParameter, operation, type RequestScope } from '#kit/operation.ts';
import { listParameters, readPageRequest } from '#kit/pagination.ts';
import { formatEtag } from '#kit/replies/etag.ts';
import { requireRow } from '#kit/statement.ts';
import { readTimeRange } from '#kit/time-range.ts';
import { strictObject } from '#kit/validation.ts';
import type { Vault } from '#kit/vault.ts';
import { requireFormAccess, requireWorkspaceAccess } from '#workspaces/authenticate.ts';
import type { RequestCounter } from '#workspaces/request-counter.ts';
import { type WebhookUpdate as Change, changeWebhook } from './change-webhook.ts';
import { listDeliveries, readDelivery, readHealth } from './delivery-log.ts';
import { previewBody } from './preview-body.ts';
import { listWorkspaceWebhooks, readWebhooks, requireWebhook } from './read-webhooks.ts';
import { retryDelivery } from './retry-delivery.ts';
import { chooseForm, testWebhook } from './samples.ts';
import {
  DeliveryDetail,
  DeliveryList,
  DeliveryQuery,
  NewWebhook,
  NewWebhookSecret,
  SentWebhookTest,
  WebhookChange,
  WebhookDetail,
  WebhookHealth,
  WebhookList,
  WebhookPreview,
  WebhookPreviewRequest,
  WebhookTestRequest,
  WebhookWithSecret,
  WorkspaceWebhookList,
} from './shapes.ts';
import { createWebhook, deleteWebhook, mostWebhooks } from './webhooks.ts';

type Context = {
  config: Config;
  database: Database;
  links: FileLinks;
  requestCounter: RequestCounter;
  vault: Vault;
  wakeQueue: () => void;
};

const example = {
  url: 'https://hooks.example.com/formloom',
  events: ['submission.created', 'submission.updated'],
  secret: 'generate',
};

/**
 * Operations on the webhooks of a form and of a workspace. Specification, "Events". docs/decisions/0034-operations-table.md says
 * which keys can use them.
 */
export function webhookEndpoints(context: Context) {
  const { database, config } = context;
  /** Counts the first request, and a retry after each delay. */
  const rules = { most_attempts: config.webhookRetryDelays.length + 1, pause_days: config.webhookPauseDays };

  const load = async (scope: RequestScope, id: string) => {
    const place = await requireWebhook(database, scope, id);
    const { workspaceId, webhookId } = place;
    const { webhooks, secretsAllowed } = await readWebhooks(database, { workspaceId, webhookId });
    const webhook = requireRow(webhooks);
    return { webhook, secretsAllowed, tag: formatEtag(new Date(webhook.updated_at)) };
  };
  /** Returns the changed webhook, with its secret if it was just set. The secret is returned only here. */
  const changed = async (scope: RequestScope, id: string, secret: string | undefined) => {
    const { webhook, tag } = await load(scope, id);
    return { body: { ...webhook, secret: secret ?? null }, tag };
  };
  const create = async (scope: RequestScope, formId: string | null, body: Static<typeof NewWebhook>) => {
    const { pauses_on_failure: pausesOnFailure, ...webhook } = body;
    const { workspaceId } = scope;
    const { id, secret } = await createWebhook(context, { workspaceId, formId, ...webhook, pausesOnFailure });
    return changed(scope, id, secret);
  };
  const change = async (scope: RequestScope, id: string, more: Omit<Change, 'workspaceId' | 'webhookId'>) => {
    const place = await requireWebhook(database, scope, id);
    const { secret } = await changeWebhook(context, { ...place, ...more });
    return changed(scope, id, secret);
  };

  return {
    listWebhooks: operation({
      summary: 'List webhooks',
      description:
        'Returns the webhooks of a form, newest first, with the status of their recent deliveries.',
      permission: 'webhooks:read',
      params: idParameter,
      reply: { status: 200, description: 'The webhooks.', schema: WebhookList },
      async run({ workspaceId, params }) {
        const { webhooks, secretsAllowed } = await readWebhooks(database, { workspaceId, formId: params.id });
        const body = {
          data: webhooks,
          secrets_allowed: secretsAllowed,
          ...rules,
          most_webhooks: mostWebhooks,
        };
        return { body };
      },
    }),

    createWebhook: operation({
      summary: 'Create webhook',
      description:
        'Creates a webhook, which sends the given events of the form to a receiver. Deliveries are signed if there is a secret. The secret is shown only once.',
      permission: 'webhooks:write',
      audit: { creates: 'getWebhook', part: 'webhook' },
      params: idParameter,
      body: NewWebhook,
      example: { body: example },
      errors: ['conflict'],
      reply: { status: 201, description: 'The webhook.', schema: WebhookWithSecret },
      async run({ params, body, ...scope }) {
        return create(scope, params.id, body);
      },
    }),

    listWorkspaceWebhooks: operation({
      summary: 'List webhooks of a workspace',
      description:
        'Returns all webhooks of the workspace, newest first: those of forms, and those of the workspace itself, whose `form_id` is null. A key limited to certain forms gets only the webhooks of those forms.',
      permission: 'webhooks:read',
      query: strictObject(listParameters),
      reply: { status: 200, description: 'A page of webhooks.', schema: WorkspaceWebhookList },
      async run({ query, ...scope }) {
        const page = readPageRequest(query, 'webhooks', scope.workspaceId);
        const { data, secretsAllowed, ends } = await listWorkspaceWebhooks(database, scope, page);
        const most = { secrets_allowed: secretsAllowed, ...rules, most_webhooks: mostWebhooks };
        return { body: { data, ...ends, ...most } };
      },
    }),

    createWorkspaceWebhook: operation({
      summary: 'Create webhook of a workspace',
      description:
        'Creates a webhook that sends the given events of all forms of the workspace, also of forms that are created later. It has no filter, because a filter names questions of one form. 403 for a key limited to certain forms.',
      permission: 'webhooks:write',
      audit: { creates: 'getWebhook', part: 'webhook' },
      body: NewWebhook,
      example: {
        body: { url: 'https://hooks.example.com/slack', events: ['submission.created'], format: 'slack' },
      },
      errors: ['conflict'],
      reply: { status: 201, description: 'The webhook.', schema: WebhookWithSecret },
      async run({ body, ...scope }) {
        requireWorkspaceAccess(scope.formIds);
        return create(scope, null, body);
      },
    }),

    previewWebhook: operation({
      summary: 'Preview webhook',
      description:
        'Returns the body that a webhook with this format would send for a submission: the given one, or the last completed one, or a sample. Nothing is sent or saved. Signatures in file links are hidden.',
      permission: 'webhooks:write',
      audit: { none: 'It changes nothing.' },
      body: WebhookPreviewRequest,
      example: { body: { format: 'slack' } },
      errors: ['conflict'],
      reply: { status: 200, description: 'The body.', schema: WebhookPreview },
      async run({ workspaceId, formIds, body }) {
        const { form_id: formId = null, event = 'submission.created', submission_id, ...more } = body;
        if (formId === null) requireWorkspaceAccess(formIds);
        else requireFormAccess(formIds, formId);
        const format = { template: null, url: '', ...more, kind: event, submissionId: submission_id };
        return { body: await previewBody(context, { workspaceId, formId }, format) };
      },
    }),

    getWebhook: operation({
      summary: 'Get webhook',
      permission: 'webhooks:read',
      params: idParameter,
      reply: { status: 200, description: 'The webhook.', schema: WebhookDetail },
      async run({ params, ...scope }) {
        const { webhook, secretsAllowed, tag } = await load(scope, params.id);
        return { body: { webhook, secrets_allowed: secretsAllowed, ...rules }, tag };
      },
    }),

    changeWebhook: operation({
      summary: 'Change webhook',
      description:
        'Changes a webhook. Omitted values are kept. Waiting deliveries go to the new URL, signed with the new secret.',
      permission: 'webhooks:write',
      audit: { changes: 'getWebhook', part: 'webhook' },
      params: idParameter,
      body: WebhookChange,
      example: { body: { active: false } },
      isConditional: true,
      reply: { status: 200, description: 'The webhook.', schema: WebhookWithSecret },
      async run({ params, body, unchanged, ...scope }) {
        const { pauses_on_failure: pausesOnFailure, ...more } = body;
        return change(scope, params.id, { ...more, pausesOnFailure, unchanged });
      },
    }),

    setWebhookSecret: operation({
      summary: 'Set webhook secret',
      description:
        'Sets a new secret, which is generated unless one is sent. The previous secret keeps signing for a day unless `overlap` is false.',
      permission: 'webhooks:write',
      audit: { changes: 'getWebhook', part: 'webhook' },
      params: idParameter,
      body: NewWebhookSecret,
      isBodyOptional: true,
      example: { body: {} },
      reply: {
        status: 200,
        description: 'The webhook with its secret, which is shown only once.',
        schema: WebhookWithSecret,
      },
      run: ({ params, body: { secret = 'generate', overlap }, ...scope }) =>
        change(scope, params.id, { secret, overlap }),
    }),

    deleteWebhook: operation({
      summary: 'Delete webhook',
      description:
        'Deletes a webhook with its delivery log. Waiting deliveries are not sent. To stop deliveries for a while, pause the webhook instead.',
      permission: 'webhooks:write',
      audit: { changes: 'getWebhook', part: 'webhook' },
      params: idParameter,
      isConditional: true,
      isDestructive: true,
      reply: { status: 204, description: 'The webhook is deleted.' },
      async run({ params, unchanged, ...scope }) {
        await deleteWebhook(context, { ...(await requireWebhook(database, scope, params.id)), unchanged });
      },
    }),

    getWebhookHealth: operation({
      summary: 'Get webhook health',
      description:
        'Returns delivery counts and latencies of the last 24 hours and 7 days. Test deliveries are not counted.',
      permission: 'webhooks:read',
      params: idParameter,
      reply: { status: 200, description: 'Counts and latencies.', schema: WebhookHealth },
      run: async ({ params, ...scope }) => ({
        body: await readHealth(database, await requireWebhook(database, scope, params.id)),
      }),
    }),

    testWebhook: operation({
      summary: 'Test webhook',
      description:
        'Sends a sample, or the last real submissions, to the webhook or to another URL. Tests are marked, are not retried, and are not counted as deliveries. Their results are in the delivery log.',
      permission: 'webhooks:write',
      audit: 'entry',
      params: idParameter,
      body: WebhookTestRequest,
      example: { body: { event: 'submission.created' } },
      errors: ['conflict'],
      reply: {
        status: 202,
        description: 'The ids of the test deliveries in the delivery log.',
        schema: SentWebhookTest,
      },
      async run({ params, body: { event: kind, url, submissions, form_id }, ...scope }) {
        const place = await requireWebhook(database, scope, params.id);
        const formId = await chooseForm(database, place, { formId: form_id });
        const ids = await testWebhook(context, { ...place, formId, kind, url, submissions });
        return { body: { id: ids.at(-1)!, ids } };
      },
    }),

    listDeliveries: operation({
      summary: 'List deliveries',
      description: 'Returns the delivery log of a webhook, newest first.',
      permission: 'webhooks:read',
      params: idParameter,
      query: DeliveryQuery,
      reply: { status: 200, description: 'A page of deliveries.', schema: DeliveryList },
      async run({ params, query, ...scope }) {
        const place = await requireWebhook(database, scope, params.id);
        const cut = readPageRequest(query, 'deliveries', params.id);
        return { body: await listDeliveries(database, place, { ...query, ...readTimeRange(query) }, cut) };
      },
    }),

    getDelivery: operation({
      summary: 'Get delivery',
      description:
        'Returns a delivery with every attempt: the request, the response, how long each step took, and why it is retried or not.',
      permission: 'webhooks:read',
      params: idParameter,
      reply: { status: 200, description: 'The delivery.', schema: DeliveryDetail },
      run: async ({ params, ...scope }) => ({ body: await reachDelivery(scope, params.id) }),
    }),

    retryDelivery: operation({
      summary: 'Retry delivery',
      description:
        'Sends a failed delivery again, immediately and only once, with its `delivery_id`. 409 if it has not failed.',
      permission: 'webhooks:write',
      audit: 'entry',
      params: idParameter,
      errors: ['conflict'],
      reply: { status: 202, description: 'The delivery, which is being sent.', schema: DeliveryDetail },
      async run({ params, ...scope }) {
        await reachDelivery(scope, params.id);
        await retryDelivery(context, { workspaceId: scope.workspaceId, deliveryId: params.id });
        return { body: await reachDelivery(scope, params.id) };
      },
    }),
  };

  async function reachDelivery(
    scope: RequestScope,
    deliveryId: string,
  ): Promise<Static<typeof DeliveryDetail>> {
    const delivery = await readDelivery(context, { workspaceId: scope.workspaceId, deliveryId });
    await requireWebhook(database, scope, delivery.webhook_id);
    return delivery;
  }
}
