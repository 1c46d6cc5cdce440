import { readFile } from 'node:fs/promises';
import { refuseOtherMethods, type Server } from '#kit/http.ts';
import { packFile, sendPacked, whenAsked } from '#kit/packing.ts';

const built = new URL('../../../dist/page/embed.js', import.meta.url);

/**
 * Serves the script that other sites embed forms with, at `/embed.js`. Its address never changes, so it is fetched anew
 * every hour; it is built with the script of the page (web/page/vite.config.ts).
 */
export async function embedRoute(server: Server): Promise<void> {
  const script = whenAsked(async () => packFile(await readFile(built)));
  server.get('/embed.js', async (request, reply) => {
    const packed = await script();
    reply
      .headers({
        'Cache-Control': 'public, max-age=3600',
        // It is there to be loaded by other sites, those included that isolate themselves.
        'Cross-Origin-Resource-Policy': 'cross-origin',
      })
      .type('text/javascript; charset=utf-8');
    return sendPacked(request, reply, packed);
  });
  refuseOtherMethods(server, '/embed.js', ['GET']);
}
