import { findMoved } from '#backup/move-instance.ts';
import { readBackups } from '#backup/read-backups.ts';
import { findInAllCells } from '#cells/across-cells.ts';
import { describeRoom, findRoom } from '#cells/create-cell.ts';
import { otherCells } from '#cells/cells.ts';
import { now } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { ApiError, sayWithCause } from '#kit/errors.ts';
import { checkInstanceKey, checkStorage } from '#kit/instance-key.ts';
import { takesMore } from '#kit/storage.ts';
import { findPending, readMigrations } from '#kit/migrate.ts';
import { openStorage, storagePlace } from '#kit/open-storage.ts';
import { selectParked } from '#kit/queue/park-job.ts';
import { refuseTransactionPooling } from '#kit/pooling.ts';
import { only, statement } from '#kit/statement.ts';
import { findClockDoubt } from '#kit/periodic.ts';
import { askValkey, ValkeyError } from '#kit/valkey.ts';
import { findInstanceKey } from '#kit/vault.ts';
import { keyChannel } from '#workspaces/keys/key-rows.ts';
import { type Check, ok, problem, refuseProblems, warning } from './check.ts';
import { describeParked, judgeBackups, retryParked } from '../watch/find-incidents.ts';

const readServer = statement(
  'checks.read_server',
  '',
  'version encoding:text is_read_only:boolean is_standby:boolean now:double',
  `select current_setting('server_version_num')::integer as version, current_setting('server_encoding') as encoding,
          current_setting('transaction_read_only')::boolean as is_read_only, pg_is_in_recovery() as is_standby,
          extract(epoch from clock_timestamp())::double precision as now`,
);

/** Transactions that hold locks and do nothing for so many seconds, or were prepared and never ended. */
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

/** Cells of which the tables are not where they should be. */
const selectLostCells = statement(
  'checks.select_lost_cells',
  '',
  'name',
  `select name from cells where to_regclass(format('%I.workspaces', schema_name)) is null order by name`,
);

/**
 * Finds the servers with a query in the last seconds. Each sends two a second, and the sessions of a lost machine can stay
 * for hours.
 */
const findServers = statement(
  'checks.find_servers',
  'seconds',
  'name',
  `select distinct application_name as name from pg_stat_activity
    where datname = current_database() and application_name like 'formloom node %'
      and state_change > now() - make_interval(secs => $seconds)`,
);

type Context = { database: Database };

const oldestVersion = 15;
/** Nothing of ours holds a transaction open for so long without a word: such a session is ended after 30 s. */
const leftSeconds = 120;
const largestDrift = 5;

/** What a database must be, whatever is in it. A start looks at these before it changes anything. */
export const databaseChecks: readonly Check<Context>[] = [
  {
    name: 'sessions',
    stopsStart: true,
    async look({ database }) {
      await refuseTransactionPooling(database);
      return ok('Each connection keeps its session.');
    },
  },
  {
    name: 'database version',
    stopsStart: true,
    async look({ database }) {
      const { version, encoding } = only(await readServer(database, {}))!;
      const major = Math.floor(version / 10_000);
      if (major < oldestVersion)
        return problem(
          `The database is PostgreSQL ${major}, and Formloom needs ${oldestVersion} or newer.`,
          'Upgrade it, or leave DATABASE_URL empty for the PostgreSQL that comes along.',
        );
      if (encoding !== 'UTF8')
        return problem(
          `The database keeps texts as ${encoding}, which has no place for most of the world's letters.`,
          "Make one with `create database formloom encoding 'UTF8' template template0`, and name it in DATABASE_URL.",
        );
      return ok(`PostgreSQL ${major}, UTF8.`);
    },
  },
  {
    name: 'writable',
    stopsStart: true,
    async look({ database }) {
      const { is_read_only: isReadOnly, is_standby: isStandby } = only(await readServer(database, {}))!;
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
    name: 'place',
    stopsStart: true,
    async look({ database }) {
      const moved = await findMoved(database);
      if (!moved?.moved_to) return ok('This is where the instance is.');
      return problem(
        `This instance was moved to ${moved.moved_to} on ${moved.moved_at!.toISOString()}, and goes on there.`,
        'Let DATABASE_URL lead there (none: the database in DATA_DIR). Where that one is lost, `npm run -s formloom -- move --stay` goes on here, with what was here then.',
      );
    },
  },
  {
    name: 'room',
    stopsStart: false,
    async look({ database }) {
      const { is_read_only: isReadOnly, is_standby: isStandby } = only(await readServer(database, {}))!;
      if (isReadOnly || isStandby) return ok('It takes nothing.');
      if (await takesMore(database)) return ok('Its disk takes more.');
      return problem('The disk of the database is full.', 'Make room there, or give it a larger one.');
    },
  },
  {
    name: 'left-over locks',
    stopsStart: false,
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
    name: 'clock',
    stopsStart: false,
    async look({ database }) {
      const { now: theirs } = only(await readServer(database, {}))!;
      const drift = Math.round(Math.abs(now().getTime() / 1_000 - theirs));
      return drift <= largestDrift
        ? ok('This machine and the database agree.')
        : problem(
            `The clocks of this machine and of the database are ${drift} s apart.`,
            'Let both keep time by NTP: signatures, links and schedules go by it.',
          );
    },
  },
];

/** The same of one that an instance is brought into, be it back into one that it was moved away from. @throws as refuseProblems. */
export const refuseUnfit = (database: Database): Promise<void> =>
  refuseProblems(
    databaseChecks.filter(({ name }) => name !== 'place'),
    { database },
  );

/** What is in the database, held against this version and this instance. A start does these as it migrates and opens the key. */
export const contentChecks: readonly Check<Context & { config: Config }>[] = [
  {
    name: 'schema',
    stopsStart: true,
    async look({ database }) {
      const pending = await findPending(database, await readMigrations());
      return pending.length === 0
        ? ok('Of this version.')
        : warning(
            `The next start migrates: ${pending.join(', ')}.`,
            'Make a backup before it; a migrated database is not for the version of before.',
          );
    },
  },
  {
    name: 'cells',
    stopsStart: false,
    async look({ database, config }) {
      const others = await otherCells(database);
      if (others.length === 0) return ok('There is one.');
      const lost = await selectLostCells(database, {});
      if (lost.length > 0)
        return problem(
          `The tables of ${lost.map(({ name }) => name).join(', ')} are not where they should be.`,
          'Restore a backup that has them.',
        );
      const count = others.length + 1;
      const room = await roomFor(count, { database, config });
      if (room.away.length > 0)
        return problem(
          `${room.away.join(', ')} of the cluster does not answer.`,
          'Start it, or have a standby take its place (citus_update_node): its cells answer 503 until then.',
        );
      if (room.needed > room.allowed)
        return warning(
          describeRoom(count, room),
          'Allow more, or make DATABASE_POOL smaller: who finds no connection is answered 503.',
        );
      return ok(`There are ${count}, with up to ${room.needed} connections of ${room.allowed}.`);
    },
  },
  {
    name: 'key',
    stopsStart: true,
    async look({ database, config }) {
      await checkInstanceKey(database, config);
      const count = (await findInstanceKey(config.dataDir, config.secretKey))?.split(',').length ?? 1;
      return count === 1
        ? ok('The one that the database is used with.')
        : warning(
            `${count - 1} former stand behind it.`,
            '`npm run -s formloom -- instance-key forget` takes them away where they are not needed any more.',
          );
    },
  },
  {
    name: 'other servers',
    stopsStart: false,
    async look({ database, config: { valkeyUrl } }) {
      const count = (await findServers(database, { seconds: 10 })).length;
      if (valkeyUrl === undefined)
        return count > 1
          ? problem(
              `${count} servers use this database without VALKEY_URL, so each counts rate limits for itself.`,
              'Set the same VALKEY_URL on all of them, or stop the others.',
            )
          : ok('One server at most uses this database.');
      try {
        await askValkey(valkeyUrl, (valkey) => valkey.ping());
      } catch (error) {
        if (!(error instanceof ValkeyError)) throw error;
        return problem(
          `${error.message}.`,
          'Look at it and at VALKEY_URL: until it answers each server counts for itself, and every limit holds for each.',
        );
      }
      return ok(`Requests are counted in the Valkey at ${new URL(valkeyUrl).host}.`);
    },
  },
  {
    name: 'storage',
    stopsStart: true,
    async look({ database, config }) {
      const place = storagePlace(config);
      try {
        await checkStorage(database, { storage: openStorage(config), place });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return problem(
          sayWithCause(error),
          'Look at S3_ENDPOINT and the settings beside it, and at the store: uploads and files are answered 503 until then.',
        );
      }
      return ok(`The files lie in ${place}.`);
    },
  },
  {
    name: 'parked jobs',
    stopsStart: false,
    async look({ database }) {
      if ((await findPending(database, await readMigrations())).length > 0)
        return ok('The next start migrates.');
      const parked = await findInAllCells(database, (cells) => selectParked(cells, { limit: 1_000 }), {
        isPartial: true,
      });
      return parked.length === 0 ? ok('None.') : problem(describeParked(parked), retryParked);
    },
  },
  {
    name: 'sweeps',
    stopsStart: false,
    async look({ database }) {
      if ((await findPending(database, await readMigrations())).length > 0)
        return ok('The next start migrates.');
      const doubt = await findClockDoubt(database);
      return doubt ? problem(doubt.what, doubt.remedy) : ok('The clock agrees with the last sweep.');
    },
  },
  {
    name: 'backups',
    stopsStart: false,
    async look({ database, config }) {
      if (!config.backup) return ok('BACKUP_SCHEDULE is not set: none is made by itself.');
      if ((await findPending(database, await readMigrations())).length > 0)
        return ok('The next start makes one.');
      const backups = only(await readBackups(database, {}))!;
      const { made_at: madeAt, last_problem: why } = backups;
      const made = madeAt ? `The last one was made on ${madeAt.toISOString()}.` : 'None was made yet.';
      const [incident] = judgeBackups(config.backup, backups);
      if (incident)
        return problem(`${incident.what}${why === null ? '' : ` (${why})`}. ${made}`, incident.remedy);
      return madeAt
        ? ok(made)
        : warning(made, 'A server that starts makes it at once; its log says why it cannot.');
    },
  },
];

function roomFor(cells: number, { database, config }: Context & { config: Config }) {
  const { databasePool: pool, webProcesses: processes } = config;
  return findRoom(database, cells, { pool, processes, channel: keyChannel });
}
