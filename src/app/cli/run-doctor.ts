import type { Config } from '#kit/config.ts';
import { isDiskFull, isUnavailableError } from '#kit/database.ts';
import type { Log } from '#kit/log.ts';
import { type Check, createOkFinding, createProblemFinding, type Finding } from '../checks/check.ts';
import { databaseChecks } from '../checks/database-checks.ts';
import { instanceFacts, machineFacts } from '../checks/facts.ts';
import { instanceChecks } from '../checks/instance-checks.ts';
import { machineChecks } from '../checks/machine-checks.ts';
import { explainError } from '../database/explain.ts';
import { openExistingDatabase } from '../database/open-database.ts';

/** A row in the report of `doctor`. */
export type Diagnosis = { check: string; state: Finding['state']; finding: string; remedy: string | null };

/** Runs every check without changing anything. A check that throws is reported as a problem. */
export async function runDoctor(config: Config, log: Log): Promise<Diagnosis[]> {
  const machine = await runChecks(machineChecks, machineFacts({ config }));
  try {
    const { database, close } = await openExistingDatabase(config, log);
    try {
      const facts = instanceFacts({ config, database });
      const found = await runChecks(databaseChecks, facts);
      // If the database cannot be used, its contents cannot be checked.
      const isUsable = found.every(({ state }) => state !== 'problem');
      if (!isUsable) return [...machine, ...found];
      return [...machine, ...found, ...(await runChecks(instanceChecks, facts, facts.pendingMigrations))];
    } finally {
      await close();
    }
  } catch (error) {
    return [...machine, diagnose('database', describeFailure(error))];
  }
}

/** Runs the checks in order until one throws. */
async function runChecks<Facts>(
  checks: readonly Check<Facts>[],
  facts: Facts,
  pendingMigrations = async (): Promise<readonly string[]> => [],
): Promise<Diagnosis[]> {
  const found: Diagnosis[] = [];
  for (const { id, look, needsSchema } of checks) {
    try {
      const isEarly = needsSchema && (await pendingMigrations()).length > 0;
      if (look)
        found.push(
          diagnose(
            id,
            isEarly ? createOkFinding('The next start will migrate the database.') : await look(facts),
          ),
        );
    } catch (error) {
      return [...found, diagnose(id, describeFailure(error))];
    }
  }
  return found;
}

/** The message of the error says what to do, unless the database is down. */
const describeFailure = (error: unknown): Finding =>
  createProblemFinding(
    explainError(error),
    isUnavailableError(error) && !isDiskFull(error) ? 'Check the database server and DATABASE_URL.' : '',
  );

const diagnose = (check: string, finding: Finding): Diagnosis => ({
  check,
  state: finding.state,
  finding: finding.what,
  remedy: (finding.state !== 'ok' && finding.remedy) || null,
});
