import { readBackups } from '#backup/read-backups.ts';
import { refreshCells } from '#cells/cells.ts';
import { findCellsAway, findInAllCells } from '#cells/across-cells.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { sendMailJob } from '#kit/outbox.ts';
import { double, jsonb, only, statement } from '#kit/statement.ts';
import { findClockDoubt } from '#kit/periodic.ts';
import { askValkey } from '#kit/valkey.ts';
import { deliverJob } from '#webhooks/delivery-job.ts';
import { type DiskSettings, readDisks } from '../disks.ts';
import type { Report } from './report.ts';

/**
 * What waits and fails in an instance. Its cost is bounded: of jobs and deliveries no more than `most` are looked at, by their
 * indexes, so that a larger number says that there are at least so many.
 */
const readInstance = statement(
  'metrics.read_instance',
  'most',
  [
    'jobs_parked:bigint deliveries_waiting:bigint webhooks_failing:bigint',
    'webhooks_paused:bigint',
    {
      /** By kind: how many are due, and the seconds since the first of them was. */
      jobs: jsonb<Record<string, { due: number; oldest: number }>>(),
    },
  ],
  `/* operator: across workspaces */
   select
     (select coalesce(jsonb_object_agg(kind, jsonb_build_object('due', due, 'oldest', oldest)), '{}')
        from (select kind, count(*) as due, extract(epoch from now() - min(run_at))::double precision as oldest
                from (select kind, run_at from jobs where run_at <= now() order by run_at limit $most) as job
               group by kind) as due) as jobs,
     (select count(*) from jobs where parked_at is not null) as jobs_parked,
     (select count(*) from (select id from deliveries where status = 'Retrying' limit $most) as waiting) as deliveries_waiting,
     (select count(*) from webhooks where failing_since is not null and active) as webhooks_failing,
     (select count(*) from webhooks where paused_by = 'failure') as webhooks_paused`,
);

/** What the server of the database says of itself. */
const readServer = statement(
  'metrics.read_server',
  '',
  [
    'database_bytes:bigint connections:bigint connections_most:bigint commits:bigint',
    'rollbacks:bigint deadlocks:bigint blocks_read:bigint blocks_hit:bigint',
    'temporary_bytes:bigint',
    {
      /** Seconds since the oldest transaction began. */
      oldest_transaction: double,
    },
  ],
  `select
     pg_database_size(current_database()) as database_bytes,
     (select count(*) from pg_stat_activity where datname = current_database()) as connections,
     current_setting('max_connections')::bigint as connections_most,
     (select coalesce(extract(epoch from now() - min(xact_start)), 0)::double precision from pg_stat_activity
       where datname = current_database()) as oldest_transaction,
     xact_commit as commits, xact_rollback as rollbacks, deadlocks, blks_read as blocks_read, blks_hit as blocks_hit,
     temp_bytes as temporary_bytes
    from pg_stat_database where datname = current_database()`,
);

type Context = {
  database: Database;
  config: DiskSettings & Pick<Config, 'valkeyUrl'>;
};
type Facts = Awaited<ReturnType<typeof readFacts>>;
type Value = number | readonly { labels: Record<string, string>; value: number }[];

/** So long an answer is given again: whoever scrapes more often, or from several places, costs the database nothing more. */
const freshMs = 5_000;
/** Jobs and deliveries that are counted at most. */
const most = 10_000;

/** What the database and the disks know of the instance, whichever process asks. It never rejects. */
export function openInstanceReport(context: Context): () => Promise<Report> {
  let kept: { at: number; report: Promise<Report> } | undefined;
  return () => {
    const at = performance.now();
    if (!kept || at - kept.at > freshMs) kept = { at, report: read(context) };
    return kept.report;
  };
}

async function read({ database, config }: Context): Promise<Report> {
  const [found, disks, valkeys] = await Promise.all([
    readFacts(database).catch(() => undefined),
    // What cannot be looked at is in no number.
    readDisks(config).catch(() => []),
    readValkeys(config),
  ]);
  return [
    gauge('database_up', 'Whether the database answers.', found ? 1 : 0),
    gauge(
      'valkey_up',
      'Whether the Valkey of VALKEY_URL answers this machine; not there without one.',
      valkeys,
    ),
    gauge(
      'disk_free_bytes',
      'Bytes that are free for us on the disk of a folder.',
      disks.map(({ name, free }) => ({ labels: { disk: name }, value: free })),
    ),
    gauge(
      'disk_bytes',
      'Bytes of the disk of a folder.',
      disks.map(({ name, size }) => ({ labels: { disk: name }, value: size })),
    ),
    gauge('backup_scheduled', 'Whether BACKUP_SCHEDULE is set.', Number(config.backup !== undefined)),
    ...(found ? reportOf(found) : []),
  ];
}

async function readValkeys({ valkeyUrl }: Context['config']) {
  if (valkeyUrl === undefined) return [];
  const [asked] = await Promise.allSettled([askValkey(valkeyUrl, (valkey) => valkey.ping())]);
  return [{ labels: {}, value: Number(asked.status === 'fulfilled') }];
}

async function readFacts(database: Database) {
  await refreshCells(database);
  const [found, away, servers, backups, doubt] = await Promise.all([
    findInAllCells(database, (cells) => readInstance(cells, { most }), { isPartial: true }),
    findCellsAway(database),
    readServer(database, {}),
    readBackups(database, {}),
    findClockDoubt(database),
  ]);
  const [first, ...others] = found as [Contents, ...Contents[]];
  const facts = { ...others.reduce(addContents, first), ...only(servers)!, ...only(backups)! };
  return { ...facts, cells_away: away.length, sweeps_stopped: Number(doubt !== undefined) };
}

type Contents = Awaited<ReturnType<typeof readInstance>>[number];

/** What is in cells that were asked apart. */
function addContents(sum: Contents, { jobs, ...other }: Contents): Contents {
  const all = { ...sum.jobs };
  for (const [kind, { due, oldest }] of Object.entries(jobs))
    all[kind] = {
      due: (all[kind]?.due ?? 0) + due,
      oldest: Math.max(all[kind]?.oldest ?? 0, oldest),
    };
  return {
    jobs: all,
    jobs_parked: sum.jobs_parked + other.jobs_parked,
    deliveries_waiting: sum.deliveries_waiting + other.deliveries_waiting,
    webhooks_failing: sum.webhooks_failing + other.webhooks_failing,
    webhooks_paused: sum.webhooks_paused + other.webhooks_paused,
  };
}

function reportOf(found: Facts): Report {
  // A rule reads a 0 where nothing is due, and not nothing.
  const none = { due: 0, oldest: 0 };
  const jobs = Object.entries({ [deliverJob]: none, [sendMailJob]: none, ...found.jobs });
  const byKind = (of: (job: { due: number; oldest: number }) => number) =>
    jobs.map(([kind, job]) => ({ labels: { kind }, value: of(job) }));
  const bounded = `At most ${most} are counted.`;
  return [
    gauge(
      'jobs_due',
      `Jobs of the queue that could run now, by kind. ${bounded}`,
      byKind(({ due }) => due),
    ),
    gauge(
      'jobs_oldest_due_seconds',
      'Since when the first job of a kind could run.',
      byKind(({ oldest }) => oldest),
    ),
    gauge(
      'jobs_parked',
      'Jobs that do not run any more, because the server stopped three times while it worked on each.',
      found.jobs_parked,
    ),
    gauge(
      'sweeps_stopped',
      'Whether nothing is deleted by its age, because the clock is in doubt.',
      found.sweeps_stopped,
    ),
    gauge(
      'deliveries_waiting',
      `Deliveries of webhooks that are to be sent, also later. ${bounded}`,
      found.deliveries_waiting,
    ),
    gauge('webhooks_failing', 'Active webhooks whose every delivery fails.', found.webhooks_failing),
    gauge(
      'webhooks_paused',
      'Webhooks that were paused because they failed for days.',
      found.webhooks_paused,
    ),
    gauge(
      'cells_away',
      'Cells whose server, or node of a cluster, does not answer. They are in no other number.',
      found.cells_away,
    ),
    gauge(
      'backup_age_seconds',
      'Since the last backup by schedule that was made; where none was, since the first was due; 0: nor was that.',
      found.backup_age,
    ),
    gauge('backups_made', 'Backups by schedule that were made, of those still known.', found.backups_made),
    gauge(
      'backups_failed',
      'Backups by schedule that could not be made, of those still known.',
      found.backups_failed,
    ),
    gauge(
      'backup_last_failed',
      'Whether the last backup by schedule that ended could not be made.',
      Number(found.last_problem !== null),
    ),
    gauge('database_bytes', 'What the database takes on its disk.', found.database_bytes),
    gauge('database_connections', 'Connections to the database, of all who use it.', found.connections),
    gauge(
      'database_connections_most',
      'Connections that the database server allows.',
      found.connections_most,
    ),
    gauge(
      'database_oldest_transaction_seconds',
      'Since the oldest open transaction began.',
      found.oldest_transaction,
    ),
    counter('database_commits', 'Transactions that were committed.', found.commits),
    counter('database_rollbacks', 'Transactions that were rolled back.', found.rollbacks),
    counter('database_deadlocks', 'Deadlocks that the database ended.', found.deadlocks),
    counter(
      'database_blocks_read',
      'Blocks that the database read from disk or the system.',
      found.blocks_read,
    ),
    counter('database_blocks_hit', 'Blocks that the database had in memory.', found.blocks_hit),
    counter('database_temporary_bytes', 'What sorting and hashing wrote to disk.', found.temporary_bytes),
  ];
}

const metric =
  (type: 'gauge' | 'counter') =>
  (name: string, help: string, value: Value): Report[number] => ({
    name: `formloom_${name}`,
    help,
    type,
    values: typeof value === 'number' ? [{ labels: {}, value }] : value,
  });
const gauge = metric('gauge');
const counter = metric('counter');
