import { readdir, readFile } from 'node:fs/promises';

/**
 * Returns the CPU seconds of a process so far, if the system reports them (Linux): 1/100 s in fields 14 and
 * 15 of its stat.
 */
export async function cpuSeconds({ pid }: { pid: number }): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) / 100;
}

/**
 * Returns the CPU seconds of a process and of its reaped children so far (Linux). Threads count in
 * nanoseconds, from schedstat; children in 1/100 s, from fields 16 and 17 of stat.
 */
export async function workedBy(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const own = threads.map(async (thread) => {
    const stat = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0');
    return Number(stat.split(' ', 1)[0]);
  });
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const waitedFor = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(13, 15)
    .map(Number);
  return sum(await Promise.all(own)) / 1e9 + sum(waitedFor) / 100;
}

const sum = (figures: readonly number[]): number => figures.reduce((all, each) => all + each, 0);

/** Returns the CPU seconds of a server and of its database servers. Other load hardly changes them. */
export async function worked(
  server: number,
  databases: readonly number[],
): Promise<readonly [number, number]> {
  const pids = await Promise.all(
    databases.map(async (pid) => {
      const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
      return [pid, ...children.split(' ').filter(Boolean).map(Number)];
    }),
  ).then((each) => each.flat());
  return [await workedBy(server), sum(await Promise.all(pids.map(workedBy)))];
}
