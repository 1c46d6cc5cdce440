import { sep } from 'node:path';
import { formatCount } from '#ast/basics/format-number.ts';
import { countProcessConnections, migrateCells, openCells } from '#cells/cells.ts';
import type { Config } from '#kit/config.ts';
import { type ConnectionTarget, type Database, openDatabase } from '#kit/database.ts';
import { makeDirectories } from '#kit/directories.ts';
import type { EmbeddedPostgres } from '#kit/embedded-postgres/embedded-postgres.ts';
import { EmbeddedPostgresError } from '#kit/embedded-postgres/machine.ts';
import { redactDatabaseUrl } from '#kit/find-host.ts';
import { openInstanceVault } from '#kit/instance-key.ts';
import type { Log } from '#kit/log.ts';
import { checkMigrated, readMigrations } from '#kit/migrate.ts';
import { getDatabaseSessionName } from '#kit/outbound/hosts.ts';
import type { Vault } from '#kit/vault.ts';
import { requireNoProblems } from '../checks/check.ts';
import { databaseChecks } from '../checks/database-checks.ts';
import { databaseFacts } from '../checks/facts.ts';
import { calculateSharedBuffers, memoryLimit } from '../checks/memory.ts';
import { markConnectionErrors } from './explain.ts';

type Settings = Pick<
  Config,
  'databaseUrl' | 'databasePool' | 'dataDir' | 'webProcesses' | 'secretKey' | 'valkeyUrl'
>;

/** The database of this instance, migrated to this version. */
export type FormloomDatabase = {
  database: Database;
  /** The vault with the key that is used with the database. */
  vault: Vault;
  /** The embedded server; undefined if DATABASE_URL points to another one. */
  embedded: EmbeddedPostgres | undefined;
  /** The migrations that this start has run. */
  migrated: string[];
  /** The URL for web processes, in the format of DATABASE_URL. */
  url: string;
  /** A description of the location for a person, without the password. */
  description: string;
  /** Ends the pool and disconnects from the embedded server, which stops if no other process uses it. */
  close(): Promise<void>;
};

/**
 * Opens the database of the configuration, or starts or joins the embedded one, and migrates it. The server
 * and all commands of the CLI use this function, even at the same time.
 * @param print reports work that takes a while: a new database, a migration.
 * @param options.replacesKey passed to openInstanceVault as `replaces`.
 * @param options.serves names the sessions as those of a server.
 * @param options.mustExist does not create a missing embedded database.
 * @throws CheckError, PoolingError, MigrationError, InstanceKeyError, EmbeddedPostgresError, or the driver's
 * error; nothing is left open.
 */
export async function openFormloomDatabase(
  config: Settings,
  log: Log,
  print: (line: string) => void = () => {},
  {
    replacesKey = false,
    mustExist = false,
    serves = false,
  }: { replacesKey?: boolean; mustExist?: boolean; serves?: boolean } = {},
): Promise<FormloomDatabase> {
  let isOpen = false;
  // Once the database is open, the embedded server reports only that it went down or came back.
  const report = (sentence: string): void => (isOpen ? log.warn(sentence) : print(sentence));
  if (mustExist && config.databaseUrl === undefined) await findEmbedded(config);
  const embedded = config.databaseUrl === undefined ? await joinEmbedded(config, report) : undefined;
  const connection: ConnectionTarget = embedded
    ? embedded.connection
    : { connectionString: config.databaseUrl! };
  if (serves) await makeDirectories(config.dataDir);
  const options = { log, ...(serves && { name: await getDatabaseSessionName(config) }) };
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
    const migrated = await prepare(config, connection, log, print);
    if (migrated.length > 0)
      print(`The database was migrated (${formatCount(migrated.length, 'step')}, up to ${migrated.at(-1)}).`);
    const vault = await openInstanceVault(database, config, { replaces: replacesKey });
    closeCells = await openOtherCells(connection, database, options);
    isOpen = true;
    const url = embedded ? urlOf(embedded) : config.databaseUrl!;
    return {
      database,
      vault,
      embedded,
      migrated,
      url,
      description: describeLocation(config, embedded),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Opens the other cells of a database, with the database's own options.
 * @returns a function that closes them.
 */
async function openOtherCells(
  connection: ConnectionTarget,
  database: Database,
  options: { log: Log; name?: string },
): Promise<() => Promise<void>> {
  const pool = database.options.max;
  const cells = await openCells(database, (of) => openDatabase(connection, { ...options, ...of, pool }));
  return () => cells.close();
}

/** A database that was opened without migrating it. */
type OpenDatabase = Pick<FormloomDatabase, 'database' | 'description' | 'close'>;

/**
 * Opens or creates the target database of a restore or move. Nothing in the database is changed, and there
 * are no timeouts.
 * @throws EmbeddedPostgresError, or the driver's error.
 */
export async function openEmptyDatabase(config: Settings, log: Log): Promise<OpenDatabase> {
  const embedded = config.databaseUrl === undefined ? await joinEmbedded(config, () => {}) : undefined;
  const connection: ConnectionTarget = embedded
    ? embedded.connection
    : { connectionString: config.databaseUrl! };
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
  return { database, description: describeLocation(config, embedded), close };
}

/** Connects, so that errors in DATABASE_URL are found first. The connection goes to the pool. */
const connectOnce = (database: Database): Promise<void> =>
  markConnectionErrors(async () => (await database.connect()).release());

/**
 * Opens an existing database without changing it.
 * @throws EmbeddedPostgresError, or the driver's error.
 */
export async function openExistingDatabase(config: Settings, log: Log): Promise<OpenDatabase> {
  if (config.databaseUrl === undefined) await findEmbedded(config);
  return openEmptyDatabase(config, log);
}

/**
 * Checks and migrates the database over separate connections without timeouts, because a migration can take a
 * long time.
 */
async function prepare(
  config: Settings,
  connection: ConnectionTarget,
  log: Log,
  print: (line: string) => void,
): Promise<string[]> {
  const database = openDatabase(connection, { pool: 2, log, limits: false });
  try {
    await requireNoProblems(databaseChecks, databaseFacts({ config, database }));
    return await migrateCells(database, await readMigrations(), print);
  } finally {
    await database.end();
  }
}

/**
 * Opens the database for a web process that joins the others of its instance (app/processes/). DATABASE_URL
 * is that of the primary. Changes nothing in the database, because the other processes use it.
 * @throws MigrationError, InstanceKeyError, or the driver's error; nothing is left open.
 */
export async function joinFormloomDatabase(
  config: Settings,
  log: Log,
): Promise<Pick<FormloomDatabase, 'database' | 'vault' | 'close'>> {
  const connection = { connectionString: config.databaseUrl! };
  const options = { log, name: await getDatabaseSessionName(config) };
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

/**
 * The number of cells for which each process has enough connections. The other connections are for the
 * primary and for commands of the CLI.
 */
const cellsWithRoom = 4;
const others = 20;
const fewestConnections = 60;

/**
 * Throws if the embedded database does not exist. Otherwise, a command whose DATA_DIR differs from the
 * service's would work in an empty database without any sign of it.
 */
async function findEmbedded({ dataDir }: Settings): Promise<void> {
  const { findCluster } = await import('#kit/embedded-postgres/create-cluster.ts');
  if (await findCluster(dataDir)) return;
  throw new EmbeddedPostgresError(
    `No database found in ${dataDir} (DATA_DIR). Use the DATA_DIR or DATABASE_URL of the service. Before the first \`npm start\`, create it with \`npm run -s formloom -- database create\`.`,
  );
}

/** Imported here, so that an instance with DATABASE_URL does not load the embedded server's module. */
async function joinEmbedded(settings: Settings, log: (sentence: string) => void): Promise<EmbeddedPostgres> {
  const { dataDir, databasePool, webProcesses } = settings;
  const { startEmbeddedPostgres } = await import('#kit/embedded-postgres/embedded-postgres.ts');
  const connections = Math.max(
    fewestConnections,
    webProcesses * countProcessConnections(cellsWithRoom, databasePool) + others,
  );
  return startEmbeddedPostgres({
    dataDir,
    log,
    settings: {
      max_connections: String(connections),
      shared_buffers: calculateSharedBuffers(settings, memoryLimit()),
    },
  });
}

function urlOf({ connection: { host, port, user, database } }: EmbeddedPostgres): string {
  return `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
}

/** Describes the location of a database for a person, without the password. */
export function describeLocation(
  config: Pick<Settings, 'dataDir' | 'databaseUrl'>,
  embedded: Pick<EmbeddedPostgres, 'directory'> | undefined,
): string {
  if (embedded) {
    const isOutside = !embedded.directory.startsWith(config.dataDir + sep);
    const warning = isOutside ? ' (outside DATA_DIR: copies of DATA_DIR do not include it)' : '';
    return `Embedded PostgreSQL in ${embedded.directory}${warning}`;
  }
  return `PostgreSQL at ${redactDatabaseUrl(config.databaseUrl!)}`;
}
