import { readFile } from 'node:fs/promises';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';
import { type Face, faces, fontFiles } from '../../src/page/theme/fonts.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Builds the public page's script into dist/page (setup.mjs), which src/page/assets.ts serves. */
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  root: here('.'),
  publicDir: false,
  plugins: [withoutLate(), bringFonts(), bringEmbedding(), sayBytes()],
  build: {
    outDir: here('../../dist/page'),
    emptyOutDir: true,
    // As src/page/markup/style.ts asks of a browser: field-sizing and :has are of the same years.
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
        // Of an element type: its name, not that of its `rules.ts`. Each letter counts where a page waits for it.
        chunkFileNames: ({ facadeModuleId }) =>
          `${/\/types\/(\w+)\/rules\.ts$/.exec(facadeModuleId ?? '')?.[1] ?? '[name]'}-[hash:6].js`,
        minify: true,
        // What comes behind it finds there what it shares with it: no request of its own for that.
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [{ name: startOf, debugName: 'start', minShareCount: 1 }],
        },
      },
    },
  },
  logLevel: 'warn',
});

/** Whatever start.ts needs is one file, but for what the page loads at first; what only others need is with them. */
function startOf(id: string, graph: Graph): 'start' | undefined {
  const needs = (file: string): boolean => {
    const found = new Set([here(file)]);
    for (const one of found) for (const next of graph.getModuleInfo(one)?.importedIds ?? []) found.add(next);
    return found.has(id);
  };
  return needs('start.ts') && !needs('main.ts') ? 'start' : undefined;
}

type Graph = { getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null };

/** Leaves out what a form brings itself: the rules of its types, and those of its options by condition. */
function withoutLate(): Plugin {
  const late = new Map([
    [here('../../src/ast/form/late-rules.ts'), 'export const lateRules = {};'],
    [here('../../src/ast/form/late-offers.ts'), 'export const lateOffers = {};'],
  ]);
  return { name: 'formloom-late', load: (module) => late.get(module) };
}

/** Brings the faces of themes along, which src/page/theme/routes.ts serves, each with its license. */
function bringFonts(): Plugin {
  const { resolve } = createRequire(import.meta.url);
  return {
    name: 'formloom-fonts',
    async generateBundle() {
      const licenses = Object.values(faces).map(({ source }: Face) => ({
        fileName: `${source}-LICENSE`,
        source: `@fontsource-variable/${source}/LICENSE`,
      }));
      for (const { fileName, source } of [...fontFiles(), ...licenses])
        this.emitFile({
          type: 'asset',
          fileName: `fonts/${fileName}`,
          source: await readFile(resolve(source)),
        });
    },
  };
}

/** Brings the script that other sites embed forms with: its source without comments and types, which they may read. */
function bringEmbedding(): Plugin {
  return {
    name: 'formloom-embedding',
    async generateBundle() {
      const text = stripTypeScriptTypes(await readFile(here('../embed/embed.ts'), 'utf8'));
      // Lines that are comments, and what is left of a type: everything else stays as it was written.
      const source = text.replaceAll(/^\s*(?:\/\/.*|\/?\*.*)?\n/gm, '').replaceAll(/[ \t]+/g, ' ');
      this.emitFile({ type: 'asset', fileName: 'embed.js', source });
    },
  };
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
