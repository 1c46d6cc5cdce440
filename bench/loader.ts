import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { cpuSeconds } from './cpu-seconds.ts';
import type { LoadFigures, LoadOrder, LoadOutcome } from './load.ts';
import type { Figures } from './report.ts';

/** Has the load generator (load.ts) ask for a while. @throws what went wrong there. */
export type Load = (order: LoadOrder) => Promise<LoadFigures>;

/** Starts the load generator, which lives until `end`. */
export function startLoader(): { load: Load; end: () => boolean } {
  const child = fork(fileURLToPath(new URL('load.ts', import.meta.url)), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  return {
    async load(order) {
      child.send(order);
      const [outcome] = (await once(child, 'message')) as [LoadOutcome];
      if ('problem' in outcome) throw new Error(outcome.problem);
      return outcome;
    },
    end: () => child.kill(),
  };
}

/** A load, and what the process that is asked worked meanwhile. */
export async function measure(load: Load, pid: number, order: LoadOrder): Promise<Figures> {
  const began = { at: performance.now(), cpu: await cpuSeconds({ pid }) };
  const figures = await load(order);
  // Longer than ordered where single answers take long: the last ones are waited for.
  const seconds = (performance.now() - began.at) / 1_000;
  const cpu = ((await cpuSeconds({ pid })) - began.cpu) / (figures.perSecond * seconds);
  return { ...figures, cpu: cpu * 1e6 };
}
