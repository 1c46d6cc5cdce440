import { fileURLToPath } from 'node:url';
import scalar from '@scalar/fastify-api-reference';
import Fastify from 'fastify';
import { defineConfig, type Plugin } from 'vite';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Builds the API reference page into dist/docs (setup.mjs). The server shows it at /api/v1/docs. */
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  root: here('.'),
  base: '/api/v1/docs/',
  publicDir: false,
  plugins: [renderer()],
  build: {
    outDir: here('../../dist/docs'),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    modulePreload: { polyfill: false },
  },
  logLevel: 'warn',
});

/**
 * Bundles Scalar's renderer as one file. It comes from Scalar's Fastify integration, which includes it: 27
 * packages and 30 MB, instead of 271 and 287 MB for the renderer's own package (measured).
 */
function renderer(): Plugin {
  return {
    name: 'formloom-renderer',
    async generateBundle() {
      const server = Fastify();
      await server.register(scalar, { routePrefix: '/', configuration: { url: '/openapi.json' } });
      const { statusCode, body } = await server.inject('/js/scalar.js');
      await server.close();
      if (statusCode !== 200) this.error('Could not find the Scalar renderer at /js/scalar.js.');
      // Removes the reference to the source map, which is missing.
      this.emitFile({
        type: 'asset',
        fileName: 'reference.js',
        source: body.replace(/\n\/\/# sourceMappingURL=\S*\s*$/, '\n'),
      });
    },
  };
}
