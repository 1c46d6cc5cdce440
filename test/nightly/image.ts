import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, cp, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort, until } from '#test/service.ts';

/*
 * npm run test:image     what deploy/Containerfile does to make an image, without a container: its files are copied, its
 *                        commands run, and the service is started by its command, as its user, who may write into its
 *                        data only. As root, on Linux; it installs what npm brings
 */
const home = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** The image of Debian below it, and what an image may take in all, in bytes. */
const baseBytes = 75e6;
const mostBytes = 350e6;

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

test('the image is made by its commands, is small, and serves as a user who may write nothing but data', async () => {
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
        await cp(join(home, name), names.length > 1 ? join(tree, target, name) : join(tree, target), {
          recursive: true,
        });
    } else if (instruction === 'RUN') await run('sh', ['-c', rest], { cwd: tree, maxBuffer: 1e8 });
    else assert.equal(instruction, 'WORKDIR');
  }
  const bytes = (await sizeOf(tree)) + baseBytes;
  process.stdout.write(`The image takes ${(bytes / 1e6).toFixed(0)} MB, Debian's part included.\n`);
  assert.ok(bytes < mostBytes);

  const [uid, gid] = valueOf('USER').split(':').map(Number) as [number, number];
  await chown(data, uid, gid);
  const environment = Object.fromEntries(
    valueOf('ENV')
      .split(' ')
      .map((pair) => pair.split('=') as [string, string]),
  );
  const port = await freePort();
  const [node] = await Array.fromAsync(
    (await readdir(join(tree, 'node_modules'))).filter((name) => name.startsWith('node-linux-')),
    (name) => join(tree, 'node_modules', name, 'bin', 'node'),
  );
  const env = {
    ...environment,
    DATA_DIR: data,
    HOST: '127.0.0.1',
    PORT: String(port),
    PATH: process.env['PATH'],
  };
  const [, ...words] = JSON.parse(valueOf('CMD')) as string[];
  const service = spawn(node!, words, { cwd: tree, env, uid, gid, stdio: ['ignore', 'pipe', 'pipe'] });
  after(() => service.kill('SIGKILL'));
  let output = '';
  for (const stream of [service.stdout, service.stderr])
    stream.setEncoding('utf8').on('data', (more: string) => (output += more));
  const [, ...check] = JSON.parse(valueOf('HEALTHCHECK').replace(/^.*?CMD /, '')) as string[];
  await until(
    'the check of its health to pass',
    async () => {
      assert.equal(service.exitCode, null, output);
      return run(node!, check, { env }).then(
        () => true,
        () => false,
      );
    },
    90,
  );
  const page = await fetch(`http://127.0.0.1:${port}/app/`);
  assert.equal(page.status, 200, 'the pages are in it');
  const end = once(service, 'exit');
  service.kill(valueOf('STOPSIGNAL') as NodeJS.Signals);
  assert.deepEqual(await end, [0, null], output);
  await assert.rejects(run(node!, check, { env }), 'whoever is gone is not well');
});
