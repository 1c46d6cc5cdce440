import { relative } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

/**
 * Runs test files one after the other in this process, each as a test with its own under it and its own end: what it
 * opened is closed before the next begins. Files that share a stage, which is opened once, run as one.
 * @param units the paths of each.
 */
export async function runInTurn(units: readonly (readonly string[])[], timeoutMs: number): Promise<void> {
  for (const files of units) {
    const names = files.map((file) => relative('.', file)).join(', ');
    await test(names, { timeout: timeoutMs }, async (t) => {
      // Node waits for those tests of a test that are there when the last one ends: so one lasts until all are there.
      const loaded = Promise.withResolvers<void>();
      void t.test('is loaded', () => loaded.promise);
      try {
        for (const file of files) await import(pathToFileURL(file).href);
      } finally {
        loaded.resolve();
      }
    });
  }
}
