import { firstCell } from '#kit/cells/cells.ts';
import { publishForm } from '#test/crowd.ts';
import { type Instance, openInstance } from '#test/process.ts';
import type { Request } from '../load.ts';
import { worked } from '../cpu-seconds.ts';
import { startLoader } from '../loader.ts';
import { makeCases } from '../processes/run.ts';
import { describeMachine, middle } from '../report.ts';

const warmUpSeconds = 2;
const concurrency = 48;
/** What three cells in one database may cost: issue 16 says 0.97 of one. */
const goal = 0.97;

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

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

/** As many connections as three cells have together, which default to 10 each. */
const wide = { DATABASE_POOL: '30' };

/**
 * Three workspaces in one cell, the same with as many connections as three cells have, and three in one each, of three instances in
 * turn: what a request costs server and database.
 */
export async function benchCells({ rounds, seconds }: { rounds: number; seconds: number }): Promise<void> {
  say(await describeMachine());
  const instances = [await openInstance(), await openInstance(wide), await openInstance()] as const;
  const { load, end } = startLoader();
  try {
    const stages = [
      await stage(instances[0], [firstCell, firstCell, firstCell]),
      await stage(instances[1], [firstCell, firstCell, firstCell]),
      await stage(instances[2], [firstCell, 'c2', 'c3']),
    ];
    for (const name of Object.keys(stages[0]!.cases)) {
      const costs: [number, number][][] = stages.map(() => []);
      for (let round = -1; round < rounds; round += 1)
        for (const [index, { server, database, port, cases }] of stages.entries()) {
          const before = await worked(server, database);
          const order = {
            requests: cases[name]!,
            concurrency,
            port,
            seconds: round < 0 ? warmUpSeconds : seconds,
          };
          const { perSecond } = await load(order);
          const after = await worked(server, database);
          const of = (part: 0 | 1): number =>
            ((after[part] - before[part]) / (perSecond * order.seconds)) * 1e6;
          if (round >= 0) costs[index]!.push([of(0), of(1)]);
        }
      const found = costs.map((each) =>
        ([0, 1] as const).map((part) => middle(each.map((cost) => cost[part]))),
      ) as [number, number][];
      const [one, many, three] = found.map(([server, database]) => server + database);
      const described = found.map(([server, database]) => `${server.toFixed(0)} + ${database.toFixed(0)} µs`);
      say(
        `${name.padEnd(7)} server + database: one cell ${described[0]}, with 30 connections ${described[1]}, three cells ${described[2]}   × ${(one! / three!).toFixed(2)} of one, goal ${goal}; × ${(many! / three!).toFixed(2)} of one with as many connections`,
      );
    }
  } finally {
    end();
    for (const instance of instances) await instance.close();
  }
}
