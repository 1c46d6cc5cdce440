import { readFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import type { LoadFigures } from './load.ts';

/** `cpu`: microseconds of CPU that the server uses per request. Other load hardly changes it. */
export type Figures = LoadFigures & { cpu: number };

/** The figures of the service and the bare server in one case: the medians of the rounds. */
export type Comparison = {
  name: string;
  goal: number | undefined;
  /** The limit for p99 with sequential requests, in ms; undefined if there is none. */
  mostMs: number | undefined;
  concurrency: number;
  service: Figures;
  /** Undefined if the bare server has no equivalent. */
  bare: Figures | undefined;
  /** The requests to the service that were measured in turn with the case, instead of the bare server. */
  beside: Figures | undefined;
  /** Resident memory of the service afterwards, in MB. */
  memory: number;
};

/** The time of one request in ms, for the workspace of each size. */
export type Growth = { name: string; times: readonly number[] };

/** The results of a run; `problems` says what could not be measured, and why. */
export type Measured = { comparisons: Comparison[]; growth: Growth[]; problems: string[] };

export const middle = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** Returns the median of each figure separately. */
export function median(rounds: readonly Figures[]): Figures {
  const of = (name: keyof Figures): number => middle(rounds.map((round) => round[name]));
  return { perSecond: of('perSecond'), p50: of('p50'), p99: of('p99'), cpu: of('cpu') };
}

/**
 * Describes the machine, the versions and the load before the run, because figures of a busy machine are
 * unreliable.
 */
export async function describeMachine(): Promise<string> {
  const load = await readFile('/proc/loadavg', 'utf8').then(
    (text) => `, load before the run ${text.split(' ').slice(0, 2).join(' and ')} (1 and 5 minutes)`,
    () => '',
  );
  const cores = cpus();
  return `Node ${process.versions.node}, ${cores.length} × ${cores[0]?.model.trim() ?? 'unknown core'}, ${Math.round(totalmem() / 2 ** 30)} GB${load}, ${new Date().toISOString().slice(0, 16)}Z`;
}

const ratio = ({ service, bare, beside }: Comparison): string => {
  const other = bare ?? beside;
  return other ? `${Math.round((100 * service.perSecond) / other.perSecond)} %` : '';
};
export const milliseconds = (value: number): string => (value < 10 ? value.toFixed(2) : value.toFixed(0));
const goalOf = ({ goal, concurrency, mostMs, service }: Comparison): string => {
  if (mostMs !== undefined && concurrency === 1)
    return `p99 is ${Math.round((100 * service.p99) / mostMs)} % of ${mostMs} ms`;
  return goal !== undefined && concurrency > 1 ? `${Math.round(goal * 100)} %` : '';
};

/** Formats figures for the terminal. */
export const describeFigures = ({ perSecond, p50, p99, cpu }: Figures): string =>
  `${perSecond.toFixed(0).padStart(6)}/s p50 ${milliseconds(p50).padStart(5)} p99 ${milliseconds(p99).padStart(5)} ms cpu ${cpu.toFixed(0).padStart(4)} µs`;

/** Returns one line for the terminal. */
export function describeRow(comparison: Comparison): string {
  const { name, concurrency, service, bare, beside, memory } = comparison;
  const other = bare ?? beside;
  const against = other
    ? `   ${bare ? 'bare' : 'words'} ${describeFigures(other)}   ${ratio(comparison)}`
    : '';
  const goal = goalOf(comparison) && ` (goal ${goalOf(comparison)})`;
  return `${name.padEnd(22)} c=${String(concurrency).padEnd(3)} service ${describeFigures(service)} ${memory} MB${against}${goal}`;
}

const factor = ({ times }: Growth): string => `${(times.at(-1)! / times[0]!).toFixed(1)} times`;

export const describeGrowth = (growth: Growth): string =>
  `${growth.name.padEnd(22)} grows: ${growth.times.map(milliseconds).join(' -> ')} ms, ${factor(growth)}`;

export const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
export const table = (heads: readonly string[], rows: readonly string[]): string =>
  [row(heads), row(heads.map(() => '---')), ...rows].join('\n');

export const cellsOf = ({ perSecond, p50, p99, cpu }: Figures): string[] => [
  perSecond.toFixed(0),
  milliseconds(p50),
  milliseconds(p99),
  cpu.toFixed(0),
];

const cellsBeside = ({ bare, beside }: Comparison): string[] =>
  bare ? cellsOf(bare) : beside ? cellsOf(beside) : ['', '', '', ''];

/** Returns the text of bench/results.md. */
export function writeReport(
  run: Measured & {
    machine: string;
    sizes: readonly number[];
    rounds: number;
    seconds: number;
    notes: readonly string[];
  },
): string {
  const { machine, sizes, rounds, seconds, comparisons, growth, problems, notes } = run;
  const compared = comparisons.map((each) =>
    row([
      each.name,
      each.concurrency,
      ...cellsOf(each.service),
      each.memory,
      ...cellsBeside(each),
      ratio(each),
      goalOf(each),
    ]),
  );
  const figures = ['/s', 'p50', 'p99', 'CPU'];
  return `# Benchmark

\`npm run bench\` writes this page. It compares the service with a bare \`node:http\` and \`pg\` server that runs the same
SQL on the same database and does nothing else (bench/bare.ts). Load generator, server and PostgreSQL share the
machine, so only the ratios apply elsewhere. A search with operators is compared with a search for words alone by the
same service, in the columns of the bare server.

${machine}. Workspaces of ${sizes.join(', ')} submissions of 1 KB in one database, each with 50 forms. The first form
has half of the submissions. Medians of ${rounds} rounds of ${seconds} s each, the two servers in turn. Times are in ms.
\`c\` is the number of connections. CPU is the time of the server process per request, in µs. MB is its resident
memory afterwards.

## ${sizes.at(-1)} submissions

${table(['case', 'c', ...figures, 'MB', ...figures.map((name) => `bare ${name}`), 'service / bare', 'goal'], compared)}
${problems.map((problem) => `\nNot measured: ${problem}\n`).join('')}
## Growth

The median time of consecutive requests, in ms.

${table(
  ['case', ...sizes.map(String), 'last / first'],
  growth.map((each) => row([each.name, ...each.times.map(milliseconds), factor(each)])),
)}

## Whole tasks

${notes.map((note) => `- ${note}`).join('\n')}
`;
}
