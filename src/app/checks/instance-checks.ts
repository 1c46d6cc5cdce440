import { hostname } from 'node:os';
import { Cron } from 'croner';
import { formatCount } from '#ast/basics/format-number.ts';
import { otherCells } from '#cells/cells.ts';
import { describeMissingConnections, findConnectionCapacity } from '#cells/create-cell.ts';
import { now } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import { ApiError, formatWithCause } from '#kit/errors.ts';
import { checkInstanceKey, checkStorageOwnership } from '#kit/instance-key.ts';
import { statement } from '#kit/statement.ts';
import { describeStorage } from '#kit/storage/open-storage.ts';
import { findInstanceKey } from '#kit/vault.ts';
import { keyChangeChannel } from '#workspaces/api-key.ts';
import {
  type Check,
  createOkFinding,
  createProblemFinding,
  createWarningFinding,
  type Incident,
} from './check.ts';
import { databaseChecks } from './database-checks.ts';
import { deliveryChecks } from './delivery-checks.ts';
import type { InstanceFacts } from './facts.ts';
import { machineChecks } from './machine-checks.ts';

/** Finds cells whose tables are missing. */
const selectLostCells = statement('', 'name')`
  select name from cells where to_regclass(format('%I.workspaces', schema_name)) is null order by name`;

/**
 * Finds the servers that ran a query in the last seconds. Each server runs two queries a second. Sessions of
 * a lost machine can stay open for hours.
 */
const findServers = statement('seconds', 'name')`
  select distinct application_name as name from pg_stat_activity
   where datname = current_database() and application_name like 'formloom node %'
     and state_change > now() - make_interval(secs => $seconds)`;

/** Scheduled backups do not run while no server runs. Three missed in a row are a problem. */
const missedBackups = 3;

/**
 * Checks that compare the database with this version and this instance. During a start, migrating and opening
 * the key do the same.
 */
export const instanceChecks: readonly Check<InstanceFacts>[] = [
  {
    id: 'schema',
    severity: 'start',
    async look({ pendingMigrations }) {
      const pending = await pendingMigrations();
      return pending.length === 0
        ? createOkFinding('The tables match this version.')
        : createWarningFinding(
            `The next start runs migrations: ${pending.join(', ')}.`,
            'Make a backup first: earlier versions cannot use a migrated database.',
          );
    },
  },
  {
    id: 'cells',
    severity: 'notice',
    async look({ database, config: { databasePool: pool, webProcesses: processes } }) {
      const others = await otherCells(database);
      if (others.length === 0) return createOkFinding('There is one cell.');
      const lost = await selectLostCells(database, {});
      if (lost.length > 0)
        return createProblemFinding(
          `Tables of these cells are missing: ${lost.map(({ name }) => name).join(', ')}.`,
          'Restore a backup that contains them.',
        );
      const count = others.length + 1;
      const room = await findConnectionCapacity(database, count, {
        pool,
        processes,
        channel: keyChangeChannel,
      });
      if (room.away.length > 0)
        return createProblemFinding(
          `These cluster nodes do not respond: ${room.away.join(', ')}.`,
          'Start them, or replace each with a standby (citus_update_node). Until then, their cells respond with 503.',
        );
      if (room.needed > room.allowed)
        return createWarningFinding(
          describeMissingConnections(count, room),
          'Allow more connections, or lower DATABASE_POOL. Requests that get no connection fail with 503.',
        );
      return createOkFinding(
        `There are ${count} cells; they use up to ${room.needed} of ${room.allowed} connections.`,
      );
    },
    gauges: async ({ cellsAway }) => [
      [
        'cells_away',
        'Cells whose node does not respond. All other metrics exclude them.',
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
        ? createOkFinding('The instance key matches the database.')
        : createWarningFinding(
            `Previous instance keys that are still kept: ${count - 1}.`,
            'Run `npm run -s formloom -- instance-key forget` to remove them when they are no longer needed.',
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
          ? createProblemFinding(
              `${count} servers share this database without VALKEY_URL, so each counts rate limits separately.`,
              'Set the same VALKEY_URL on all of them, or stop all but one.',
            )
          : createOkFinding('At most one server uses this database.');
      const found = await valkeyProblem();
      return found === undefined
        ? createOkFinding(`Rate limits are counted in the Valkey server at ${new URL(valkeyUrl).host}.`)
        : createProblemFinding(
            `${found}.`,
            'Check the Valkey server and VALKEY_URL. Until the server responds, rate limits apply to each Formloom server separately.',
          );
    },
    async incidents({ valkeyProblem }) {
      const found = await valkeyProblem();
      return found === undefined
        ? []
        : [
            {
              key: 'valkey',
              what: 'Valkey does not respond',
              remedy:
                'Check VALKEY_URL and the Valkey server. Until it responds, rate limits apply to each Formloom server separately.',
              fields: [
                { label: 'Machine', value: hostname() },
                { label: 'Finding', value: found },
              ],
            },
          ];
    },
    async gauges({ config, valkeyProblem }) {
      const isUp = config.valkeyUrl === undefined ? undefined : (await valkeyProblem()) === undefined;
      return [['valkey_up', 'Whether the Valkey server at VALKEY_URL responds to this server.', isUp]];
    },
  },
  {
    id: 'storage',
    severity: 'start',
    async look({ database, config, storage }) {
      const place = describeStorage(config);
      try {
        await checkStorageOwnership(database, { storage: storage(), place });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return createProblemFinding(
          formatWithCause(error),
          'Check the S3 settings and the S3 storage. Until it works, requests for uploads and files fail with 503.',
        );
      }
      return createOkFinding(`Files are stored in ${place}.`);
    },
  },
  {
    id: 'parked jobs',
    severity: 'notice',
    needsSchema: true,
    async look({ parkedJobs }) {
      const parked = await parkedJobs();
      return parked.length === 0
        ? createOkFinding('None.')
        : createProblemFinding(describeParked(parked), retryParked);
    },
    email: { what: 'Background jobs were parked', label: 'Finding' },
    gauges: async ({ parkedJobs }) => [
      ['jobs_parked', 'Parked jobs. At most 1,000 are counted for each cell.', (await parkedJobs()).length],
    ],
  },
  {
    id: 'sweeps',
    severity: 'notice',
    needsSchema: true,
    async look({ clockDoubt }) {
      const doubt = await clockDoubt();
      return doubt
        ? createProblemFinding(doubt.what, doubt.remedy)
        : createOkFinding('The clock is consistent with the last sweep.');
    },
    email: { what: 'Sweeps have stopped because the clock may be wrong', label: 'Finding' },
    gauges: async ({ clockDoubt }) => [
      [
        'sweeps_stopped',
        'Whether sweeps have stopped because the clock may be wrong.',
        (await clockDoubt()) !== undefined,
      ],
    ],
  },
  {
    id: 'backups',
    severity: 'notice',
    needsSchema: true,
    async look({ backups, config }) {
      if (!config.backup) return createOkFinding('BACKUP_SCHEDULE is not set, so backups are not automatic.');
      const found = await backups();
      const { made_at: madeAt, last_problem: why } = found;
      const finding = madeAt
        ? `The last backup was made on ${madeAt.toISOString()}.`
        : 'No backup has been made yet.';
      const [incident] = judgeBackups(config.backup, found);
      if (incident)
        return createProblemFinding(
          `${incident.what}${why === null ? '' : ` (${why})`}. ${finding}`,
          incident.remedy,
        );
      return madeAt
        ? createOkFinding(finding)
        : createWarningFinding(finding, 'Start a server to make one now. If it fails, the log shows why.');
    },
    incidents: async ({ backups, config }) =>
      config.backup ? judgeBackups(config.backup, await backups()) : [],
    async gauges({ backups, config }) {
      const found = await backups();
      return [
        ['backup_scheduled', 'Whether BACKUP_SCHEDULE is set.', config.backup !== undefined],
        [
          'backup_age_seconds',
          'Seconds since the last scheduled backup or, before it, since the first was due. 0 until the first is due.',
          found.backup_age,
        ],
        ['backups_made', 'Successful scheduled backups in the backup log.', found.backups_made],
        ['backups_failed', 'Failed scheduled backups in the backup log.', found.backups_failed],
        ['backup_last_failed', 'Whether the last scheduled backup failed.', found.last_problem !== null],
      ];
    },
  },
];

/** All checks, in the order in which `doctor` prints them. */
export const allChecks: readonly Check<InstanceFacts>[] = [
  ...machineChecks,
  ...databaseChecks,
  ...instanceChecks,
  ...deliveryChecks,
];

function describeParked(parked: readonly { kind: string }[]): string {
  const kinds = [...Map.groupBy(parked, ({ kind }) => kind)].map(([kind, jobs]) => `${jobs.length} ${kind}`);
  return `${formatCount(parked.length, 'background job was', 'background jobs were')} parked (${kinds.join(', ')}): the server stopped three times while running each one.`;
}
const retryParked =
  'List them with `npm run -s formloom -- job list`. When the cause is fixed, restart each with `job retry <id>`.';

const byHand =
  'The log shows why. Until scheduled backups work again, make backups with `formloom backup <file>`.';

/**
 * Returns an incident if scheduled backups are missing, failed or lack files. Files can be missing for a long
 * time, so that incident has a separate key and does not hide a failed backup.
 */
function judgeBackups(
  { schedule }: NonNullable<Config['backup']>,
  {
    backup_age: age,
    last_problem: why,
    last_is_made: isMade,
  }: Pick<Awaited<ReturnType<InstanceFacts['backups']>>, 'backup_age' | 'last_problem' | 'last_is_made'>,
): Incident[] {
  const moments = new Cron(schedule, { timezone: 'UTC', paused: true });
  const oldest = moments.previousRuns(missedBackups, now()).at(-1);
  const isOld = oldest !== undefined && now().getTime() - age * 1_000 < oldest.getTime();
  if (why === null && !isOld) return [];
  const [what, remedy] =
    why === null
      ? ['The last backup is old', byHand]
      : isMade
        ? [
            'A backup is missing files',
            'The log names the files. Restore them, or delete whatever refers to them.',
          ]
        : ['A backup failed', byHand];
  return [
    {
      key: isMade && why !== null ? 'backup files' : 'backup',
      what,
      remedy,
      fields:
        age > 0
          ? [
              {
                label: 'Time since the last complete backup',
                value: formatCount(Math.round(age / 3_600), 'hour'),
              },
            ]
          : [],
    },
  ];
}
