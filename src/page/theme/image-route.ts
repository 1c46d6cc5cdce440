import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { type ImagesContext, openImage } from '#forms/images/images.ts';
import { uuidPattern } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import { refuseOtherMethods, type Server } from '#kit/http.ts';

const path = '/f/:id/images/:image';

/**
 * Serves the images of themes, whole and in their renditions: for ever the same under their names, never sniffed, and powerless when somebody opens one
 * as a page of its own. They are public, as logos are, also for a form that is closed or asks for a password.
 */
export function imageRoutes(server: Server, context: ImagesContext): void {
  server.get(path, async (request: FastifyRequest<{ Params: { id: string; image: string } }>, reply) => {
    const { id, image } = request.params;
    const found = uuidPattern.test(id) ? await openImage(context, id, image) : undefined;
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
