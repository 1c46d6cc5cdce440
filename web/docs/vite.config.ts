import { fileURLToPath } from 'node:url';
import scalar from '@scalar/fastify-api-reference';
import Fastify from 'fastify';
import { defineConfig, type Plugin } from 'vite';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Builds the reference page into dist/docs (setup.mjs), which the service answers at /api/v1/docs. */
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
 * Puts Scalar's renderer beside the page, as one file. It is taken from its integration for Fastify, which has it whole:
 * the renderer's own package brings 271 others and 287 MB, this one 27 and 30 MB (measured).
 */
function renderer(): Plugin {
  return {
    name: 'formloom-renderer',
    async generateBundle() {
      const server = Fastify();
      await server.register(scalar, { routePrefix: '/', configuration: { url: '/openapi.json' } });
      const { statusCode, body } = await server.inject('/js/scalar.js');
      await server.close();
      if (statusCode !== 200) this.error('The renderer is not where it was.');
      // Its map is not there.
      this.emitFile({
        type: 'asset',
        fileName: 'reference.js',
        source: body.replace(/\n\/\/# sourceMappingURL=\S*\s*$/, '\n'),
      });
    },
  };
}
