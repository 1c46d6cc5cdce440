import { appendFileSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/*
 * What a run costs. Seconds on the clock depend on what else the machine does; what its processors did hardly does.
 */
const directory = process.env['TEST_LOGS'];
const file = 'costs';
const ticksPerSecond = 100;

/**
 * The seconds of CPU that this process took, and those that it started and saw end. A browser's are not among them, whom
 * it ends itself, and they are twice what the test of a screen takes here; nor are those of processes that a test killed.
 * Only Linux tells; elsewhere it is this process alone.
 */
export function cpuSeconds(): number {
  if (process.platform !== 'linux') {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // Behind the name, which may have any character: user and system of its own, user and system of its children.
  const times = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15);
  return times.reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond;
}

/** Begins to count what test files take; what it returns ends that, and writes it down for the end of the run. */
export function countCost(names: string): () => void {
  const before = cpuSeconds();
  return () => {
    if (directory === undefined) return;
    const line = JSON.stringify([cpuSeconds() - before, names]);
    appendFileSync(join(directory, file), `${line}\n`);
  };
}

/** The dearest of what was written down in the directory of a run, a readable line each. */
export async function dearest(path: string, count: number): Promise<string[]> {
  const lines = (await readFile(join(path, file), 'utf8')).split('\n').filter(Boolean);
  return lines
    .map((line) => JSON.parse(line) as [number, string])
    .toSorted(([a], [b]) => b - a)
    .slice(0, count)
    .map(([seconds, names]) => `${seconds.toFixed(1).padStart(6)} s  ${names}`);
}
