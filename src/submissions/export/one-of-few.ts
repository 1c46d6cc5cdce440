import type { Readable } from 'node:stream';
import { rateLimitExceeded } from '#workspaces/limit.ts';

/** Exports of one workspace that this process writes at once: each takes a share of what it can do for everybody. */
const exportsAtOnce = 2;
const retrySeconds = 10;

/** How many each workspace has under way. */
const underWay = new Map<string, number>();

/**
 * Begins an export that counts until its stream is closed, also by a reader who went away.
 * @throws ApiError rate_limit_exceeded while the workspace has as many as it may.
 */
export function oneOfFew(workspaceId: string, begin: () => Readable): Readable {
  const before = underWay.get(workspaceId) ?? 0;
  if (before >= exportsAtOnce) {
    throw rateLimitExceeded(retrySeconds, `A workspace makes ${exportsAtOnce} exports at once.`);
  }
  const stream = begin();
  underWay.set(workspaceId, before + 1);
  stream.once('close', () => {
    const left = underWay.get(workspaceId)! - 1;
    if (left > 0) underWay.set(workspaceId, left);
    else underWay.delete(workspaceId);
  });
  return stream;
}
