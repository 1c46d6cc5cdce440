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
