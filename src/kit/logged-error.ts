import { isUnavailable } from './database.ts';

/** Whether the database was away, also for each part of work that failed in parts. */
export const isOfDatabaseAway = (error: unknown): boolean =>
  error instanceof AggregateError ? error.errors.every(isOfDatabaseAway) : isUnavailable(error);

/** An error as the log shows it. A database that is away or starting up is one line: its stack says nothing. */
export const loggedError = (error: unknown): { reason: string } | { err: unknown } =>
  isOfDatabaseAway(error) ? { reason: (error as Error).message } : { err: error };
