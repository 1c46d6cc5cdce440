import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { refuseOtherMethods, type Server } from '#kit/http.ts';
import { packFile, sendPacked, whenAsked } from '#kit/packing.ts';

const source = new URL('../../../web/embed/embed.ts', import.meta.url);

/**
 * Serves the script that other sites embed forms with, at `/embed.js`. Its address never changes, so it is fetched anew
 * every hour; its text is the source without comments and types, at most 3 KB packed.
 */
export async function embedRoute(server: Server): Promise<void> {
  const script = whenAsked(async () => packFile(Buffer.from(await readEmbedScript())));
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

/** The script as browsers get it. */
async function readEmbedScript(): Promise<string> {
  const text = await stripTypes(await readFile(source, 'utf8'));
  // Lines that are comments, and what is left of a type: everything else stays as it was written.
  return text.replaceAll(/^\s*(?:\/\/.*|\/?\*.*)?\n/gm, '').replaceAll(/[ \t]+/g, ' ');
}

const stripping = `
  const { parentPort, workerData } = require('node:worker_threads');
  parentPort.postMessage(require('node:module').stripTypeScriptTypes(workerData));`;

/**
 * TypeScript without its types, on a thread whose memory goes with it: what Node needs for that is not small, and
 * nothing else of a process does once its modules are in the compile cache.
 */
async function stripTypes(text: string): Promise<string> {
  const [stripped] = (await once(new Worker(stripping, { eval: true, workerData: text }), 'message')) as [
    string,
  ];
  return stripped;
}
