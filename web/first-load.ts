import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

/** The most script, gzipped, that a browser loads before the list of forms shows (the issue "the builder and console", 7). */
const limitBytes = 250 * 1024;
/** What shows first after the sign-in. */
const firstScreen = 'web/forms/forms-screen.tsx';

type Chunk = {
  fileName: string;
  code: string;
  imports: string[];
  isEntry: boolean;
  facadeModuleId: string | null;
};

/** Says how much script the first load takes, and stops a build that takes too much. */
export function firstLoad(): Plugin {
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
      const words = `${Math.round(bytes / 1024)} KB of script at first load, gzipped (at most ${limitBytes / 1024})`;
      if (bytes > limitBytes) this.error(`Too much: ${words}.`);
      process.stderr.write(`The console is built: ${words}, in ${chunks.size} files in all.\n`);
    },
  };
}

/** The chunks and all that they import before they run. */
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
