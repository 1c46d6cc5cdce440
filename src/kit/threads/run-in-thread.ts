import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { limitConcurrency } from '../concurrency.ts';
import { ApiError, type ErrorCode, type ErrorItem } from '../errors.ts';

/** The memory and time limits of a thread, and the result if it exceeds them. */
type Limits<Answer> = { readonly megabytes: number; readonly ms: number; readonly tooMuch: Answer };

/** Limits the concurrent threads of an owner: each uses a processor core, and memory up to its limit. */
const twoAtOnce = limitConcurrency(2, { seconds: 5, why: 'This workspace is already reading 2 files.' });

/** An exported function of a module, with its arguments. Arguments and result are copied. */
export type ThreadTask<Module = URL> = {
  readonly module: Module;
  readonly name: string;
  readonly given: readonly unknown[];
};

/** Structured cloning turns an ApiError into a plain Error, so its fields are sent. */
export type ThreadResult =
  | { readonly value: unknown }
  | {
      readonly refusal: {
        readonly code: ErrorCode;
        readonly message: string;
        readonly errors: readonly ErrorItem[] | undefined;
      };
    };

/**
 * Runs a function in a thread, so that it does not block other requests. Every thread has limits, so that an
 * uploaded document cannot use up the memory of the process.
 * @param owner the id of the workspace.
 * @throws what the function throws; ApiError rate_limit_exceeded while two threads of the owner run.
 */
export const runInThread = <Answer>(
  owner: string,
  task: ThreadTask,
  limits: Limits<Answer>,
): Promise<Answer> => twoAtOnce.run(owner, () => answerOf(task, limits));

async function answerOf<Answer>(
  { module, ...call }: ThreadTask,
  { megabytes, ms, tooMuch }: Limits<Answer>,
): Promise<Answer> {
  const thread = new Worker(new URL('thread.ts', import.meta.url), {
    workerData: { module: module.href, ...call } satisfies ThreadTask<string>,
    resourceLimits: { maxOldGenerationSizeMb: megabytes },
  });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    void thread.terminate();
  }, ms);
  const ended = once(thread, 'exit').then(() => undefined);
  try {
    const received = (await Promise.race([once(thread, 'message'), ended])) as [ThreadResult] | undefined;
    if (received) return valueOf(received[0]) as Answer;
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_WORKER_OUT_OF_MEMORY') throw error;
    return tooMuch;
  } finally {
    clearTimeout(timer);
  }
  if (isLate) return tooMuch;
  throw new Error('A thread ended without a result.');
}

function valueOf(answer: ThreadResult): unknown {
  if ('value' in answer) return answer.value;
  const { code, message, errors } = answer.refusal;
  throw new ApiError(code, message, errors && { errors });
}
