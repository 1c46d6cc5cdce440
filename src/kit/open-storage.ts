import { join } from 'node:path';
import type { Config } from './config.ts';
import { diskStorage } from './disk-storage.ts';
import { s3Storage } from './s3-storage.ts';
import type { Storage } from './storage.ts';

/** The object store when one is configured, else files under the data directory. */
export const openStorage = (config: Config): Storage =>
  config.s3
    ? s3Storage(config.s3, join(config.dataDir, 'spool'), config.limits.freeBytes)
    : diskStorage(join(config.dataDir, 'uploads'), config.limits.freeBytes);

/** Where that is, for a person. */
export const storagePlace = (config: Config): string =>
  config.s3
    ? new URL(config.s3.endpoint).host + new URL(config.s3.endpoint).pathname
    : join(config.dataDir, 'uploads');
