import { createHash } from 'node:crypto';
import { ApiError } from './errors.ts';

/**
 * The change times from If-Match. One of them must be the time of the last change; null: no precondition. The
 * changing statement itself checks this, so that no other change can come between.
 */
export type IfMatchTimes = Date[] | null;

/** Returns a short hash of a response for formatEtag, if it depends on more than the resource itself. */
export const hashResponse = (body: object): string =>
  createHash('sha256').update(JSON.stringify(body)).digest('base64url').slice(0, 10);

/** An ETag, weak or strong. Proxies that compress a response make its ETag weak. */
const tagPattern = /^(?:W\/)?"([^"]*)"$/;

const tagsIn = (header: string): string[] | '*' =>
  header.trim() === '*'
    ? '*'
    : header.split(',').map((part) => {
        const tag = tagPattern.exec(part.trim());
        if (!tag) throw new ApiError('bad_request', 'An ETag must be in double quotes, as it was received.');
        return tag[1]!;
      });

/**
 * Reads If-Match. A tag that this service did not issue matches nothing.
 * @throws ApiError bad_request if the header is not a list of tags.
 */
export function parseIfMatch(header: string | undefined): IfMatchTimes {
  const tags = header === undefined ? '*' : tagsIn(header);
  if (tags === '*') return null;
  return tags.map((tag) => new Date(/^[0-9a-z]{1,9}(\.|$)/.test(tag) ? Number.parseInt(tag, 36) : 0));
}

/** Returns whether the caller already has this response (If-None-Match). */
export function matchesIfNoneMatch(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const tags = tagsIn(header);
  return tags === '*' || tags.includes(tagPattern.exec(tag)![1]!);
}

/**
 * Compares the last change of a locked row with the precondition of the caller.
 * @throws ApiError precondition_failed.
 */
export function requireUnchanged(unchanged: IfMatchTimes | undefined, changedAt: Date): void {
  if (unchanged && !unchanged.some((moment) => moment.getTime() === changedAt.getTime()))
    throw new ApiError('precondition_failed');
}
