import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { until } from '#test/service.ts';

/** Processes that were started for the peers and still run. */
export type Processes = Set<ChildProcess>;

type Started = { child: ChildProcess; output: () => string; isOver: () => boolean };

type Environment = Readonly<Record<string, string | undefined>>;
type Program = { command: string; parameters: readonly string[]; folder: string; environment: Environment };

function spawnProgram(processes: Processes, program: Program, limitMs?: number): Started {
  const child = spawn(program.command, program.parameters, {
    cwd: program.folder,
    env: program.environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    killSignal: 'SIGKILL',
    ...(limitMs !== undefined && { timeout: limitMs }),
  });
  processes.add(child);
  let [output, isOver] = ['', false];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-4_000);
    });
  // An error without a process (command not found) ends it too.
  child.once('error', (error) => {
    output += error.message;
  });
  child.once('close', () => {
    processes.delete(child);
    isOver = true;
  });
  return { child, output: () => output, isOver: () => isOver };
}

/** An installation needs up to four minutes on a quiet machine. */
const runLimitMs = 1_200_000;

/** Runs a program to its end. @throws with its output if it fails. */
export async function runProgram(processes: Processes, program: Program): Promise<void> {
  const { child, output } = spawnProgram(processes, program, runLimitMs);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${program.parameters.join(' ')} ended with ${code}: ${output()}`);
}

/** A script with its arguments, as a path from the folder, run on the pinned Node. */
export type Script = { folder: string; script: string; settings: Readonly<Record<string, string>> };

export const programOf = ({ folder, script, settings }: Script): Program => ({
  command: process.execPath,
  parameters: script.split(' '),
  folder,
  // No other variables: a setting of the service may have the name of a peer's setting.
  environment: { PATH: process.env['PATH'], HOME: folder, NODE_ENV: 'production', ...settings },
});

/** A peer is ready within 7 s, or later if it creates a schema on a busy machine. */
const readySeconds = 120;

/** Starts a server script. @param address succeeds once the server is ready. */
export async function startScript(
  processes: Processes,
  script: Script,
  address: string,
): Promise<{ pid: number }> {
  const { child, output, isOver } = spawnProgram(processes, programOf(script));
  await until(
    `${script.script} at ${address}`,
    async () => {
      if (isOver()) throw new Error(`${script.script} ended before it was ready: ${output()}`);
      return (
        (await fetch(address, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined))?.ok === true
      );
    },
    readySeconds,
  );
  return { pid: child.pid! };
}

/** Kills all processes without a graceful shutdown, because their data is discarded. */
export async function endAll(processes: Processes): Promise<void> {
  const closed = [...processes].map((child) => once(child, 'close'));
  for (const child of processes) child.kill('SIGKILL');
  await Promise.all(closed);
}
