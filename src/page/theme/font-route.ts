import { readFile } from 'node:fs/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '#kit/errors.ts';
import { refuseOtherMethods, type Server } from '#kit/http.ts';
import { fontFiles } from './fonts.ts';

const names: ReadonlySet<string> = new Set(fontFiles().map(({ fileName }) => fileName));

/**
 * Serves the faces of themes at `/f/fonts/<face>-<subset>-<hash>.woff2`, for ever the same under that name, as they were
 * built into dist (web/page/vite.config.ts). A file is read when it is first asked for; they are 10 to 85 KB, some
 * 700 KB together.
 */
export function fontRoutes(server: Server): void {
  const read = new Map<string, Buffer>();
  server.get('/f/fonts/:name', async (request: FastifyRequest<{ Params: { name: string } }>, reply) => {
    const { name } = request.params;
    if (!names.has(name)) throw new ApiError('not_found', 'There is no such font.');
    const bytes =
      read.get(name) ?? (await readFile(new URL(`../../../dist/page/fonts/${name}`, import.meta.url)));
    read.set(name, bytes);
    return sendFont(reply, bytes);
  });
  refuseOtherMethods(server, '/f/fonts/:name', ['GET']);
}

function sendFont(reply: FastifyReply, bytes: Buffer): FastifyReply {
  return reply
    .headers({
      'Cache-Control': 'public, max-age=31536000, immutable',
      'Cross-Origin-Resource-Policy': 'same-origin',
    })
    .type('font/woff2')
    .send(bytes);
}
