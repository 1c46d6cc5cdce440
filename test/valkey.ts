import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chown, mkdtemp, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { SystemAccount } from '#kit/embedded-postgres/machine.ts';
import { freePort } from './service.ts';

/** An external server that tests need, and a function that ends it. */
export type External = { url: string; description: string; close(): Promise<void> };

export const missingValkey =
  'this machine has neither valkey-server nor redis-server (Debian: apt-get install redis-server), and VALKEY_TEST_URL names none';

/**
 * Returns the Valkey at VALKEY_TEST_URL, or starts one of this machine. Returns undefined if there is none.
 */
export async function openValkey(): Promise<External | undefined> {
  const url = process.env['VALKEY_TEST_URL'];
  if (url !== undefined) return { url, description: 'the Valkey at VALKEY_TEST_URL', close: async () => {} };
  const program = (await findProgram('valkey-server')) ?? (await findProgram('redis-server'));
  if (program === undefined) return undefined;
  const port = await freePort();
  const directory = await makeDirectory(undefined);
  const server = start(
    [program, '--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', directory],
    undefined,
  );
  return {
    url: `redis://127.0.0.1:${port}`,
    description: program,
    async close() {
      await end(server, 'SIGTERM');
      await rm(directory, { recursive: true });
    },
  };
}

/** Returns the path of a program on this machine, or undefined if it is not installed. */
export async function findProgram(name: string): Promise<string | undefined> {
  for (const directory of (process.env['PATH'] ?? '').split(delimiter)) {
    const found = await access(join(directory, name)).then(
      () => true,
      () => false,
    );
    if (found) return join(directory, name);
  }
  return undefined;
}

/** Not in TMPDIR: the path of a socket must be short, and another user must be able to reach it. */
export async function makeDirectory(account: SystemAccount | undefined): Promise<string> {
  const directory = await mkdtemp('/tmp/formloom-external-');
  if (account) await chown(directory, account.uid, account.gid);
  return directory;
}

export function start(
  [program, ...parameters]: readonly string[],
  account: SystemAccount | undefined,
): ChildProcess {
  return spawn(program!, parameters, {
    stdio: 'ignore',
    cwd: '/',
    ...(account && { uid: account.uid, gid: account.gid }),
  });
}

export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const ended = child.exitCode === null ? once(child, 'exit') : undefined;
  child.kill(signal);
  await ended;
}
