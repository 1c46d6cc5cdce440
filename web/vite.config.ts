import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { firstLoad } from './first-load.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Builds the console into dist/web (setup.mjs), which the service answers below /app (src/console/static.ts). */
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  root: here('.'),
  base: '/app/',
  plugins: [react(), firstLoad()],
  build: {
    outDir: here('../dist/web'),
    emptyOutDir: true,
    // Everything is a file of this origin: the content security policy knows no data: scripts or styles.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // first-load.ts has a limit that means something.
    chunkSizeWarningLimit: 2_000,
    // The browsers that React 19 runs in know modulepreload.
    modulePreload: { polyfill: false },
    // What four screens or more share is one file: a screen asks for 8 to 17 files instead of 35 to 50, most of which had
    // less than 3 KB.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 4 }] } } },
  },
  logLevel: 'warn',
});
