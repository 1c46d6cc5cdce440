import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** What the first file has, and what only those use that are loaded by themselves. */
const elsewhere =
  'main embed memory uploads held-list proof sha256 questions review return-to-review conditional html say-answer shown-answers say-piped'.split(
    ' ',
  );

/** Builds the public page's script into dist/page (setup.mjs), which src/page/assets.ts serves. */
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  root: here('.'),
  publicDir: false,
  plugins: [sayBytes()],
  build: {
    outDir: here('../../dist/page'),
    emptyOutDir: true,
    // As src/page/style.ts asks of a browser: field-sizing and :has are of the same years.
    target: 'es2023',
    manifest: 'manifest.json',
    reportCompressedSize: false,
    // As a library: without the helper that Vite adds to a page of its own, larger than what is loaded at first.
    lib: { entry: here('main.ts'), formats: ['es'] },
    rolldownOptions: {
      // What both share is in the first file, which is then one request.
      preserveEntrySignatures: 'allow-extension',
      output: {
        entryFileNames: 'page-[hash].js',
        chunkFileNames: '[name]-[hash].js',
        minify: true,
        // What comes behind it finds there what it shares with it: no request of its own for that.
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [{ name: 'start', minShareCount: 1, test: isShared }],
        },
      },
    },
  },
  logLevel: 'warn',
});

/** Whether a module is `start.ts` or something that it uses. */
function isShared(id: string): boolean {
  return !elsewhere.some((name) => id.endsWith(`/${name}.ts`));
}

/** Says how large the script is; test/flows/page-script-size.browser.test.ts holds the limits. */
function sayBytes(): Plugin {
  return {
    name: 'formloom-page-bytes',
    generateBundle(_options, bundle) {
      const chunks = Object.values(bundle).filter((output) => output.type === 'chunk');
      const bytes = (some: typeof chunks): number =>
        some.reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).length, 0);
      const first = bytes(chunks.filter(({ isEntry }) => isEntry));
      process.stderr.write(
        `The page's script is built: ${first} bytes at first, gzipped, and ${bytes(chunks)} in all.\n`,
      );
    },
  };
}
