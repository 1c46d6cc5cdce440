import crypto, { type ScryptOptions } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { countCost } from './cost.ts';
import type { Unit } from './groups.ts';

/**
 * Runs test files one after the other in this process, each as a test with its own subtests. What a file
 * opened is closed before the next one starts. Files that share a stage run as one, because a stage is opened
 * once.
 * @param units the paths of each.
 * @param options.taken a directory for several processes that run the same units. The first process to claim
 * a unit runs it.
 */
export async function runInTurn(
  units: readonly Unit[],
  { timeoutMs, taken }: { timeoutMs: number; taken?: string | undefined },
): Promise<void> {
  // If a test awaits something that keeps no process open, Node would exit silently and skip the files that
  // follow.
  const isOpen = startTimer(() => {}, 2 ** 31 - 1);
  isRunning = true;
  // A file that runs alone may measure the cost of a hash.
  if (units.flat().length > 1) rememberHashes();
  for (const [index, files] of units.entries()) {
    if (taken !== undefined && !takes(join(taken, String(index)))) continue;
    const names = files.map((file) => relative('.', file)).join(', ');
    const end = countCost(names);
    await test(names, { timeout: timeoutMs }, async (t) => {
      // When the last subtest ends, Node waits only for subtests that exist. This one lasts until all are
      // registered.
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

/** Whether this process is the first to create the file. */
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
 * Closes something after the last file of this process, in the order of registration, as `after` does.
 * @returns false if no runner is active.
 */
export function closeAtEnd(close: () => Promise<unknown>): boolean {
  if (isRunning) ends.push(close);
  return isRunning;
}

/**
 * Computes the hash of a password and salt only once in this process. Most people in tests share a password
 * and its hash, and each verification takes 150 ms of CPU, hundreds of times in a run.
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
 * The time a process may take to exit after its last test: several times what a busy machine needs.
 * PostgreSQL drops a database only after every session of the server has acknowledged it, including tests in
 * other processes.
 */
const longestEndMs = 180_000;
const endMs = Math.min(longestEndMs, Number(process.env['TEST_TIMEOUT_MS'] ?? longestEndMs));
/** The real timer, even if a test replaces it. */
const { setTimeout: startTimer } = globalThis;

/**
 * Ends the process if something keeps it open after the last test. A hanging test fails by its timeout, but
 * the run would wait forever for its process to exit.
 */
function endInTime(): void {
  startTimer(() => {
    const held = process.getActiveResourcesInfo().join(', ');
    const left = `${ends.length} of what is closed at the end are left`;
    process.stderr.write(`The tests were over, and the process was held open by: ${held}; ${left}\n`);
    process.exit(1);
  }, endMs).unref();
}
