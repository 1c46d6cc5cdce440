import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { fewAtOnce } from './few-at-once.ts';

/** What a thread may take of the machine, and what is answered in its place where it takes more. */
type Limits<Answer> = {
  readonly megabytes: number;
  readonly ms: number;
  readonly tooMuch: Answer;
};

/** So many threads of one owner run at once in a process: each takes a processor, and up to its limit of memory. */
const twoAtOnce = fewAtOnce(2, { seconds: 5, why: 'In this workspace 2 files are being read.' });

/**
 * The one message of a thread that is started for it: what would keep others waiting.
 * @param owner whose work it is: the id of a workspace.
 * @param module what it runs; `given` is its workerData.
 * @throws what it throws; Error where it ends without an answer and has no limits; ApiError rate_limit_exceeded while
 * two of the owner run.
 */
export const answerOfThread = <Answer>(
  owner: string,
  module: URL,
  given: unknown,
  limits?: Limits<Answer>,
): Promise<Answer> => twoAtOnce.run(owner, () => answerOf(module, given, limits));

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
