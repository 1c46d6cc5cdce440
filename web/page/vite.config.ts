import { readFile } from 'node:fs/promises';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';
import { type Face, faces, fontFiles } from '../../src/page/theme/fonts.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Builds the public page's script into dist/page (setup.mjs), which src/page/routes.ts serves. */
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  root: here('.'),
  publicDir: false,
  plugins: [withoutLate(), emitFonts(), emitEmbedScript(), reportBytes()],
  build: {
    outDir: here('../../dist/page'),
    emptyOutDir: true,
    // As src/page/markup/style.ts asks of a browser: field-sizing and :has are of the same years.
    target: 'es2023',
    manifest: 'manifest.json',
    reportCompressedSize: false,
    // When built as a library, the output leaves out Vite's page helper, which is larger than the part that
    // loads first.
    lib: { entry: here('main.ts'), formats: ['es'] },
    rolldownOptions: {
      // Shared code goes into the first file, which saves a request.
      preserveEntrySignatures: 'allow-extension',
      output: {
        entryFileNames: 'page-[hash].js',
        // Names are short, because pages with these files wait for every byte.
        chunkFileNames: '[name]-[hash:6].js',
        minify: true,
        // Later chunks use the shared code of the `start` chunk, which saves requests.
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [{ name: startOf, debugName: 'start', minShareCount: 1 }],
        },
      },
    },
  },
  logLevel: 'warn',
});

/**
 * Puts everything that start.ts needs into one chunk, except what the page loads first. Code that only other
 * chunks need stays in these chunks.
 */
function startOf(id: string, graph: Graph): 'start' | undefined {
  const needs = (file: string): boolean => {
    const found = new Set([here(file)]);
    for (const one of found) for (const next of graph.getModuleInfo(one)?.importedIds ?? []) found.add(next);
    return found.has(id);
  };
  return needs('start.ts') && !needs('main.ts') ? 'start' : undefined;
}

type Graph = { getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null };

/**
 * Leaves out code that a form loads only if needed: rules of its element types, of options with
 * conditions, and of patterns.
 */
function withoutLate(): Plugin {
  const late = new Map([
    [here('../../src/ast/form/lazy-rules.ts'), 'export const lazyRules = {};'],
    [
      here('../../src/ast/form/lazy-conditional-options.ts'),
      'export const lazyConditionalOptionFunctions = {};',
    ],
    [here('../../src/ast/rules/lazy-pattern.ts'), 'export const lazyPattern = {};'],
  ]);
  return { name: 'formloom-late', load: (module) => late.get(module) };
}

/** Emits the fonts that src/page/theme/routes.ts serves, each with its license. */
function emitFonts(): Plugin {
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

/** Emits the embed script: its readable source, without comments and types. */
function emitEmbedScript(): Plugin {
  return {
    name: 'formloom-embedding',
    async generateBundle() {
      const text = stripTypeScriptTypes(await readFile(here('../embed/embed.ts'), 'utf8'));
      // Removes comment lines and the spaces left by removed types. Everything else stays as written.
      const source = text.replaceAll(/^\s*(?:\/\/.*|\/?\*.*)?\n/gm, '').replaceAll(/[ \t]+/g, ' ');
      this.emitFile({ type: 'asset', fileName: 'embed.js', source });
    },
  };
}

/** Reports the size of the script; test/flows/page-script-size.browser.test.ts checks the limits. */
function reportBytes(): Plugin {
  return {
    name: 'formloom-page-bytes',
    generateBundle(_options, bundle) {
      const chunks = Object.values(bundle).filter((output) => output.type === 'chunk');
      const bytes = (some: typeof chunks): number =>
        some.reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).length, 0);
      const first = bytes(chunks.filter(({ isEntry }) => isEntry));
      process.stderr.write(
        `Built the page's script, gzipped: ${first} bytes in the first part, ${bytes(chunks)} bytes in total.\n`,
      );
    },
  };
}
