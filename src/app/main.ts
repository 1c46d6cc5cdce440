import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { type Config, defaultPublicUrl, isWildcardHost, readConfig } from '#kit/config.ts';
import { withoutLibpqVariables } from '#kit/embedded-client.ts';
import { claimStorage, InstanceStorageError } from '#kit/instance-key.ts';
import { ignoreOutputErrors, type Log, openLog, writeOutput } from '#kit/log.ts';
import { trustCaFile } from '#kit/outbound/address-guard.ts';
import { requireResolvableListenHosts } from '#kit/outbound/hosts.ts';
import { joinPrimary, type PrimaryLink } from '#kit/processes/primary-link.ts';
import { describeStorage, openStorage } from '#kit/storage/open-storage.ts';
import { checkFontFiles } from '#submissions/pdf/check-font-files.ts';
import { openRequestCounter } from '#workspaces/request-counter.ts';
import { createSetupToken } from '#workspaces/workspaces.ts';
import { explainError } from './database/explain.ts';
import {
  type FormloomDatabase,
  joinFormloomDatabase,
  openFormloomDatabase,
} from './database/open-database.ts';
import { readMetricsForProcess, startMetrics } from './metrics/start-metrics.ts';
import { serviceVersion } from './operations/services.ts';
import type { ProcessContext } from './server/assemble.ts';
import { countRequestsThroughPrimary, serveByProcesses } from './server/processes.ts';

/** Returns what a start prints at its end: where everything is, and how to set it up and stop it. */
async function writeSummary(config: Config, storage: FormloomDatabase, listening: string): Promise<string[]> {
  const setupToken = await createSetupToken(storage.database);
  const { publicUrl, webProcesses } = config;
  return [
    '',
    `Formloom is ready at ${publicUrl}`,
    `  API         ${publicUrl}/api/v1   (reference: ${publicUrl}/api/v1/docs)`,
    ...(listening === publicUrl ? [] : [`  Listening   ${listening}`]),
    ...(webProcesses === 1
      ? []
      : [`  Processes   ${webProcesses}   (restart them one by one: kill -USR2 ${process.pid})`]),
    `  Data        ${config.dataDir}`,
    `  Database    ${storage.description}`,
    ...(isWildcardHost(config.host) && publicUrl === defaultPublicUrl(config)
      ? ['  Links       use the URL above; set PUBLIC_URL to the one that visitors use.']
      : []),
    ...(setupToken
      ? [
          `  Set up      ${publicUrl}/app/setup?token=${setupToken}`,
          '              (works once, to create the first account)',
        ]
      : []),
    '  Stop with Ctrl-C.',
    '',
  ];
}

/**
 * Stopping takes at most 10 s (docs/rules.md 18). First, only readyz reports it, and everything else
 * continues. Then running work may finish (assemble.ts). The remaining time is for returning leases and
 * closing the database.
 */
const noticeMs = 500;
/** A web process that takes longer than this to stop is killed. */
const endMs = 8_300;
const stopMs = 9_500;
/** How long the database has to stop if everything else did not stop in time. */
const databaseStopMs = 2_000;
/** How often the process checks whether npm, which started it, still runs. */
const askParentMs = 500;

/**
 * V8 collects the old generation when it has grown by half since the last collection. On a large machine, it
 * would otherwise wait until several times that amount (measured under load: 200 MB instead of 390, at the
 * same speed).
 */
setFlagsFromString('--heap-growing-percent=50');
/**
 * The young generation of the threads that read and write workbooks: 4 MB instead of this process's 16
 * (setup.mjs). This costs about 5 % more CPU time per workbook (measured). V8 reads the flag when a thread
 * starts; it overrides the thread's resourceLimits.
 */
setFlagsFromString('--max-semi-space-size=2');

const print = (line: string): void => writeOutput('stdout', `${line}\n`);

/**
 * Starts the service or one of its processes. After a signal or a failed start, stops everything in reverse
 * order.
 */
async function main(): Promise<void> {
  const config = readConfig(process.env);
  trustCaFile(config.caFile);
  await checkFontFiles(config.pdfFonts);
  const run: ProcessContext = { config, parts: new AsyncDisposableStack(), state: { isStopping: false } };
  const ended = Promise.withResolvers<void>();
  const primary = joinPrimary(process.argv, {
    onStopping: () => (run.state.isStopping = true),
    onEnd: ended.resolve,
  });
  const started = primary ? startWebProcess(run, primary) : startInstance(run);
  const stop = async (): Promise<void> => {
    await Promise.allSettled([started]);
    await run.parts.disposeAsync();
  };
  const stopAndReport = async (): Promise<void> => {
    run.state.isStopping = true;
    await stop();
    print('Stopped.');
  };
  endOnUnexpectedError(openLog(config.logLevel), () => {
    primary?.leave();
    void endInTime('Formloom did not shut down cleanly.', primary ? stop : stopAndReport, 1);
  });
  if (primary) void ended.promise.then(() => endInTime('A process did not shut down cleanly.', stop));
  else void waitForSignal().then(() => endInTime('Formloom did not shut down cleanly.', stopAndReport));
  try {
    await started;
  } catch (error) {
    await run.parts.disposeAsync();
    // The primary reports the error only once for all of its processes.
    if (!primary) throw error;
    await primary.fail(explainError(error));
    process.exit(1);
  }
}

/** Opens the database, then serves with one process or several. */
async function startInstance(run: ProcessContext): Promise<void> {
  const { config, parts } = run;
  // SIGUSR2 restarts the web processes. Until they exist, it would otherwise end this process.
  process.on('SIGUSR2', () => {});
  const log = openLog(config.logLevel);
  print(`Formloom ${serviceVersion} is starting …`);
  await requireResolvableListenHosts(config);
  const storage = await openFormloomDatabase(config, log, print, { serves: true });
  parts.defer(() => storage.close());
  await checkOwnStorage(config, log, storage);
  const listening = await (config.webProcesses === 1
    ? serveAlone(run, log, storage)
    : serveBySeveral(run, log, storage));
  for (const line of await writeSummary(config, storage, listening)) print(line);
}

/**
 * Claims the storage. If the storage does not respond, the start continues: submissions without files do not
 * need it, and `doctor` reports the problem.
 */
async function checkOwnStorage(
  config: ProcessContext['config'],
  log: Log,
  { database }: FormloomDatabase,
): Promise<void> {
  try {
    await claimStorage(database, { storage: openStorage(config), place: describeStorage(config) });
  } catch (error) {
    if (error instanceof InstanceStorageError) throw error;
    log.warn({ err: error }, 'the storage does not respond; uploads are refused until it does');
  }
}

async function serveAlone(
  run: ProcessContext,
  log: Log,
  { database, vault }: FormloomDatabase,
): Promise<string> {
  const { config, parts } = run;
  const requestCounter = await openRequestCounter({ valkeyUrl: config.valkeyUrl, log });
  parts.defer(() => requestCounter.close());
  const { assembleProcess } = await import('./server/assemble.ts');
  const metrics = await startMetrics({ config, database, parts }, '1');
  const isBackgroundElsewhere = false;
  const own = { log, database, vault, requestCounter, metrics, isBackgroundElsewhere };
  const server = await assembleProcess(run, own);
  const listening = await server.listen({ host: config.host, port: config.port });
  parts.defer(async () => {
    print('Stopping: finishing running work …');
    await sleep(noticeMs);
  });
  process.on('SIGUSR2', () => log.warn('a restart without downtime requires WEB_PROCESSES of at least 2'));
  return listening;
}

async function serveBySeveral(
  { config, parts }: ProcessContext,
  log: Log,
  { database, embedded, url: databaseUrl }: FormloomDatabase,
): Promise<string> {
  const { listening, crew } = await serveByProcesses(config, {
    log,
    databaseUrl,
    answer: () => readMetricsForProcess(log, metrics),
    endMs,
    script: process.argv[1]!,
    environment: embedded ? withoutLibpqVariables(process.env) : process.env,
  });
  parts.defer(async () => {
    print('Stopping: finishing running work …');
    await crew.stop(noticeMs);
  });
  const metrics = await startMetrics({ config, database, parts }, 'primary', {
    reports: () => crew.survey(),
  });
  const restart = async (): Promise<void> => {
    print('Restarting the processes one by one …');
    if (await crew.restart()) print('Restarted.');
  };
  process.on('SIGUSR2', () => void restart());
  return listening;
}

/** Starts one of several web processes. The first one does the background work for all of them. */
async function startWebProcess(run: ProcessContext, primary: PrimaryLink): Promise<void> {
  const { config, parts } = run;
  const log = openLog(config.logLevel).child({ process: primary.number });
  const countInMemory = countRequestsThroughPrimary((questions) => primary.ask(questions));
  const requestCounter = await openRequestCounter({ valkeyUrl: config.valkeyUrl, log, countInMemory });
  parts.defer(() => requestCounter.close());
  const { database, vault, close } = await joinFormloomDatabase(config, log);
  parts.defer(close);
  const { assembleProcess } = await import('./server/assemble.ts');
  const isBackgroundElsewhere = primary.number !== 1;
  const metrics = await startMetrics({ config, database, parts }, String(primary.number), {
    ask: () => primary.ask<string | undefined>('metrics'),
  });
  primary.onSurvey(async () => metrics?.meter.report());
  const own = { log, database, vault, requestCounter, metrics, isBackgroundElsewhere };
  const server = await assembleProcess(run, own);
  primary.serve(server.server);
}

/** Ends this process: in order, or forcibly if that takes too long. */
async function endInTime(what: string, stop: () => Promise<void>, exitCode = 0): Promise<void> {
  setTimeout(() => void failLate(what), stopMs).unref();
  // A signal after an error must not change the exit code to 0.
  if (exitCode !== 0) process.exitCode = exitCode;
  try {
    await stop();
    process.exit();
  } catch (error) {
    fail(what, explainError(error));
  }
}

/** Shuts down the database, which would outlive this process, and exits. */
async function failLate(what: string): Promise<never> {
  const { releaseEmbeddedPostgres } = await import('#kit/embedded-postgres/embedded-postgres.ts');
  await Promise.race([releaseEmbeddedPostgres(), sleep(databaseStopMs)]);
  return fail(what, `Work was still running after ${stopMs / 1_000} s.`);
}

/**
 * Ends this process after an uncaught error or an unhandled rejection, because its state is unknown. Running
 * work completes first and may fail repeatedly for the same reason, so each reason is logged only once.
 */
function endOnUnexpectedError(log: Log, end: () => void): void {
  const logged = new Set<string>();
  process.on('uncaughtException', (error: unknown) => {
    const reason = explainError(error);
    if (logged.has(reason)) return;
    log.fatal({ err: error }, 'an unexpected error stopped this process');
    if (logged.size === 0) end();
    logged.add(reason);
  });
}

/**
 * Resolves at the first signal and ignores further ones. A terminal and a service manager signal every
 * process of the group. npm and setup.mjs also forward the signal, possibly late on a busy machine.
 */
function waitForSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => resolve());
    // setup.mjs was killed (kill -9), so it can no longer forward a signal.
    process.on('disconnect', resolve);
    // npm can be killed too, and there is no channel to it.
    if (process.env['npm_lifecycle_event'] !== undefined) void parentGone().then(resolve);
  });
}

/** Resolves when the parent process has ended. The system does not report this. */
async function parentGone(): Promise<void> {
  const parent = process.ppid;
  while (process.ppid === parent) await sleep(askParentMs, undefined, { ref: false });
}

/**
 * Loads the modules that are otherwise loaded on demand, so that setup.mjs can compile all of them in advance
 * (setup.mjs; test/floors.test.ts).
 */
async function loadAll(): Promise<void> {
  await import('./server/assemble.ts');
  await import('./mcp/open-mcp.ts');
  await import('./mcp/tools.ts');
  await import('./metrics/open-metrics.ts');
  await import('#workspaces/accounts/account-library.ts');
  await import('#kit/embedded-postgres/embedded-postgres.ts');
  await import('#kit/outbound/connections.ts');
  const { xlsxStream } = await import('#submissions/export/xlsx.ts');
  // This runs in its own thread.
  await xlsxStream(Readable.from([])).toArray();
}

function fail(what: string, why: string): never {
  writeOutput('stderr', `${what}\n${why}\n`);
  process.exit(1);
}

ignoreOutputErrors();
try {
  await (process.argv.includes('--compile') ? loadAll() : main());
} catch (error) {
  fail('Formloom could not start.', explainError(error));
}
