import { readFile } from 'node:fs/promises';
import { firstCell } from '#kit/cells/cells.ts';
import { publishForm } from '#test/crowd.ts';
import { type Instance, openInstance } from '#test/process.ts';
import type { Request } from '../load.ts';
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

/** What a process has worked so far, with those that it has waited for (Linux): 1/100 s in fields 14 to 17 of its stat. */
async function ticksOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
}

/** Seconds that a server and its database have worked, each. It hardly changes with what else runs. */
async function worked(server: number, database: number): Promise<readonly [number, number]> {
  const children = await readFile(`/proc/${database}/task/${database}/children`, 'utf8');
  const pids = [database, ...children.split(' ').filter(Boolean).map(Number)];
  const inDatabase = (await Promise.all(pids.map(ticksOf))).reduce((sum, ticks) => sum + ticks, 0);
  return [(await ticksOf(server)) / 100, inDatabase / 100];
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
    for (const name of Object.keys(one.cases)) {
      const costs: [number, number][][] = [[], []];
      for (let round = -1; round < rounds; round += 1)
        for (const [index, { server, database, port, cases }] of [one, three].entries()) {
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
      const [inOne, inThree] = costs.map((each) =>
        ([0, 1] as const).map((part) => middle(each.map((cost) => cost[part]))),
      ) as [[number, number], [number, number]];
      const describe = ([server, database]: [number, number]): string =>
        `${server.toFixed(0)} + ${database.toFixed(0)} µs`;
      const ratio = (inOne[0] + inOne[1]) / (inThree[0] + inThree[1]);
      say(
        `${name.padEnd(7)} server + database: one cell ${describe(inOne)}, three ${describe(inThree)}   × ${ratio.toFixed(2)}, goal ${goal}`,
      );
    }
  } finally {
    end();
    for (const instance of instances) await instance.close();
  }
}
