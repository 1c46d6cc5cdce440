import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ImageServices, openImage } from '#forms/images/images.ts';
import { uuidPattern } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import { refuseOtherMethods, type Server } from '#kit/http.ts';
import { compressFile, computeOnce, sendCompressedFile } from '#kit/replies/compression.ts';
import { fontFiles } from './fonts.ts';

const built = new URL('../../../dist/page/embed.js', import.meta.url);

/**
 * Serves the embed script at `/embed.js`. Its URL never changes, so browsers cache it for only an hour. It is
 * built with the page's script (web/page/vite.config.ts).
 */
export async function embedRoute(server: Server): Promise<void> {
  const script = computeOnce(async () => compressFile(await readFile(built)));
  server.get('/embed.js', async (request, reply) => {
    const packed = await script();
    reply
      .headers({
        'Cache-Control': 'public, max-age=3600',
        // Other sites load it, including cross-origin isolated ones.
        'Cross-Origin-Resource-Policy': 'cross-origin',
      })
      .type('text/javascript; charset=utf-8');
    return sendCompressedFile(request, reply, packed);
  });
  refuseOtherMethods(server, '/embed.js', ['GET']);
}

const names: ReadonlySet<string> = new Set(fontFiles().map(({ fileName }) => fileName));

/**
 * Serves the fonts at `/f/fonts/<face>-<subset>-<hash>.woff2`, cached forever, from the build in dist
 * (web/page/vite.config.ts). Each file is read on its first request. The files have 10 to 85 KB each, about
 * 700 KB in total.
 */
export function fontRoutes(server: Server): void {
  const cache = new Map<string, Buffer>();
  server.get('/f/fonts/:name', async (request: FastifyRequest<{ Params: { name: string } }>, reply) => {
    const { name } = request.params;
    if (!names.has(name)) throw new ApiError('not_found', 'This font does not exist.');
    const bytes =
      cache.get(name) ?? (await readFile(new URL(`../../../dist/page/fonts/${name}`, import.meta.url)));
    cache.set(name, bytes);
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

const path = '/f/:id/images/:image';

/**
 * Serves the images of forms and their renditions. They are cached forever, never sniffed, and sandboxed when
 * opened as a page. They are public, even if the form is closed or has a password.
 */
export function imageRoutes(server: Server, context: ImageServices): void {
  server.get(path, async (request: FastifyRequest<{ Params: { id: string; image: string } }>, reply) => {
    const { id, image } = request.params;
    const found = uuidPattern.test(id) ? await openImage(context, id, image) : undefined;
    if (!found) throw new ApiError('not_found', 'This image does not exist.');
    if (request.method === 'HEAD') found.stream.destroy();
    return reply
      .headers({
        'Content-Length': String(found.size),
        'Cache-Control': 'public, max-age=31536000, immutable',
        'Content-Security-Policy': "sandbox; default-src 'none'",
        'Cross-Origin-Resource-Policy': 'same-origin',
      })
      .type(found.contentType)
      .send(request.method === 'HEAD' ? Readable.from([]) : found.stream);
  });
  refuseOtherMethods(server, path, ['GET']);
}
