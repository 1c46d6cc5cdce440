import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { ApiError } from './errors.ts';

/** What a thread may take of the machine, and what is answered in its place where it takes more. */
type Limits<Answer> = {
  readonly megabytes: number;
  readonly ms: number;
  readonly tooMuch: Answer;
};

/** So many threads of one owner run at once in a process: each takes a processor, and up to its limit of memory. */
const mostOfOne = 2;
const waitSeconds = 5;
const running = new Map<string, number>();

/**
 * The one message of a thread that is started for it: what would keep others waiting.
 * @param owner whose work it is: the id of a workspace.
 * @param module what it runs; `given` is its workerData.
 * @throws what it throws; Error where it ends without an answer and has no limits; ApiError rate_limit_exceeded while
 * two of the owner run.
 */
export async function answerOfThread<Answer>(
  owner: string,
  module: URL,
  given: unknown,
  limits?: Limits<Answer>,
): Promise<Answer> {
  const before = running.get(owner) ?? 0;
  if (before >= mostOfOne)
    throw new ApiError(
      'rate_limit_exceeded',
      `${mostOfOne} files of this workspace are being read. Try again in ${waitSeconds} seconds.`,
      { retryAfter: waitSeconds },
    );
  running.set(owner, before + 1);
  try {
    return await answerOf(module, given, limits);
  } finally {
    const left = running.get(owner)! - 1;
    if (left > 0) running.set(owner, left);
    else running.delete(owner);
  }
}

async function answerOf<Answer>(
  module: URL,
  given: unknown,
  limits: Limits<Answer> | undefined,
): Promise<Answer> {
  const thread = new Worker(module, {
    workerData: given,
    ...(limits && { resourceLimits: { maxOldGenerationSizeMb: limits.megabytes } }),
  });
  const timer = limits && setTimeout(() => void thread.terminate(), limits.ms);
  const ended = once(thread, 'exit').then(() => undefined);
  try {
    const told = (await Promise.race([once(thread, 'message'), ended])) as [Answer] | undefined;
    if (told) return told[0];
  } catch (error) {
    const isTooMuch = (error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY';
    if (!limits || !isTooMuch) throw error;
  } finally {
    clearTimeout(timer);
  }
  if (limits) return limits.tooMuch;
  throw new Error('A thread ended without an answer.');
}
