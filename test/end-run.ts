import { readdirSync, readFileSync } from 'node:fs';

/** A process as Linux tells of it. */
type Process = { pid: number; parent: number; name: string; state: string; words: string };

/** How long PostgreSQL gets to end at once. */
const mostMs = 10_000;

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const removers = new Set<() => void>();

/**
 * Has a signal to this process alone, as a service manager or npm sends it, end every process that it started: servers, browsers and
 * databases would otherwise run on. It works on Linux, which tells who started whom.
 * @param removeFiles what is removed when no process uses it any more.
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

/** At once and not by and by: whoever waits for one of them would go on in between. */
function endAll(): void {
  const begun = new Map<number, Process>();
  const find = (): Process[] => findBegun().filter(({ pid }) => !begun.has(pid));
  // Who is stopped begins no other, and keeps those that it began.
  for (let more = find(); more.length > 0; more = find())
    for (const each of more) {
      begun.set(each.pid, each);
      if (!isPostgres(each)) send(each.pid, 'SIGSTOP');
    }
  // PostgreSQL gives back its memory, which a kill would keep.
  for (const each of begun.values()) send(each.pid, isPostgres(each) ? 'SIGQUIT' : 'SIGKILL');
  const still = (): boolean => listProcesses().some(({ pid, state }) => begun.has(pid) && state !== 'Z');
  for (const until = Date.now() + mostMs; still() && Date.now() < until; )
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
}

const isPostgres = ({ name }: Process): boolean => name === 'postgres';

/** What this process began, with all that those began, and databases of its folder whose server was killed. */
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
