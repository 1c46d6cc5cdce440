import type { Config } from '#kit/config.ts';
import { type Database, isDiskFull, isUnavailable } from '#kit/database.ts';
import type { Log } from '#kit/log.ts';
import { explain } from '../explain.ts';
import { openExistingDatabase } from '../open-database.ts';
import type { Check, Finding } from './check.ts';
import { contentChecks, databaseChecks } from './database-checks.ts';
import { machineChecks } from './machine-checks.ts';

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
