import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '#kit/errors.ts';
import type { Server } from '#kit/http.ts';
import { computeOnce, computeOncePerKey } from '#kit/replies/compression.ts';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
  '.woff2': 'font/woff2',
};
/** These files are already compressed. */
const packedTypes = new Set(['.woff2', '.png']);

type Asset = { bytes: Buffer; packed: (() => Promise<Buffer>) | undefined; type: string; tag: string };

const compress = promisify(gzip);

/** A build for browsers: its directory, and the path where it is served. */
type Built = {
  directory: string;
  base: string;
  name: string;
  /** Whether its page has styles without a nonce. It must then show no text from users. */
  hasInlineStyles?: boolean;
  /** Returns where a request for the page leads instead, if anywhere. */
  redirectOf?: (url: string) => string | undefined;
};

/**
 * Serves what setup.mjs built (the console below /app, the API reference). Files are served by their names,
 * which carry a hash of their content; every other path gets the one page, which does its own routing. Files
 * with a hash are read once at the start, because an upgrade removes them. Files with a fixed name (the 5 MB
 * of the reference) are read when they are first requested.
 */
export async function staticRoutes(
  server: Server,
  { directory, base, name, hasInlineStyles = false, redirectOf }: Built,
): Promise<void> {
  const assets = await readAssets(directory);
  const page = (await assets.get('index.html')?.())?.bytes.toString('utf8');
  server.get(base, (_request, reply) => reply.redirect(`${base}/`, 308));
  server.get(`${base}/*`, async (request, reply) => {
    const { '*': path } = request.params as { '*': string };
    const asset = path === 'index.html' ? undefined : assets.get(path);
    if (asset) return sendAsset(request, reply, path, await asset());
    const elsewhere = redirectOf?.(request.url);
    if (elsewhere !== undefined) return reply.redirect(elsewhere, 303);
    if (isNamedByContent(path)) throw new ApiError('not_found', 'This file does not exist.');
    if (page === undefined)
      throw new ApiError(
        'service_unavailable',
        `${name} has not been built. Start the server with npm start.`,
      );
    return sendPage(reply, page, hasInlineStyles);
  });
}

const readAssets = computeOncePerKey(
  async (directory: string): Promise<ReadonlyMap<string, () => Promise<Asset>>> => {
    const names = await readdir(directory, { recursive: true, withFileTypes: true }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return [];
        throw error;
      },
    );
    const files = names
      .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
      .map((entry) => join(entry.parentPath, entry.name));
    return new Map(
      await Promise.all(
        files.map(async (file) => {
          const path = file.slice(directory.length + 1).replaceAll('\\', '/');
          const asset = computeOnce(() => readAsset(file));
          if (isNamedByContent(path)) await asset();
          return [path, asset] as const;
        }),
      ),
    );
  },
);

const isNamedByContent = (path: string): boolean => path.startsWith('assets/');

async function readAsset(file: string): Promise<Asset> {
  const bytes = await readFile(file);
  const extension = extname(file);
  return {
    bytes,
    packed: packedTypes.has(extension) ? undefined : computeOnce(() => compress(bytes)),
    type: types[extension] ?? 'application/octet-stream',
    tag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
  };
}

async function sendAsset(
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
  asset: Asset,
): Promise<FastifyReply> {
  reply.headers({
    'Cache-Control': isNamedByContent(path) ? 'public, max-age=31536000, immutable' : 'no-cache',
    ETag: asset.tag,
    Vary: 'Accept-Encoding',
    'Cross-Origin-Resource-Policy': 'same-origin',
  });
  if (request.headers['if-none-match'] === asset.tag) return reply.code(304).send();
  reply.type(asset.type);
  if (asset.packed && /\bgzip\b/.test(request.headers['accept-encoding'] ?? ''))
    return reply.header('Content-Encoding', 'gzip').send(await asset.packed());
  return reply.send(asset.bytes);
}

/**
 * Sends the page. Scripts come from this origin only. The nonce lets react-aria, and nothing else, add style
 * elements. Nothing may frame the page, and it frames only pages of this origin (the preview of a form).
 */
function sendPage(reply: FastifyReply, page: string, hasInlineStyles: boolean): FastifyReply {
  const nonce = randomBytes(16).toString('base64');
  return reply
    .headers({
      'Content-Security-Policy': [
        "default-src 'none'",
        "script-src 'self'",
        `style-src 'self' ${hasInlineStyles ? "'unsafe-inline'" : `'nonce-${nonce}'`}`,
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "frame-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
      ].join('; '),
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
      'Cache-Control': 'no-store',
    })
    .type('text/html; charset=utf-8')
    .send(page.replace('__NONCE__', nonce));
}
