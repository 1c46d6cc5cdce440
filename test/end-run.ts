import { readdirSync, readFileSync } from 'node:fs';

/** A process as described by Linux. */
type Process = { pid: number; parent: number; name: string; state: string; words: string };

/** How long PostgreSQL gets for an immediate shutdown, in milliseconds. */
const mostMs = 10_000;

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const removers = new Set<() => void>();

/**
 * Makes a signal to this process end every process that it started. A service manager or npm signals only
 * this process, so servers, browsers and databases would otherwise continue. Works only on Linux, which
 * records the parents of processes.
 * @param removeFiles runs after no process uses the files any more.
 */
export function endWithSignals(removeFiles: () => void = () => {}): void {
  removers.add(removeFiles);
  if (removers.size > 1) return;
  for (const signal of signals)
    process.once(signal, () => {
      endAll();
      for (const remove of removers) remove();
      for (const each of signals) process.removeAllListeners(each);
      process.kill(process.pid, signal);
    });
}

/** Runs synchronously, because code that awaits one of the processes would otherwise continue in between. */
function endAll(): void {
  const begun = new Map<number, Process>();
  const find = (): Process[] => findBegun().filter(({ pid }) => !begun.has(pid));
  // A stopped process starts no others, and its children keep it as their parent.
  for (let more = find(); more.length > 0; more = find())
    for (const each of more) {
      begun.set(each.pid, each);
      if (!isPostgres(each)) send(each.pid, 'SIGSTOP');
    }
  // SIGQUIT lets PostgreSQL free its shared memory, which SIGKILL would leave behind.
  for (const each of begun.values()) send(each.pid, isPostgres(each) ? 'SIGQUIT' : 'SIGKILL');
  const still = (): boolean => listProcesses().some(({ pid, state }) => begun.has(pid) && state !== 'Z');
  for (const until = Date.now() + mostMs; still() && Date.now() < until; )
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
}

const isPostgres = ({ name }: Process): boolean => name === 'postgres';

/** Returns all descendants of this process, and databases in its folder whose server was killed. */
function findBegun(): Process[] {
  const folder = process.env['TMPDIR'] ?? '';
  const all = listProcesses();
  const ours = new Set([process.pid]);
  const isOurs = (each: Process): boolean =>
    ours.has(each.parent) ||
    (folder.includes(`-${process.pid}-`) && isPostgres(each) && each.words.includes(folder));
  for (let before = 0; before < ours.size; ) {
    before = ours.size;
    for (const each of all) if (isOurs(each)) ours.add(each.pid);
  }
  return all.filter(({ pid }) => pid !== process.pid && ours.has(pid));
}

function listProcesses(): Process[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? readProcess(Number(name)) : []));
}

function readProcess(pid: number): Process[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [, name, state, parent] = /^\d+ \((.*)\) (\w) (\d+) /s.exec(stat)!;
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return [{ pid, parent: Number(parent), name: name!, state: state!, words }];
  } catch (error) {
    return throwUnlessGone(error, []);
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    throwUnlessGone(error, undefined);
  }
}

function throwUnlessGone<Value>(error: unknown, value: Value): Value {
  if (error instanceof Error && 'code' in error && ['ENOENT', 'ESRCH'].includes(String(error.code)))
    return value;
  throw error;
}
