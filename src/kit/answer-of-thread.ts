import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { fewAtOnce } from './few-at-once.ts';

/** The memory and time that a thread may use, and the answer if it needs more. */
type Limits<Answer> = {
  readonly megabytes: number;
  readonly ms: number;
  readonly tooMuch: Answer;
};

/** So many threads of one owner run at once in a process: each takes a processor, and up to its limit of memory. */
const twoAtOnce = fewAtOnce(2, { seconds: 5, why: 'In this workspace 2 files are being read.' });

/**
 * Returns the one message of a thread that is started for work that would keep other requests waiting. Every thread has
 * limits: a document of a stranger must not be able to use up the memory of the process.
 * @param owner whose work it is: the ID of a workspace.
 * @param module what it runs; `given` is its workerData.
 * @throws what the thread throws; ApiError rate_limit_exceeded while two threads of the owner run.
 */
export const answerOfThread = <Answer>(
  owner: string,
  module: URL,
  given: unknown,
  limits: Limits<Answer>,
): Promise<Answer> => twoAtOnce.run(owner, () => answerOf(module, given, limits));

async function answerOf<Answer>(
  module: URL,
  given: unknown,
  { megabytes, ms, tooMuch }: Limits<Answer>,
): Promise<Answer> {
  const thread = new Worker(module, {
    workerData: given,
    resourceLimits: { maxOldGenerationSizeMb: megabytes },
  });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    void thread.terminate();
  }, ms);
  const ended = once(thread, 'exit').then(() => undefined);
  try {
    const told = (await Promise.race([once(thread, 'message'), ended])) as [Answer] | undefined;
    if (told) return told[0];
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_WORKER_OUT_OF_MEMORY') throw error;
    return tooMuch;
  } finally {
    clearTimeout(timer);
  }
  if (isLate) return tooMuch;
  throw new Error('A thread ended without an answer.');
}
