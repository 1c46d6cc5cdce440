import { statement } from '../statement.ts';

/** Takes the clock of the database for that of the last sweep. */
export const confirmSweepClock = statement(
  'sweeps.confirm_clock',
  '',
  'swept_at',
  'update instance set swept_at = now() returning swept_at',
);
