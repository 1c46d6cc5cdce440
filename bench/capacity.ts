import { openDatabase } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import { makeOwner } from '#test/crowd.ts';
import { openInstance } from '#test/process.ts';
import { until } from '#test/service.ts';
import { worked } from './cpu-seconds.ts';
import type { Request } from './load.ts';
import { startLoader } from './loader.ts';
import { describeMachine, middle } from './report.ts';
import { seed, structure, submissionAt } from './seed.ts';
import { start, startReceiver } from './webhooks/stage.ts';

/*
 * Measures what a submission costs, for the plan of docs/operating/large.md: CPU of server and database,
 * bytes on disk and WAL. A submission is complete when its words are indexed and its webhook is delivered.
 */

const concurrency = 32;
const distinct = 2_000;
const warmUpSeconds = 3;
/**
 * Submissions are like those of the benchmark's sites, whose words are distributed as in natural language.
 */
const site = { site: 90, count: distinct };

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

const tablesOf = {
  submission: ['submissions', 'submission_counts'],
  words: ['search_documents', 'search_segments'],
  log: ['events', 'deliveries', 'attempts', 'jobs'],
} as const;

/** Runs `npm run bench -- capacity`. @param size the number of submissions that exist before. */
export async function benchCapacity({
  rounds,
  seconds,
  size,
}: {
  rounds: number;
  seconds: number;
  size: number;
}): Promise<void> {
  say(await describeMachine());
  const child = start('receiver.ts');
  const receiver = await startReceiver(child);
  const instance = await openInstance();
  const { load, end } = startLoader();
  try {
    const server = await instance.start();
    const database = (await instance.databasePid())!;
    const port = Number(new URL(server.url).port);
    const owner = await makeOwner(instance, [
      'forms:read',
      'forms:write',
      'submissions:read',
      'webhooks:read',
      'webhooks:write',
    ]);
    const makeForm = async (webhooks: number): Promise<string> => {
      const { body } = await owner.call('POST', '/forms', { structure, publish: true });
      for (let webhook = 0; webhook < webhooks; webhook += 1)
        await owner.call('POST', `/forms/${body.id}/webhooks`, {
          url: `${receiver.url}/hook`,
          events: ['submission.created'],
        });
      return body.id;
    };
    const submits = (id: string, ofEntry: (entry: number) => object): Request[] =>
      Array.from({ length: distinct }, (_, entry) => ({
        method: 'POST',
        path: `/f/${id}`,
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ answers: ofEntry(entry) }),
      }));
    const large = (entry: number): object => submissionAt(entry, site).answers;
    const cases = {
      'few words': submits(await makeForm(0), (entry) => ({
        subject: `entry ${entry}`,
        email: 'a@example.com',
        message: 'x',
      })),
      '1 KB of answers': submits(await makeForm(0), large),
      '1 KB, a webhook': submits(await makeForm(1), large),
    };
    const measure = async () => {
      const sizes = Object.entries(tablesOf).map(
        ([name, tables]) =>
          `(select sum(pg_total_relation_size(root)) from unnest('{${tables.join(',')}}'::regclass[]) as root)::bigint as ${name}`,
      );
      const [row] = await instance.query<Record<string, string>>(
        `select ${sizes.join(', ')}, (pg_current_wal_insert_lsn() - '0/0')::bigint as wal, (select sum(count) from submission_counts)::bigint as count`,
      );
      const numbers = Object.fromEntries(Object.entries(row!).map(([name, value]) => [name, Number(value)]));
      const [inServer, inDatabase] = await worked(server.pid, [database]);
      return { ...numbers, server: inServer * 1e6, database: inDatabase * 1e6 } as Record<string, number>;
    };
    const untilDone = (): Promise<unknown> =>
      until(
        'all deliveries to be settled',
        async () => {
          const [jobs] = await instance.query<{ is_done: boolean }>(
            'select not exists (select from jobs) as is_done',
          );
          return jobs!.is_done;
        },
        120,
      );
    if (size > 0) {
      const own = openDatabase(
        { connectionString: instance.databaseUrl },
        { pool: 2, log: openLog('silent'), limits: false },
      );
      const formIds = [await makeForm(0), await makeForm(0)];
      await seed(own, { workspaceId: owner.workspaceId, formIds, site: 91, count: size });
      await own.query('vacuum analyze');
      await own.end();
      const { submission, words } = await measure();
      say(
        `${size} submissions at rest: ${(submission! / size / 1_000).toFixed(2)} KB each, their words ${(words! / size / 1_000).toFixed(2)} KB`,
      );
    }
    for (const [name, requests] of Object.entries(cases)) {
      await load({ requests, concurrency, port, seconds: warmUpSeconds });
      await untilDone();
      const costs: Record<string, number>[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const before = await measure();
        await load({ requests, concurrency, port, seconds });
        await untilDone();
        const after = await measure();
        const count = after['count']! - before['count']!;
        costs.push(
          Object.fromEntries(
            Object.keys(after).map((what) => [what, (after[what]! - before[what]!) / count]),
          ),
        );
      }
      const of = (what: string): number => middle(costs.map((cost) => cost[what]!));
      const kilobytes = (what: string): string => (of(what) / 1_000).toFixed(2);
      say(
        `${name.padEnd(16)} server ${of('server').toFixed(0)} µs, database ${of('database').toFixed(0)} µs; disk KB: row ${kilobytes('submission')}, words ${kilobytes('words')}, log ${kilobytes('log')}; WAL ${kilobytes('wal')} KB`,
      );
    }
  } finally {
    end();
    child.kill();
    await instance.close();
  }
}
