import { openFileLinks } from '#files/link.ts';
import { openLiveForms } from '#forms/live-form.ts';
import { now } from '#kit/clock.ts';
import { type Config, ConfigError, readConfig } from '#kit/config.ts';
import { EmbeddedPostgresError } from '#kit/embedded-postgres/embedded-postgres.ts';
import { openLog } from '#kit/log.ts';
import { MigrationError } from '#kit/migrate.ts';
import { openStorage } from '#kit/open-storage.ts';
import { openVault, readInstanceKey } from '#kit/vault.ts';
import { openHeldFiles } from '#page/held-files.ts';
import { openRequestCounter } from '#workspaces/request-counter.ts';
import { prepareSetup } from '#workspaces/setup.ts';
import { startBackground } from './background.ts';
import { type FormloomDatabase, openFormloomDatabase } from './open-database.ts';
import { buildServer } from './server.ts';
import { version } from './version.ts';

/** Draining ends before 10 s (DESIGN section 5): requests and deliveries get 8, the rest is for the database. */
const drainMs = 8_000;

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** Starts the service: database, migrations, queue, HTTP; then waits for a signal and stops in the opposite order. */
async function main(): Promise<void> {
  const config = readConfig(process.env);
  const log = openLog(config.logLevel);
  say(`Formloom ${version} is starting …`);
  const storage = await openFormloomDatabase(config, log, say);
  const { database } = storage;
  const vault = openVault(await readInstanceKey(config.dataDir, config.secretKey));
  let stopping = false;
  const base = {
    config,
    log,
    database,
    vault,
    storage: openStorage(config),
    links: openFileLinks({ vault, publicUrl: config.publicUrl, now }),
    liveForms: openLiveForms(database),
    heldFiles: openHeldFiles({ database, vault }),
    requestCounter: await openRequestCounter({ valkeyUrl: config.valkeyUrl, log }),
  };
  const background = startBackground(base);
  const server = await buildServer({ ...base, wakeQueue: background.wakeQueue }, { isStopping: () => stopping });

  const stop = async (): Promise<void> => {
    if (stopping) process.exit(1);
    stopping = true;
    say('Stopping: finishing what has begun …');
    const forced = setTimeout(() => server.server.closeAllConnections(), drainMs);
    await Promise.all([server.close(), background.stop()]);
    clearTimeout(forced);
    await base.requestCounter.close();
    await storage.close();
    say('Stopped.');
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void stop());

  const listening = await server.listen({ host: config.host, port: config.port });
  await printSummary(config, storage, listening);
}

async function printSummary(config: Config, storage: FormloomDatabase, listening: string): Promise<void> {
  const setupToken = await prepareSetup(storage.database);
  say('');
  say(`Formloom is ready at ${config.publicUrl}`);
  say(`  API         ${config.publicUrl}/api/v1   (reference: ${config.publicUrl}/api/v1/docs)`);
  if (listening !== config.publicUrl) say(`  Listening   ${listening}`);
  say(`  Data        ${config.dataDir}`);
  say(`  Database    ${storage.description}`);
  if (setupToken) say(`  Set up      ${config.publicUrl}/app/setup?token=${setupToken}\n              (works once: it makes the first account)`);
  say('  Stop with Ctrl-C.');
  say('');
}

try {
  await main();
} catch (error) {
  // Our own errors are sentences with a remedy; of any other the trace is what helps.
  const isSentence = [ConfigError, MigrationError, EmbeddedPostgresError].some((ours) => error instanceof ours);
  const { message, stack } = error as Error;
  process.stderr.write(`Formloom could not start.\n${isSentence ? message : stack}\n`);
  process.exit(1);
}
