import type { Readable } from 'node:stream';
import { fewAtOnce } from '#kit/concurrency.ts';

/** Exports of one workspace that this process writes at once. */
const exportsAtOnce = 2;
const { enter } = fewAtOnce(exportsAtOnce, {
  seconds: 10,
  why: `A workspace makes ${exportsAtOnce} exports at once.`,
});

/**
 * Begins an export that counts until its stream is closed, also by a reader who went away.
 * @throws ApiError rate_limit_exceeded while the workspace has as many as it may.
 */
export function oneOfFew(workspaceId: string, begin: () => Readable): Readable {
  const leave = enter(workspaceId);
  try {
    return begin().once('close', leave);
  } catch (error) {
    leave();
    throw error;
  }
}
