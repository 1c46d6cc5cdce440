import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { inTurns, turnSize } from '../concurrency.ts';
import { isKnown } from '../conditional.ts';
import { type JsonList, jsonType, partsOf, textOf } from '../http.ts';
import type { Answer } from '../operation.ts';
import { packAnswer, packStream } from './packing.ts';

const lengthOf = (text: string): number => text.length;

/** Whether a list takes longer to write than others may wait. */
function isLong(json: string | JsonList<unknown> | undefined): json is JsonList<unknown> {
  if (typeof json !== 'object') return false;
  let length = 0;
  for (const item of json.items) length += item.length;
  return length > turnSize;
}

/** A long list as it is sent, item by item: others are served in between. */
function listInTurns(request: FastifyRequest, reply: FastifyReply, list: JsonList<unknown>): Readable {
  // As bytes: a stream of texts counts its backlog in texts, however long they are.
  const parts = Readable.from(request.method === 'HEAD' ? [] : bytesOf(list), { objectMode: false });
  return packStream(request, reply, parts);
}

async function* bytesOf(list: JsonList<unknown>): AsyncGenerator<Buffer> {
  for await (const part of inTurns(partsOf(list), lengthOf)) yield Buffer.from(part);
}

/**
 * Writes the head of what an operation answers: packed where the caller takes that, 304 where it has it.
 * @returns what follows it, for the route's handler to return; of HEAD nothing.
 */
export function payloadOf(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers, tag, isReplayed, stream, json, body }: Answer,
): string | Buffer | Readable | Promise<Buffer> | undefined {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  // First, as it may refuse: a refusal has no header of what was read.
  const isHeld = isRead && tag !== undefined && isKnown(request.headers['if-none-match'], tag);
  reply.code(isHeld ? 304 : status);
  if (headers) reply.headers(headers);
  if (isReplayed) reply.header('Idempotency-Replayed', 'true');
  if (tag !== undefined) reply.header('ETag', tag);
  if (isHeld) return undefined;
  if (stream) {
    // Of a file only the head: what would write it is told that nobody reads.
    if (request.method === 'HEAD') stream.destroy();
    return request.method === 'HEAD' ? Readable.from([]) : stream;
  }
  const content = isLong(json) ? json : textOf({ json, body });
  if (content === undefined) return undefined;
  reply.type(jsonType);
  return typeof content === 'string'
    ? packAnswer(request, reply, content)
    : listInTurns(request, reply, content);
}
