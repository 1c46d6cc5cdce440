import type { Unchanged } from '#kit/conditional.ts';
import { tagOf } from '#kit/tag-of.ts';

/**
 * The ETag of a working copy: its revision in place of a moment, one more, so that a tag that is none of ours (which
 * stands for 0) is that of no revision.
 */
export const draftTag = (revision: number, seen?: string): string => tagOf(new Date(revision + 1), seen);

/** The revisions that If-Match names; null: the caller does not say. */
export const revisionsIn = (unchanged: Unchanged): number[] | null =>
  unchanged && unchanged.map((moment) => moment.getTime() - 1);
