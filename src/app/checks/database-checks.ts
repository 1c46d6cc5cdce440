import { findMoved } from '#backup/move-instance.ts';
import { isDiskFull } from '#kit/database.ts';
import { refuseTransactionPooling } from '#kit/pooling.ts';
import { statement } from '#kit/statement.ts';
import { hasFullDisk, takesMore } from '#kit/storage.ts';
import { type Check, type CheckGauge, ok, problem, refuseProblems } from './check.ts';
import { type DatabaseFacts, databaseFacts, readDatabaseDisk } from './facts.ts';

/** Finds transactions that hold locks and do nothing for so many seconds, or were prepared and never ended. */
export const selectLeftovers = statement(
  'checks.select_leftovers',
  'seconds',
  'who:text age:double',
  `select format('process %s (%s)', pid, coalesce(nullif(application_name, ''), usename)) as who,
          extract(epoch from now() - state_change)::double precision as age
     from pg_stat_activity
    where datname = current_database() and state like 'idle in transaction%'
      and state_change < now() - make_interval(secs => $seconds)
   union all
   select format('prepared transaction %s', gid), extract(epoch from now() - prepared)::double precision
     from pg_prepared_xacts
    where database = current_database() and prepared < now() - make_interval(secs => $seconds)`,
);

/** Reads what the server of the database says about itself. */
const readStatistics = statement(
  'checks.read_statistics',
  '',
  [
    'database_bytes:bigint connections:bigint connections_most:bigint commits:bigint',
    'rollbacks:bigint deadlocks:bigint blocks_read:bigint blocks_hit:bigint',
    'temporary_bytes:bigint oldest_transaction:double',
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

const oldestVersion = 15;
/** Formloom ends a session that holds a transaction open for 30 s. */
const leftSeconds = 120;
/** Signatures and links fail if the clocks are further apart. */
const largestDriftSeconds = 5;
/** PostgreSQL writes its log in files of this size, and ends if there is no room for the next one. */
const leastRoom = 16 * 1024 * 1024;
const diskIsFull = 'the disk of the database is full';

/** A database, whatever is in it. A start checks it before it changes anything. */
export const databaseChecks: readonly Check<DatabaseFacts>[] = [
  {
    id: 'sessions',
    severity: 'start',
    async look({ database }) {
      await refuseTransactionPooling(database);
      return ok('Each connection keeps its session.');
    },
  },
  {
    id: 'database version',
    severity: 'start',
    async look({ server }) {
      const { version, encoding } = await server();
      const major = Math.floor(version / 10_000);
      if (major < oldestVersion)
        return problem(
          `The database is PostgreSQL ${major}, and Formloom needs ${oldestVersion} or newer.`,
          'Upgrade it, or leave DATABASE_URL empty for the PostgreSQL that comes along.',
        );
      if (encoding !== 'UTF8')
        return problem(
          `The database stores text as ${encoding}, which cannot hold most of the world's letters.`,
          "Create one with `create database formloom encoding 'UTF8' template template0`, and name it in DATABASE_URL.",
        );
      return ok(`PostgreSQL ${major}, UTF8.`);
    },
  },
  {
    id: 'writable',
    severity: 'start',
    async look({ server }) {
      const { is_read_only: isReadOnly, is_standby: isStandby } = await server();
      if (isStandby)
        return problem(
          'The database is a standby, which takes no writes.',
          'Let DATABASE_URL lead to the primary (with several hosts: target_session_attrs=read-write).',
        );
      if (isReadOnly)
        return problem(
          'The database is read-only.',
          'Look for default_transaction_read_only: `alter database … reset default_transaction_read_only`, the same for the role.',
        );
      return ok('It takes writes.');
    },
  },
  {
    id: 'place',
    severity: 'start',
    async look({ database }) {
      const moved = await findMoved(database);
      if (!moved?.moved_to) return ok('The instance is here.');
      return problem(
        `This instance was moved to ${moved.moved_to} on ${moved.moved_at!.toISOString()}, and continues there.`,
        'Set DATABASE_URL to that database (leave it empty for the one in DATA_DIR). If it is lost, `npm run -s formloom -- move --stay` continues here with the data from before the move.',
      );
    },
  },
  {
    id: 'room',
    severity: 'ready',
    async look({ database, server }) {
      const { is_read_only: isReadOnly, is_standby: isStandby } = await server();
      if (isReadOnly || isStandby) return ok('It takes no writes.');
      if (await takesMore(database)) return ok('Its disk has room.');
      return problem('The disk of the database is full.', 'Make room there, or give it a larger one.');
    },
    async obstacle({ config, database }) {
      try {
        await database.query('select 1');
        return (await hasFullDisk(database)) ? diskIsFull : undefined;
      } catch (error) {
        if (isDiskFull(error)) return diskIsFull;
        const disk = await readDatabaseDisk(config);
        return disk && disk.free < leastRoom ? diskIsFull : 'the database does not answer';
      }
    },
    async gauges({ database }) {
      const [found] = await readStatistics(database, {}).catch(() => []);
      return [
        ['database_up', 'Whether the database answers.', found !== undefined],
        ...(found ? gaugesOf(found) : []),
      ];
    },
  },
  {
    id: 'left-over locks',
    severity: 'notice',
    async look({ database }) {
      const found = await selectLeftovers(database, { seconds: leftSeconds });
      if (found.length === 0) return ok('No transaction was left open.');
      const who = found.map(({ who: one, age }) => `${one} for ${Math.round(age)} s`).join(', ');
      return problem(
        `Transactions were left open and may hold locks: ${who}.`,
        'End them: `select pg_terminate_backend(<process>)`, or `rollback prepared` for one that was prepared.',
      );
    },
  },
  {
    id: 'clock',
    severity: 'notice',
    async look({ server }) {
      const { clockDrift } = await server();
      return clockDrift <= largestDriftSeconds
        ? ok('This machine and the database agree.')
        : problem(
            `The clocks of this machine and of the database are ${clockDrift} s apart.`,
            'Set both by NTP: signatures, links and schedules depend on it.',
          );
    },
  },
];

const gaugesOf = (found: Awaited<ReturnType<typeof readStatistics>>[number]): CheckGauge[] => [
  ['database_bytes', 'Bytes of the database on its disk.', found.database_bytes],
  ['database_connections', 'Connections to the database from all clients.', found.connections],
  ['database_connections_most', 'Connections that the database server allows.', found.connections_most],
  ['database_oldest_transaction_seconds', 'Age of the oldest open transaction.', found.oldest_transaction],
  ['database_commits', 'Transactions that were committed.', found.commits, 'counter'],
  ['database_rollbacks', 'Transactions that were rolled back.', found.rollbacks, 'counter'],
  ['database_deadlocks', 'Deadlocks that the database ended.', found.deadlocks, 'counter'],
  ['database_blocks_read', 'Blocks read from disk or the system.', found.blocks_read, 'counter'],
  ['database_blocks_hit', 'Blocks that the database had in memory.', found.blocks_hit, 'counter'],
  ['database_temporary_bytes', 'Bytes of sorting and hashing on disk.', found.temporary_bytes, 'counter'],
];

/** Checks a database that an instance is brought into, which may be the one that it was moved away from. @throws as refuseProblems. */
export const refuseUnfit = (context: Parameters<typeof databaseFacts>[0]): Promise<void> =>
  refuseProblems(
    databaseChecks.filter(({ id }) => id !== 'place'),
    databaseFacts(context),
  );
