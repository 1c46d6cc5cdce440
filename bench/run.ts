import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Instance, openInstance } from '#test/process.ts';
import type { BareOptions } from './bare.ts';
import { type Case, cases } from './cases.ts';
import type { LoadFigures, LoadOrder, LoadOutcome, Request } from './load.ts';
import {
  type Comparison,
  describeMachine,
  type Figures,
  describeRow,
  median,
  writeReport,
} from './report.ts';
import { prepareSite, type Site } from './site.ts';
import { benchWebhooks } from './webhooks/run.ts';

/*
 * npm run bench                          every case: the service beside a bare node:http server with the same SQL
 * npm run bench -- list get              these cases only; bench/results.md stays as it is
 * npm run bench -- webhooks              the webhook engine beside a bare undici loop
 *   --rounds 3 --seconds 4               how often, and how long, each of the two is measured in turn
 *   --submissions 100000                 how many there are before
 *   --profile <directory>                CPU profiles of the service, for the developer tools of a browser
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    submissions: { type: 'string', default: '100000' },
    profile: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const usualConcurrencies = [32, 1];
const warmUpSeconds = 1.5;

const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

function chooseCases(): readonly Case[] {
  const unknown = positionals.filter((name) => !cases.some((each) => each.name === name));
  if (unknown.length > 0)
    throw new Error(
      `There is no case ${unknown.join(', ')}. Cases: ${cases.map(({ name }) => name).join(', ')}.`,
    );
  return positionals.length > 0 ? cases.filter(({ name }) => positionals.includes(name)) : cases;
}

type Target = { name: 'service' | 'bare'; pid: number; port: number };

async function startBare(options: BareOptions): Promise<{ target: Target; child: ChildProcess }> {
  const child = fork(script('bare.ts'), [JSON.stringify(options)], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return { child, target: { name: 'bare', pid: child.pid!, port } };
}

type Loader = (order: LoadOrder) => Promise<LoadFigures>;

function startLoader(): { load: Loader; child: ChildProcess } {
  const child = fork(script('load.ts'), { execArgv: ['--disable-warning=ExperimentalWarning'] });
  return {
    child,
    async load(order) {
      child.send(order);
      const [outcome] = (await once(child, 'message')) as [LoadOutcome];
      if ('problem' in outcome) throw new Error(outcome.problem);
      return outcome;
    },
  };
}

/** Measures the two in turn, so that whatever else the machine does falls on both. */
async function compare(
  each: Case,
  concurrency: number,
  site: Site,
  targets: readonly Target[],
  load: Loader,
): Promise<Comparison> {
  const requests: Record<Target['name'], Request[]> = { service: each.service(site), bare: each.bare(site) };
  const order = ({ name, port }: Target, duration: number): LoadOrder => ({
    port,
    requests: requests[name],
    concurrency,
    seconds: duration,
  });
  const measured: Record<Target['name'], Figures[]> = { service: [], bare: [] };
  for (const target of targets) await load(order(target, warmUpSeconds));
  for (let round = 0; round < rounds; round += 1) {
    for (const target of targets) {
      const before = await cpuSeconds(target);
      const figures = await load(order(target, seconds));
      const cpu = ((await cpuSeconds(target)) - before) / (figures.perSecond * seconds);
      measured[target.name].push({ ...figures, cpu: cpu * 1e6 });
    }
  }
  return {
    name: each.name,
    goal: each.goal,
    concurrency,
    service: median(measured.service),
    bare: median(measured.bare),
  };
}

/** What a process has worked so far, where the system tells (Linux): 1/100 s in fields 14 and 15 of its stat. */
async function cpuSeconds({ pid }: Target): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) / 100;
}

/** Resident memory in MB, now and at its highest, where the system tells (Linux). */
async function memoryOf({ pid }: Target): Promise<string> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const megabytes = (name: string): string =>
    String(Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? Number.NaN) / 1_024));
  return `${megabytes('VmRSS')} MB (at most ${megabytes('VmHWM')} MB)`;
}

async function measureAll(instance: Instance, machine: string, chosen: readonly Case[]): Promise<void> {
  const server = await instance.start();
  const since = performance.now();
  const site = await prepareSite(instance, Number(values.submissions));
  say(
    `${site.submissions.length} submissions were written in ${((performance.now() - since) / 1_000).toFixed(0)} s.`,
  );
  const bare = await startBare({
    databaseUrl: instance.databaseUrl,
    workspaceId: site.workspaceId,
    formId: site.formId,
  });
  const loader = startLoader();
  const targets: Target[] = [
    { name: 'service', pid: server.pid, port: Number(new URL(instance.url).port) },
    bare.target,
  ];
  try {
    const comparisons: Comparison[] = [];
    const problems: string[] = [];
    for (const each of chosen) {
      for (const concurrency of each.concurrencies ?? usualConcurrencies) {
        try {
          const comparison = await compare(each, concurrency, site, targets, loader.load);
          comparisons.push(comparison);
          say(describeRow(comparison));
        } catch (error) {
          // One case that cannot be measured leaves the others.
          problems.push(
            `${each.name} c=${concurrency}: ${error instanceof Error ? error.message : String(error)}`,
          );
          say(`✖ ${problems.at(-1)}`);
        }
      }
    }
    const memory = await Promise.all(
      targets.map(async (target) => `${target.name} ${await memoryOf(target)}`),
    );
    say(`Resident memory afterwards: ${memory.join(', ')}.`);
    if (positionals.length === 0) {
      await writeFile(
        script('results.md'),
        writeReport({
          machine,
          submissions: site.submissions.length,
          rounds,
          seconds,
          comparisons,
          problems,
          memory,
        }),
      );
      say('Written to bench/results.md.');
    }
  } finally {
    loader.child.disconnect();
    bare.child.disconnect();
    await server.terminate();
  }
}

if (positionals.includes('webhooks')) {
  await benchWebhooks();
  process.exit(0);
}
const chosen = chooseCases();
const machine = await describeMachine();
say(machine);
const instance = await openInstance(
  values.profile === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${values.profile}` },
);
try {
  await measureAll(instance, machine, chosen);
} finally {
  await instance.close();
}
