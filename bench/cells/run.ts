import { firstCell } from '#kit/cells/cells.ts';
import { type CitusCluster, openCitusCluster } from '#test/citus-cluster.ts';
import { publishForm } from '#test/crowd.ts';
import { type Instance, openInstance } from '#test/process.ts';
import type { Request } from '../load.ts';
import { worked } from '../cpu-seconds.ts';
import { type Load, startLoader } from '../loader.ts';
import { makeCases } from '../processes/run.ts';
import { describeMachine, middle } from '../report.ts';

/** Three services of one process are compiled each for itself, which takes longer than one. */
const warmUpSeconds = 8;
/** How often each submission is there, once it is. */
const copies = 20;
const concurrency = 48;
/** What three cells in one database may cost: issue 16 says 0.97 of one. */
const goal = 0.97;

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

type Stage = { server: number; databases: readonly number[]; port: number; cases: Record<string, Request[]> };
type Rounds = { rounds: number; seconds: number };

/**
 * An instance that serves three workspaces, each in one of these cells; what each is asked, in turn.
 * @param databases the servers of its database, where that is not the embedded one.
 */
async function stage(
  instance: Instance,
  cells: readonly string[],
  databases: readonly number[] = [],
): Promise<Stage> {
  const server = await instance.start();
  const others = [...new Set(cells)].filter((cell) => cell !== firstCell);
  for (const cell of others) await instance.cli('cell create', cell);
  const paths = cells.map((cell) => (cell === firstCell ? undefined : `cell_${cell}, public`));
  const made: Record<string, Request[]>[] = [];
  for (const path of paths)
    made.push(await makeCases(await publishForm(instance, undefined, undefined, path)));
  for (const schema of new Set(paths.map((path) => path?.split(',', 1)[0] ?? 'public')))
    await instance.query(growIn(schema));
  await instance.query('vacuum analyze');
  const cases = Object.fromEntries(
    Object.keys(made[0]!).map((name) => {
      const lists = made.map((each) => each[name]!);
      return [name, lists[0]!.flatMap((_, index) => lists.map((list) => list[index % list.length]!))];
    }),
  );
  return {
    server: server.pid,
    databases: databases.length > 0 ? databases : [(await instance.databasePid())!],
    port: Number(new URL(server.url).port),
    cases,
  };
}

/**
 * PostgreSQL reads a table of 200 rows as a whole for one of them, and one of 600 by its key, from when autovacuum has looked at it, in the
 * middle of a run. What is compared are cells, not plans for tables that are hardly there.
 */
const growIn = (schema: string): string =>
  `insert into ${schema}.submissions
   select (jsonb_populate_record(null::${schema}.submissions, to_jsonb(s) || jsonb_build_object('id', gen_random_uuid(), 'key', null))).*
     from ${schema}.submissions s, generate_series(1, ${copies})`;

/** What a request cost server and database. */
type Cost = readonly [server: number, database: number];
const total = ([server, database]: Cost): number => server + database;
const describe = ([server, database]: Cost): string => `${server.toFixed(0)} + ${database.toFixed(0)} µs`;

/** What each request of a case costs on each stage, asked in turn: all rounds of each, the first not counted. */
async function measure(
  load: Load,
  stages: readonly Stage[],
  name: string,
  { rounds, seconds }: Rounds,
): Promise<Cost[][]> {
  const costs: Cost[][] = stages.map(() => []);
  for (let round = -1; round < rounds; round += 1)
    for (const [index, { server, databases, port, cases }] of stages.entries()) {
      const before = await worked(server, databases);
      const order = {
        requests: cases[name]!,
        concurrency,
        port,
        seconds: round < 0 ? warmUpSeconds : seconds,
      };
      const { perSecond } = await load(order);
      const after = await worked(server, databases);
      const of = (part: 0 | 1): number => ((after[part] - before[part]) / (perSecond * order.seconds)) * 1e6;
      if (round >= 0) costs[index]!.push([of(0), of(1)]);
    }
  return costs;
}

/** A pool for each cell is the default: as many connections as one cell has, and one with as many as three cells have. */
const shared = { DATABASE_POOL: '4' };
const wide = { DATABASE_POOL: '30' };

/**
 * Three workspaces in one cell, and in one each, either with as many connections as the other has, of four instances in turn: what
 * a request costs server and database. Where CITUS_URL names a server of this machine that has Citus, then a cell at a
 * worker of a cluster beside plain PostgreSQL of the same programs.
 */
export async function benchCells(rounds: Rounds): Promise<void> {
  say(await describeMachine());
  const { load, end } = startLoader();
  const closes: (() => Promise<void>)[] = [];
  const open = async (environment?: Readonly<Record<string, string>>): Promise<Instance> => {
    const instance = await openInstance(environment);
    closes.unshift(() => instance.close());
    return instance;
  };
  try {
    const cluster = process.env['CITUS_URL'];
    if (cluster === undefined) await compareCells(load, open, rounds);
    else {
      const nodes = await openCitusCluster(cluster);
      closes.push(() => nodes.close());
      await compareNodes(load, open, nodes, rounds);
    }
  } finally {
    end();
    for (const close of closes) await close();
  }
}

type Open = (environment?: Readonly<Record<string, string>>) => Promise<Instance>;

async function compareCells(load: Load, open: Open, rounds: Rounds): Promise<void> {
  const one = [firstCell, firstCell, firstCell];
  const three = [firstCell, 'c2', 'c3'];
  const stages = [
    await stage(await open(), one),
    await stage(await open(shared), three),
    await stage(await open(wide), one),
    await stage(await open(), three),
  ];
  for (const name of Object.keys(stages[0]!.cases)) {
    const costs = await measure(load, stages, name, rounds);
    const [oneCell, threeCells, oneWide, threeWide] = costs.map((each) =>
      describe([middle(each.map(([server]) => server)), middle(each.map(([, database]) => database))]),
    );
    // Round by round: what else runs on the machine makes all of a round dearer.
    const ratio = (less: number, more: number): string =>
      middle(costs[less]!.map((cost, round) => total(cost) / total(costs[more]![round]!))).toFixed(2);
    say(
      `${name.padEnd(7)} server + database: with 10 connections one cell ${oneCell}, three of 4 each ${threeCells}   × ${ratio(0, 1)}, goal ${goal}; with 30 one cell ${oneWide}, three ${threeWide}   × ${ratio(2, 3)}, × ${ratio(0, 3)} of one with 10`,
    );
  }
}

/** What a cell at the node that has it may cost: the issue says so much of plain PostgreSQL. */
const goals: Readonly<Record<string, number>> = { get: 0.5, list: 0.5, submit: 0.7 };

/** The least of some rounds in turn: what else runs on the machine makes each dearer, and none cheaper. */
async function compareNodes(load: Load, open: Open, cluster: CitusCluster, rounds: Rounds): Promise<void> {
  const bare = await cluster.openPlain();
  const stages = [
    await stage(await open({ DATABASE_URL: bare.url }), [firstCell], [bare.pid()]),
    await stage(
      await open({ DATABASE_URL: cluster.coordinator.url }),
      ['c2'],
      [cluster.coordinator, ...cluster.workers].map((node) => node.pid()),
    ),
  ];
  for (const name of Object.keys(stages[0]!.cases)) {
    const [plain, node] = (await measure(load, stages, name, rounds)).map((each) =>
      each.reduce((least, cost) => (total(cost) < total(least) ? cost : least)),
    ) as [Cost, Cost];
    const wanted = goals[name] === undefined ? '' : `, goal ${goals[name]}`;
    say(
      `${name.padEnd(7)} server + database: plain PostgreSQL ${describe(plain)}, at a node of a cluster ${describe(node)}   × ${(total(plain) / total(node)).toFixed(2)}${wanted}`,
    );
  }
}
