import { readFile } from 'node:fs/promises';

/**
 * Resident memory of a process in MB, now and at its peak; NaN if the system does not report it (Linux does).
 */
export type Memory = { now: number; most: number };

export async function memoryOf(pid: number): Promise<Memory> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const megabytes = (name: string): number =>
    Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? Number.NaN) / 1_024);
  return { now: megabytes('VmRSS'), most: megabytes('VmHWM') };
}

export const describeMemory = ({ now, most }: Memory): string => `${now} MB (at most ${most} MB)`;
