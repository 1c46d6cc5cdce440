import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { until } from '#test/service.ts';
import type { Environment } from './peer.ts';

/** What was started for the peers and has not ended yet. */
export type Processes = Set<ChildProcess>;

type Started = { child: ChildProcess; output: () => string; isOver: () => boolean };

/** @param script with its arguments, a path from `folder`. */
function spawnScript(
  processes: Processes,
  folder: string,
  script: string,
  environment: Environment,
): Started {
  const child = spawn(process.execPath, script.split(' '), {
    cwd: folder,
    // Nothing else of this environment: a setting of the service may have the name of one of a peer.
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, NODE_ENV: 'production', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  processes.add(child);
  let [output, isOver] = ['', false];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-4_000);
    });
  child.once('close', () => {
    processes.delete(child);
    isOver = true;
  });
  return { child, output: () => output, isOver: () => isOver };
}

export async function runScript(
  processes: Processes,
  folder: string,
  script: string,
  environment: Environment,
): Promise<void> {
  const { child, output } = spawnScript(processes, folder, script, environment);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${script} ended with ${code}: ${output()}`);
}

/** A peer is ready within 7 s; one that has a schema to make, on a busy machine, needs more. */
const readySeconds = 120;

/** @param address answers with success once it is ready. */
export async function startScript(
  processes: Processes,
  folder: string,
  script: string,
  environment: Environment,
  address: string,
): Promise<{ pid: number }> {
  const { child, output, isOver } = spawnScript(processes, folder, script, environment);
  await until(
    `${script} at ${address}`,
    async () => {
      if (isOver()) throw new Error(`${script} ended before it was ready: ${output()}`);
      return (await fetch(address).catch(() => undefined))?.ok === true;
    },
    readySeconds,
  );
  return { pid: child.pid! };
}

/** Their data is thrown away, so nobody waits for their good-bye. */
export async function endAll(processes: Processes): Promise<void> {
  const closed = [...processes].map((child) => once(child, 'close'));
  for (const child of processes) child.kill('SIGKILL');
  await Promise.all(closed);
}
