import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Surroundings } from './environment-round.ts';

/*
 * npm run test:long -- environments
 *
 * Runs a start, a submission and a stop of `npm start` in every ordinary environment, each on a new data
 * directory. Then runs the slice of npm test. Linux only. Some environments need root.
 */
const script = fileURLToPath(new URL('environment-round.ts', import.meta.url));
const scratch = await mkdtemp(join(tmpdir(), 'formloom-environments-'));
await chmod(scratch, 0o755);
after(() => rm(scratch, { recursive: true }));

const mayUnshare = spawnSync('unshare', ['--mount', '--net', 'true']).status === 0;
const isRoot = process.getuid?.() === 0;

type Environment = Surroundings & {
  name: string;
  /** A shell command that ends in `"$@"` and puts the test itself into new namespaces. */
  namespace?: string;
  /** The TMPDIR of the test, in which the data directory is created. */
  temporary?: string;
};

const nobody = { uid: 65_534, gid: 65_534 };
const path = process.env['PATH'] ?? '';

/** Installs an npm package once and returns its folder. */
async function install(specification: string): Promise<string> {
  const prefix = join(scratch, specification.replaceAll(/[^\w.-]/g, '_'));
  const words = ['install', '--prefix', prefix, '--no-audit', '--no-fund', '--ignore-scripts', specification];
  await promisify(execFile)('npm', words, { cwd: scratch });
  return join(prefix, 'node_modules', specification.slice(0, specification.lastIndexOf('@')));
}

/** Returns the settings and start command for given versions of Node and npm. */
async function startBy(node: number, npm: number): Promise<Pick<Environment, 'settings' | 'start'>> {
  const host = await install(`node-${process.platform}-${process.arch}@${node}`);
  const cli = join(await install(`npm@${npm}`), 'bin', 'npm-cli.js');
  return {
    settings: { PATH: `${join(host, 'bin')}:${path}` },
    start: [join(host, 'bin', 'node'), cli, 'start'],
  };
}

const hosts: readonly (readonly [node: number, npm: number])[] = [
  [20, 10],
  [22, 10],
  [24, 11],
  [26, 11],
];
const otherStarts: readonly (readonly [specification: string, file: string])[] = [
  ['pnpm@10', 'bin/pnpm.cjs'],
  ['yarn@1', 'bin/yarn.js'],
];

const regions: readonly Readonly<Record<string, string>>[] = [
  { LANG: 'de_DE.UTF-8', TZ: 'Europe/Berlin' },
  { LC_ALL: 'tr_TR.UTF-8', TZ: 'Pacific/Apia' },
  { LANG: 'ja_JP.eucJP', LC_NUMERIC: 'fr_FR', TZ: 'Asia/Kathmandu' },
  { LC_ALL: 'C', TZ: 'UTC' },
  { LC_ALL: 'nowhere', TZ: 'Nowhere/Land' },
];

/** Environments with separate mounts, networks and users, which only root can create. */
const ofRoot: readonly Environment[] = [
  { name: 'an ordinary user', user: nobody },
  { name: 'an ordinary user with a HOME that is not theirs', user: nobody, settings: { HOME: '/root' } },
  {
    name: 'a read-only HOME',
    namespace: 'mount -t tmpfs -o ro tmpfs /mnt && exec "$@"',
    settings: { HOME: '/mnt' },
  },
  {
    name: 'a read-only /tmp',
    namespace: 'mount --bind /tmp /tmp && mount -o remount,bind,ro /tmp && exec "$@"',
    temporary: '/var/tmp',
  },
  {
    name: 'output to a disk that fills up',
    namespace: 'mount -t tmpfs -o size=64k tmpfs /mnt && exec "$@"',
    shell: 'exec "$@" > /mnt/log 2>&1',
    settings: { LOG_LEVEL: 'info' },
    reader: 'full disk',
  },
  {
    name: 'no IPv6',
    namespace: 'ip link set lo up && sysctl -qw net.ipv6.conf.all.disable_ipv6=1 && exec "$@"',
  },
  {
    name: 'IPv6 alone',
    namespace: 'ip link set lo up && ip address del 127.0.0.1/8 dev lo && exec "$@"',
    settings: { HOST: '::1', PORT: '8080' },
  },
];

const environments: readonly Environment[] = [
  { name: 'no HOME, TZ and LANG' },
  ...regions.map((settings) => ({
    name: Object.entries(settings)
      .map(([name, value]) => `${name}=${value}`)
      .join(' '),
    settings,
  })),
  ...['000', '027', '077'].map((mask) => ({ name: `umask ${mask}`, shell: `umask ${mask}; exec "$@"` })),
  { name: 'a TMPDIR that does not exist', settings: { TMPDIR: '/nowhere/at/all' } },
  {
    name: 'a data directory with spaces, other scripts and quotes in its path',
    temporary: join(scratch, 'Daten für "uns" & $HOME 日本'),
  },
  {
    name: 'a checkout with spaces, other scripts and quotes in its path',
    clone: 'Büro 日本 "a" $HOME & \'b\'',
  },
  { name: 'HOST=::', settings: { HOST: '::' } },
  { name: 'HOST=::1', settings: { HOST: '::1' } },
  { name: 'HOST=0.0.0.0', settings: { HOST: '0.0.0.0' } },
  { name: 'closed output', shell: 'exec "$@" >&- 2>&-' },
  { name: 'closed input', shell: 'exec "$@" <&-' },
  { name: 'output to a full disk', shell: 'exec "$@" > /dev/full 2>&1' },
  { name: 'a pipe whose reader goes away', settings: { LOG_LEVEL: 'info' }, reader: 'closes' },
  { name: 'a pipe whose reader stalls', settings: { LOG_LEVEL: 'info' }, reader: 'stalls' },
  {
    name: 'a terminal that stalls',
    terminal: 'same session',
    settings: { LOG_LEVEL: 'info' },
    reader: 'stalls',
  },
  {
    name: 'a terminal that closes, without SIGHUP',
    terminal: 'own session',
    settings: { LOG_LEVEL: 'info' },
    reader: 'closes',
  },
  { name: 'a terminal that closes, with SIGHUP', terminal: 'same session', end: 'closed terminal' },
  { name: 'SIGHUP', end: 'SIGHUP' },
  { name: 'two starts at once', count: 2 },
  ...ofRoot,
];

/** Runs a round in a separate process, in namespaces if the environment has any. */
async function serve({ namespace, temporary, ...surroundings }: Omit<Environment, 'name'>): Promise<void> {
  const round = [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    script,
    JSON.stringify(surroundings),
  ];
  const words = namespace
    ? ['unshare', '--mount', '--net', 'sh', '-c', namespaceScript(namespace), 'sh', ...round]
    : round;
  if (temporary !== undefined) await mkdir(temporary, { recursive: true });
  const child = spawn(words[0]!, words.slice(1), {
    env: { ...process.env, ...(temporary !== undefined && { TMPDIR: temporary }) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [code] = (await once(child, 'close')) as [number | null];
  assert.equal(code, 0, output);
}

/** A new network namespace has its loopback down. */
const namespaceScript = (own: string): string =>
  own.includes('ip link') ? own : `ip link set lo up && ${own}`;

for (const environment of environments) {
  const needsRoot = ofRoot.includes(environment) && !(isRoot && mayUnshare);
  test(environment.name, { skip: needsRoot && 'only root may arrange it' }, () => serve(environment));
}

for (const [node, npm] of hosts)
  test(`Node ${node} and npm ${npm} on the host`, async () => serve(await startBy(node, npm)));

for (const [specification, file] of otherStarts)
  test(`${specification} start`, async () =>
    serve({ start: [process.execPath, join(await install(specification), file), 'start'] }));
