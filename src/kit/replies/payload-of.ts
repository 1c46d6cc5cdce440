import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { inTurns, turnSize } from '../concurrency.ts';
import { isKnown } from '../conditional.ts';
import { type JsonList, jsonType, partsOf, textOf } from '../http.ts';
import type { Answer } from '../operation.ts';
import { packAnswer, packStream } from './packing.ts';

const lengthOf = (text: string): number => text.length;

/** Returns whether writing a list would block other requests for too long. */
function isLong(json: string | JsonList<unknown> | undefined): json is JsonList<unknown> {
  if (typeof json !== 'object') return false;
  let length = 0;
  for (const item of json.items) length += item.length;
  return length > turnSize;
}

/** Streams a long list item by item, so that other requests are served in between. */
function listInTurns(request: FastifyRequest, reply: FastifyReply, list: JsonList<unknown>): Readable {
  // As bytes, because a stream of strings counts its backlog in strings, regardless of their length.
  const parts = Readable.from(request.method === 'HEAD' ? [] : bytesOf(list), { objectMode: false });
  return packStream(request, reply, parts);
}

async function* bytesOf(list: JsonList<unknown>): AsyncGenerator<Buffer> {
  for await (const part of inTurns(partsOf(list), lengthOf)) yield Buffer.from(part);
}

/**
 * Writes the headers of an operation's response: compressed if the caller accepts it, 304 if the caller
 * already has it.
 * @returns the payload for the route handler to return; none for HEAD.
 */
export function payloadOf(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers, tag, isReplayed, stream, json, body }: Answer,
): string | Buffer | Readable | Promise<Buffer> | undefined {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  // First, because it may throw, and an error response must not have these headers.
  const isHeld = isRead && tag !== undefined && isKnown(request.headers['if-none-match'], tag);
  reply.code(isHeld ? 304 : status);
  if (headers) reply.headers(headers);
  if (isReplayed) reply.header('Idempotency-Replayed', 'true');
  if (tag !== undefined) reply.header('ETag', tag);
  if (isHeld) return undefined;
  if (stream) {
    // HEAD sends no file. Destroying the stream stops its source.
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
