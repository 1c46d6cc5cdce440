import { createHash } from 'node:crypto';
import { ApiError } from './errors.ts';

/**
 * What a change was made on, from If-Match: the moments of which one must still be that of the thing's last change; null:
 * the caller does not say. It goes into the changing statement itself, so that nothing comes in between.
 */
export type Unchanged = Date[] | null;

/** What a reading shows, in a few letters, for tagOf: where it counts what changes without the thing itself. */
export const seenIn = (body: object): string =>
  createHash('sha256').update(JSON.stringify(body)).digest('base64url').slice(0, 10);

/** A tag, weak or not: proxies that pack an answer make its tag weak. */
const tagPattern = /^(?:W\/)?"([^"]*)"$/;

/** The tags of a header; `*` where it is that. */
const tagsIn = (header: string): string[] | '*' =>
  header.trim() === '*'
    ? '*'
    : header.split(',').map((part) => {
        const tag = tagPattern.exec(part.trim());
        if (!tag) throw new ApiError('bad_request', 'An ETag stands in double quotes, as it was received.');
        return tag[1]!;
      });

/**
 * Reads If-Match. A tag that is none of ours stands for no moment, and so matches nothing.
 * @throws ApiError bad_request for a header that is no list of tags.
 */
export function readUnchanged(header: string | undefined): Unchanged {
  const tags = header === undefined ? '*' : tagsIn(header);
  if (tags === '*') return null;
  return tags.map((tag) => new Date(/^[0-9a-z]{1,9}(\.|$)/.test(tag) ? Number.parseInt(tag, 36) : 0));
}

/** Whether the caller has this reading already (If-None-Match). */
export function isKnown(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const tags = tagsIn(header);
  return tags === '*' || tags.includes(tagPattern.exec(tag)![1]!);
}

/**
 * For a row that is locked: holds its last change against what the caller's change was made on.
 * @throws ApiError precondition_failed.
 */
export function requireUnchanged(unchanged: Unchanged | undefined, changedAt: Date): void {
  if (unchanged && !unchanged.some((moment) => moment.getTime() === changedAt.getTime()))
    throw new ApiError('precondition_failed');
}
