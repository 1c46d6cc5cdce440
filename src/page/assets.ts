import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '#kit/errors.ts';
import type { Server } from '#kit/http.ts';

/** The built script of the page (setup.mjs): files whose names carry a hash of their content. */
const builtScript = fileURLToPath(new URL('../../dist/page', import.meta.url));

type Asset = { bytes: Buffer; packed: readonly (readonly [encoding: string, bytes: Buffer])[] };

/**
 * Serves the page's script at `/f/assets/`, for ever the same under its names, and returns the address of the file
 * that the page loads (`page-<hash>.js`; it loads the others); undefined when it was not built: the page then does
 * without. The files are read once.
 */
export async function serveScript(server: Server, directory = builtScript): Promise<string | undefined> {
  const names = (await readNames(directory)).filter((name) => /^[a-z]+-[\w-]+\.js$/.test(name));
  const assets = new Map(
    await Promise.all(names.map(async (name) => [name, await readAsset(join(directory, name))] as const)),
  );
  server.get('/f/assets/:name', (request: FastifyRequest<{ Params: { name: string } }>, reply) => {
    const asset = assets.get(request.params.name);
    if (!asset) throw new ApiError('not_found', 'There is no such file.');
    return sendAsset(request, reply, asset);
  });
  const first = names.find((name) => name.startsWith('page-'));
  return first && `/f/assets/${first}`;
}

async function readNames(directory: string): Promise<string[]> {
  return readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}

async function readAsset(file: string): Promise<Asset> {
  const bytes = await readFile(file);
  return {
    bytes,
    // The smaller first.
    packed: [
      ['br', await promisify(brotliCompress)(bytes)],
      ['gzip', await promisify(gzip)(bytes, { level: 9 })],
    ],
  };
}

function sendAsset(request: FastifyRequest, reply: FastifyReply, asset: Asset): FastifyReply {
  const accepted = (request.headers['accept-encoding'] ?? '').split(/\s*,\s*/);
  const packed = asset.packed.find(([encoding]) => accepted.includes(encoding));
  if (packed) reply.header('Content-Encoding', packed[0]);
  return reply
    .headers({
      'Cache-Control': 'public, max-age=31536000, immutable',
      'Cross-Origin-Resource-Policy': 'same-origin',
      Vary: 'Accept-Encoding',
    })
    .type('text/javascript; charset=utf-8')
    .send(packed?.[1] ?? asset.bytes);
}
