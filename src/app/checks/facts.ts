import { realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readBackupState } from '#backup/schedule.ts';
import { findInAllCells, findUnavailableCells } from '#cells/across-cells.ts';
import { now } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { findPendingMigrations, readMigrations } from '#kit/migrate.ts';
import { selectParkedJobs } from '#kit/queue/park-job.ts';
import { findClockDoubt } from '#kit/queue/periodic.ts';
import { computeOnce } from '#kit/replies/compression.ts';
import { onlyRow, statement } from '#kit/statement.ts';
import { openStorage } from '#kit/storage/open-storage.ts';
import { readDiskSpace, type Storage } from '#kit/storage.ts';
import { requestValkey, ValkeyError } from '#kit/valkey.ts';

const readServer = statement('', 'version encoding:text is_read_only:boolean is_standby:boolean now:double')`
  select current_setting('server_version_num')::integer as version, current_setting('server_encoding') as encoding,
         current_setting('transaction_read_only')::boolean as is_read_only, pg_is_in_recovery() as is_standby,
         extract(epoch from clock_timestamp())::double precision as now`;

/** The maximum number of parked jobs that are counted in each cell. */
const mostParked = 1_000;

/** Returns the facts about the machine. Each fact is read once per run, and only if a check needs it. */
export const machineFacts = ({
  config,
  storage,
  mailProblem,
}: {
  config: Config;
  storage?: Storage;
  /** Why the mail server refused the last email; undefined if it accepted it or none was sent. */
  mailProblem?: (() => string | undefined) | undefined;
}) => ({
  config,
  storage: () => storage ?? openStorage(config),
  mailProblem,
  disks: computeOnce(() => readDisks(config)),
});

/** Returns the facts that can be read without Formloom's tables. */
export const databaseFacts = ({
  config,
  database,
}: {
  config: Pick<Config, 'dataDir' | 'databaseUrl'>;
  database: Database;
}) => ({
  config,
  database,
  server: computeOnce(async () => {
    const server = onlyRow(await readServer(database, {}))!;
    return { ...server, clockDrift: Math.round(Math.abs(now().getTime() / 1_000 - server.now)) };
  }),
});

export const instanceFacts = (context: Parameters<typeof machineFacts>[0] & { database: Database }) => {
  const { config, database } = context;
  return {
    ...databaseFacts(context),
    ...machineFacts(context),
    pendingMigrations: computeOnce(async () => findPendingMigrations(database, await readMigrations())),
    backups: computeOnce(async () => onlyRow(await readBackupState(database, {}))!),
    cellsAway: computeOnce(() => findUnavailableCells(database)),
    clockDoubt: computeOnce(() => findClockDoubt(database)),
    parkedJobs: computeOnce(() =>
      findInAllCells(database, (cells) => selectParkedJobs(cells, { limit: mostParked }), {
        isPartial: true,
      }),
    ),
    valkeyProblem: computeOnce(() => findValkeyProblem(config)),
  };
};

export type MachineFacts = ReturnType<typeof machineFacts>;
export type DatabaseFacts = ReturnType<typeof databaseFacts>;
export type InstanceFacts = ReturnType<typeof instanceFacts>;

async function findValkeyProblem({ valkeyUrl }: Config): Promise<string | undefined> {
  if (valkeyUrl === undefined) return undefined;
  try {
    await requestValkey(valkeyUrl, (valkey) => valkey.ping());
    return undefined;
  } catch (error) {
    if (!(error instanceof ValkeyError)) throw error;
    return error.message;
  }
}

/** A disk that the instance writes to, with the instance's folders on it. */
type Disk = { name: string; folders: string[] } & Awaited<ReturnType<typeof readDiskSpace>>;

/**
 * Reads the disks that an instance writes to. Each is named after the first folder on it.
 * @throws Error for a disk that cannot be read.
 */
async function readDisks({ dataDir, databaseUrl, s3, backup }: Config): Promise<Disk[]> {
  const folders = {
    data: dataDir,
    // A link if root runs the service. With several processes, databaseUrl has the path of the socket.
    ...(isOnThisMachine(databaseUrl) && { database: join(dataDir, 'postgres') }),
    ...(s3 ? { spool: join(dataDir, 'spool') } : { uploads: join(dataDir, 'uploads') }),
    ...(backup?.to !== undefined && { backups: backup.to }),
  };
  const disks = new Map<number, Disk>();
  for (const [name, path] of Object.entries(folders)) {
    const folder = await findExisting(path);
    const { dev } = await stat(folder);
    const disk = disks.get(dev);
    if (disk) disk.folders.push(folder);
    else disks.set(dev, { name, folders: [folder], ...(await readDiskSpace(folder)) });
  }
  return [...disks.values()];
}

/** Returns the disk of the database, or undefined if the database is on another machine. */
export const readDatabaseDisk = async ({ dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>) =>
  isOnThisMachine(databaseUrl) ? readDiskSpace(await findExisting(join(dataDir, 'postgres'))) : undefined;

const isOnThisMachine = (url: string | undefined): boolean =>
  url === undefined || (URL.parse(url)?.searchParams.get('host') ?? '').startsWith('/');

const findExisting = (folder: string): Promise<string> =>
  realpath(folder).catch((error: unknown) => {
    if (dirname(folder) === folder) throw error;
    return findExisting(dirname(folder));
  });
