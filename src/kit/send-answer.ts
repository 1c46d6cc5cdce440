import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isKnown } from './conditional.ts';
import { jsonType } from './http.ts';
import type { Answer } from './operation.ts';
import { packAnswer } from './packing.ts';

/** Writes what an operation answers: packed where the caller takes that, 304 where it has it, of HEAD only the head. */
export async function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
): Promise<FastifyReply> {
  reply.code(answer.status).headers(answer.headers ?? {});
  if (answer.isReplayed) reply.header('Idempotency-Replayed', 'true');
  if (answer.tag !== undefined) {
    reply.header('ETag', answer.tag);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (isRead && isKnown(request.headers['if-none-match'], answer.tag)) return reply.code(304).send();
  }
  if (answer.stream) {
    // Of a file only the head: what would write it is told that nobody reads.
    if (request.method === 'HEAD') answer.stream.destroy();
    return reply.send(request.method === 'HEAD' ? Readable.from([]) : answer.stream);
  }
  const text = answer.json ?? (answer.body === undefined ? undefined : JSON.stringify(answer.body));
  if (text === undefined) return reply.send();
  return reply.type(jsonType).send(await packAnswer(request, reply, text));
}
