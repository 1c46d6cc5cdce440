import { Type } from 'typebox';
import { type ErrorCode, errorCodes } from '#kit/errors.ts';
import { named } from '#kit/pagination.ts';
import { idempotencyKey, json } from './operations.ts';
import { always, errorResponse, referToHeaders } from './responses.ts';
import type { Schemas } from './schemas.ts';
import type { OpenApi } from './types.ts';

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
