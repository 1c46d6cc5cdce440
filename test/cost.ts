import { appendFileSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/* The cost of a run in CPU time, because clock time depends on what else the machine does. */
const directory = process.env['TEST_LOGS'];
const file = 'costs';
const ticksPerSecond = 100;

/**
 * Returns the seconds of CPU of this process and of its ended child processes. Excludes browsers, which take
 * twice as much as a screen test here, and processes that a test killed. Without Linux it counts only this
 * process.
 */
export function cpuSeconds(): number {
  if (process.platform !== 'linux') {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // After the name, which may contain any character: user and system time of the process and of its children.
  const times = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15);
  return times.reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond;
}

/**
 * Starts measuring the CPU time of test files. Returns a function that stops and records it for the end of
 * the run.
 */
export function countCost(names: string): () => void {
  const before = cpuSeconds();
  return () => {
    if (directory === undefined) return;
    const line = JSON.stringify([cpuSeconds() - before, names]);
    appendFileSync(join(directory, file), `${line}\n`);
  };
}

/** Returns the most expensive entries in the directory of a run, one readable line each. */
export async function dearest(path: string, count: number): Promise<string[]> {
  const lines = (await readFile(join(path, file), 'utf8')).split('\n').filter(Boolean);
  return lines
    .map((line) => JSON.parse(line) as [number, string])
    .toSorted(([a], [b]) => b - a)
    .slice(0, count)
    .map(([seconds, names]) => `${seconds.toFixed(1).padStart(6)} s  ${names}`);
}
