import { readFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import type { LoadFigures } from './load.ts';

/** `cpu`: microseconds that the server itself worked for one request. It hardly changes with what else runs. */
export type Figures = LoadFigures & { cpu: number };

/** What the two reached in one case: the median of the rounds. */
export type Comparison = {
  name: string;
  goal: number | undefined;
  concurrency: number;
  service: Figures;
  bare: Figures;
};

/** The median of each figure by itself. */
export function median(rounds: readonly Figures[]): Figures {
  const middle = (name: keyof Figures): number =>
    rounds.map((round) => round[name]).sort((a, b) => a - b)[Math.floor(rounds.length / 2)]!;
  return { perSecond: middle('perSecond'), p50: middle('p50'), p99: middle('p99'), cpu: middle('cpu') };
}

/** What ran where, and how busy the machine was before: figures of a busy machine are worth little. */
export async function describeMachine(): Promise<string> {
  const load = await readFile('/proc/loadavg', 'utf8').then(
    (text) => `, load before the run ${text.split(' ').slice(0, 2).join(' and ')} (1 and 5 minutes)`,
    () => '',
  );
  const cores = cpus();
  return `Node ${process.versions.node}, ${cores.length} × ${cores[0]?.model.trim() ?? 'unknown core'}, ${Math.round(totalmem() / 2 ** 30)} GB${load}, ${new Date().toISOString().slice(0, 16)}Z`;
}

const ratio = ({ service, bare }: Comparison): number => service.perSecond / bare.perSecond;
const percent = (share: number): string => `${Math.round(share * 100)} %`;
const milliseconds = (value: number): string => (value < 10 ? value.toFixed(2) : value.toFixed(0));
const perSecond = (figures: Figures): string => figures.perSecond.toFixed(0);

/** One line for the terminal. */
export function describeRow(comparison: Comparison): string {
  const { name, concurrency, service, bare, goal } = comparison;
  const figures = (each: Figures): string =>
    `${perSecond(each).padStart(6)}/s p50 ${milliseconds(each.p50).padStart(5)} p99 ${milliseconds(each.p99).padStart(5)} ms cpu ${each.cpu.toFixed(0).padStart(4)} µs`;
  const against = goal !== undefined && concurrency > 1 ? ` (goal ${percent(goal)})` : '';
  return `${name.padEnd(14)} c=${String(concurrency).padEnd(2)}  service ${figures(service)}   bare ${figures(bare)}   ${percent(ratio(comparison))}${against}`;
}

/** bench/results.md. */
export function writeReport(run: {
  machine: string;
  submissions: number;
  rounds: number;
  seconds: number;
  comparisons: readonly Comparison[];
  /** What could not be measured, and why. */
  problems: readonly string[];
  memory: readonly string[];
}): string {
  const rows = run.comparisons.map((comparison) => {
    const { name, concurrency, service, bare, goal } = comparison;
    const cells = [
      name,
      concurrency,
      perSecond(service),
      milliseconds(service.p50),
      milliseconds(service.p99),
      service.cpu.toFixed(0),
      perSecond(bare),
      milliseconds(bare.p50),
      milliseconds(bare.p99),
      bare.cpu.toFixed(0),
      percent(ratio(comparison)),
      goal !== undefined && concurrency > 1 ? percent(goal) : '',
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return `# Benchmark

Written by \`npm run bench\`. The service on its embedded database, beside a bare \`node:http\` and \`pg\` server that runs
the same SQL on the same database and does nothing else (bench/bare.ts). Load generator, server and PostgreSQL share
the machine, so only the ratio means something elsewhere.

${run.machine}. ${run.submissions} submissions of 1 KB in one form of eight fields, and four smaller forms. Medians of
${run.rounds} rounds of ${run.seconds} s each, the two in turn; times in ms; \`c\` is the number of connections;
CPU is what the server's process works for one request, in µs.

| case | c | service /s | p50 | p99 | CPU | bare /s | p50 | p99 | CPU | service / bare | goal |
|---|---|---|---|---|---|---|---|---|---|---|---|
${rows.join('\n')}
${run.problems.map((problem) => `\nNot measured: ${problem}\n`).join('')}
Resident memory afterwards: ${run.memory.join(', ')}.
`;
}
