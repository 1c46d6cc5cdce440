import type { FastifyReply, FastifyRequest } from 'fastify';
import { isRecord } from '#ast/json.ts';
import { ApiError } from '#kit/errors.ts';
import { keyOfHeader } from '#submissions/keys.ts';
import { tellAnswers, type Told } from '../told-answers.ts';
import { withHiddenAnswers } from '../visit/address.ts';
import type { Visit } from '../visit/visit.ts';
import { accept } from './accept.ts';
import type { AnsweringContext } from './answering.ts';
import { editAddress, nextAddress, type Taken } from './next-address.ts';

export const isJsonBody = (request: FastifyRequest): boolean =>
  /^application\/json\b/i.test(request.headers['content-type'] ?? '');

/** A client that asks for JSON, or sent it, is answered in JSON, and so is every client of the API's own address. */
export const wantsJson = (request: FastifyRequest): boolean =>
  request.originalUrl.startsWith('/api/') ||
  isJsonBody(request) ||
  /\bapplication\/json\b/i.test(request.headers.accept ?? '');

/** The key of a client that named its request: the header `Idempotency-Key`. */
export function keyInHeader(visit: Visit, request: FastifyRequest): string | undefined {
  const given = request.headers['idempotency-key'];
  return given === undefined ? undefined : keyOfHeader(visit.live.id, String(given));
}

/**
 * Takes answers that were sent as a JSON body (docs/rules.md 14).
 * @throws ApiError validation_error, with the `field` of each problem, and whatever submitting throws.
 */
export async function answerJson(
  context: AnsweringContext,
  visit: Visit,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { live, address } = visit;
  const answers = answersOf(request.body);
  const raw = isRecord(answers) ? withHiddenAnswers(live.form, address, visit.context, answers) : answers;
  const sent = { raw, files: new Map() };
  const result = await accept(context, visit, request, {
    ...sent,
    controls: [],
    key: keyInHeader(visit, request),
  });
  if (!result.ok) throw new ApiError('validation_error', undefined, { errors: [...result.errors] });
  return sendResult(context, visit, result, reply, tellAnswers(context.vault, visit, sent));
}

function answersOf(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('answers' in body)) {
    throw new ApiError('validation_error', 'Send {"answers": {"<element id>": <answer>}}.', {
      errors: [{ field: 'answers', message: '"answers" is required.', code: 'required' }],
    });
  }
  const unknown = Object.keys(body)
    .find((key) => key !== 'answers')
    ?.slice(0, 80);
  if (unknown !== undefined) {
    const message = `"${unknown}" is not known here. Known: answers.`;
    throw new ApiError('validation_error', undefined, {
      errors: [{ field: unknown, message, code: 'unknown_field' }],
    });
  }
  return body.answers;
}

/** 201 with the submission, also when it was taken before under the same key. */
export function sendResult(
  { config: { publicUrl } }: Pick<AnsweringContext, 'config'>,
  visit: Visit,
  result: Taken,
  reply: FastifyReply,
  told: Told,
): FastifyReply {
  const { live } = visit;
  const { id, completedAt } = result.submission;
  const edit = editAddress(visit, result);
  return reply.code(201).send({
    id,
    form_id: live.id,
    status: 'completed',
    created_at: completedAt,
    completed_at: completedAt,
    confirmation_message: told.message ?? null,
    next: nextAddress(visit, result, told),
    ...(edit !== undefined && { edit_url: `${publicUrl}${edit}` }),
  });
}
