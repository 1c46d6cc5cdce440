import { Type } from 'typebox';
import { type ErrorCode, errorCodes } from '#kit/errors.ts';
import { namedObject, nameSchema } from '#kit/pagination.ts';
import { orNull, strictObject, timestampSchema, uuidSchema } from '#kit/validation.ts';
import { VerificationRequest } from '#page/verification-route.ts';
import { Event, type EventKind, eventKinds } from '#webhooks/event.ts';
import { idempotencyKeyParameter, jsonContent } from './operations.ts';
import {
  commonHeaders,
  errorResponse,
  type OpenApi,
  type OpenApiParameter,
  referToHeaders,
  type SchemaRegistry,
} from './schemas.ts';

/**
 * The answers that a visitor sends (docs/rules.md 10). Which value is valid for an element depends on the
 * form.
 */
const sent = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Answers by element id. Omitted elements are unanswered; unknown ids are refused.',
});

const PublicSubmit = nameSchema(
  'PublicSubmit',
  strictObject({
    answers: sent,
    verifications: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: 'The `token` of each verified address, by the id of its email element.',
      }),
    ),
  }),
);

const points = {
  points: Type.Number({ description: 'The points of the answers.' }),
  of: Type.Number({ description: 'The most points of the questions that were asked.' }),
};

const QuizResult = nameSchema(
  'QuizResult',
  Type.Object(
    {
      scores: Type.Array(
        Type.Object({
          id: Type.String({ description: 'The ID of the element.' }),
          label: Type.String(),
          ...points,
          passed: Type.Optional(Type.Boolean({ description: 'Only present if the score has a pass mark.' })),
        }),
      ),
      answers: Type.Optional(
        Type.Array(
          Type.Object({
            id: Type.String({ description: 'The ID of the question.' }),
            label: Type.String(),
            right: Type.Boolean(),
            ...points,
            answer: Type.Array(Type.String(), { description: 'The answer as people read it.' }),
            correct: Type.Array(Type.String(), { description: 'The right answer as people read it.' }),
            explanation: Type.Optional(Type.String()),
          }),
          { description: 'Only present if `quiz_results` is `answers`.' },
        ),
      ),
    },
    {
      description: 'The result of a quiz. Not present if the form has no score, or `quiz_results` is `none`.',
    },
  ),
);

const Receipt = namedObject('Receipt', {
  id: Type.String({ format: 'uuid', description: 'The id of the submission.' }),
  form_id: uuidSchema,
  status: Type.Enum(['completed', 'waiting']),
  position: Type.Optional(
    Type.Integer({
      description: 'The position on the waiting list, counted from 1. Present if `status` is `waiting`.',
    }),
  ),
  created_at: timestampSchema,
  completed_at: timestampSchema,
  confirmation_message: orNull(Type.String()),
  next: Type.String({
    description:
      "Where the visitor goes next: the form's redirect URL, or the confirmation page of this service.",
  }),
  edit_url: Type.Optional(
    Type.String({
      format: 'uri',
      description: 'Where the visitor can change the answers. Only present if the setting `editing` is on.',
    }),
  ),
  cancel_url: Type.Optional(
    Type.String({
      format: 'uri',
      description:
        'Where the visitor can cancel the submission. Send POST to cancel it. Only present if `editing` or `waiting_list` is on.',
    }),
  ),
  quiz: Type.Optional(QuizResult),
  certificate_url: Type.Optional(
    Type.String({
      format: 'uri',
      description:
        'Where the visitor can download a certificate, for a day. Only present if the setting `certificate_name_element` is set and every pass mark is reached.',
    }),
  ),
  pdf_url: Type.Optional(
    Type.String({
      format: 'uri',
      description:
        'Where the visitor can download the answers as a PDF, for a day. Only present if the setting `offer_pdf` is on.',
    }),
  ),
});

const EmailVerification = namedObject('EmailVerification', {
  id: Type.Optional(Type.String({ description: 'The id of the code that was emailed.' })),
  token: Type.Optional(
    Type.String({ description: 'Proves that the address is verified. Submit it in `verifications`.' }),
  ),
  expires_at: timestampSchema,
});

/** The errors of the public operations. */
const refusals = [
  'bad_request',
  'unauthorized',
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

/** Answers to the form in the example of `createForm`. */
const submitExample = { answers: { message: 'The shuttle is stuck.' } };

/**
 * Writes the operations that need no API key: submitting a form at its public URL, and verifying an email
 * address for it (docs/rules.md 14). The HTML page is meant for browsers and is omitted.
 */
export function writePageOperations(schemas: SchemaRegistry): OpenApi['paths'] {
  const headers = referToHeaders(commonHeaders);
  const errors = Object.fromEntries(
    refusals.map((code) => [errorCodes[code].status, errorResponse(code, commonHeaders)]),
  );
  const shared = { tags: ['submissions'], security: [] };
  const id: OpenApiParameter = {
    name: 'id',
    in: 'path',
    required: true,
    description: 'The id of the form.',
    schema: { type: 'string', format: 'uuid' },
  };
  const verification = jsonContent(schemas.write(EmailVerification));
  return {
    '/f/{id}': {
      post: {
        ...shared,
        operationId: 'submitForm',
        summary: 'Submit a form',
        description:
          "Requires no API key. Send the request here or to the `public_url` of a published form, from any site that the form's `embed_origins` setting allows. URL parameters become the reference data of the submission. Send files as `multipart/form-data`, with `Accept: application/json` for a JSON response; name the other fields as in the HTML form. Upload large files first, by the tus protocol 1.0.0 at `/f/{id}/files`: `Upload-Metadata` has `field` (the HTML name of the question), `filename` and `filetype`. Then send the last part of the URL of the upload as `_file[<field>]`.",
        parameters: [id, idempotencyKeyParameter],
        requestBody: {
          required: true,
          content: {
            ...jsonContent(schemas.write(PublicSubmit), submitExample),
            'multipart/form-data': {
              schema: {
                type: 'object',
                description: 'Answers by element id, as an HTML form sends them.',
                additionalProperties: true,
              },
              example: submitExample.answers,
            },
          },
        },
        responses: {
          201: {
            description:
              'The submission was accepted. Each `Idempotency-Key` creates at most one submission.',
            headers,
            content: jsonContent(schemas.write(Receipt)),
          },
          ...errors,
        },
      },
    },
    '/f/{id}/verifications': {
      post: {
        ...shared,
        operationId: 'verifyEmail',
        summary: 'Verify an email address',
        description:
          'Requires no API key. For an email element with `verify`. Send `element` and `email` to email a six-digit code to the address. It is valid for ten minutes and five tries. Then send the `id` of the code and the `code` as well, and submit the returned `token` with the answers. 409 if the service cannot send emails.',
        parameters: [id],
        requestBody: {
          required: true,
          content: jsonContent(schemas.write(VerificationRequest), {
            element: 'email',
            email: 'ada@example.org',
          }),
        },
        responses: {
          200: { description: 'The address is verified: `token`.', headers, content: verification },
          201: { description: 'The code was emailed: `id`.', headers, content: verification },
          ...errors,
        },
      },
    },
  };
}

const eventSummaries: Readonly<Record<EventKind, string>> = {
  'submission.created': 'A submission was completed, or joined the waiting list',
  'submission.updated': 'A completed submission was changed',
  'submission.deleted': 'A completed submission was deleted',
};

const header = (name: string, description: string, schema: object, required = false): OpenApiParameter => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string', ...schema },
});

const signed = 'Only present if the webhook has a secret.';
const signature = { pattern: '^sha256=[0-9a-f]{64}$' };

/**
 * The headers of the specification ("Request headers") and of Standard Webhooks 1.0
 * (webhooks/signature.ts).
 */
const headersOf = (kind: EventKind): OpenApiParameter[] => [
  header('X-Service-Event', 'The event.', { const: kind }, true),
  header(
    'X-Service-Delivery-ID',
    'The id of the delivery. Retries repeat it, so skip deliveries that you have already seen.',
    { format: 'uuid' },
    true,
  ),
  header('X-Service-Test', 'Only present in test requests.', { const: 'true' }),
  header(
    'X-Service-Signature',
    `The HMAC-SHA256 of the raw body in hexadecimal, keyed with the secret. ${signed}`,
    signature,
  ),
  header(
    'X-Service-Signature-Previous',
    'The signature with the previous secret. Present for one day after the secret was changed.',
    signature,
  ),
  header('webhook-id', `The id of the delivery, for Standard Webhooks libraries. ${signed}`, {
    format: 'uuid',
  }),
  header('webhook-timestamp', `The Unix time of this attempt in seconds. ${signed}`, { pattern: '^\\d+$' }),
  header('webhook-signature', `The signatures of Standard Webhooks 1.0. ${signed}`, { pattern: '^v1,' }),
];

/** Writes the webhooks of the document: the three events that receivers get. */
export function writeWebhooks(schemas: SchemaRegistry): OpenApi['webhooks'] {
  const write = (kind: EventKind): OpenApi['webhooks'][string]['post'] => ({
    operationId: kind.replaceAll(/\.(\w)/g, (_match, letter: string) => letter.toUpperCase()),
    summary: eventSummaries[kind],
    description:
      'Sent to each active webhook of the form or its workspace that subscribes to this event and whose filter matches. This is the body of the format `standard`. The receiver must respond with 2xx before the timeout; otherwise the delivery is retried on schedule.',
    tags: ['webhooks'],
    security: [],
    parameters: headersOf(kind),
    requestBody: { required: true, content: jsonContent(schemas.write(Event)) },
    responses: {
      '2XX': { description: 'The delivery succeeded.' },
      '3XX': {
        description: 'The delivery failed. Redirects are not followed, and the delivery is not retried.',
      },
      '4XX': {
        description: 'The delivery failed. It is retried on schedule only if the response was 408 or 429.',
      },
      '5XX': { description: 'The delivery failed. It is retried on schedule.' },
    },
  });
  return Object.fromEntries(eventKinds.map((kind) => [kind, { post: write(kind) }]));
}
