import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, cp, mkdir, readdir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publishForm, submitEntry } from '#test/crowd.ts';
import { type Instance, openInstance } from '#test/process.ts';
import { freePort, until } from '#test/service.ts';

/** The environment of one start. */
export type Surroundings = {
  /** Settings and variables of the service in addition to those of an instance. */
  settings?: Readonly<Record<string, string>>;
  /** The start command and its arguments. Default: `npm start`. */
  start?: readonly string[];
  /** A shell command that ends in `"$@"`, the start command. */
  shell?: string;
  /** The name of a copy of the checkout to start from. */
  clone?: string;
  user?: { uid: number; gid: number };
  /**
   * Set if the service writes to a terminal instead of pipes. In its own session it outlives the terminal.
   */
  terminal?: 'same session' | 'own session';
  /** What happens to the terminal, the reader of the pipes or the log file once the service is ready. */
  reader?: 'stalls' | 'closes' | 'full disk';
  /** How the service is stopped. Default: SIGTERM to the start command. */
  end?: 'SIGHUP' | 'closed terminal';
  /** The number of services that start at the same time on one data directory. */
  count?: number;
};

const checkout = fileURLToPath(new URL('../..', import.meta.url));

type Start = { child: ChildProcess; closed: Promise<unknown>; url: string; output: () => string };

/**
 * Starts the service on a new data directory, submits an answer with a file, and stops the service. It must
 * accept the submission, leave no process and exit with 0. As a script it takes its environment as JSON, so
 * that client and service share a namespace.
 */
async function serveOnce(surroundings: Surroundings): Promise<void> {
  const instance = await openInstance(await addressOf(surroundings.settings ?? {}));
  const starts: Start[] = [];
  try {
    if (surroundings.user) await chown(instance.dataDir, surroundings.user.uid, surroundings.user.gid);
    const home = surroundings.clone === undefined ? checkout : await makeClone(instance, surroundings.clone);
    for (let index = 0; index < (surroundings.count ?? 1); index += 1)
      starts.push(await startIn(instance, home, surroundings, index));
    await Promise.all(starts.map((each) => untilReady(each)));
    const { publicUrl } = await publishForm(instance);
    await submit(publicUrl);
    if (surroundings.reader) await loseReader(instance, surroundings, starts[0]!);
    await submit(publicUrl);
    await Promise.all(starts.map((each) => stop(instance, surroundings, each)));
    await until(
      'every process to end',
      async () => (await findProcesses(instance.dataDir)).length === 0,
      30,
    ).catch(async (error: Error) => {
      const left = (await findProcesses(instance.dataDir)).map(({ words }) => words);
      throw new Error(`${left.join('\n')}\n${starts[0]!.output()}`, { cause: error });
    });
    await checkModes(join(instance.dataDir, 'uploads'));
  } finally {
    for (const { pid } of await findProcesses(instance.dataDir)) kill(pid, 'SIGKILL');
    await instance.close();
  }
}

/** On a machine without IPv4 the first address is `::1`. */
async function addressOf(settings: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  if (settings['HOST'] !== '::1') return settings;
  const port = settings['PORT'] ?? String(await freePort());
  return { ...settings, PORT: port, PUBLIC_URL: `http://[::1]:${port}` };
}

/** Copies the checkout beside the data. Packages are hard links, which must be on one disk. */
async function makeClone({ dataDir }: Instance, name: string): Promise<string> {
  const clone = join(dataDir, name);
  await mkdir(clone);
  for (const entry of ['package.json', 'package-lock.json', '.npmrc', 'setup.mjs', 'tsconfig.json'])
    await cp(join(checkout, entry), join(clone, entry));
  for (const folder of ['src', 'web', 'db', 'clients', 'docs', 'deploy', 'examples'])
    await cp(join(checkout, folder), join(clone, folder), { recursive: true });
  const packages = join(clone, 'node_modules');
  // Links the files, or copies them to another file system.
  const script = 'cp -alT "$0" "$1" 2> /dev/null || cp -aT "$0" "$1"';
  const copy = spawn('sh', ['-c', script, join(checkout, 'node_modules'), packages], { stdio: 'inherit' });
  assert.deepEqual(await once(copy, 'close'), [0, null]);
  // A start writes these files, which must not reach the checkout.
  for (const written of ['.cache', '.formloom.json'])
    await rm(join(packages, written), { recursive: true, force: true });
  await cp(join(checkout, 'node_modules', '.formloom.json'), join(packages, '.formloom.json'));
  return clone;
}

async function startIn(
  instance: Instance,
  home: string,
  { start = ['npm', 'start'], shell = 'exec "$@"', user, terminal }: Surroundings,
  index: number,
): Promise<Start> {
  const port = index === 0 ? instance.environment['PORT']! : String(await freePort());
  const [command, words] = terminal
    ? [
        'script',
        ['-qefc', terminal === 'own session' ? 'setsid -w npm start' : 'exec npm start', '/dev/null'],
      ]
    : ['sh', ['-c', shell, 'sh', ...start]];
  const child = spawn(command, words, {
    cwd: home,
    env: { ...instance.environment, PORT: port },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    ...user,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const url = instance.url.replace(`:${instance.environment['PORT']}`, `:${port}`);
  return { child, closed: once(child, 'close'), url, output: () => output };
}

const untilReady = ({ child, url, output }: Start): Promise<true> =>
  until(
    `the service to be ready`,
    async () => {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`It ended before it was ready:\n${output()}`);
      const response = await fetch(`${url}/readyz`).catch(() => undefined);
      return response?.status === 200;
    },
    300,
  ).catch((error: Error) => {
    throw new Error(`${error.message}:\n${output()}`, { cause: error });
  });

async function submit(publicUrl: string): Promise<void> {
  const outcome = await submitEntry(publicUrl, 'an answer', new Blob(['a file']));
  assert.ok('id' in outcome, JSON.stringify(outcome));
}

/**
 * More log lines than a terminal or a pipe buffers (64 KB). A service that waited for its reader would stop
 * responding.
 */
const linesOfLog = 1_000;

async function loseReader(
  { url }: Instance,
  { reader, terminal }: Surroundings,
  { child }: Start,
): Promise<void> {
  if (terminal && reader === 'stalls') child.kill('SIGSTOP');
  else if (terminal) child.kill('SIGKILL');
  else if (reader !== 'full disk')
    for (const stream of [child.stdout!, child.stderr!])
      if (reader === 'stalls') stream.pause();
      else stream.destroy();
  for (let line = 0; line < linesOfLog; line += 1)
    assert.equal((await fetch(`${url}/f/nowhere`)).status, 404);
}

async function stop({ dataDir }: Instance, surroundings: Surroundings, start: Start): Promise<void> {
  const { end, reader, terminal } = surroundings;
  const { child, output } = start;
  if (end === 'closed terminal') child.kill('SIGKILL');
  else if (terminal) {
    const npm = (await findProcesses(dataDir)).find(({ words }) => words.startsWith('npm '));
    kill(npm!.pid, 'SIGTERM');
    child.kill('SIGCONT');
  } else child.kill(end ?? 'SIGTERM');
  if (end === 'closed terminal' || (terminal && reader === 'closes')) return;
  // A stream closes only if it is read.
  for (const stream of [child.stdout!, child.stderr!]) stream.resume();
  assert.deepEqual(await start.closed, [0, null], output());
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // The process has just ended.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** Returns the processes that work on a data directory, oldest first. */
async function findProcesses(dataDir: string): Promise<{ pid: number; words: string }[]> {
  const found: { pid: number; words: string }[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    try {
      const [status, variables, folder, words] = await Promise.all([
        readFile(`/proc/${name}/stat`, 'utf8'),
        readFile(`/proc/${name}/environ`, 'utf8'),
        readlink(`/proc/${name}/cwd`),
        readFile(`/proc/${name}/cmdline`, 'utf8'),
      ]);
      if (/\) Z /.test(status)) continue;
      if (!variables.includes(`DATA_DIR=${dataDir}\0`) && !folder.startsWith(dataDir)) continue;
      found.push({ pid: Number(name), words: words.replaceAll('\0', ' ') });
    } catch (error) {
      // The process has just ended or belongs to another user.
      if (!(error instanceof Error && 'code' in error && /ENOENT|ESRCH|EACCES/.test(String(error.code))))
        throw error;
    }
  }
  return found.toSorted((one, other) => one.pid - other.pid);
}

/** Asserts that uploads have mode 0640 or stricter, whatever the umask. */
async function checkModes(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  assert.ok(files.length > 0, 'no file was uploaded');
  for (const file of files) {
    const { mode } = await stat(join(file.parentPath, file.name));
    assert.equal(mode & 0o137, 0, `${file.name} is ${(mode & 0o777).toString(8)}`);
  }
}

if (import.meta.main) await serveOnce(JSON.parse(process.argv[2]!) as Surroundings);
