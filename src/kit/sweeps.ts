import { only, statement } from './statement.ts';
import { sayCount } from '#ast/say-count.ts';
import { now } from './clock.ts';
import { type Database, homeOf } from './database.ts';

/** Takes the clock of the database for that of the last sweep. */
export const confirmSweepClock = statement(
  'sweeps.confirm_clock',
  '',
  'swept_at',
  'update instance set swept_at = now() returning swept_at',
);

/** The clock of the database, and that of the last sweep; null before the first start. */
const readClocks = statement(
  'sweeps.read_clocks',
  '',
  'database_seconds:double swept_at?',
  `select extract(epoch from clock_timestamp())::double precision as database_seconds,
          (select swept_at from instance) as swept_at`,
);

/** Notes the clock of a sweep; not more often than the notes of one minute are worth. */
const noteSweep = statement(
  'sweeps.note_sweep',
  'at before',
  '',
  'update instance set swept_at = $at where swept_at < $before',
);

/** Why nothing may be deleted by its age, and what to do about it. */
type ClockDoubt = { what: string; remedy: string };

const dayMs = 86_400_000;
/** A clock that is off by more could delete what should be kept: the shortest retention is a day. */
const mostMs = dayMs;
/** The last sweep is noted this often at most. */
const noteMs = 60_000;

const daysBetween = (ms: number): string => sayCount(Math.round(Math.abs(ms) / dayMs), 'day');

/**
 * Compares the clock of this machine with the database's, and with the last sweep. An embedded database has the same
 * clock as this process, and after months without a run the last sweep is as old as it is under a clock that is months
 * ahead: only the operator can tell these apart, with \`sweeps confirm\`.
 * @returns undefined where the clock can be trusted.
 */
export async function findClockDoubt(database: Database, at = now()): Promise<ClockDoubt | undefined> {
  const { database_seconds: seconds, swept_at: sweptAt } = only(await readClocks(homeOf(database), {}))!;
  const here = at.toISOString();
  const apart = at.getTime() - seconds * 1_000;
  if (Math.abs(apart) > mostMs)
    return {
      what: `The clock of this machine says ${here}, ${daysBetween(apart)} from the clock of the database. Nothing is deleted by its age.`,
      remedy: 'Set the clocks of both machines, with NTP. Sweeps go on by themselves then.',
    };
  const since = sweptAt === null ? 0 : at.getTime() - sweptAt.getTime();
  if (Math.abs(since) <= mostMs) return undefined;
  const direction = since > 0 ? 'after' : 'before';
  return {
    what: `The clock of this machine says ${here}, ${daysBetween(since)} ${direction} the last sweep. Nothing is deleted by its age until this is confirmed.`,
    remedy:
      'If the clock is wrong, set it. If it is right, because the service did not run or a backup was restored, run `npm run -s formloom -- sweeps confirm`.',
  };
}

/**
 * Runs what deletes data by its age, if the clock can be trusted. Every sweep goes through here: under a clock that was
 * 400 days ahead the trash and everything with a retention limit were deleted within 20 seconds.
 * @returns undefined where nothing was run.
 */
export async function sweep<Result>(
  database: Database,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  const at = now();
  if (await findClockDoubt(database, at)) return undefined;
  await noteSweep(homeOf(database), { at, before: new Date(at.getTime() - noteMs) });
  return work();
}
