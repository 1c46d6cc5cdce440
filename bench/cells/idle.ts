import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbeddedPostgres } from '#kit/embedded-postgres/embedded-postgres.ts';
import { findPostmaster } from '#kit/embedded-postgres/postmaster.ts';
import { openInstance } from '#test/process.ts';
import { worked } from '../cpu-seconds.ts';
import { memoryOf } from '../memory.ts';
import { describeMachine } from '../report.ts';

/** After this time the work that follows a start is done, and its connections have closed. */
const settleSeconds = 90;

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** Measures what an idle instance of one, three and ten cells costs. */
export async function benchIdle(seconds: number, counts: readonly number[] = [1, 3, 10]): Promise<void> {
  say(await describeMachine());
  for (const cells of counts) await measure(cells, seconds);
}

async function measure(cells: number, seconds: number): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'formloom-idle-'));
  await chmod(dataDir, 0o755);
  // A separate database: the embedded one has connections for four cells only.
  const postgres = await startEmbeddedPostgres({
    dataDir,
    log: () => {},
    settings: { max_connections: '400' },
  });
  const { host, user, database } = postgres.connection;
  const DATABASE_URL = `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}`;
  const instance = await openInstance({ DATABASE_URL });
  try {
    const server = await instance.start();
    for (let cell = 2; cell <= cells; cell += 1) await instance.cli('cell create', `c${cell}`);
    await sleep(settleSeconds * 1_000);
    const { pid } = (await findPostmaster(postgres.directory))!;
    const look = async () => {
      const [{ commits }] = (await instance.query<{ commits: number }>(
        `select sum(xact_commit)::integer as commits from pg_stat_database`,
      )) as [{ commits: number }];
      return { commits, cpu: await worked(server.pid, [pid]) };
    };
    const before = await look();
    await sleep(seconds * 1_000);
    const after = await look();
    const msOf = (part: 0 | 1): string =>
      (((after.cpu[part] - before.cpu[part]) * 1_000) / seconds).toFixed(1);
    say(
      `${cells} cells: ${((after.commits - before.commits) / seconds).toFixed(1)} transactions a second, ` +
        `CPU ${msOf(0)} + ${msOf(1)} ms a second, ${(await memoryOf(server.pid)).now} MB`,
    );
  } finally {
    await instance.close();
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
