import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

/**
 * The maximum size of gzipped script that a browser loads before the list of forms is shown (issue "the
 * builder and console", 7).
 */
const limitBytes = 250 * 1024;
/** The first screen after sign-in. */
const firstScreen = 'web/forms/forms-screen.tsx';

type Chunk = {
  fileName: string;
  code: string;
  imports: string[];
  isEntry: boolean;
  facadeModuleId: string | null;
};

/** Reports the script size of the first load, and fails the build if it is too large. */
export function firstLoadSizePlugin(): Plugin {
  return {
    name: 'formloom-first-load',
    generateBundle(_options, bundle) {
      const chunks = new Map<string, Chunk>();
      for (const output of Object.values(bundle))
        if (output.type === 'chunk') chunks.set(output.fileName, output);
      const first = [...chunks.values()].filter(
        ({ isEntry, facadeModuleId }) => isEntry || facadeModuleId?.endsWith(firstScreen),
      );
      const loaded = withImports(chunks, first);
      const bytes = loaded.reduce((sum, { code }) => sum + gzipSync(code).length, 0);
      const words = `${Math.round(bytes / 1024)} KB of JavaScript at first load, gzipped (limit: ${limitBytes / 1024} KB)`;
      if (bytes > limitBytes) this.error(`The console's JavaScript is too large: ${words}.`);
      process.stderr.write(`Console built: ${words}, ${chunks.size} files in total.\n`);
    },
  };
}

/** Returns the chunks and everything that they import statically, directly or indirectly. */
function withImports(chunks: Map<string, Chunk>, first: readonly Chunk[]): Chunk[] {
  const found = new Set<Chunk>();
  const visit = (chunk: Chunk | undefined): void => {
    if (!chunk || found.has(chunk)) return;
    found.add(chunk);
    for (const name of chunk.imports) visit(chunks.get(name));
  };
  for (const chunk of first) visit(chunk);
  return [...found];
}
