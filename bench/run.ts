import { type ChildProcess, fork, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Instance, openInstance } from '#test/process.ts';
import type { BareOptions } from './bare.ts';
import { benchCapacity } from './capacity.ts';
import { type Case, cases } from './cases.ts';
import { benchIdle } from './cells/idle.ts';
import { benchInstructions } from './cells/instructions.ts';
import { benchCells } from './cells/run.ts';
import { benchIndex } from './index-cost.ts';
import { type Load, measure, startLoader } from './loader.ts';
import { describeMemory, memoryOf } from './memory.ts';
import { benchPeers } from './peers/run.ts';
import { benchProcesses } from './processes/run.ts';
import {
  type Comparison,
  describeGrowth,
  describeMachine,
  describeRow,
  type Figures,
  type Measured,
  median,
  middle,
  writeReport,
} from './report.ts';
import { prepareSites, type Site } from './site.ts';
import { type Task, tasks } from './tasks.ts';
import { benchWebhooks } from './webhooks/run.ts';

/*
 * npm run bench                  all cases: the service and a bare node:http server with the same SQL
 * npm run bench -- list get      these cases only; leaves bench/results.md unchanged
 * npm run bench -- operators     every search operator with 100,000 submissions, one after the other, and its limit;
 *                                five minutes, or three with --database on the next run
 * npm run bench -- webhooks      the webhook engine and a bare undici loop
 * npm run bench -- processes     one process and two (WEB_PROCESSES)
 * npm run bench -- cells         three workspaces in one cell and in three, with equal numbers of connections
 * npm run bench -- instructions  instructions per submit with one cell and three (Valgrind, half an hour)
 * npm run bench -- idle          transactions, CPU and memory of one, three and ten idle cells
 * npm run bench -- capacity      bytes and CPU per submission, for the plan of docs/operating/large.md
 * npm run bench -- index         what the search index costs a submit
 * npm run bench -- builder       response times of the builder on a form of 200 elements; limit 100 ms
 * npm run bench -- page-load     load times of a public page on a slow phone
 * npm run bench -- peers         the service and Directus, Strapi and NocoDB, which the first run installs
 *                                (3 GB in .local/); writes bench/peers.md
 *   --peers directus,strapi      these peers only; leaves bench/peers.md unchanged
 *   --rows 100000                the number of submissions in the form and of rows in each peer's table
 *   --rounds 3 --seconds 3       the number and duration of the rounds; the two sides take turns
 *   --sizes 10000,100000         the number of existing submissions, with a workspace for each number
 *   --database <url>             this database instead of the embedded one; seeded data stays for the next run
 *   --profile <directory>        CPU profiles of the service, for browser developer tools
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    sizes: { type: 'string' },
    database: { type: 'string' },
    profile: { type: 'string' },
    peers: { type: 'string' },
    rows: { type: 'string', default: '100000' },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const isOfOperators = positionals.includes('operators');
const sizes = (values.sizes ?? (isOfOperators ? '100000' : '10000,100000,1000000')).split(',').map(Number);
const usualConcurrencies = [32, 1];
const warmUpSeconds = 1;

const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

type Chosen = { cases: readonly Case[]; tasks: readonly Task[] };

function choose(): Chosen {
  if (isOfOperators)
    return {
      cases: cases
        .filter(({ mostMs }) => mostMs !== undefined)
        .map((each) => ({ ...each, beside: undefined, concurrencies: [1] })),
      tasks: [],
    };
  const known = [...cases, ...tasks].map(({ name }) => name);
  const unknown = positionals.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new Error(
      `There is no case ${unknown.join(', ')}. Cases: ${known.join(', ')}, operators, webhooks, processes, cells, instructions, idle, capacity, index, builder, page-load, peers.`,
    );
  if (positionals.length === 0) return { cases, tasks };
  const isChosen = ({ name }: { name: string }): boolean => positionals.includes(name);
  return { cases: cases.filter(isChosen), tasks: tasks.filter(isChosen) };
}

type Target = { name: 'service' | 'bare'; pid: number; port: number };

async function startBare(options: BareOptions): Promise<{ target: Target; child: ChildProcess }> {
  const child = fork(script('bare.ts'), [JSON.stringify(options)], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return { child, target: { name: 'bare', pid: child.pid!, port } };
}

/** Measures the two in turn, so that other load on the machine affects both. */
async function compare(
  each: Case,
  concurrency: number,
  site: Site,
  targets: readonly Target[],
  load: Load,
): Promise<Comparison> {
  const [service, bare] = targets as [Target, Target];
  const asked = [
    { of: 'service', target: service, requests: each.service(site) },
    { of: 'bare', target: bare, requests: each.bare?.(site) },
    { of: 'beside', target: service, requests: each.beside?.(site) },
  ] as const;
  const measured: Record<(typeof asked)[number]['of'], Figures[]> = { service: [], bare: [], beside: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const { of, target, requests } of asked) {
      if (requests === undefined) continue;
      const order = { port: target.port, requests, concurrency };
      if (round === 0) await load({ ...order, seconds: warmUpSeconds });
      measured[of].push(await measure(load, target.pid, { ...order, seconds }));
    }
  }
  const medianOf = (figures: Figures[]): Figures | undefined =>
    figures.length === 0 ? undefined : median(figures);
  return {
    name: each.name,
    goal: each.goal,
    mostMs: each.mostMs,
    concurrency,
    service: median(measured.service),
    bare: medianOf(measured.bare),
    beside: medianOf(measured.beside),
    memory: (await memoryOf(service.pid)).now,
  };
}

/** Measures one request in each workspace in turn: the median of the rounds, in ms. */
async function measureGrowth(
  each: Case,
  sites: readonly Site[],
  service: Target,
  load: Load,
): Promise<number[]> {
  const orders = sites.map((site) => ({ port: service.port, requests: each.service(site), concurrency: 1 }));
  const measured: number[][] = orders.map(() => []);
  for (let round = -1; round < rounds; round += 1) {
    for (const [index, order] of orders.entries()) {
      const { p50 } = await load({ ...order, seconds: 1 });
      if (round >= 0) measured[index]!.push(p50);
    }
  }
  return measured.map(middle);
}

async function measureCase(
  each: Case,
  sites: readonly Site[],
  targets: readonly Target[],
  load: Load,
): Promise<Measured> {
  const measured: Measured = { comparisons: [], growth: [], problems: [] };
  /** A figure that cannot be measured does not stop the others. */
  const attempt = async (what: string, work: () => Promise<string>): Promise<void> => {
    try {
      say(await work());
    } catch (error) {
      measured.problems.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
      say(`✖ ${measured.problems.at(-1)}`);
    }
  };
  for (const concurrency of each.concurrencies ?? usualConcurrencies) {
    await attempt(`${each.name} c=${concurrency}`, async () => {
      const comparison = await compare(each, concurrency, sites.at(-1)!, targets, load);
      measured.comparisons.push(comparison);
      return describeRow(comparison);
    });
  }
  if (sites.length > 1)
    await attempt(`${each.name}, growth`, async () => {
      const growth = { name: each.name, times: await measureGrowth(each, sites, targets[0]!, load) };
      measured.growth.push(growth);
      return describeGrowth(growth);
    });
  return measured;
}

async function measureAll(instance: Instance, machine: string, chosen: Chosen): Promise<void> {
  const seeding = await instance.start();
  const since = performance.now();
  const sites = await prepareSites(instance, sizes);
  say(`The submissions were there after ${((performance.now() - since) / 1_000).toFixed(0)} s.`);
  await seeding.terminate();
  const starting = performance.now();
  const server = await instance.start();
  const startMs = performance.now() - starting;
  const bare = await startBare({ databaseUrl: instance.databaseUrl, serviceUrl: instance.url });
  const loader = startLoader();
  const targets: Target[] = [
    { name: 'service', pid: server.pid, port: Number(new URL(instance.url).port) },
    bare.target,
  ];
  try {
    const all: Measured = { comparisons: [], growth: [], problems: [] };
    for (const each of chosen.cases) {
      const { comparisons, growth, problems } = await measureCase(each, sites, targets, loader.load);
      all.comparisons.push(...comparisons);
      all.growth.push(...growth);
      all.problems.push(...problems);
    }
    const findings: string[] = [];
    for (const { run } of chosen.tasks) {
      const found = await run({
        instance,
        server,
        bare: bare.target,
        site: sites.at(-1)!,
        load: loader.load,
      });
      findings.push(found);
      say(found);
    }
    const memory = await Promise.all(
      targets.map(async ({ name, pid }) => `${name} ${describeMemory(await memoryOf(pid))}`),
    );
    const notes = [
      `Start to ready with this database: ${Math.round(startMs)} ms.`,
      ...findings,
      `Resident memory afterwards: ${memory.join(', ')}.`,
    ];
    say(notes[0]!);
    say(notes.at(-1)!);
    if (positionals.length === 0) {
      await writeFile(script('results.md'), writeReport({ machine, sizes, rounds, seconds, ...all, notes }));
      say('Written to bench/results.md.');
    }
  } finally {
    loader.end();
    bare.child.disconnect();
    await server.terminate();
  }
}

/** Ends with the exit code of another script, which starts what it needs. */
async function endWith(...words: readonly string[]): Promise<never> {
  const child = spawn(process.execPath, [...process.execArgv, ...words], { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return process.exit(code ?? 1);
}

if (positionals.includes('builder')) await endWith(script('../test/run.ts'), 'bench/builder.ts');
if (positionals.includes('page-load')) await endWith(script('page-load.ts'));
if (positionals.includes('processes')) {
  await benchProcesses(2);
  process.exit(0);
}
if (positionals.includes('capacity')) {
  await benchCapacity({ rounds, seconds, size: Number(values.sizes ?? 0) });
  process.exit(0);
}
if (positionals.includes('index')) {
  await benchIndex({ rounds });
  process.exit(0);
}
if (positionals.includes('cells')) {
  await benchCells({ rounds, seconds });
  process.exit(0);
}
if (positionals.includes('instructions')) {
  await benchInstructions({ rounds, seconds });
  process.exit(0);
}
if (positionals.includes('idle')) {
  await benchIdle(seconds);
  process.exit(0);
}
if (positionals.includes('peers')) {
  await benchPeers({ chosen: values.peers, rows: Number(values.rows), rounds, seconds });
  process.exit(0);
}
if (positionals.includes('webhooks')) {
  await benchWebhooks({ rounds, profile: values.profile });
  process.exit(0);
}
const chosen = choose();
const machine = await describeMachine();
say(machine);
// The options with which setup.mjs starts the service.
const options = ['--max-semi-space-size=8'];
if (values.profile) options.push('--cpu-prof', `--cpu-prof-dir=${values.profile}`);
const instance = await openInstance({
  MALLOC_ARENA_MAX: '2',
  NODE_OPTIONS: options.join(' '),
  // The next run needs the key and the files of this database.
  ...(values.database && {
    DATABASE_URL: values.database,
    DATA_DIR: fileURLToPath(new URL(`../.local/bench/${hash('sha256', values.database)}`, import.meta.url)),
  }),
});
try {
  await measureAll(instance, machine, chosen);
} finally {
  await instance.close();
}
