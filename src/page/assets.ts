import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '#kit/errors.ts';
import type { Server } from '#kit/http.ts';
import { packFile, sendPacked, whenAskedFor } from '#kit/packing.ts';

/** The built script of the page (setup.mjs): files whose names carry a hash of their content. */
const builtScript = fileURLToPath(new URL('../../dist/page', import.meta.url));

/**
 * Serves the page's script at `/f/assets/`, for ever the same under its names, and returns the address of the file
 * that the page loads (`page-<hash>.js`; it loads the others); undefined when it was not built: the page then does
 * without. The files are read once.
 */
export async function serveScript(server: Server, directory = builtScript): Promise<string | undefined> {
  const assets = await readScripts(directory);
  server.get('/f/assets/:name', (request: FastifyRequest<{ Params: { name: string } }>, reply) => {
    const asset = assets.get(request.params.name);
    if (!asset) throw new ApiError('not_found', 'There is no such file.');
    reply
      .headers({
        'Cache-Control': 'public, max-age=31536000, immutable',
        'Cross-Origin-Resource-Policy': 'same-origin',
      })
      .type('text/javascript; charset=utf-8');
    return sendPacked(request, reply, asset);
  });
  const first = [...assets.keys()].find((name) => name.startsWith('page-'));
  return first && `/f/assets/${first}`;
}

const readScripts = whenAskedFor(async (directory: string) => {
  const names = (await readNames(directory)).filter((name) => /^[a-z_]+-[\w-]+\.js$/.test(name));
  return new Map(
    await Promise.all(
      names.map(async (name) => [name, packFile(await readFile(join(directory, name)))] as const),
    ),
  );
});

async function readNames(directory: string): Promise<string[]> {
  return readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}
