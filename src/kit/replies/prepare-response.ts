import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { iterateWithYields, yieldAfterSize } from '../concurrency.ts';
import { matchesIfNoneMatch } from '../conditional.ts';
import { type JsonList, jsonListChunks, jsonType, replyText } from '../http.ts';
import type { OperationResponse } from '../operation.ts';
import { compressResponse, compressStream } from './compression.ts';

const lengthOf = (text: string): number => text.length;

/** Returns whether writing a list would block other requests for too long. */
function isLong(json: string | JsonList<unknown> | undefined): json is JsonList<unknown> {
  if (typeof json !== 'object') return false;
  let length = 0;
  for (const item of json.items) length += item.length;
  return length > yieldAfterSize;
}

/** Streams a long list item by item, so that other requests are served in between. */
function streamJsonList(request: FastifyRequest, reply: FastifyReply, list: JsonList<unknown>): Readable {
  // As bytes, because a stream of strings counts its backlog in strings, regardless of their length.
  const parts = Readable.from(request.method === 'HEAD' ? [] : bytesOf(list), { objectMode: false });
  return compressStream(request, reply, parts);
}

async function* bytesOf(list: JsonList<unknown>): AsyncGenerator<Buffer> {
  for await (const part of iterateWithYields(jsonListChunks(list), lengthOf)) yield Buffer.from(part);
}

/**
 * Writes the headers of an operation's response: compressed if the caller accepts it, 304 if the caller
 * already has it.
 * @returns the payload for the route handler to return; none for HEAD.
 */
export function prepareResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers, tag, isReplayed, stream, json, body }: OperationResponse,
): string | Buffer | Readable | Promise<Buffer> | undefined {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  // First, because it may throw, and an error response must not have these headers.
  const isHeld = isRead && tag !== undefined && matchesIfNoneMatch(request.headers['if-none-match'], tag);
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
  const content = isLong(json) ? json : replyText({ json, body });
  if (content === undefined) return undefined;
  reply.type(jsonType);
  return typeof content === 'string'
    ? compressResponse(request, reply, content)
    : streamJsonList(request, reply, content);
}
