import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { packStream } from './packing.ts';
import { inTurns, turnSize } from './turns.ts';
import { type JsonList, partsOf } from './wire.ts';

const lengthOf = (text: string): number => text.length;

/** Whether a list takes longer to write than others may wait. */
export function isLong(json: string | JsonList<unknown> | undefined): json is JsonList<unknown> {
  if (typeof json !== 'object') return false;
  let length = 0;
  for (const item of json.items) length += item.length;
  return length > turnSize;
}

/** A long list as it is sent, item by item: others are served in between. */
export function listInTurns(request: FastifyRequest, reply: FastifyReply, list: JsonList<unknown>): Readable {
  // As bytes: a stream of texts counts its backlog in texts, however long they are.
  const parts = Readable.from(request.method === 'HEAD' ? [] : bytesOf(list), { objectMode: false });
  return packStream(request, reply, parts);
}

async function* bytesOf(list: JsonList<unknown>): AsyncGenerator<Buffer> {
  for await (const part of inTurns(partsOf(list), lengthOf)) yield Buffer.from(part);
}
