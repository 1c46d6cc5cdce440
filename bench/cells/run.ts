import { firstCellName } from '#cells/cells.ts';
import { type CitusCluster, openCitusCluster } from '#test/citus-cluster.ts';
import { publishForm } from '#test/crowd.ts';
import { type Instance, openInstance } from '#test/process.ts';
import { worked } from '../cpu-seconds.ts';
import type { Request } from '../load.ts';
import { type Load, startLoader } from '../loader.ts';
import { makeCases } from '../processes/run.ts';
import { describeMachine } from '../report.ts';

/**
 * How long each case runs before any is measured. V8 keeps compiling the submit path until 20,000 submits
 * have run; compiling is half of a submit's work at first (`npm run bench -- instructions`). Three cells take
 * a little longer than one.
 */
const warmUpSeconds = 8;
/** The number of measurements of a process per case and round. */
const looks = 8;
/** The number of copies made of each submission. */
const copies = 20;
const concurrency = 48;
/** The goal for three cells in one database: 0.97 of one cell, by issue 16. */
const goal = 0.97;

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

type Stage = {
  instance: Instance;
  databases: readonly number[] | undefined;
  cases: Record<string, Request[]>;
};
type Rounds = { rounds: number; seconds: number };

/**
 * Prepares an instance with three workspaces, one in each of `cells`, and the requests to each in turn. The
 * server is stopped when this returns.
 * @param databases the server processes of its database, if it is not the embedded one.
 */
export async function stage(
  instance: Instance,
  cells: readonly string[],
  databases?: readonly number[],
): Promise<Stage> {
  const server = await instance.start();
  const others = [...new Set(cells)].filter((cell) => cell !== firstCellName);
  for (const cell of others) await instance.cli('cell create', cell);
  const paths = cells.map((cell) => (cell === firstCellName ? undefined : `cell_${cell}, public`));
  const made: Record<string, Request[]>[] = [];
  for (const path of paths)
    made.push(await makeCases(await publishForm(instance, undefined, undefined, path)));
  for (const schema of new Set(paths.map((path) => path?.split(',', 1)[0] ?? 'public')))
    await instance.query(growIn(schema));
  await instance.query('vacuum analyze');
  await server.terminate();
  const cases = Object.fromEntries(
    Object.keys(made[0]!).map((name) => {
      const lists = made.map((each) => each[name]!);
      return [name, lists[0]!.flatMap((_, index) => lists.map((list) => list[index % list.length]!))];
    }),
  );
  return { instance, databases, cases };
}

/**
 * PostgreSQL scans a table of 200 rows for one row, but reads one of 600 by its key after autovacuum has
 * analyzed it midway. This benchmark compares cells, not plans for nearly empty tables.
 */
const growIn = (schema: string): string =>
  `insert into ${schema}.submissions
   select (jsonb_populate_record(null::${schema}.submissions, to_jsonb(s) || jsonb_build_object('id', gen_random_uuid(), 'key', null))).*
     from ${schema}.submissions s, generate_series(1, ${copies})`;

/** The cost of a request for server and database, in microseconds. */
type Cost = readonly [server: number, database: number];
const total = ([server, database]: Cost): number => server + database;
const describe = ([server, database]: Cost): string => `${server.toFixed(0)} + ${database.toFixed(0)} µs`;

/**
 * Measures what each case costs on each stage. Two processes of the same code differ by a tenth, so each
 * round restarts the server of each stage. The machine's speed varies by the minute, so the servers of a
 * round run at the same time and are measured in turn.
 * @returns by case, all rounds of each stage.
 */
async function measure(
  load: Load,
  stages: readonly Stage[],
  { rounds, seconds }: Rounds,
): Promise<[name: string, costs: Cost[][]][]> {
  const costs = new Map(Object.keys(stages[0]!.cases).map((name) => [name, stages.map((): Cost[] => [])]));
  for (let round = 0; round < rounds; round += 1) {
    const servers: Served[] = [];
    for (const stage of stages) servers.push(await serve(load, stage));
    for (const [name, ofStages] of costs) {
      const seen = servers.map((): Cost[] => []);
      for (const server of servers) await server.ask(name, seconds);
      const order = [...servers.entries()];
      for (let look = 0; look < looks; look += 1)
        for (const [index, server] of look % 2 === 0 ? order : order.toReversed())
          seen[index]!.push(await server.look(name, seconds));
      for (const [index, each] of seen.entries()) ofStages[index]!.push(lowerQuarter(each));
    }
    for (const { server } of servers) await server.terminate();
  }
  return [...costs];
}

type Served = Awaited<ReturnType<typeof serve>>;

/**
 * Starts the server of a stage and warms it up with every case, because V8 optimizes a process that has only
 * served pages differently.
 */
async function serve(load: Load, { instance, databases, cases }: Stage) {
  const server = await instance.start();
  const pids = databases ?? [(await instance.databasePid())!];
  const port = Number(new URL(server.url).port);
  const ask = (name: string, seconds: number): ReturnType<Load> =>
    load({ requests: cases[name]!, concurrency, port, seconds });
  for (const name of Object.keys(cases)) await ask(name, warmUpSeconds);
  return {
    server,
    ask,
    async look(name: string, seconds: number): Promise<Cost> {
      const before = await worked(server.pid, pids);
      const { perSecond } = await ask(name, seconds);
      const after = await worked(server.pid, pids);
      const of = (part: 0 | 1): number => ((after[part] - before[part]) / (perSecond * seconds)) * 1e6;
      return [of(0), of(1)];
    },
  };
}

/** Other load on the machine only makes a measurement more expensive, never cheaper. */
const lowerQuarter = (costs: readonly Cost[]): Cost =>
  costs.toSorted((a, b) => total(a) - total(b))[costs.length >> 2]!;

const mean = (figures: readonly number[]): number =>
  figures.reduce((sum, figure) => sum + figure, 0) / figures.length;
/** Returns the standard error of the mean. */
const error = (figures: readonly number[]): number =>
  Math.sqrt(mean(figures.map((figure) => (figure - mean(figures)) ** 2)) / Math.max(1, figures.length - 1));

const meanCost = (costs: readonly Cost[]): Cost => [
  mean(costs.map(([server]) => server)),
  mean(costs.map(([, database]) => database)),
];

/**
 * Returns the ratio of two costs and its standard error. It compares round by round, because servers of one
 * round ran in the same minute.
 */
function ratio(less: readonly Cost[], more: readonly Cost[]): string {
  const ratios = less.map((cost, round) => total(cost) / total(more[round]!));
  return `× ${mean(ratios).toFixed(2)} ± ${error(ratios).toFixed(2)}`;
}

/** The cells of the three workspaces. */
export const kinds = {
  one: [firstCellName, firstCellName, firstCellName],
  three: [firstCellName, 'c2', 'c3'],
} as const;

/**
 * Each cell has its own pool by default. Three pools of 4 connections equal one of 12, and three of 10 equal
 * one of 30.
 */
export const pool = (connections: number): Readonly<Record<string, string>> => ({
  DATABASE_POOL: String(connections),
});

/**
 * Compares three workspaces in one cell with three in a cell each, with equal numbers of connections, on four
 * instances in turn: the cost of a request for server and database. If CITUS_URL names a local server with
 * Citus, compares a cell on a worker of a cluster with plain PostgreSQL of the same programs instead.
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
  const { one, three } = kinds;
  const stages = [
    await stage(await open(pool(12)), one),
    await stage(await open(pool(4)), three),
    await stage(await open(pool(30)), one),
    await stage(await open(pool(10)), three),
  ];
  for (const [name, costs] of await measure(load, stages, rounds)) {
    const [few, shared, wide, each] = costs as [Cost[], Cost[], Cost[], Cost[]];
    say(
      `${name.padEnd(7)} server + database: with 12 connections one cell ${describe(meanCost(few))}, three of 4 ${describe(meanCost(shared))}   ${ratio(few, shared)}, goal ${goal}; with 30 one cell ${describe(meanCost(wide))}, three of 10 ${describe(meanCost(each))}   ${ratio(wide, each)}`,
    );
  }
}

/** The goals for a cell on its own node, as a share of plain PostgreSQL, by the issue. */
const goals: Readonly<Record<string, number>> = { get: 0.5, list: 0.5, submit: 0.7 };

/**
 * Compares the minimum of all rounds: other load on the machine makes a round more expensive, never cheaper.
 */
async function compareNodes(load: Load, open: Open, cluster: CitusCluster, rounds: Rounds): Promise<void> {
  const bare = await cluster.openPlain();
  const stages = [
    await stage(await open({ DATABASE_URL: bare.url }), [firstCellName], [bare.pid()]),
    await stage(
      await open({ DATABASE_URL: cluster.coordinator.url }),
      ['c2'],
      [cluster.coordinator, ...cluster.workers].map((node) => node.pid()),
    ),
  ];
  for (const [name, costs] of await measure(load, stages, rounds)) {
    const [plain, node] = costs.map((each) =>
      each.reduce((least, cost) => (total(cost) < total(least) ? cost : least)),
    ) as [Cost, Cost];
    const wanted = goals[name] === undefined ? '' : `, goal ${goals[name]}`;
    say(
      `${name.padEnd(7)} server + database: plain PostgreSQL ${describe(plain)}, at a node of a cluster ${describe(node)}   × ${(total(plain) / total(node)).toFixed(2)}${wanted}`,
    );
  }
}
