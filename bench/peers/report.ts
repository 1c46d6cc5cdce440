import { cellsOf, describeFigures, type Figures, row, table } from '../report.ts';
import { type CaseName, caseNames } from './peer.ts';
import { goals } from './service.ts';

/** The figures of the service and a peer in one case, measured in turn: the medians of the rounds. */
export type Compared = { name: CaseName; concurrency: number; service: Figures; theirs: Figures };

/** The results of a peer. `problems` lists what could not be measured, and why. */
export type PeerOutcome = {
  name: string;
  version: string;
  notes: string;
  compared: Compared[];
  problems: string[];
  /** Resident memory of its process and of the service afterwards. */
  memory: string | undefined;
};

const ratioOf = ({ service, theirs }: Compared): number => service.perSecond / theirs.perSecond;
const times = (ratio: number): string => `${ratio < 10 ? ratio.toFixed(1) : ratio.toFixed(0)} times`;
/** Goals apply to many connections; a single one mostly waits for network and disk. */
const goalOf = (name: CaseName, concurrency: number): string =>
  concurrency === 1 ? '' : `${goals[name]} times`;

/** Returns one line for the terminal. */
export function describeCompared(peer: string, compared: Compared): string {
  const { name, concurrency, service, theirs } = compared;
  const goal = goalOf(name, concurrency);
  return `${name.padEnd(7)} c=${String(concurrency).padEnd(3)} service ${describeFigures(service)}   ${peer} ${describeFigures(theirs)}   ${times(ratioOf(compared))}${goal && ` (goal ${goal})`}`;
}

/** The ratio to the fastest peer in a case. */
type Best = { name: CaseName; concurrency: number; peer: string; ratio: number };

export function bestOf(outcomes: readonly PeerOutcome[]): Best[] {
  const all = outcomes.flatMap(({ name: peer, compared }) =>
    compared.map((each) => ({ ...each, peer, ratio: ratioOf(each) })),
  );
  return caseNames.flatMap((name) =>
    [...new Set(all.map(({ concurrency }) => concurrency))].flatMap((concurrency) =>
      all
        .filter((each) => each.name === name && each.concurrency === concurrency)
        .toSorted((a, b) => a.ratio - b.ratio)
        .slice(0, 1),
    ),
  );
}

export const describeBest = ({ name, concurrency, peer, ratio }: Best): string =>
  `${name.padEnd(7)} c=${String(concurrency).padEnd(3)} service / best peer (${peer}) ${times(ratio)}${goalOf(name, concurrency) && ` (goal ${goalOf(name, concurrency)})`}`;

const figures = ['/s', 'p50', 'p99', 'CPU'];

function sectionOf({ name, version, notes, compared, problems, memory }: PeerOutcome): string {
  const rows = compared.map((each) =>
    row([
      each.name,
      each.concurrency,
      ...cellsOf(each.service),
      ...cellsOf(each.theirs),
      times(ratioOf(each)),
    ]),
  );
  const heads = ['case', 'c', ...figures, ...figures.map((figure) => `${name} ${figure}`), 'service / peer'];
  const parts = [
    `## ${name} ${version}`,
    `Settings: ${notes}`,
    ...(rows.length > 0 ? [table(heads, rows)] : []),
    ...problems.map((problem) => `Not measured: ${problem}`),
    ...(memory === undefined ? [] : [`Resident memory afterwards: ${memory}.`]),
  ];
  return parts.join('\n\n');
}

/** Returns the text of bench/peers.md. */
export function writePeersReport(run: {
  machine: string;
  rows: number;
  rounds: number;
  seconds: number;
  outcomes: readonly PeerOutcome[];
}): string {
  const { machine, rows, rounds, seconds, outcomes } = run;
  const best = bestOf(outcomes).map(({ name, concurrency, peer, ratio }) =>
    row([name, concurrency, peer, times(ratio), goalOf(name, concurrency)]),
  );
  return `# Benchmark beside peers

\`npm run bench -- peers\` writes this page. It compares the service with other programs that store, list and
search entries. Each is one process with its own database on the embedded PostgreSQL of the service, with the
same settings and fsync on. Each has the same ${rows} submissions of about 1 KB in one table. The service
has as many more in other forms. Load generator, servers and PostgreSQL share the machine, so only the ratios
apply elsewhere.

${machine}.
Medians of ${rounds} rounds of ${seconds} s each, service and peer in turn. Times are in ms. \`c\` is the number of connections.
CPU is the time of the server process per request, in µs, without PostgreSQL.

- \`list\`: the newest 20 with the exact total. The peers count with each request. Their table was vacuumed just
  before, so an index is enough to count. Each peer got an index on the creation time, which none creates
  itself.
- \`get\`: one entry by its id.
- \`search\`: the first 20 for a word that occurs in about one of a thousand entries. The service stems, ranks
  and counts within the form. The peers search for parts of words (\`ILIKE\`).
- \`insert\`: one entry of 1 KB as JSON. In the service, this is a visitor's submission: validated, counted,
  indexed for search, and with its event.

${table(['case', 'c', 'best peer', 'service / best peer', 'goal'], best)}

${outcomes.map(sectionOf).join('\n\n')}
`;
}
