import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from './log.ts';

/**
 * Runs `work` again and again, `pauseMs` after it ended, until stopped. A failure is logged when it is new, and the
 * work goes on. For housekeeping that may be lost with the process; what must not be lost is a job of the queue.
 */
export function runPeriodically(
  name: string,
  options: { pauseMs: number; log: Log; work: () => Promise<unknown> },
): { stop(): Promise<void> } {
  const ending = new AbortController();
  const { signal } = ending;
  const loop = async (): Promise<void> => {
    let isFailing = false;
    while (!signal.aborted) {
      try {
        await options.work();
        isFailing = false;
      } catch (error) {
        if (!isFailing) options.log.warn({ err: error }, `${name} failed, and will be tried again`);
        isFailing = true;
      }
      await sleep(options.pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  };
  const done = loop();
  return {
    async stop() {
      ending.abort();
      await done;
    },
  };
}
