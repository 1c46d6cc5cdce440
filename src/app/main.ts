import { setTimeout as sleep } from 'node:timers/promises';
import { openFileLinks } from '#files/link.ts';
import { openLiveForms } from '#forms/live-form.ts';
import { now } from '#kit/clock.ts';
import { closeInOrder } from '#kit/close-in-order.ts';
import { type Config, ConfigError, readConfig } from '#kit/config.ts';
import { isUnavailable } from '#kit/database.ts';
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

/**
 * A stop ends within 10 s (DESIGN section 5). For the first moment readyz says so and all else goes on; then what has
 * begun may finish; what is left goes to giving leases back and to the database.
 */
const noticeMs = 500;
const drainMs = 7_000;
const stopMs = 9_500;
/** One Ctrl-C reaches us from the terminal and from npm. A signal that comes later than this means it: stop at once. */
const sameSignalMs = 1_000;

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** Starts the service; stops it, in the opposite order, at a signal or when a part of it cannot start. */
async function main(): Promise<void> {
  const config = readConfig(process.env);
  const parts = new AsyncDisposableStack();
  const state = { isStopping: false };
  const started = start(config, parts, state);
  stopAtSignal(async () => {
    state.isStopping = true;
    await Promise.allSettled([started]);
    await parts.disposeAsync();
  });
  try {
    await started;
  } catch (error) {
    await parts.disposeAsync();
    throw error;
  }
}

/** Opens what the service is made of, database first, and puts each part's end on `parts`. */
async function start(
  config: Config,
  parts: AsyncDisposableStack,
  state: { isStopping: boolean },
): Promise<void> {
  const log = openLog(config.logLevel);
  say(`Formloom ${version} is starting …`);
  const storage = await openFormloomDatabase(config, log, say);
  parts.defer(() => storage.close());
  const { database } = storage;
  const vault = openVault(await readInstanceKey(config.dataDir, config.secretKey));
  const requestCounter = await openRequestCounter({ valkeyUrl: config.valkeyUrl, log });
  parts.defer(() => requestCounter.close());
  const services = {
    config,
    log,
    database,
    vault,
    requestCounter,
    storage: openStorage(config),
    links: openFileLinks({ vault, publicUrl: config.publicUrl, now }),
    liveForms: openLiveForms(database),
    heldFiles: openHeldFiles({ database, vault }),
  };
  const background = startBackground(services);
  parts.defer(() => background.stop(drainMs));
  const server = await buildServer(
    { ...services, wakeQueue: background.wakeQueue },
    { isStopping: () => state.isStopping },
  );
  const close = closeInOrder(server);
  const listening = await server.listen({ host: config.host, port: config.port });
  parts.defer(async () => {
    say('Stopping: finishing what has begun …');
    await sleep(noticeMs);
    await Promise.all([close(drainMs), background.stop(drainMs)]);
  });
  await printSummary(config, storage, listening);
}

function stopAtSignal(stop: () => Promise<void>): void {
  let since: number | undefined;
  const hear = (): void => {
    if (since === undefined) {
      since = performance.now();
      setTimeout(
        () => fail('Formloom did not stop in order.', `It was still busy after ${stopMs / 1_000} s.`),
        stopMs,
      ).unref();
      stop().then(
        () => {
          say('Stopped.');
          process.exit(0);
        },
        (error: unknown) => fail('Formloom did not stop in order.', explain(error)),
      );
    } else if (performance.now() - since > sameSignalMs) {
      fail('Formloom did not stop in order.', 'It was told to stop at once.');
    }
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, hear);
}

async function printSummary(config: Config, storage: FormloomDatabase, listening: string): Promise<void> {
  const setupToken = await prepareSetup(storage.database);
  say('');
  say(`Formloom is ready at ${config.publicUrl}`);
  say(`  API         ${config.publicUrl}/api/v1   (reference: ${config.publicUrl}/api/v1/docs)`);
  if (listening !== config.publicUrl) say(`  Listening   ${listening}`);
  say(`  Data        ${config.dataDir}`);
  say(`  Database    ${storage.description}`);
  if (setupToken)
    say(
      `  Set up      ${config.publicUrl}/app/setup?token=${setupToken}\n              (works once: it makes the first account)`,
    );
  say('  Stop with Ctrl-C.');
  say('');
}

/** What went wrong, for the operator: in words where the cause is known, else with its trace. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ([ConfigError, MigrationError, EmbeddedPostgresError].some((ours) => error instanceof ours))
    return error.message;
  const { code, syscall, path, address, port } = error as NodeJS.ErrnoException & {
    address?: string;
    port?: number;
  };
  if (syscall === 'listen') return `${address}:${port}: ${listenProblems[code ?? ''] ?? error.message}`;
  if (path !== undefined)
    return `${error.message}. Give it to the user that runs Formloom, or choose another DATA_DIR.`;
  if (isUnavailable(error)) return `The database does not answer: ${error.message}`;
  return error.stack ?? error.message;
}

const listenProblems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'This port is taken. Stop what listens there, or set PORT to another one.',
  EACCES: 'This port is only for privileged users. Set PORT to one above 1023.',
  EADDRNOTAVAIL:
    'This machine does not have this address. Set HOST to one that it has, such as 127.0.0.1 or 0.0.0.0.',
};

function fail(what: string, why: string): never {
  process.stderr.write(`${what}\n${why}\n`);
  process.exit(1);
}

try {
  await main();
} catch (error) {
  fail('Formloom could not start.', explain(error));
}
