import { totalmem } from 'node:os';
import type { Config } from '#kit/config.ts';

/**
 * Memory in MB, measured under load (docs/decisions/0022-web-processes.md). `database` does not include its
 * buffers; `buffers` is their minimum.
 */
const memoryUse = { alone: 256, primary: 40, process: 150, database: 140, buffers: 32 } as const;
const maxBuffers = 128;
export const megabyte = 1024 * 1024;

type MemorySettings = Pick<Config, 'webProcesses' | 'databaseUrl'>;

/** Returns the memory that the service needs, with its embedded database, in MB. */
export function memoryNeeded({ webProcesses, databaseUrl }: MemorySettings): number {
  const ours = webProcesses === 1 ? memoryUse.alone : memoryUse.primary + webProcesses * memoryUse.process;
  return ours + (databaseUrl === undefined ? memoryUse.database + memoryUse.buffers : 0);
}

/** Returns the memory limit of this container or service in MB, or undefined if there is none. */
export function memoryLimit(): number | undefined {
  // 0 if the limit is unknown. More than the machine has if there is no limit.
  const bytes = process.constrainedMemory();
  return bytes > 0 && bytes < totalmem() ? Math.floor(bytes / megabyte) : undefined;
}

/**
 * Returns `shared_buffers` for the embedded database: the memory that the limit leaves. Only the database can
 * use its buffers; the file cache of the system is shared.
 */
export function calculateSharedBuffers(settings: MemorySettings, limit: number | undefined): string {
  const left = limit === undefined ? maxBuffers : limit - memoryNeeded(settings) + memoryUse.buffers;
  return `${Math.min(maxBuffers, Math.max(memoryUse.buffers, left))}MB`;
}
