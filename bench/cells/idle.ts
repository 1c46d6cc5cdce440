import { setTimeout as sleep } from 'node:timers/promises';
import { openInstance } from '#test/process.ts';
import { worked } from '../cpu-seconds.ts';
import { describeMemory, memoryOf } from '../memory.ts';
import { describeMachine } from '../report.ts';

/** After so long what a start leaves to be done is done. */
const settleSeconds = 20;

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** What an instance of one, three and ten cells costs while nobody asks it anything. */
export async function benchIdle(seconds: number, counts: readonly number[] = [1, 3, 10]): Promise<void> {
  say(await describeMachine());
  // The pool of the server decides how many connections its database allows, that of the command how many each process takes.
  for (const cells of counts) {
    const instance = await openInstance({ DATABASE_POOL: '1' });
    try {
      const server = await instance.start({ DATABASE_POOL: '20' });
      for (let cell = 2; cell <= cells; cell += 1) await instance.cli('cell create', `c${cell}`);
      await sleep(settleSeconds * 1_000);
      const databases = [(await instance.databasePid())!];
      const look = async () => {
        const [{ commits }] = (await instance.query<{ commits: number }>(
          `select sum(xact_commit)::integer as commits from pg_stat_database`,
        )) as [{ commits: number }];
        return { commits, cpu: await worked(server.pid, databases) };
      };
      const before = await look();
      await sleep(seconds * 1_000);
      const after = await look();
      const msOf = (part: 0 | 1): string =>
        (((after.cpu[part] - before.cpu[part]) * 1_000) / seconds).toFixed(1);
      say(
        `${cells} cells: ${((after.commits - before.commits) / seconds).toFixed(1)} transactions a second, ` +
          `CPU ${msOf(0)} + ${msOf(1)} ms a second, ${describeMemory(await memoryOf(server.pid))}`,
      );
    } finally {
      await instance.close();
    }
  }
}
