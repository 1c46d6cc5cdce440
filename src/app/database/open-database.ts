import { sep } from 'node:path';
import { sayCount } from '#ast/basics/say-count.ts';
import { connectionsOf, migrateCells, openCells } from '#cells/cells.ts';
import type { Config } from '#kit/config.ts';
import { type Connection, type Database, openDatabase } from '#kit/database.ts';
import type { EmbeddedPostgres } from '#kit/embedded-postgres/embedded-postgres.ts';
import { EmbeddedPostgresError } from '#kit/embedded-postgres/machine.ts';
import { placeOf } from '#kit/find-host.ts';
import { openInstanceVault } from '#kit/instance-key.ts';
import type { Log } from '#kit/log.ts';
import { makeDirectories } from '#kit/make-directories.ts';
import { checkMigrated, readMigrations } from '#kit/migrate.ts';
import { nameServer } from '#kit/outbound/hosts.ts';
import type { Vault } from '#kit/vault.ts';
import { refuseProblems } from '../checks/check.ts';
import { databaseChecks } from '../checks/database-checks.ts';
import { databaseFacts } from '../checks/facts.ts';
import { memoryLimit, sharedBuffers } from '../checks/memory.ts';
import { connectOrExplain } from './explain.ts';

type Settings = Pick<
  Config,
  'databaseUrl' | 'databasePool' | 'dataDir' | 'webProcesses' | 'secretKey' | 'valkeyUrl'
>;

/** The database of this instance, migrated to this version. */
export type FormloomDatabase = {
  database: Database;
  /** Of the key that the database is used with. */
  vault: Vault;
  /** The server that we run ourselves; undefined when DATABASE_URL names another. */
  embedded: EmbeddedPostgres | undefined;
  /** The migrations that ran just now. */
  migrated: string[];
  /** Where a web process finds it, as DATABASE_URL says it. */
  url: string;
  /** Where it is, for a person; never its password. */
  description: string;
  /** Ends the pool and leaves the embedded server, which stops unless another process uses it. */
  close(): Promise<void>;
};

/**
 * Opens the database that the configuration names, or else starts or joins the embedded one, and migrates it.
 * For the server and for every command of the CLI, beside each other or alone.
 * @param say hears a sentence when something takes a moment: a new database, a migration.
 * @param options.replacesKey as openInstanceVault has `replaces`.
 * @param options.serves names its sessions as those of a server.
 * @param options.mustExist where there is no embedded database yet, none is made.
 * @throws CheckError, PoolingError, MigrationError, InstanceKeyError, EmbeddedPostgresError, or the driver's error; nothing is left open.
 */
export async function openFormloomDatabase(
  config: Settings,
  log: Log,
  say: (line: string) => void = () => {},
  {
    replacesKey = false,
    mustExist = false,
    serves = false,
  }: { replacesKey?: boolean; mustExist?: boolean; serves?: boolean } = {},
): Promise<FormloomDatabase> {
  let isOpen = false;
  // While the database is open, what the embedded server has to say is that it went away, or came back.
  const tell = (sentence: string): void => (isOpen ? log.warn(sentence) : say(sentence));
  if (mustExist && config.databaseUrl === undefined) await findEmbedded(config);
  const embedded = config.databaseUrl === undefined ? await joinEmbedded(config, tell) : undefined;
  const connection: Connection = embedded ? embedded.connection : { connectionString: config.databaseUrl! };
  if (serves) await makeDirectories(config.dataDir);
  const options = { log, ...(serves && { name: await nameServer(config) }) };
  const database = openDatabase(connection, { ...options, pool: config.databasePool });
  let closeCells = async (): Promise<void> => {};
  const close = async (): Promise<void> => {
    isOpen = false;
    await closeCells();
    await database.end();
    await embedded?.stop();
  };
  try {
    await connectOnce(database);
    const migrated = await prepare(config, connection, log, say);
    if (migrated.length > 0)
      say(`The database was migrated: ${sayCount(migrated.length, 'step')}, to ${migrated.at(-1)}.`);
    const vault = await openInstanceVault(database, config, { replaces: replacesKey });
    closeCells = await openOtherCells(connection, database, options);
    isOpen = true;
    const url = embedded ? urlOf(embedded) : config.databaseUrl!;
    return { database, vault, embedded, migrated, url, description: describe(config, embedded), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens the other cells of a database as it was opened itself. @returns what closes them. */
async function openOtherCells(
  connection: Connection,
  database: Database,
  options: { log: Log; name?: string },
): Promise<() => Promise<void>> {
  const pool = database.options.max;
  const cells = await openCells(database, (of) => openDatabase(connection, { ...options, ...of, pool }));
  return () => cells.close();
}

/** A database as it is. */
type OpenDatabase = Pick<FormloomDatabase, 'database' | 'description' | 'close'>;

/**
 * Opens, or makes, a database for an instance to be brought into: nothing in it is changed, and nothing ends what takes long.
 * @throws EmbeddedPostgresError, or the driver's error.
 */
export async function openEmptyDatabase(config: Settings, log: Log): Promise<OpenDatabase> {
  const embedded = config.databaseUrl === undefined ? await joinEmbedded(config, () => {}) : undefined;
  const connection: Connection = embedded ? embedded.connection : { connectionString: config.databaseUrl! };
  const database = openDatabase(connection, { pool: 2, log, limits: false, name: 'formloom restore' });
  const close = async (): Promise<void> => {
    await database.end();
    await embedded?.stop();
  };
  try {
    await connectOnce(database);
  } catch (error) {
    await close();
    throw error;
  }
  return { database, description: describe(config, embedded), close };
}

/** Connects, so that what is wrong with DATABASE_URL is found before anything else. The connection goes to the pool. */
const connectOnce = (database: Database): Promise<void> =>
  connectOrExplain(async () => (await database.connect()).release());

/** The database that is there, as it is, to be looked at. @throws EmbeddedPostgresError, or the driver's error. */
export async function openExistingDatabase(config: Settings, log: Log): Promise<OpenDatabase> {
  if (config.databaseUrl === undefined) await findEmbedded(config);
  return openEmptyDatabase(config, log);
}

/** Migrates over connections of its own, which nothing ends for being busy: a migration takes as long as it takes. */
async function prepare(
  config: Settings,
  connection: Connection,
  log: Log,
  say: (line: string) => void,
): Promise<string[]> {
  const database = openDatabase(connection, { pool: 2, log, limits: false });
  try {
    await refuseProblems(databaseChecks, databaseFacts({ config, database }));
    return await migrateCells(database, await readMigrations(), say);
  } finally {
    await database.end();
  }
}

/**
 * Opens the database for a process that joins its instance's others (app/processes/): DATABASE_URL is where the primary
 * has it. Nothing is changed in it, since they use it.
 * @throws MigrationError, InstanceKeyError, or the driver's error; nothing is left open.
 */
export async function joinFormloomDatabase(
  config: Settings,
  log: Log,
): Promise<Pick<FormloomDatabase, 'database' | 'vault' | 'close'>> {
  const connection = { connectionString: config.databaseUrl! };
  const options = { log, name: await nameServer(config) };
  const database = openDatabase(connection, { ...options, pool: config.databasePool });
  try {
    await connectOnce(database);
    await checkMigrated(database, await readMigrations());
    const vault = await openInstanceVault(database, config);
    const closeCells = await openOtherCells(connection, database, options);
    const close = async (): Promise<void> => {
      await closeCells();
      await database.end();
    };
    return { database, vault, close };
  } catch (error) {
    await database.end();
    throw error;
  }
}

/** Of a process, with room for more cells; the rest is for the primary, and for commands of the CLI. */
const cellsWithRoom = 4;
const others = 20;
const fewestConnections = 60;

/** A command with another DATA_DIR than the service has would work in an empty database, and nobody would see why. */
async function findEmbedded({ dataDir }: Settings): Promise<void> {
  const { findCluster } = await import('#kit/embedded-postgres/cluster.ts');
  if (await findCluster(dataDir)) return;
  throw new EmbeddedPostgresError(
    `There is no database in ${dataDir} (DATA_DIR), and a command makes none unasked. Give it the DATA_DIR or the ` +
      'DATABASE_URL of the service. Before the first `npm start`, `npm run -s formloom -- database create` makes one.',
  );
}

/** Loaded here, so that an instance with DATABASE_URL does not load it. */
async function joinEmbedded(settings: Settings, log: (sentence: string) => void): Promise<EmbeddedPostgres> {
  const { dataDir, databasePool, webProcesses } = settings;
  const { startEmbeddedPostgres } = await import('#kit/embedded-postgres/embedded-postgres.ts');
  const connections = Math.max(
    fewestConnections,
    webProcesses * connectionsOf(cellsWithRoom, databasePool) + others,
  );
  return startEmbeddedPostgres({
    dataDir,
    log,
    settings: {
      max_connections: String(connections),
      shared_buffers: sharedBuffers(settings, memoryLimit()),
    },
  });
}

function urlOf({ connection: { host, port, user, database } }: EmbeddedPostgres): string {
  return `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
}

/** Where a database is, for a person; never its password. */
export function describe(
  config: Pick<Settings, 'dataDir' | 'databaseUrl'>,
  embedded: Pick<EmbeddedPostgres, 'directory'> | undefined,
): string {
  if (embedded) {
    const isOutside = !embedded.directory.startsWith(config.dataDir + sep);
    const warning = isOutside ? ' (outside of DATA_DIR: a backup of that misses it)' : '';
    return `PostgreSQL of our own in ${embedded.directory}${warning}`;
  }
  return `PostgreSQL at ${placeOf(config.databaseUrl!)}`;
}
