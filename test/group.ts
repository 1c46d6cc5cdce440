import crypto, { type ScryptOptions } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { countCost } from './cost.ts';
import type { Unit } from './groups.ts';

/**
 * Runs test files one after the other in this process, each as a test with its own under it and its own end: what it
 * opened is closed before the next begins. Files that share a stage, which is opened once, run as one.
 * @param units the paths of each.
 * @param options.taken a directory, for several processes that run the same units: each is run by the first that comes to it.
 */
export async function runInTurn(
  units: readonly Unit[],
  { timeoutMs, taken }: { timeoutMs: number; taken?: string | undefined },
): Promise<void> {
  // A test that waits for what keeps no process open would end it in silence, and with it the files that follow.
  const isOpen = startTimer(() => {}, 2 ** 31 - 1);
  isRunning = true;
  // A file that is alone may measure what a hash costs.
  if (units.flat().length > 1) rememberHashes();
  for (const [index, files] of units.entries()) {
    if (taken !== undefined && !takes(join(taken, String(index)))) continue;
    const names = files.map((file) => relative('.', file)).join(', ');
    const end = countCost(names);
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
    end();
  }
  endInTime();
  while (ends.length > 0) {
    await ends[0]!();
    ends.shift();
  }
  clearTimeout(isOpen);
}

/** Whether this process is the first to make the file. */
function takes(path: string): boolean {
  try {
    writeFileSync(path, '', { flag: 'wx' });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

let isRunning = false;
const ends: (() => Promise<unknown>)[] = [];

/**
 * Has something closed after the last file of this process, in the order in which this is asked, as `after` does.
 * @returns false where none runs files in turn.
 */
export function closeAtEnd(close: () => Promise<unknown>): boolean {
  if (isRunning) ends.push(close);
  return isRunning;
}

/**
 * The hash of the same password with the same salt is worked out once in this process: most people of tests have one
 * password and one hash of it, and each look at it takes 150 ms of CPU, hundreds of times in a run.
 */
export function rememberHashes(): void {
  const { scrypt } = crypto;
  const known = new Map<string, Buffer>();
  const remembered = (
    password: string,
    salt: Buffer | string,
    bytes: number,
    cost: ScryptOptions,
    done: (error: Error | null, key: Buffer) => void,
  ): void => {
    const asked = JSON.stringify([password, Buffer.from(salt).toString('hex'), bytes, cost]);
    const key = known.get(asked);
    if (key) setImmediate(done, null, Buffer.from(key));
    else
      scrypt(password, salt, bytes, cost, (error, made) => {
        if (!error) known.set(asked, Buffer.from(made));
        done(error, made);
      });
  };
  Object.assign(crypto, { scrypt: remembered });
  syncBuiltinESMExports();
}

/**
 * So long a process may take to end when its last test has: several times what a busy machine makes of it. PostgreSQL drops a database
 * when every session of the server has taken note of it, also those of tests that go on in other processes.
 */
const longestEndMs = 180_000;
const endMs = Math.min(longestEndMs, Number(process.env['TEST_TIMEOUT_MS'] ?? longestEndMs));
/** That of the machine, whatever a test puts in its place. */
const { setTimeout: startTimer } = globalThis;

/** A test that hangs fails by its limit, but may hold the process open, for whose end the run would wait for ever. */
function endInTime(): void {
  startTimer(() => {
    const held = process.getActiveResourcesInfo().join(', ');
    const left = `${ends.length} of what is closed at the end are left`;
    process.stderr.write(`The tests were over, and the process was held open by: ${held}; ${left}\n`);
    process.exit(1);
  }, endMs).unref();
}
