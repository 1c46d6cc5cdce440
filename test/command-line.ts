import { spawn } from 'node:child_process';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runCommandLine } from '#app/cli/run-command-line.ts';

/** The result of a command: its exit code, its output and its error text. */
export type Ended = { code: number; printed: string; complaint: string };

/** Runs a command in this process, where everything is loaded. A separate process takes 0.7 s of CPU. */
export async function runHere(
  environment: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<Ended> {
  const ended: Ended = { code: 0, printed: '', complaint: '' };
  ended.code = await runCommandLine(args, {
    environment,
    print: (text) => void (ended.printed += String(text)),
    complain: (text) => void (ended.complaint += text),
  });
  return ended;
}

/**
 * Returns the message of an error that `--json` printed, with a line for each item, or '' without an error.
 */
export function messageIn(stderr: string): string {
  if (stderr === '') return '';
  const { message, errors = [] } = JSON.parse(stderr) as {
    message: string;
    errors?: { field?: string; message: string }[];
  };
  return [message, ...errors.map((item) => `${item.field ?? ''}: ${item.message}`)].join('\n');
}

/** Runs a command with `--json`. Returns its answer and its error message. */
export async function command(environment: Readonly<Record<string, string>>, ...args: string[]) {
  const { code, printed, complaint } = await runHere(environment, [...args, '--json']);
  const answer = (printed === '' ? undefined : JSON.parse(printed)) as never;
  return { code, answer, complaint: messageIn(complaint) };
}

const cli = fileURLToPath(new URL('../dist/service/cli.js', import.meta.url));

/** A command that runs in a separate process and can be killed. */
export type Running = { kill: () => void; ended: Promise<Ended & { wasKilled: boolean }> };

export function startCommand(environment: Readonly<Record<string, string>>, ...args: string[]): Running {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--preserve-symlinks', cli, ...args, '--json'],
    {
      env: { PATH, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }), ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const kill = (): void => void child.kill('SIGKILL');
  after(kill);
  const said = { printed: '', complaint: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.printed += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.complaint += text));
  const ended = new Promise<Awaited<Running['ended']>>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) =>
      resolve({ ...said, code: code ?? 1, wasKilled: signal === 'SIGKILL' }),
    );
  });
  return { kill, ended };
}
