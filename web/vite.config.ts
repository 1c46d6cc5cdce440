import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { firstLoadSizePlugin } from './first-load.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Builds the console into dist/web (setup.mjs). The service serves it under /app (src/console/static.ts). */
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  root: here('.'),
  base: '/app/',
  plugins: [react(), firstLoadSizePlugin()],
  build: {
    outDir: here('../dist/web'),
    emptyOutDir: true,
    // Every asset must be a file of this origin, because the content security policy allows no data: scripts
    // or styles.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // Raised, because first-load.ts sets a more useful limit.
    chunkSizeWarningLimit: 2_000,
    // All browsers that React 19 supports also support modulepreload.
    modulePreload: { polyfill: false },
    // Code shared by at least four screens goes into one file: a screen loads 8 to 17 files instead of 35 to
    // 50, most of them under 3 KB.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 4 }] } } },
  },
  logLevel: 'warn',
});
