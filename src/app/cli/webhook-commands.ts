import { eventKinds } from '#webhooks/event.ts';
import type { ReplyOf } from '../operations.ts';
import { call } from './api.ts';
import { apiCommand, flag, optional, required } from './command.ts';
import { id, json, list, text, UsageError } from './values.ts';

/** So many lines of a delivery log, as ever; `webhooks deliveries --all` has them all. */
const mostDeliveries = 1_000;

const shownOfDelivery = [
  'id',
  'event',
  'status',
  'created_at',
  'attempts',
  'response_status',
  'response_ms',
  'next_attempt_at',
] as const;

/** Names of before every operation was a command; scripts depend on them and on what they answer (docs/rules.md 18). */
export const webhookCommands = [
  apiCommand({
    name: 'webhook create',
    summary: `Sends events of a form (${eventKinds.join(', ')}) to a receiver, signed when there is a secret.`,
    options: {
      form: required(id),
      url: required(text('<https url>')),
      events: required(list),
      secret: optional(text('<text>')),
      'generate-secret': flag,
      filter: optional(json),
      'no-pause-on-failure': flag,
    },
    note: 'A secret is shown only this once.',
    async run({ api }, { form, url, events, 'generate-secret': generate, filter, ...more }) {
      if (more.secret !== undefined && generate)
        throw new UsageError('--secret and --generate-secret exclude each other.');
      const given = generate ? 'generate' : more.secret;
      const { id, secret } = await call(api, 'createWebhook', {
        params: { id: form },
        body: {
          url,
          events,
          ...(given !== undefined && { secret: given }),
          ...(filter !== undefined && { filter }),
          pauses_on_failure: !more['no-pause-on-failure'],
        },
      });
      return secret === null ? { id } : { id, secret };
    },
  }),
  apiCommand({
    name: 'webhook list',
    summary: 'Lists the webhooks of a form.',
    options: { form: required(id) },
    async run({ api }, { form }) {
      const { data } = await call(api, 'listWebhooks', { params: { id: form } });
      return { data };
    },
  }),
  apiCommand({
    name: 'webhook delete',
    summary: 'Removes a webhook with its delivery log; what waits to be sent is not sent. It does not ask.',
    parameters: { id },
    async run({ api }, { id }) {
      await call(api, 'deleteWebhook', { params: { id } });
      return { id };
    },
  }),
  apiCommand({
    name: 'delivery list',
    summary: 'Lists the deliveries of a webhook, newest first.',
    options: { webhook: required(id) },
    async run({ api }, { webhook }) {
      const data: object[] = [];
      let cursor: string | null | undefined = '*';
      while (cursor && data.length < mostDeliveries) {
        const query: { cursor: string; per_page: number } = { cursor, per_page: 100 };
        const found: ReplyOf<'listDeliveries'> = await call(api, 'listDeliveries', {
          params: { id: webhook },
          query,
        });
        data.push(
          ...found.data.map((line) => Object.fromEntries(shownOfDelivery.map((name) => [name, line[name]]))),
        );
        cursor = found.next_cursor;
      }
      return { data };
    },
  }),
  apiCommand({
    name: 'delivery retry',
    summary: 'Sends a failed delivery again, at once; a running server does it.',
    parameters: { id },
    async run({ api }, { id }) {
      await call(api, 'retryDelivery', { params: { id } });
      return { id };
    },
  }),
];
