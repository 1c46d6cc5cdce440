import type { Config } from '#kit/config.ts';
import { type Database, isDiskFull, isUnavailable } from '#kit/database.ts';
import type { Log } from '#kit/log.ts';
import { explain } from '../explain.ts';
import { openExistingDatabase } from '../open-database.ts';
import { type Check, type Finding, ok, problem, warning } from './check.ts';
import { contentChecks, databaseChecks } from './database-checks.ts';
import { existsSync } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { askHealth } from '#kit/ask-health.ts';
import { greetMailServer } from '#kit/smtp.ts';
import { readDisks } from '../disks.ts';
import { megabyte, memoryLimit, memoryNeeded } from '../memory.ts';

type Context = { config: Config };

/** What the pinned Node has; older ones cannot run TypeScript. */
const oldestNode = 24;

const isLoopback = (host: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/.test(host);

/** What surrounds a process of the service on its machine. */
const machineChecks: readonly Check<Context>[] = [
  {
    name: 'versions',
    stopsStart: true,
    look: async () => {
      const { node } = process.versions;
      if (Number.parseInt(node, 10) < oldestNode)
        return problem(
          `This is Node ${node}, and Formloom needs ${oldestNode}.`,
          'Start it by npm start or setup.mjs, which bring the right one.',
        );
      return existsSync(fileURLToPath(new URL('../../../dist/web', import.meta.url)))
        ? ok(`Node ${node}.`)
        : warning('The pages of the console are not built.', 'npm start builds them; a release has them.');
    },
  },
  { name: 'disks', stopsStart: false, look: ({ config }) => lookAtDisks(config) },
  { name: 'key file', stopsStart: false, look: ({ config }) => lookAtKeyFile(config) },
  {
    name: 'memory limit',
    stopsStart: false,
    async look({ config }) {
      const needed = memoryNeeded(config);
      const limit = memoryLimit();
      return limit === undefined || limit >= needed
        ? ok(`${needed} MB are needed.`)
        : problem(
            `The limit of this container or service is ${limit} MB, and ${needed} MB are needed.`,
            'Raise it, or lower WEB_PROCESSES.',
          );
    },
  },
  {
    name: 'PUBLIC_URL',
    stopsStart: false,
    async look({ config: { publicUrl, host, port } }) {
      if (isLoopback(new URL(publicUrl).hostname) && !isLoopback(host))
        return problem(
          `PUBLIC_URL is ${publicUrl}, which leads everybody to their own machine.`,
          'Set it to the address that people use, such as https://forms.example.org.',
        );
      const there = await askHealth(publicUrl);
      if (there === 'ours') return ok(`${publicUrl} leads here.`);
      const isRunning =
        (await askHealth(`http://${host.includes(':') ? `[${host}]` : host}:${port}`)) === 'ours';
      if (!isRunning) return ok(`${publicUrl}; whether it leads here is seen while the service runs.`);
      return there === 'another'
        ? problem(
            `At ${publicUrl} answers something else.`,
            'Let the proxy there pass requests on to HOST and PORT, or correct PUBLIC_URL.',
          )
        : warning(
            `${publicUrl} cannot be reached from this machine.`,
            'Look whether it can from others: mails and builders link to it.',
          );
    },
  },
  {
    name: 'X-Forwarded-For',
    stopsStart: false,
    look: async ({ config: { publicUrl, trustProxy } }) =>
      publicUrl.startsWith('https:') && trustProxy === false
        ? problem(
            'PUBLIC_URL is https, so a proxy stands in front, and its X-Forwarded-For is not believed: all visitors seem to be one, and share one limit.',
            'Set TRUST_PROXY to the number of proxies, or to their addresses.',
          )
        : ok(trustProxy === false ? 'No proxy is expected.' : `Believed from ${String(trustProxy)}.`),
  },
  { name: 'mail server', stopsStart: false, look: ({ config }) => lookAtMailServer(config) },
];

async function lookAtDisks(config: Config): Promise<Finding> {
  const disks = await readDisks(config);
  for (const folder of disks.flatMap(({ folders }) => folders))
    try {
      await access(folder, constants.W_OK);
    } catch {
      return problem(
        `${folder} cannot be written to.`,
        'Give it to the user that runs Formloom, or choose another DATA_DIR or BACKUP_TO.',
      );
    }
  const said = disks.map(({ name, folders, free }) => ({
    isFull: free < config.limits.freeBytes,
    room: `${Math.floor(free / megabyte)} MB are free on the disk of ${folders[0]} (${name})`,
  }));
  const full = said.find(({ isFull }) => isFull);
  return full
    ? problem(`${full.room}, less than UPLOAD_FREE_MB, below which uploads are refused.`, 'Make room.')
    : ok(`${said.map(({ room }) => room).join('; ')}.`);
}

/** So long the mail server has for its part of a dialogue without a mail. */
const mailServerMs = 3_000;

async function lookAtMailServer({ smtp }: Config): Promise<Finding> {
  if (!smtp) return ok('SMTP_URL is not set: nothing is sent.');
  const failure = await greetMailServer(smtp, mailServerMs);
  return failure
    ? problem(
        failure.reason.replace(/\.?$/, '.'),
        'Look at SMTP_URL and at the server: mails wait and are tried again.',
      )
    : ok(`The one at ${smtp.host} answers.`);
}

async function lookAtKeyFile({ dataDir, secretKey }: Config): Promise<Finding> {
  const path = join(dataDir, 'secret.key');
  if (secretKey !== undefined) return ok('SECRET_KEY is set.');
  if (!existsSync(path)) return ok('The first start makes one.');
  const { mode } = await stat(path);
  return (mode & 0o077) === 0
    ? ok(`${path} is its owner's alone.`)
    : problem(`${path} can be read by others on this machine.`, `chmod 600 ${path}`);
}

/** A line of the doctor's report. */
export type Diagnosis = { check: string; state: Finding['state']; finding: string; remedy: string | null };

/** Looks at everything around the service, and changes nothing. What cannot be looked at is a problem of its own. */
export async function examine(config: Config, log: Log): Promise<Diagnosis[]> {
  const machine = await lookAtAll(machineChecks, { config });
  try {
    const { database, close } = await openExistingDatabase(config, log);
    try {
      return [...machine, ...(await examineDatabase(config, database))];
    } finally {
      await close();
    }
  } catch (error) {
    return [...machine, diagnose('database', failed(error))];
  }
}

async function examineDatabase(config: Config, database: Database): Promise<Diagnosis[]> {
  const found = await lookAtAll(databaseChecks, { database });
  if (found.some(({ state }) => state === 'problem')) return found;
  const within = await lookAtAll(contentChecks, { database, config });
  return [...found, ...within];
}

/** One after the other, until one cannot even look: of a database that cannot be used nothing else can be said. */
async function lookAtAll<Context>(checks: readonly Check<Context>[], context: Context): Promise<Diagnosis[]> {
  const found: Diagnosis[] = [];
  for (const { name, look } of checks) {
    try {
      found.push(diagnose(name, await look(context)));
    } catch (error) {
      return [...found, diagnose(name, failed(error))];
    }
  }
  return found;
}

/** What a check throws says itself what to do, where it is not the database that is away. */
const failed = (error: unknown): Finding => ({
  state: 'problem',
  what: explain(error),
  remedy:
    isUnavailable(error) && !isDiskFull(error)
      ? 'Look at the server of the database, and at DATABASE_URL.'
      : '',
});

const diagnose = (check: string, finding: Finding): Diagnosis => ({
  check,
  state: finding.state,
  finding: finding.what,
  remedy: (finding.state !== 'ok' && finding.remedy) || null,
});
