import { findMoveRecord } from '#backup/move-instance.ts';
import { isDiskFull } from '#kit/database.ts';
import { refuseTransactionPooling } from '#kit/pooling.ts';
import { statement } from '#kit/statement.ts';
import { hasDatabaseRoom, isDatabaseDiskFull } from '#kit/storage.ts';
import {
  type Check,
  type CheckGauge,
  createOkFinding,
  createProblemFinding,
  requireNoProblems,
} from './check.ts';
import { type DatabaseFacts, databaseFacts, readDatabaseDisk } from './facts.ts';

/**
 * Finds transactions that hold locks but have been idle for this many seconds, or that were prepared and
 * never ended.
 */
export const selectStaleTransactions = statement('seconds', 'who:text age:double')`
  select format('process %s (%s)', pid, coalesce(nullif(application_name, ''), usename)) as who,
         extract(epoch from now() - state_change)::double precision as age
    from pg_stat_activity
   where datname = current_database() and state like 'idle in transaction%'
     and state_change < now() - make_interval(secs => $seconds)
  union all
  select format('prepared transaction %s', gid), extract(epoch from now() - prepared)::double precision
    from pg_prepared_xacts
   where database = current_database() and prepared < now() - make_interval(secs => $seconds)`;

const readStatistics = statement('', [
  'database_bytes:bigint connections:bigint connections_most:bigint commits:bigint',
  'rollbacks:bigint deadlocks:bigint blocks_read:bigint blocks_hit:bigint',
  'temporary_bytes:bigint oldest_transaction:double',
])`
  select
    pg_database_size(current_database()) as database_bytes,
    (select count(*) from pg_stat_activity where datname = current_database()) as connections,
    current_setting('max_connections')::bigint as connections_most,
    (select coalesce(extract(epoch from now() - min(xact_start)), 0)::double precision from pg_stat_activity
      where datname = current_database()) as oldest_transaction,
    xact_commit as commits, xact_rollback as rollbacks, deadlocks, blks_read as blocks_read, blks_hit as blocks_hit,
    temp_bytes as temporary_bytes
   from pg_stat_database where datname = current_database()`;

const oldestVersion = 15;
/** Well above 30 s, after which Formloom ends its own sessions with an open transaction. */
const leftSeconds = 120;
/** Signatures and links fail if the clocks differ by more than this. */
const largestDriftSeconds = 5;
/** The size of a WAL file. PostgreSQL stops if there is no disk space for the next one. */
const leastRoom = 16 * 1024 * 1024;
const diskIsFull = 'the database disk is full';

/** Checks of any database, whatever it contains. A start runs them before it changes anything. */
export const databaseChecks: readonly Check<DatabaseFacts>[] = [
  {
    id: 'sessions',
    severity: 'start',
    async look({ database }) {
      await refuseTransactionPooling(database);
      return createOkFinding('No transaction pooling: each connection keeps its own session.');
    },
  },
  {
    id: 'database version',
    severity: 'start',
    async look({ server }) {
      const { version, encoding } = await server();
      const major = Math.floor(version / 10_000);
      if (major < oldestVersion)
        return createProblemFinding(
          `The database is PostgreSQL ${major}, but Formloom needs ${oldestVersion} or later.`,
          'Upgrade it, or leave DATABASE_URL empty to use the bundled PostgreSQL.',
        );
      if (encoding !== 'UTF8')
        return createProblemFinding(
          `The database uses the encoding ${encoding}, which cannot represent most of the world's characters.`,
          "Create a UTF-8 database with `create database formloom encoding 'UTF8' template template0`, and set DATABASE_URL to it.",
        );
      return createOkFinding(`PostgreSQL ${major}, UTF8.`);
    },
  },
  {
    id: 'writable',
    severity: 'start',
    async look({ server }) {
      const { is_read_only: isReadOnly, is_standby: isStandby } = await server();
      if (isStandby)
        return createProblemFinding(
          'The database is a standby, which does not accept writes.',
          'Point DATABASE_URL to the primary (with several hosts: target_session_attrs=read-write).',
        );
      if (isReadOnly)
        return createProblemFinding(
          'The database is read-only.',
          'Reset default_transaction_read_only with `alter database … reset default_transaction_read_only` and `alter role … reset default_transaction_read_only`.',
        );
      return createOkFinding('The database accepts writes.');
    },
  },
  {
    id: 'move',
    severity: 'start',
    async look({ database }) {
      const moved = await findMoveRecord(database);
      if (!moved?.moved_to) return createOkFinding('The instance has not been moved.');
      return createProblemFinding(
        `This instance was moved to ${moved.moved_to} on ${moved.moved_at!.toISOString()} and now runs from there.`,
        'Set DATABASE_URL to that database (leave it empty for the one in DATA_DIR). If that database is lost, `npm run -s formloom -- move --stay` runs the instance here again, with the data from before the move.',
      );
    },
  },
  {
    id: 'database disk',
    severity: 'ready',
    async look({ database, server }) {
      const { is_read_only: isReadOnly, is_standby: isStandby } = await server();
      if (isReadOnly || isStandby) return createOkFinding('The database does not accept writes.');
      if (await hasDatabaseRoom(database)) return createOkFinding('The database disk has free space.');
      return createProblemFinding('The database disk is full.', 'Free up space on it, or enlarge it.');
    },
    async obstacle({ config, database }) {
      try {
        await database.query('select 1');
        return (await isDatabaseDiskFull(database)) ? diskIsFull : undefined;
      } catch (error) {
        if (isDiskFull(error)) return diskIsFull;
        const disk = await readDatabaseDisk(config);
        return disk && disk.free < leastRoom ? diskIsFull : 'the database does not respond';
      }
    },
    async gauges({ database }) {
      const [found] = await readStatistics(database, {}).catch(() => []);
      return [
        ['database_up', 'Whether the database responds.', found !== undefined],
        ...(found ? gaugesOf(found) : []),
      ];
    },
  },
  {
    id: 'left-over locks',
    severity: 'notice',
    async look({ database }) {
      const found = await selectStaleTransactions(database, { seconds: leftSeconds });
      if (found.length === 0) return createOkFinding('No transactions were left open.');
      const who = found.map(({ who: one, age }) => `${one} for ${Math.round(age)} s`).join(', ');
      return createProblemFinding(
        `Transactions were left open and may hold locks: ${who}.`,
        'End them with `select pg_terminate_backend(<process>)`, or `rollback prepared` for a prepared one.',
      );
    },
  },
  {
    id: 'clock',
    severity: 'notice',
    async look({ server }) {
      const { clockDrift } = await server();
      return clockDrift <= largestDriftSeconds
        ? createOkFinding('The clocks of this machine and the database match.')
        : createProblemFinding(
            `The clocks of this machine and the database are ${clockDrift} s apart.`,
            'Synchronize both with NTP: signatures, links and schedules depend on it.',
          );
    },
  },
];

const gaugesOf = (found: Awaited<ReturnType<typeof readStatistics>>[number]): CheckGauge[] => [
  ['database_bytes', 'Database size in bytes.', found.database_bytes],
  ['database_connections', 'Connections to the database from all clients.', found.connections],
  ['database_connections_most', 'Connections that the database server allows.', found.connections_most],
  ['database_oldest_transaction_seconds', 'Age of the oldest open transaction.', found.oldest_transaction],
  ['database_commits', 'Committed transactions.', found.commits, 'counter'],
  ['database_rollbacks', 'Rolled-back transactions.', found.rollbacks, 'counter'],
  ['database_deadlocks', 'Deadlocks that the database resolved.', found.deadlocks, 'counter'],
  [
    'database_blocks_read',
    "Blocks read from disk or from the operating system's cache.",
    found.blocks_read,
    'counter',
  ],
  ['database_blocks_hit', "Blocks found in the database's memory.", found.blocks_hit, 'counter'],
  [
    'database_temporary_bytes',
    'Bytes written to temporary files for sorting and hashing.',
    found.temporary_bytes,
    'counter',
  ],
];

/**
 * Checks the target database of a restore or move. It may be one that the instance was moved away from.
 * @throws CheckError for the first problem.
 */
export const checkTargetDatabase = (context: Parameters<typeof databaseFacts>[0]): Promise<void> =>
  requireNoProblems(
    databaseChecks.filter(({ id }) => id !== 'move'),
    databaseFacts(context),
  );
