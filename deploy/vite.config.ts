import { fileURLToPath } from 'node:url';
import { defineConfig, normalizePath, type Plugin } from 'vite';

const home = normalizePath(fileURLToPath(new URL('..', import.meta.url)));

/**
 * Bundles the service and the command line into dist/service (setup.mjs), because loading a file for each of
 * 1,300 modules was most of a command's time. Other packages than typebox stay files of node_modules.
 */
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  root: home,
  publicDir: false,
  plugins: [locateSources()],
  ssr: { noExternal: ['typebox'] },
  build: {
    ssr: true,
    target: 'node24',
    outDir: `${home}dist/service`,
    emptyOutDir: true,
    minify: false,
    sourcemap: true,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2_000,
    rolldownOptions: {
      input: { main: 'src/app/main.ts', cli: 'src/app/cli.ts' },
      output: {
        // Without hashes: a service that runs while its bundle is rebuilt still finds what it loads later.
        entryFileNames: '[name].js',
        chunkFileNames: '[name].js',
        minifyInternalExports: false,
        sourcemapExcludeSources: true,
      },
    },
  },
  logLevel: 'warn',
});

/** Keeps `import.meta.url` the address of the source, next to which a module finds its files and threads. */
function locateSources(): Plugin {
  return {
    name: 'formloom-locations',
    enforce: 'pre',
    transform(code, id) {
      if (!id.startsWith(`${home}src/`) || !code.includes('import.meta.url')) return undefined;
      const url = `new URL('../../${id.slice(home.length)}', import.meta.url).href`;
      // The lines stay the same, so the source map needs no change.
      return { code: code.replaceAll('import.meta.url', url), map: null };
    },
  };
}
