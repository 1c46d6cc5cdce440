import { join } from 'node:path';
import type { Config } from '#kit/config.ts';

/** How the backup of a moment is called: those of two instances in one folder are told apart by their marks (kit/instance-storage). */
export const nameOf = (due: Date, mark: string | null | undefined): string =>
  `${prefixOf(mark)}${due.toISOString().replace(/[:.]/g, '-')}.backup`;

export const prefixOf = (mark: string | null | undefined): string =>
  mark ? `formloom-${mark.slice(-8)}-` : 'formloom-';

/** In the bucket. No workspace has this for its id. */
export const keyOf = (name: string): string => `backups/${name}`;

/** Where one lies on its way to the bucket and from there. */
export const spoolOf = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'spool');
