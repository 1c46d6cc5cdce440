import { type Database, isUnavailable } from '../database.ts';
import type { Log } from '../log.ts';
import { loggedError } from '../logged-error.ts';
import { type Job, LeaseLost, rescheduleJob } from '../queue.ts';
import { parkAfter } from './park-job.ts';

/** Seconds until a job runs again whose handler threw: 1, 2, 4, ... and from the 13th time on hourly. */
export const backoffSeconds = (failures: number): number => Math.min(2 ** Math.max(failures - 1, 0), 3_600);

/**
 * Puts a job back whose handler threw, with a growing delay: a job that can never succeed costs little and blocks
 * nobody. A database that is away says nothing about the job, so that counts as no failure.
 */
export async function putBackFailed(database: Database, log: Log, job: Job, error: unknown): Promise<void> {
  if (error instanceof LeaseLost) {
    log.warn(about(job), 'the lease of a job was lost; what it would have written was dropped');
    return;
  }
  const failures = job.failures + (isUnavailable(error) ? 0 : 1);
  const delay = backoffSeconds(failures);
  const level = isUnavailable(error) ? 'debug' : 'error';
  log[level](
    { ...about(job), failures, delay, ...loggedError(error) },
    'a job failed and will be tried again',
  );
  // Where parking it failed, it is parked next time.
  const lostClaims = job.lostClaims >= parkAfter ? job.lostClaims : 0;
  await reschedule(database, log, job, { delay, failures, lostClaims });
}

/** Puts a job back that this process gives up because it stops: another one takes it over at once. */
export const putBackUnfinished = (database: Database, log: Log, job: Job): Promise<void> =>
  reschedule(database, log, job, { delay: 0, failures: job.failures, lostClaims: job.lostClaims });

/** When it cannot be written, the end of the lease does the same, only later. */
async function reschedule(
  database: Database,
  log: Log,
  job: Job,
  when: { delay: number; failures: number; lostClaims?: number },
): Promise<void> {
  try {
    await rescheduleJob(database, job, when);
  } catch (error) {
    log.debug({ ...about(job), ...loggedError(error) }, 'a job waits for the end of its lease');
  }
}

const about = ({ kind, id, workspaceId }: Job): { kind: string; job: string; workspace: string } => ({
  kind,
  job: id,
  workspace: workspaceId,
});
