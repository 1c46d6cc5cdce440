import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { endWithSignals } from '#test/end-run.ts';
import { freePort, until } from '#test/service.ts';

/*
 * npm run test:long -- image
 *
 * Runs the steps of deploy/Containerfile without a container. Copies the files, runs the commands, and starts
 * the service as its user. Everything except the data is mounted read-only. Also installs and starts a
 * release as the systemd unit does, as a user who may write only the data. Linux, as root. Installs packages
 * from npm.
 */
const home = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
endWithSignals();

/** The size of the Debian base image and the largest allowed image, in bytes. */
const baseBytes = 75e6;
const mostBytes = 390e6;

type Step = { instruction: string; rest: string };
const text = (await readFile(join(home, 'deploy/Containerfile'), 'utf8')).replaceAll('\\\n', ' ');
const [, building = [], running = []] = text
  .split('\n')
  .filter((line) => /^\s*[A-Z]+ /.test(line))
  .map((line): Step => {
    const [, instruction, rest] = /^\s*([A-Z]+)\s+(.*)$/.exec(line)!;
    return { instruction: instruction!, rest: rest! };
  })
  .reduce<Step[][]>(
    (stages, step) =>
      step.instruction === 'FROM' ? [...stages, []] : [...stages.slice(0, -1), [...stages.at(-1)!, step]],
    [[]],
  );
const valueOf = (instruction: string): string =>
  running.findLast((step) => step.instruction === instruction)!.rest;

async function sizeOf(path: string): Promise<number> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Returns where COPY puts a file: in `target` if that is a folder, which ends with a slash. */
const fileIn = (target: string, name: string): string =>
  target.endsWith('/') ? join(target, basename(name)) : target;

test('the commands of the Containerfile build a small image that serves as a user who may write only data', async () => {
  const root = await mkdtemp(join(tmpdir(), 'formloom-image-'));
  after(() => rm(root, { recursive: true }));
  await chmod(root, 0o755);
  const [tree, data] = [join(root, 'formloom'), join(root, 'data')];
  await mkdir(tree);
  await mkdir(data);
  for (const { instruction, rest } of building) {
    if (instruction === 'COPY') {
      const names = rest.split(' ');
      const target = names.pop()!;
      for (const name of names)
        await cp(join(home, name), join(tree, names.length > 1 ? join(target, name) : fileIn(target, name)), {
          recursive: true,
        });
    } else if (instruction === 'RUN') await run('sh', ['-c', rest], { cwd: tree, maxBuffer: 1e8 });
    else assert.equal(instruction, 'WORKDIR');
  }
  const tests = (await readdir(join(tree, 'src'), { recursive: true })).filter((name) =>
    name.endsWith('.test.ts'),
  );
  assert.deepEqual(tests, []);

  const [uid, gid] = valueOf('USER').split(':').map(Number) as [number, number];
  const node = join(tree, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node');
  const as = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  const environment = {
    ...pairsOf(valueOf('ENV').replaceAll('/data', data)),
    PATH: `${dirname(node)}:${process.env['PATH']}`,
  };
  // Replaces system-wide steps with their effect: a link to Node, a user, and folders of that user.
  const [prepare, compile] = running.filter(({ instruction }) => instruction === 'RUN');
  const [, folders] = /install --directory --owner=1000 --group=1000 (.*)$/.exec(prepare!.rest)!;
  for (const folder of folders!.split(' ').map((each) => (each === '/data' ? data : join(tree, each)))) {
    await mkdir(folder, { recursive: true });
    await chown(folder, uid, gid);
  }
  const command = (await readFile(join(home, 'deploy/formloom'), 'utf8')).replace('/formloom/', `${tree}/`);
  const bin = join(root, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'formloom'), command, { mode: 0o755 });
  environment.PATH = `${bin}:${environment.PATH}`;
  const runHere = (words: readonly string[], env: NodeJS.ProcessEnv = environment): Promise<unknown> =>
    run('setpriv', [...as.slice(1), ...words], { cwd: tree, env });
  await runHere(['sh', '-c', compile!.rest]);
  const bytes = (await sizeOf(tree)) + baseBytes;
  process.stdout.write(`The image takes ${(bytes / 1e6).toFixed(0)} MB, Debian's part included.\n`);
  assert.ok(bytes < mostBytes);

  const readOnly = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && cd "$0" && exec "$@"';
  const [program, ...check] = JSON.parse(valueOf('HEALTHCHECK').replace(/^.*?CMD /, '')) as string[];
  const how = {
    cwd: tree,
    environment,
    signal: valueOf('STOPSIGNAL') as NodeJS.Signals,
    isWell: (env: NodeJS.ProcessEnv) => run(program!, check, { env }),
  };
  const words = ['--mount', 'sh', '-c', readOnly, tree, ...as, ...(JSON.parse(valueOf('CMD')) as string[])];
  const env = await serve('unshare', words, how);
  await assert.rejects(how.isWell(env), 'whoever is gone is not well');
  const kept = join(data, 'compiled');
  assert.ok(!existsSync(kept), 'what the image has compiled is what runs');
  const copies = (await readdir(data)).filter((name) => name.startsWith('postgresql-'));
  assert.deepEqual(copies, [], 'PostgreSQL runs where it lies');
  // As on a processor of another type.
  await writeFile(join(tree, 'node_modules/.cache/node/.formloom'), 'another');
  await serve('unshare', words, how);
  const { ino } = await stat(kept);
  const commands = `formloom doctor; formloom backup ${data}/one; formloom restore ${data}/one --check`;
  await serve('unshare', words, { ...how, meanwhile: (env) => runHere(['sh', '-ec', commands], env) });
  assert.equal((await stat(kept)).ino, ino, 'it is compiled once');
  const other = join(root, 'other');
  await mkdir(other);
  await chown(other, uid, gid);
  await runHere(['formloom', 'restore', join(data, 'one')], { ...environment, DATA_DIR: other });
});

test('the command in the systemd unit installs a release, and its start command serves', async () => {
  const root = await mkdtemp(join(tmpdir(), 'formloom-release-'));
  after(() => rm(root, { recursive: true }));
  await chmod(root, 0o755);
  const [tree, data] = [join(root, 'formloom'), join(root, 'data')];
  await mkdir(data);
  const { stdout: file } = await run(process.execPath, [join(home, 'deploy/release.mjs'), root]);
  const unit = await readFile(join(home, 'deploy/systemd/formloom.service'), 'utf8');
  const [install] = /^#   mkdir [^]*?node setup\.mjs$/m.exec(unit)!;
  const here = install.replaceAll(/^#  /gm, '').replaceAll('/opt/formloom', tree);
  await run('sh', ['-euc', here.replace(/formloom-\S+\.tgz/, file.trim())]);
  const [, shell, words] = /^ExecStart=(\S+) -c '(.*)'$/m.exec(unit)!;
  const settings = pairsOf(/^Environment=(.*)$/m.exec(unit)![1]!);
  const [uid, gid] = [1000, 1000];
  await chown(data, uid, gid);
  await serve(shell!, ['-c', words!], {
    cwd: tree,
    uid,
    gid,
    environment: { ...settings, DATA_DIR: data, PATH: process.env['PATH']! },
    signal: 'SIGTERM',
    isWell: async ({ PORT }) => assert.ok((await fetch(`http://127.0.0.1:${PORT}/readyz`)).ok),
  });
  assert.ok(existsSync(join(data, 'compiled')));
});

const pairsOf = (text: string): Record<string, string> =>
  Object.fromEntries(text.split(' ').map((pair) => pair.split('=') as [string, string]));

/**
 * Starts a service on another port, checks its pages once it is healthy, and stops it cleanly.
 * @returns its environment.
 */
async function serve(
  command: string,
  words: readonly string[],
  how: {
    cwd: string;
    environment: Record<string, string>;
    uid?: number;
    gid?: number;
    signal: NodeJS.Signals;
    isWell: (environment: NodeJS.ProcessEnv) => Promise<unknown>;
    meanwhile?: (environment: NodeJS.ProcessEnv) => Promise<unknown>;
  },
): Promise<NodeJS.ProcessEnv> {
  const { environment, signal, isWell, meanwhile, ...user } = how;
  const port = await freePort();
  const env = { ...environment, HOST: '127.0.0.1', PORT: String(port) };
  const service = spawn(command, words, { ...user, env, stdio: ['ignore', 'pipe', 'pipe'] });
  after(() => service.kill('SIGKILL'));
  let output = '';
  for (const stream of [service.stdout, service.stderr])
    stream.setEncoding('utf8').on('data', (more: string) => (output += more));
  await until(
    'it to be well',
    async () => {
      assert.equal(service.exitCode, null, output);
      return isWell(env).then(
        () => true,
        () => false,
      );
    },
    90,
  );
  for (const path of ['/app/', '/embed.js', '/api/v1/docs/']) {
    const page = await fetch(`http://127.0.0.1:${port}${path}`);
    assert.equal(page.status, 200, `${path} is in it`);
  }
  await meanwhile?.(env);
  const end = once(service, 'exit');
  service.kill(signal);
  assert.deepEqual(await end, [0, null], output);
  return env;
}
