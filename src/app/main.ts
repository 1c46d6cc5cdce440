import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openFileLinks } from '#files/link.ts';
import { openLiveForms } from '#forms/live-form.ts';
import { now } from '#kit/clock.ts';
import { closeInOrder } from '#kit/close-in-order.ts';
import { type Config, readConfig } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import type { Server } from '#kit/http.ts';
import { type Log, openLog } from '#kit/log.ts';
import { openStorage } from '#kit/open-storage.ts';
import { joinPrimary, type PrimaryLink } from '#kit/processes/primary-link.ts';
import { openVault, readInstanceKey } from '#kit/vault.ts';
import { openHeldFiles } from '#page/post/held-files.ts';
import { openFeedBell } from '#webhooks/feed/feed-bell.ts';
import { openRequestCounter } from '#workspaces/request-counter.ts';
import { startBackground } from './background.ts';
import { explain } from './explain.ts';
import { joinFormloomDatabase, openFormloomDatabase } from './open-database.ts';
import { startBesideBackground } from './processes/beside-background.ts';
import { serveByProcesses } from './processes/primary.ts';
import { countThroughPrimary } from './processes/shared-count.ts';
import { buildServer } from './server.ts';
import type { Services } from './services.ts';
import { writeSummary } from './summary.ts';
import { version } from './version.ts';

/**
 * A stop ends within 10 s (DESIGN section 5). For the first moment readyz says so and all else goes on; then what has
 * begun may finish; what is left goes to giving leases back and to the database.
 */
const noticeMs = 500;
const drainMs = 7_000;
/** A process of several that takes longer than this to end is killed. */
const endMs = 8_300;
const stopMs = 9_500;
/** One Ctrl-C reaches us from the terminal and from npm. A signal that comes later than this means it: stop at once. */
const sameSignalMs = 1_000;

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** What a process is made of, from its configuration to the order in which it ends. */
type Run = { config: Config; parts: AsyncDisposableStack; state: { isStopping: boolean } };

/** Starts the service, or one of its processes; stops it, in the opposite order, when it is time or a start fails. */
async function main(): Promise<void> {
  const config = readConfig(process.env);
  const run: Run = { config, parts: new AsyncDisposableStack(), state: { isStopping: false } };
  const told = Promise.withResolvers<void>();
  const primary = joinPrimary(process.argv, {
    onStopping: () => (run.state.isStopping = true),
    onEnd: told.resolve,
  });
  const started = primary ? startWebProcess(run, primary) : startInstance(run);
  const stop = async (): Promise<void> => {
    await Promise.allSettled([started]);
    await run.parts.disposeAsync();
  };
  if (primary) void told.promise.then(() => endInTime(stop));
  else
    stopAtSignal(() => {
      run.state.isStopping = true;
      return stop();
    });
  try {
    await started;
  } catch (error) {
    await run.parts.disposeAsync();
    // The primary says it, once for all of its processes.
    if (!primary) throw error;
    await primary.fail(explain(error));
    process.exit(1);
  }
}

/** What an operator starts: opens the database, then serves, alone or by several processes. */
async function startInstance(run: Run): Promise<void> {
  const { config, parts } = run;
  // What restarts the processes would end one that has none yet.
  process.on('SIGUSR2', () => {});
  const log = openLog(config.logLevel);
  say(`Formloom ${version} is starting …`);
  const storage = await openFormloomDatabase(config, log, say);
  parts.defer(() => storage.close());
  const listening = await (config.webProcesses === 1
    ? serveAlone(run, log, storage.database)
    : serveBySeveral(run, log, storage.url));
  for (const line of await writeSummary(config, storage, listening)) say(line);
}

async function serveAlone(run: Run, log: Log, database: Database): Promise<string> {
  const { config, parts } = run;
  const requestCounter = await openRequestCounter({ valkeyUrl: config.valkeyUrl, log });
  parts.defer(() => requestCounter.close());
  const server = await build(run, { log, database, requestCounter }, startBackground);
  const listening = await server.listen({ host: config.host, port: config.port });
  parts.defer(async () => {
    say('Stopping: finishing what has begun …');
    await sleep(noticeMs);
  });
  process.on('SIGUSR2', () => log.warn('a restart without a pause takes WEB_PROCESSES of at least 2'));
  return listening;
}

async function serveBySeveral({ config, parts }: Run, log: Log, databaseUrl: string): Promise<string> {
  const { listening, crew } = await serveByProcesses(config, {
    log,
    databaseUrl,
    endMs,
    script: fileURLToPath(import.meta.url),
    environment: process.env,
  });
  parts.defer(async () => {
    say('Stopping: finishing what has begun …');
    await crew.stop(noticeMs);
  });
  const restart = async (): Promise<void> => {
    say('Restarting the processes one by one …');
    if (await crew.restart()) say('Restarted.');
  };
  process.on('SIGUSR2', () => void restart());
  return listening;
}

/** One of several processes: the first of them does the background work of all. */
async function startWebProcess(run: Run, primary: PrimaryLink): Promise<void> {
  const { config, parts } = run;
  const log = openLog(config.logLevel).child({ process: primary.number });
  const database = await joinFormloomDatabase(config, log);
  parts.defer(() => database.end());
  const countInMemory = countThroughPrimary((questions) => primary.ask(questions));
  const requestCounter = await openRequestCounter({ valkeyUrl: config.valkeyUrl, log, countInMemory });
  parts.defer(() => requestCounter.close());
  const server = await build(
    run,
    { log, database, requestCounter },
    primary.number === 1 ? startBackground : startBesideBackground,
  );
  primary.serve(server.server);
}

/** The server of this process, its work without requests, and their end. It does not listen yet. */
async function build(
  { config, parts, state }: Run,
  { log, database, requestCounter }: Pick<Services, 'log' | 'database' | 'requestCounter'>,
  startOwnBackground: typeof startBackground,
): Promise<Server> {
  const vault = openVault(await readInstanceKey(config.dataDir, config.secretKey));
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
    feedBell: openFeedBell({ database, log }),
  };
  const background = startOwnBackground(services);
  parts.defer(() => background.stop(drainMs));
  parts.defer(() => services.feedBell.close());
  const server = await buildServer(
    { ...services, wakeQueue: background.wakeQueue },
    { isStopping: () => state.isStopping },
  );
  const close = closeInOrder(server);
  parts.defer(async () => {
    services.feedBell.close();
    await Promise.all([close(drainMs), background.stop(drainMs)]);
  });
  return server;
}

/** The end of one of several processes. Without its primary nobody else would end it when it takes too long. */
async function endInTime(stop: () => Promise<void>): Promise<void> {
  const what = 'A process did not end in order.';
  setTimeout(() => fail(what, `It was still busy after ${stopMs / 1_000} s.`), stopMs).unref();
  try {
    await stop();
    process.exit(0);
  } catch (error) {
    fail(what, explain(error));
  }
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

function fail(what: string, why: string): never {
  process.stderr.write(`${what}\n${why}\n`);
  process.exit(1);
}

try {
  await main();
} catch (error) {
  fail('Formloom could not start.', explain(error));
}
