import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Instance, openInstance, type ServerProcess } from '#test/process.ts';
import { freePort } from '#test/service.ts';
import { type Load, measure, startLoader } from '../loader.ts';
import { describeMemory, memoryOf } from '../memory.ts';
import { describeMachine, type Figures, median } from '../report.ts';
import { prepareSites, type Site } from '../site.ts';
import { directus } from './directus.ts';
import { installPeer } from './install.ts';
import { nocodb } from './nocodb.ts';
import { type CaseName, caseNames, type OpenPeer, type Peer } from './peer.ts';
import { openPlace } from './place.ts';
import { endAll, type Processes } from './processes.ts';
import {
  bestOf,
  type Compared,
  describeBest,
  describeCompared,
  type PeerOutcome,
  writePeersReport,
} from './report.ts';
import { rowsOf } from './rows.ts';
import { askedOfService } from './service.ts';
import { strapi } from './strapi.ts';
import { verifyAnswers } from './verify.ts';

const peers: readonly Peer[] = [directus, strapi, nocodb];

const concurrencies = [32, 1];
/** A new process answers its first requests slowly. Peers get three times as long as the service needs. */
const warmUpSeconds = 3;
/** The slowest search takes 27 s on a busy machine, and a case runs four of them with the usual rounds. */
const caseLimitMs = 600_000;

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export type PeersOptions = {
  /** Comma-separated names; undefined means all. */
  chosen: string | undefined;
  /** The number of submissions in the form and of rows in each peer's table. */
  rows: number;
  rounds: number;
  /** The duration of each round. */
  seconds: number;
};

function choose(names: string | undefined): readonly Peer[] {
  if (names === undefined) return peers;
  return names.split(',').map((name) => {
    const found = peers.find((peer) => peer.name === name);
    if (!found) throw new Error(`Unknown peer ${name}. Peers: ${peers.map((peer) => peer.name).join(', ')}.`);
    return found;
  });
}

type Stage = { instance: Instance; service: ServerProcess; site: Site; load: Load; processes: Processes };

/**
 * Runs `npm run bench -- peers`: installs, starts and measures the peers one after the other. A failed peer
 * does not stop the others.
 */
export async function benchPeers({ chosen, ...options }: PeersOptions): Promise<void> {
  const asked = choose(chosen);
  const machine = await describeMachine();
  say(machine);
  const instance = await openInstance({ MALLOC_ARENA_MAX: '2', NODE_OPTIONS: '--max-semi-space-size=8' });
  const processes: Processes = new Set();
  const loader = startLoader();
  const end = async (): Promise<void> => {
    loader.end();
    await endAll(processes);
    await instance.close();
  };
  // Otherwise the started processes would outlive an interrupted run.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void end().finally(() => process.exit(1)));
  try {
    const service = await instance.start();
    const [site] = (await prepareSites(instance, [2 * options.rows])) as [Site];
    const stage: Stage = { instance, service, site, load: loader.load, processes };
    await verifyAnswers(portOf(service), askedOfService(site), rowsOf(site));
    const outcomes: PeerOutcome[] = [];
    for (const peer of asked) outcomes.push(await measurePeer(stage, peer, options));
    for (const best of bestOf(outcomes)) say(describeBest(best));
    if (chosen === undefined) {
      const report = writePeersReport({ machine, ...options, outcomes });
      await writeFile(fileURLToPath(new URL('../peers.md', import.meta.url)), report);
      say('Written to bench/peers.md.');
    }
  } finally {
    await end();
  }
}

const portOf = ({ url }: ServerProcess): number => Number(new URL(url).port);

async function measurePeer(
  stage: Stage,
  peer: Peer,
  options: { rounds: number; seconds: number },
): Promise<PeerOutcome> {
  const { name, version, notes } = peer;
  const outcome: PeerOutcome = { name, version, notes, compared: [], problems: [], memory: undefined };
  const attempt = async (what: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      outcome.problems.push(`${what}: ${messageOf(error)}`);
      say(`✖ ${name}: ${outcome.problems.at(-1)}`);
    }
  };
  const port = await freePort();
  const rows = rowsOf(stage.site);
  await attempt('installing and starting it', async () => {
    say(`Installing ${name} ${version} if it is missing (some minutes) …`);
    const folder = await installPeer(stage.processes, peer);
    const place = await openPlace({ ...stage, name, folder, port, rows });
    const open = await peer.open(place);
    await verifyAnswers(port, open.requests, rows);
    for (const each of caseNames)
      for (const concurrency of concurrencies)
        await attempt(`${each} c=${concurrency}`, async () => {
          const compared = await compare(stage, { ...open, port }, each, { ...options, concurrency });
          outcome.compared.push(compared);
          say(describeCompared(name, compared));
        });
    const memory = { service: await memoryOf(stage.service.pid), theirs: await memoryOf(open.pid) };
    outcome.memory = `service ${describeMemory(memory.service)}, ${name} ${describeMemory(memory.theirs)}`;
    say(`Resident memory afterwards: ${outcome.memory}.`);
  });
  // Frees its memory and its cores for the next peer.
  await endAll(stage.processes);
  return outcome;
}

/** Measures the two in turn, so that other load on the machine affects both. */
async function compare(
  { service, site, load, processes }: Stage,
  peer: OpenPeer & { port: number },
  name: CaseName,
  { concurrency, rounds, seconds }: { concurrency: number; rounds: number; seconds: number },
): Promise<Compared> {
  const targets = {
    service: { pid: service.pid, port: portOf(service), requests: askedOfService(site)[name] },
    theirs: { pid: peer.pid, port: peer.port, requests: peer.requests[name] },
  };
  const measured = { service: [] as Figures[], theirs: [] as Figures[] };
  // The load generator waits for every response. If a peer stops responding, ending the processes ends the
  // case.
  const limit = setTimeout(() => void endAll(processes), caseLimitMs);
  try {
    for (let round = 0; round < rounds; round += 1) {
      for (const who of ['service', 'theirs'] as const) {
        const { pid, port, requests } = targets[who];
        const order = { port, requests, concurrency };
        if (round === 0) await load({ ...order, seconds: warmUpSeconds });
        measured[who].push(await measure(load, pid, { ...order, seconds }));
      }
    }
  } finally {
    clearTimeout(limit);
  }
  return { name, concurrency, service: median(measured.service), theirs: median(measured.theirs) };
}
