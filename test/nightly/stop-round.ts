import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { request } from 'node:http';
import { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { publishForm, sendVisitors } from '#test/crowd.ts';
import { childrenOf, type Instance } from '#test/process.ts';
import { until } from '#test/service.ts';

const home = fileURLToPath(new URL('../..', import.meta.url));

/**
 * The receivers of a stop: npm alone, its whole process group (a terminal, systemd), or process 1 of a
 * container.
 */
export const stopWays = ['npm', 'group', 'first process'] as const;
export type StopWay = (typeof stopWays)[number];

/** The duration of the upload in progress when the stop comes. */
const uploadMs = 3_000;

/** `npm start` as an operator runs it, with the npm of this machine or the npm-cli.js that NPM_CLI names. */
export type NpmStart = { child: ChildProcess; npmPid: number; output: () => string };

/** Starts the service by npm and waits until it is ready. `way` decides what wraps npm. */
export async function startByNpm(instance: Instance, way: StopWay = 'npm'): Promise<NpmStart> {
  const cli = process.env['NPM_CLI'];
  const npm = cli === undefined ? ['npm', 'start'] : [process.execPath, cli, 'start'];
  const [command, ...words] =
    way === 'first process' ? ['unshare', '--pid', '--fork', '--mount-proc', ...npm] : npm;
  const child = spawn(command!, words, {
    cwd: home,
    env: { ...instance.environment, HOME: instance.dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  after(() => endGroup(child));
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  await until(
    'npm start to be ready',
    async () => {
      assert.equal(child.exitCode, null, output);
      return output.includes('Stop with Ctrl-C.');
    },
    90,
  );
  const npmPid = way === 'first process' ? (await childrenOf(child.pid!))[0]! : child.pid!;
  return { child, npmPid, output: () => output };
}

/** Kills the process group of a failed round, so that it does not delay later tests. */
function endGroup(child: ChildProcess): void {
  try {
    process.kill(-child.pid!, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/**
 * Runs one stop under load. Eight visitors submit repeatedly, an upload is in progress, and SIGTERM arrives.
 * Asserts that no started request is cut off, npm exits with 0, and no process it started is left.
 */
export async function stopUnderLoad(
  instance: Instance,
  way: StopWay,
  { pauseMs = 0 }: { pauseMs?: number } = {},
): Promise<void> {
  const started = await startByNpm(instance, way);
  const form = await publishForm(instance);
  const visitors = sendVisitors(form.publicUrl, { count: 8, name: 'load', pauseMs });
  await until('the first submissions', async () => visitors.acknowledged.size > 20);
  const upload = sendSlowly(form.publicUrl);
  await upload.begun;

  const exit = once(started.child, 'close');
  process.kill(way === 'group' ? -started.npmPid : started.npmPid, 'SIGTERM');
  assert.equal(await upload.status, 201, started.output());
  await visitors.gone;
  assert.deepEqual(visitors.failures, [], started.output());
  assert.deepEqual(await exit, [0, null], started.output());
  assert.deepEqual(await processesOf(instance, started), []);
}

/** Sends a multipart submit with a file whose bytes arrive over three seconds. */
function sendSlowly(publicUrl: string): { begun: Promise<void>; status: Promise<number> } {
  const boundary = 'a-boundary-of-our-own';
  const part = (name: string, more: string, value: string): string =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}`;
  const outgoing = request(publicUrl, {
    method: 'POST',
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}`, Accept: 'application/json' },
  });
  const status = new Promise<number>((resolve, reject) => {
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      response.resume();
      response.on('error', reject).on('end', () => resolve(response.statusCode!));
    });
  });
  const begun = new Promise<void>((resolve) => {
    outgoing.write(
      `${part('entry', '', 'the slow one\r\n')}${part('file', '; filename="slow.txt"', 'a')}`,
      () => resolve(),
    );
  });
  const steps = 30;
  void (async () => {
    for (let step = 0; step < steps; step += 1) {
      await sleep(uploadMs / steps);
      outgoing.write('b'.repeat(1_000));
    }
    outgoing.end(`\r\n--${boundary}--\r\n`);
  })();
  return { begun, status };
}

/**
 * Returns the processes of a start that are still alive: npm's group, and those that use the data directory.
 */
export async function processesOf(instance: Instance, { child }: NpmStart): Promise<string[]> {
  const found: string[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const [, state, , group] = /\) (\S) (\d+) (\d+) /.exec(await readFile(`/proc/${name}/stat`, 'utf8'))!;
      if (state === 'Z') continue;
      const folder = await readlink(`/proc/${name}/cwd`);
      if (Number(group) !== child.pid && !folder.startsWith(instance.dataDir)) continue;
      found.push((await readFile(`/proc/${name}/cmdline`, 'utf8')).replaceAll('\0', ' '));
    } catch (error) {
      // The process has just ended or belongs to another user.
      if (!(error instanceof Error && 'code' in error && /ENOENT|ESRCH|EACCES/.test(String(error.code))))
        throw error;
    }
  }
  return found;
}
