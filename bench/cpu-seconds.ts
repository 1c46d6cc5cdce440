import { readFile } from 'node:fs/promises';

/** What a process has worked so far, where the system tells (Linux): 1/100 s in fields 14 and 15 of its stat. */
export async function cpuSeconds({ pid }: { pid: number }): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) / 100;
}

/** What a process has worked so far, with those that it has waited for (Linux): 1/100 s in fields 14 to 17 of its stat. */
async function ticksOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
}

/** Seconds that a server and the servers of its database have worked, each. It hardly changes with what else runs. */
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
  const inDatabase = (await Promise.all(pids.map(ticksOf))).reduce((sum, ticks) => sum + ticks, 0);
  return [(await ticksOf(server)) / 100, inDatabase / 100];
}
