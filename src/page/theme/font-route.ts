import { readFile } from 'node:fs/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '#kit/errors.ts';
import { refuseOtherMethods, type Server } from '#kit/http.ts';
import { type Face, type FaceName, faces, fontAddress, type Subset } from './fonts.ts';

/** Every file that is served, by its address, with the place where npm put it. */
const sources: ReadonlyMap<string, string> = new Map(
  (Object.keys(faces) as FaceName[]).flatMap((name) => {
    const { source, files }: Face = faces[name];
    return (Object.keys(files) as Subset[]).map((subset) => [
      fontAddress(name, subset)!,
      `@fontsource-variable/${source}/files/${source}-${subset}-wght-normal.woff2`,
    ]);
  }),
);

/**
 * Serves the faces of themes at `/f/fonts/<face>-<subset>-<hash>.woff2`, for ever the same under that name. A file is
 * read when it is first asked for; they are 10 to 85 KB, some 700 KB together.
 */
export function fontRoutes(server: Server): void {
  const read = new Map<string, Buffer>();
  server.get('/f/fonts/:name', async (request: FastifyRequest<{ Params: { name: string } }>, reply) => {
    const source = sources.get(`/f/fonts/${request.params.name}`);
    if (source === undefined) throw new ApiError('not_found', 'There is no such font.');
    const bytes = read.get(source) ?? (await readFile(new URL(import.meta.resolve(source))));
    read.set(source, bytes);
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
