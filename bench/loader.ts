import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { cpuSeconds } from './cpu-seconds.ts';
import type { LoadFigures, LoadOrder, LoadOutcome } from './load.ts';
import type { Figures } from './report.ts';

/** Runs a load order in the load generator (load.ts). @throws if it fails there. */
export type Load = (order: LoadOrder) => Promise<LoadFigures>;

/** Starts the load generator, which runs until `end`. */
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

/** Runs a load, and measures the CPU time of the process that answers it. */
export async function measure(load: Load, pid: number, order: LoadOrder): Promise<Figures> {
  const began = { at: performance.now(), cpu: await cpuSeconds({ pid }) };
  const figures = await load(order);
  // Slow responses make this longer than ordered, because the last ones are waited for.
  const seconds = (performance.now() - began.at) / 1_000;
  const cpu = ((await cpuSeconds({ pid })) - began.cpu) / (figures.perSecond * seconds);
  return { ...figures, cpu: cpu * 1e6 };
}
