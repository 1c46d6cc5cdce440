import { hostname } from 'node:os';
import { Cron } from 'croner';
import { sayCount } from '#ast/basics/say-count.ts';
import { otherCells } from '#cells/cells.ts';
import { describeRoom, findRoom } from '#cells/create-cell.ts';
import { now } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import { ApiError, sayWithCause } from '#kit/errors.ts';
import { checkInstanceKey, checkStorage } from '#kit/instance-key.ts';
import { statement } from '#kit/statement.ts';
import { storagePlace } from '#kit/storage/open-storage.ts';
import { findInstanceKey } from '#kit/vault.ts';
import { keyChannel } from '#workspaces/key-rows.ts';
import { type Check, type Incident, ok, problem, warning } from './check.ts';
import { databaseChecks } from './database-checks.ts';
import { deliveryChecks } from './delivery-checks.ts';
import type { Facts } from './facts.ts';
import { machineChecks } from './machine-checks.ts';

/** Finds cells whose tables are missing. */
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

/** A moment of the schedule may be missed while nothing runs; after three in a row, something is wrong. */
const missedBackups = 3;

/** What is in the database, compared with this version and this instance. A start checks it as it migrates and opens the key. */
export const instanceChecks: readonly Check<Facts>[] = [
  {
    id: 'schema',
    severity: 'start',
    async look({ pendingMigrations }) {
      const pending = await pendingMigrations();
      return pending.length === 0
        ? ok('Of this version.')
        : warning(
            `The next start migrates: ${pending.join(', ')}.`,
            'Make a backup before it: an earlier version cannot use a migrated database.',
          );
    },
  },
  {
    id: 'cells',
    severity: 'notice',
    async look({ database, config: { databasePool: pool, webProcesses: processes } }) {
      const others = await otherCells(database);
      if (others.length === 0) return ok('There is one.');
      const lost = await selectLostCells(database, {});
      if (lost.length > 0)
        return problem(
          `The tables of ${lost.map(({ name }) => name).join(', ')} are not where they should be.`,
          'Restore a backup that has them.',
        );
      const count = others.length + 1;
      const room = await findRoom(database, count, { pool, processes, channel: keyChannel });
      if (room.away.length > 0)
        return problem(
          `${room.away.join(', ')} of the cluster does not answer.`,
          'Start it, or have a standby take its place (citus_update_node): its cells answer 503 until then.',
        );
      if (room.needed > room.allowed)
        return warning(
          describeRoom(count, room),
          'Allow more, or make DATABASE_POOL smaller: a request that gets no connection is answered 503.',
        );
      return ok(`There are ${count}, with up to ${room.needed} connections of ${room.allowed}.`);
    },
    gauges: async ({ cellsAway }) => [
      [
        'cells_away',
        'Cells whose node does not answer. No other number has them.',
        (await cellsAway()).length,
      ],
    ],
  },
  {
    id: 'key',
    severity: 'start',
    async look({ database, config }) {
      await checkInstanceKey(database, config);
      const count = (await findInstanceKey(config.dataDir, config.secretKey))?.split(',').length ?? 1;
      return count === 1
        ? ok('The one that the database is used with.')
        : warning(
            `There are ${count - 1} former keys beside it.`,
            'Run `npm run -s formloom -- instance-key forget` to remove them once nothing needs them.',
          );
    },
  },
  {
    id: 'other servers',
    severity: 'notice',
    async look({ database, config: { valkeyUrl }, valkeyProblem }) {
      const count = (await findServers(database, { seconds: 10 })).length;
      if (valkeyUrl === undefined)
        return count > 1
          ? problem(
              `${count} servers use this database without VALKEY_URL, so each counts rate limits for itself.`,
              'Set the same VALKEY_URL on all of them, or stop the others.',
            )
          : ok('One server at most uses this database.');
      const found = await valkeyProblem();
      return found === undefined
        ? ok(`Requests are counted in the Valkey at ${new URL(valkeyUrl).host}.`)
        : problem(
            `${found}.`,
            'Check it and VALKEY_URL. Until it answers, each server counts for itself, so each limit holds per server.',
          );
    },
    async incidents({ valkeyProblem }) {
      const found = await valkeyProblem();
      return found === undefined
        ? []
        : [
            {
              key: 'valkey',
              what: 'The Valkey does not answer',
              remedy:
                'Check VALKEY_URL and the server. Until it answers, each machine counts requests for itself.',
              fields: [
                { label: 'Machine', value: hostname() },
                { label: 'What was seen', value: found },
              ],
            },
          ];
    },
    async gauges({ config, valkeyProblem }) {
      const isUp = config.valkeyUrl === undefined ? undefined : (await valkeyProblem()) === undefined;
      return [['valkey_up', 'Whether the Valkey of VALKEY_URL answers this machine.', isUp]];
    },
  },
  {
    id: 'storage',
    severity: 'start',
    async look({ database, config, storage }) {
      const place = storagePlace(config);
      try {
        await checkStorage(database, { storage: storage(), place });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return problem(
          sayWithCause(error),
          'Check S3_ENDPOINT, the settings beside it, and the store. Until then uploads and files are answered 503.',
        );
      }
      return ok(`The files lie in ${place}.`);
    },
  },
  {
    id: 'parked jobs',
    severity: 'notice',
    needsSchema: true,
    async look({ parkedJobs }) {
      const parked = await parkedJobs();
      return parked.length === 0 ? ok('None.') : problem(describeParked(parked), retryParked);
    },
    email: { what: 'Background jobs were parked', label: 'What happened' },
    gauges: async ({ parkedJobs }) => [
      ['jobs_parked', 'Parked jobs. At most 1,000 of a cell are counted.', (await parkedJobs()).length],
    ],
  },
  {
    id: 'sweeps',
    severity: 'notice',
    needsSchema: true,
    async look({ clockDoubt }) {
      const doubt = await clockDoubt();
      return doubt ? problem(doubt.what, doubt.remedy) : ok('The clock agrees with the last sweep.');
    },
    email: { what: 'Sweeps have stopped: the clock is in doubt', label: 'What was seen' },
    gauges: async ({ clockDoubt }) => [
      [
        'sweeps_stopped',
        'Whether a clock in doubt stops deletion by age.',
        (await clockDoubt()) !== undefined,
      ],
    ],
  },
  {
    id: 'backups',
    severity: 'notice',
    needsSchema: true,
    async look({ backups, config }) {
      if (!config.backup) return ok('BACKUP_SCHEDULE is not set: no backup is made automatically.');
      const found = await backups();
      const { made_at: madeAt, last_problem: why } = found;
      const made = madeAt ? `The last one was made on ${madeAt.toISOString()}.` : 'None was made yet.';
      const [incident] = judgeBackups(config.backup, found);
      if (incident)
        return problem(`${incident.what}${why === null ? '' : ` (${why})`}. ${made}`, incident.remedy);
      return madeAt
        ? ok(made)
        : warning(made, 'A server that starts makes it at once. Its log says why if it cannot.');
    },
    incidents: async ({ backups, config }) =>
      config.backup ? judgeBackups(config.backup, await backups()) : [],
    async gauges({ backups, config }) {
      const found = await backups();
      return [
        ['backup_scheduled', 'Whether BACKUP_SCHEDULE is set.', config.backup !== undefined],
        [
          'backup_age_seconds',
          'Seconds since the last scheduled backup, or since the first was due; 0 before that.',
          found.backup_age,
        ],
        ['backups_made', 'Scheduled backups that were made, of those in the log.', found.backups_made],
        ['backups_failed', 'Scheduled backups that failed, of those in the log.', found.backups_failed],
        ['backup_last_failed', 'Whether the last scheduled backup failed.', found.last_problem !== null],
      ];
    },
  },
];

/** Every check, in the order in which `doctor` prints them. */
export const allChecks: readonly Check<Facts>[] = [
  ...machineChecks,
  ...databaseChecks,
  ...instanceChecks,
  ...deliveryChecks,
];

/** Names the kinds of parked jobs, for the operator. */
function describeParked(parked: readonly { kind: string }[]): string {
  const kinds = [...Map.groupBy(parked, ({ kind }) => kind)].map(([kind, jobs]) => `${jobs.length} ${kind}`);
  return `${sayCount(parked.length, 'background job was', 'background jobs were')} parked (${kinds.join(', ')}), because the server stopped three times while it worked on each.`;
}
const retryParked =
  '`npm run -s formloom -- job list` shows them. When the cause is gone, start each again with `job retry <id>`.';

const byHand = 'The log says why. Make one by hand with `formloom backup <file>` until it works again.';

/** Finds what a schedule asks for and is not made. A backup that lacks files can do so for long, and hides no failed one. */
function judgeBackups(
  { schedule }: NonNullable<Config['backup']>,
  {
    backup_age: age,
    last_problem: why,
    last_is_made: isMade,
  }: Pick<Awaited<ReturnType<Facts['backups']>>, 'backup_age' | 'last_problem' | 'last_is_made'>,
): Incident[] {
  const moments = new Cron(schedule, { timezone: 'UTC', paused: true });
  const oldest = moments.previousRuns(missedBackups, now()).at(-1);
  const isOld = oldest !== undefined && now().getTime() - age * 1_000 < oldest.getTime();
  if (why === null && !isOld) return [];
  const [what, remedy] =
    why === null
      ? ['The last backup is old', byHand]
      : isMade
        ? ['A backup lacks files', 'The log names them: put them back, or delete what names them.']
        : ['A backup could not be made', byHand];
  return [
    {
      key: isMade && why !== null ? 'backup files' : 'backup',
      what,
      remedy,
      fields:
        age > 0
          ? [{ label: 'Without a whole one for', value: sayCount(Math.round(age / 3_600), 'hour') }]
          : [],
    },
  ];
}
