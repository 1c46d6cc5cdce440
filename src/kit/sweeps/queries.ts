import { statement } from '../statement.ts';

/** The clock of the database, and that of the last sweep; null before the first start. */
export const readClocks = statement(
  'sweeps.read_clocks',
  '',
  'database_seconds:double swept_at?',
  `select extract(epoch from clock_timestamp())::double precision as database_seconds,
          (select swept_at from instance) as swept_at`,
);

/** Notes the clock of a sweep; not more often than the notes of one minute are worth. */
export const noteSweep = statement(
  'sweeps.note_sweep',
  'at before',
  '',
  'update instance set swept_at = $at where swept_at < $before',
);

/** Takes the clock of the database for that of the last sweep. */
export const confirmSweepClock = statement(
  'sweeps.confirm_clock',
  '',
  'swept_at',
  'update instance set swept_at = now() returning swept_at',
);
