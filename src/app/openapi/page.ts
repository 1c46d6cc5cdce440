import { Type } from 'typebox';
import { type ErrorCode, errorCodes } from '#kit/errors.ts';
import { named } from '#kit/pagination.ts';
import { Event, type EventKind, eventKinds } from '#webhooks/event.ts';
import { idempotencyKey, json } from './operations.ts';
import {
  always,
  errorResponse,
  type OpenApi,
  type Parameter,
  referToHeaders,
  type Schemas,
} from './schemas.ts';

/** An answer that a visitor sends (docs/rules.md 10); what fits which question is the form's own matter. */
const sent = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Element id -> answer. What is left out is not answered; an id that is not known is refused.',
});

const PublicSubmit = named('PublicSubmit', Type.Object({ answers: sent }, { additionalProperties: false }));

const Receipt = named(
  'Receipt',
  Type.Object({
    id: Type.String({ format: 'uuid', description: 'The id of the submission.' }),
    form_id: Type.String({ format: 'uuid' }),
    status: Type.Enum(['completed']),
    created_at: Type.String({ format: 'date-time' }),
    completed_at: Type.String({ format: 'date-time' }),
    confirmation_message: Type.Union([Type.String(), Type.Null()]),
    next: Type.String({
      description:
        'Where the visitor goes next: the address that the form names, or the confirmation on this service.',
    }),
    edit_url: Type.Optional(
      Type.String({
        format: 'uri',
        description: 'Where the visitor can change the answers; there if the setting `editing` is on.',
      }),
    ),
  }),
);

/** What sending a form can be refused by. */
const refusals = [
  'bad_request',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'conflict',
  'gone',
  'payload_too_large',
  'unsupported_media_type',
  'validation_error',
  'rate_limit_exceeded',
  'server_error',
  'service_unavailable',
] as const satisfies readonly ErrorCode[];

/** Sends what the example of `createForm` asks for. */
const submitExample = { answers: { message: 'The shuttle is stuck.' } };

/** What anybody may call: a form's own address (docs/rules.md 14). Its page in HTML is for browsers, and is left out. */
export function pageOperations(schemas: Schemas): OpenApi['paths'] {
  const headers = always;
  return {
    '/f/{id}': {
      post: {
        operationId: 'submitForm',
        summary: 'Submit a form',
        description:
          'Without a key, here or at the `public_url` of a published form, from anywhere that its setting `embed_origins` allows. Parameters of the address become the reference of the submission. Files take `multipart/form-data`, with `Accept: application/json` for an answer in JSON; other fields are those of an HTML form.',
        tags: ['submissions'],
        security: [],
        parameters: [
          {
            name: 'id',
            in: 'path',
            required: true,
            description: 'The id of the form.',
            schema: { type: 'string', format: 'uuid' },
          },
          idempotencyKey,
        ],
        requestBody: {
          required: true,
          content: {
            ...json(schemas.write(PublicSubmit), submitExample),
            'multipart/form-data': {
              schema: {
                type: 'object',
                description: 'Element id -> answer, as an HTML form sends it.',
                additionalProperties: true,
              },
              example: submitExample.answers,
            },
          },
        },
        responses: {
          201: {
            description: 'It was taken, once for each `Idempotency-Key`.',
            headers: referToHeaders(headers),
            content: json(schemas.write(Receipt)),
          },
          ...Object.fromEntries(
            refusals.map((code) => [errorCodes[code].status, errorResponse(code, headers)]),
          ),
        },
      },
    },
  };
}

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
