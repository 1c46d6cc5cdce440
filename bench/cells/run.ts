import { firstCell } from '#cells/cells.ts';
import { type CitusCluster, openCitusCluster } from '#test/citus-cluster.ts';
import { publishForm } from '#test/crowd.ts';
import { type Instance, openInstance } from '#test/process.ts';
import { worked } from '../cpu-seconds.ts';
import type { Request } from '../load.ts';
import { type Load, startLoader } from '../loader.ts';
import { makeCases } from '../processes/run.ts';
import { describeMachine } from '../report.ts';

/**
 * So long is each case asked before any is measured: V8 compiles what a submit goes through until 20,000 have gone through it, for half of
 * a submit's work at first (`npm run bench -- instructions`), and three cells a little longer than one.
 */
const warmUpSeconds = 8;
/** So often a process is looked at. */
const looks = 8;
/** How often each submission is there, once it is. */
const copies = 20;
const concurrency = 48;
/** What three cells in one database may cost: issue 16 says 0.97 of one. */
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
 * An instance with three workspaces, each in one of these cells; what each is asked, in turn. No server runs when it is made.
 * @param databases the servers of its database, where that is not the embedded one.
 */
export async function stage(
  instance: Instance,
  cells: readonly string[],
  databases?: readonly number[],
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
 * PostgreSQL reads a table of 200 rows as a whole for one of them, and one of 600 by its key, from when autovacuum has looked at it, in the
 * middle of a run. What is compared are cells, not plans for tables that are hardly there.
 */
const growIn = (schema: string): string =>
  `insert into ${schema}.submissions
   select (jsonb_populate_record(null::${schema}.submissions, to_jsonb(s) || jsonb_build_object('id', gen_random_uuid(), 'key', null))).*
     from ${schema}.submissions s, generate_series(1, ${copies})`;

/** What a request cost server and database, in microseconds. */
type Cost = readonly [server: number, database: number];
const total = ([server, database]: Cost): number => server + database;
const describe = ([server, database]: Cost): string => `${server.toFixed(0)} + ${database.toFixed(0)} µs`;

/**
 * What each case costs on each stage. Two processes of the same code differ by a tenth, so each round starts the server of each stage
 * anew; and the machine is quicker in one minute than in the next, so those of a round run at once and are looked at in turn.
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

/** A server of a stage that was asked everything: a service is, and what V8 makes of code that has seen pages alone is another. */
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

/** What else the machine does makes a look dearer, and none cheaper. */
const lowerQuarter = (costs: readonly Cost[]): Cost =>
  costs.toSorted((a, b) => total(a) - total(b))[costs.length >> 2]!;

const mean = (figures: readonly number[]): number =>
  figures.reduce((sum, figure) => sum + figure, 0) / figures.length;
/** How far a mean may be from what it stands for, by how far its figures are from each other. */
const error = (figures: readonly number[]): number =>
  Math.sqrt(mean(figures.map((figure) => (figure - mean(figures)) ** 2)) / Math.max(1, figures.length - 1));

const meanCost = (costs: readonly Cost[]): Cost => [
  mean(costs.map(([server]) => server)),
  mean(costs.map(([, database]) => database)),
];

/** How much of what some cost others do, and how sure that is: of each round by itself, whose servers had the same minute. */
function ratio(less: readonly Cost[], more: readonly Cost[]): string {
  const ratios = less.map((cost, round) => total(cost) / total(more[round]!));
  return `× ${mean(ratios).toFixed(2)} ± ${error(ratios).toFixed(2)}`;
}

/** In which cells the workspaces are. */
export const kinds = { one: [firstCell, firstCell, firstCell], three: [firstCell, 'c2', 'c3'] } as const;

/** A pool for each cell is the default. Three of 4 connections are as many as one of 12, and three of 10 as one of 30. */
export const pool = (connections: number): Readonly<Record<string, string>> => ({
  DATABASE_POOL: String(connections),
});

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

/** What a cell at the node that has it may cost: the issue says so much of plain PostgreSQL. */
const goals: Readonly<Record<string, number>> = { get: 0.5, list: 0.5, submit: 0.7 };

/** The least of all rounds: what else runs on the machine makes each dearer, and none cheaper. */
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
