import { Type } from 'typebox';
import { problemCodes } from '#ast/problem-codes.ts';
import { type ErrorCode, errorCodes } from '#kit/errors.ts';
import { named } from '#kit/pagination.ts';
import type { Header, Reference, Response } from './schemas.ts';

const ErrorItem = named(
  'ErrorItem',
  Type.Object({
    message: Type.String({ description: 'What is wrong, for people.' }),
    code: Type.Enum(Object.keys(problemCodes), {
      description: `What is wrong, for programs. ${Object.entries(problemCodes)
        .map(([code, meaning]) => `\`${code}\`: ${meaning}`)
        .join(' ')}`,
    }),
    field: Type.Optional(Type.String({ description: 'The property, question or setting that it is about.' })),
    path: Type.Optional(
      Type.Array(Type.Integer(), {
        description:
          'Where in the structure of a form: `[step, element, child]`, from 0; empty for the form.',
      }),
    ),
  }),
);

/** The body of every error answer. Specification, "Errors". */
export const ErrorSchema = named(
  'Error',
  Type.Object(
    {
      error: Type.Enum(Object.keys(errorCodes), { description: 'What kind of error: for programs.' }),
      message: Type.String({ description: 'What is wrong: for people.' }),
      errors: Type.Optional(
        Type.Array(ErrorItem, { description: 'Everything that is wrong with the data.' }),
      ),
      retry_after: Type.Optional(Type.Integer({ description: 'Seconds after which to try again.' })),
    },
    { description: 'Every error answer.' },
  ),
);

const header = (type: 'string' | 'integer', description: string, required = true): Header => ({
  description,
  required,
  schema: { type },
});

/** Every header that an answer may carry, beside those of HTTP itself. */
export const headers = {
  'X-Request-Id': header('string', 'The id of the request, under which the log of the service has it.'),
  'X-RateLimit-Limit': header('integer', 'Requests per minute.'),
  'X-RateLimit-Remaining': header('integer', 'Requests left in the current window.'),
  'X-RateLimit-Reset': header('integer', 'Unix second at which the limit resets.'),
  'Retry-After': header('integer', 'Seconds after which to try again.'),
  'WWW-Authenticate': header('string', 'How to say who asks: `Bearer`.'),
  Allow: header('string', 'The methods that the path answers.'),
  ETag: header('string', 'Stands for the thing as it is now, for `If-Match` and `If-None-Match`.'),
  'Idempotency-Replayed': header(
    'string',
    '`true` when the request was answered before under its `Idempotency-Key`, and this is that answer.',
    false,
  ),
} as const satisfies Record<string, Header>;

export type HeaderName = keyof typeof headers;

/** What every answer of the API carries. */
export const always = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
] as const satisfies readonly HeaderName[];

export const referToHeaders = (names: readonly HeaderName[]): Record<string, Reference> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** What comes with some errors only. */
const more: Readonly<Partial<Record<ErrorCode, { headers?: readonly HeaderName[]; example?: object }>>> = {
  unauthorized: { headers: ['WWW-Authenticate'] },
  method_not_allowed: { headers: ['Allow'] },
  rate_limit_exceeded: { headers: ['Retry-After'], example: { retry_after: 12 } },
  service_unavailable: { headers: ['Retry-After'], example: { retry_after: 1 } },
  validation_error: {
    example: {
      errors: [{ field: 'email', message: '"email" must be an email address.', code: 'invalid_format' }],
    },
  },
};

/** An error answer that carries these headers, and those of its kind. */
export function errorResponse(code: ErrorCode, common: readonly HeaderName[]): Response {
  const { message } = errorCodes[code];
  return {
    description: message,
    headers: referToHeaders([...common, ...(more[code]?.headers ?? [])]),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        example: { error: code, message, ...more[code]?.example },
      },
    },
  };
}

/** `not_found` is NotFound. */
const componentOf = (code: ErrorCode): string =>
  code.replaceAll(/(?:^|_)(\w)/g, (_match, letter: string) => letter.toUpperCase());

/** The first code of each status, in the order of the table. */
const byStatus = new Map(
  (Object.keys(errorCodes) as ErrorCode[])
    .toReversed()
    .map((code) => [errorCodes[code].status as number, code]),
);

/** A reading that the caller has already. */
const notModified = {
  description: 'It is as you read it before.',
  headers: referToHeaders([...always, 'ETag']),
};

/** Every answer that operations share. */
export const responses: Readonly<Record<string, Response>> = {
  ...Object.fromEntries(
    [...byStatus.values()].map((code) => [componentOf(code), errorResponse(code, always)]),
  ),
  NotModified: notModified,
};

/** The shared answer of a status. */
export const referToResponse = (status: number): Reference => ({
  $ref: `#/components/responses/${status === 304 ? 'NotModified' : componentOf(byStatus.get(status)!)}`,
});
