import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { type ImagesContext, openImage } from '#forms/images/images.ts';
import { uuidPattern } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import { refuseOtherMethods, type Server } from '#kit/http.ts';

const path = '/f/:id/images/:image';

/**
 * Serves the images of themes: for ever the same under their ids, never sniffed, and powerless when somebody opens one
 * as a page of its own. They are public, as logos are, also for a form that is closed or asks for a password.
 */
export function imageRoutes(server: Server, context: ImagesContext): void {
  server.get(path, async (request: FastifyRequest<{ Params: { id: string; image: string } }>, reply) => {
    const { id, image } = request.params;
    const isKnown = uuidPattern.test(id) && uuidPattern.test(image);
    const found = isKnown ? await openImage(context, id, image) : undefined;
    if (!found) throw new ApiError('not_found', 'There is no such image.');
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
