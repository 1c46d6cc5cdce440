import { Event, type EventKind, eventKinds } from '#webhooks/event.ts';
import { json } from './operations.ts';
import type { Schemas } from './schemas.ts';
import type { OpenApi, Parameter } from './types.ts';

const happened: Readonly<Record<EventKind, string>> = {
  'submission.created': 'A submission was completed',
  'submission.updated': 'A completed submission was changed',
  'submission.deleted': 'A submission that had been completed was deleted',
};

const header = (name: string, description: string, schema: object, required = false): Parameter => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string', ...schema },
});

const signed = 'Only when the webhook has a secret.';
const signature = { pattern: '^sha256=[0-9a-f]{64}$' };

/** Specification, "Request headers", and those of Standard Webhooks 1.0 (webhooks/sending/headers.ts). */
const headersOf = (kind: EventKind): Parameter[] => [
  header('X-Service-Event', 'What happened.', { const: kind }, true),
  header(
    'X-Service-Delivery-ID',
    'The same in every repetition: what was seen before is skipped.',
    { format: 'uuid' },
    true,
  ),
  header('X-Service-Test', 'There only when it is a test.', { const: 'true' }),
  header(
    'X-Service-Signature',
    `The HMAC-SHA256 of the raw body, keyed with the secret, in hexadecimal. ${signed}`,
    signature,
  ),
  header(
    'X-Service-Signature-Previous',
    'The same with the secret of before, for a day after it was changed.',
    signature,
  ),
  header('webhook-id', `The delivery's id, for libraries of Standard Webhooks. ${signed}`, {
    format: 'uuid',
  }),
  header('webhook-timestamp', `When this attempt began, as a Unix second. ${signed}`, { pattern: '^\\d+$' }),
  header('webhook-signature', `The signatures of Standard Webhooks 1.0. ${signed}`, { pattern: '^v1,' }),
];

/** What the service sends to receivers: the three events. */
export function writeWebhooks(schemas: Schemas): OpenApi['webhooks'] {
  const write = (kind: EventKind): OpenApi['webhooks'][string]['post'] => ({
    operationId: kind.replaceAll(/\.(\w)/g, (_match, letter: string) => letter.toUpperCase()),
    summary: happened[kind],
    description:
      'Sent to each active webhook of the form that names this event and whose filter it meets. The receiver answers 2xx within the time limit; else the delivery is tried again on schedule.',
    tags: ['webhooks'],
    security: [],
    parameters: headersOf(kind),
    requestBody: { required: true, content: json(schemas.write(Event)) },
    responses: {
      '2XX': { description: 'It arrived.' },
      '3XX': { description: 'A failure: redirects are not followed, and it is not tried again.' },
      '4XX': { description: 'A failure. After 408 and 429 it is tried again on schedule.' },
      '5XX': { description: 'A failure, tried again on schedule.' },
    },
  });
  return Object.fromEntries(eventKinds.map((kind) => [kind, { post: write(kind) }]));
}
