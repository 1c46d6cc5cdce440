import { join } from 'node:path';
import type { Config } from '#kit/config.ts';

/**
 * How a backup that begins now is called: no two are called the same, so that none is replaced, be it the one that the instance was
 * restored from; and those of two instances in one folder are told apart by their marks (kit/instance-storage).
 */
export const nameOf = (begun: Date, mark: string | null | undefined): string =>
  `${prefixOf(mark)}${begun.toISOString().replace(/[:.]/g, '-')}.backup`;

export const prefixOf = (mark: string | null | undefined): string =>
  mark ? `formloom-${mark.slice(-8)}-` : 'formloom-';

/** In the bucket. No workspace has this for its id. */
export const keyOf = (name: string): string => `backups/${name}`;

/** Where one lies on its way to the bucket and from there. */
export const spoolOf = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'spool');
