import { totalmem } from 'node:os';
import type { Config } from '#kit/config.ts';

/** Held under load, measured (docs/decisions/0022-web-processes.md), in MB: the database without its buffers, and the least of these. */
const held = { alone: 256, primary: 40, process: 150, database: 140, buffers: 32 } as const;
const mostBuffers = 128;
export const megabyte = 1024 * 1024;

type Settings = Pick<Config, 'webProcesses' | 'databaseUrl'>;

/** What the service needs, with the database that comes along where that is its own, in MB. */
export function memoryNeeded({ webProcesses, databaseUrl }: Settings): number {
  const ours = webProcesses === 1 ? held.alone : held.primary + webProcesses * held.process;
  return ours + (databaseUrl === undefined ? held.database + held.buffers : 0);
}

/** The limit of this container or service in MB; undefined where there is none. */
export function memoryLimit(): number | undefined {
  // 0 where nobody knows; larger than the machine where there is none.
  const bytes = process.constrainedMemory();
  return bytes > 0 && bytes < totalmem() ? Math.floor(bytes / megabyte) : undefined;
}

/**
 * What the embedded database keeps of its files in memory (`shared_buffers`): what a limit leaves to it. Nobody else gets any of
 * that, while files in the system's cache stay there for as long as there is room.
 */
export function sharedBuffers(settings: Settings, limit: number | undefined): string {
  const left = limit === undefined ? mostBuffers : limit - memoryNeeded(settings) + held.buffers;
  return `${Math.min(mostBuffers, Math.max(held.buffers, left))}MB`;
}
