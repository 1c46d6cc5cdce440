import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { firstCell } from '#kit/cells/cells.ts';
import { publishForm } from '#test/crowd.ts';
import { type Instance, openInstance } from '#test/process.ts';
import type { Request } from '../load.ts';
import { startLoader } from '../loader.ts';
import { makeCases } from '../processes/run.ts';
import { describeMachine, middle } from '../report.ts';

const warmUpSeconds = 2;
const idleSeconds = 10;
const concurrency = 8;
/** What three cells in one database may cost: issue 16 says 0.97 of one. */
const goal = 0.97;

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** What a process has worked so far, with those that it has waited for (Linux): 1/100 s in fields 14 to 17 of its stat. */
async function ticksOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
}

/** Seconds that a server and its database have worked. It hardly changes with what else runs. */
async function worked(server: number, database: number): Promise<number> {
  const children = await readFile(`/proc/${database}/task/${database}/children`, 'utf8');
  const pids = [server, database, ...children.split(' ').filter(Boolean).map(Number)];
  return (await Promise.all(pids.map(ticksOf))).reduce((sum, ticks) => sum + ticks, 0) / 100;
}

type Stage = { server: number; database: number; port: number; cases: Record<string, Request[]> };

/** An instance that serves three workspaces, each in one of these cells; what each is asked, in turn. */
async function stage(instance: Instance, cells: readonly string[]): Promise<Stage> {
  const server = await instance.start();
  const others = [...new Set(cells)].filter((cell) => cell !== firstCell);
  for (const cell of others) await instance.cli('cell create', cell);
  const paths = cells.map((cell) => (cell === firstCell ? undefined : `cell_${cell}, public`));
  const made: Record<string, Request[]>[] = [];
  for (const path of paths)
    made.push(await makeCases(await publishForm(instance, undefined, undefined, path)));
  const cases = Object.fromEntries(
    Object.keys(made[0]!).map((name) => {
      const lists = made.map((each) => each[name]!);
      return [name, lists[0]!.flatMap((_, index) => lists.map((list) => list[index % list.length]!))];
    }),
  );
  const database = await instance.databasePid();
  return { server: server.pid, database: database!, port: Number(new URL(server.url).port), cases };
}

/** Three workspaces in one cell, and three in one each, of two instances in turn: what a request costs server and database. */
export async function benchCells({ rounds, seconds }: { rounds: number; seconds: number }): Promise<void> {
  say(await describeMachine());
  const instances = [await openInstance(), await openInstance()] as const;
  const { load, end } = startLoader();
  try {
    const one = await stage(instances[0], [firstCell, firstCell, firstCell]);
    const three = await stage(instances[1], [firstCell, 'c2', 'c3']);
    // What goes on without a request: queue, word index, housekeeping. On a busy machine, where few requests fit into a second,
    // it would count as theirs.
    const idle: number[] = [];
    for (const { server, database } of [one, three]) {
      await sleep(idleSeconds * 1_000);
      const before = await worked(server, database);
      await sleep(idleSeconds * 1_000);
      idle.push(((await worked(server, database)) - before) / idleSeconds);
    }
    say(
      `idle    one cell ${(idle[0]! * 1_000).toFixed(0)} ms/s, three ${(idle[1]! * 1_000).toFixed(0)} ms/s`,
    );
    for (const name of Object.keys(one.cases)) {
      const costs: number[][] = [[], []];
      for (let round = -1; round < rounds; round += 1)
        for (const [index, { server, database, port, cases }] of [one, three].entries()) {
          const before = await worked(server, database);
          const order = {
            requests: cases[name]!,
            concurrency,
            port,
            seconds: round < 0 ? warmUpSeconds : seconds,
          };
          const began = performance.now();
          const { perSecond } = await load(order);
          const besides = (idle[index]! * (performance.now() - began)) / 1_000;
          const cost = ((await worked(server, database)) - before - besides) / (perSecond * order.seconds);
          if (round >= 0) costs[index]!.push(cost * 1e6);
        }
      const [inOne, inThree] = costs.map(middle) as [number, number];
      const least = costs.map((each) => Math.min(...each)) as [number, number];
      say(
        `${name.padEnd(7)} one cell ${inOne.toFixed(0)} µs, three ${inThree.toFixed(0)} µs   × ${(inOne / inThree).toFixed(2)} (least ${(least[0] / least[1]).toFixed(2)}), goal ${goal}`,
      );
    }
  } finally {
    end();
    for (const instance of instances) await instance.close();
  }
}
