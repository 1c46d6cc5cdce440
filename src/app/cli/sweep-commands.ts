import { now } from '#kit/clock.ts';
import { requireRow } from '#kit/statement.ts';
import { confirmSweepClock } from '#kit/sweeps/confirm-sweep-clock.ts';
import { findClockDoubt } from '#kit/sweeps/sweep-clock.ts';
import { command, flag } from './command.ts';
import { UsageError } from './values.ts';

export const sweepCommands = [
  command({
    name: 'sweeps confirm',
    summary: 'Confirms that the clock of this machine is right, so that data is deleted by its age again.',
    options: { yes: { ...flag, about: 'Does not ask whether it is meant.' } },
    note: 'A running server sweeps within a minute.',
    async run({ database, confirm }, { yes }) {
      const at = now();
      if (!yes)
        await confirm(
          `The clock of this machine says ${at.toISOString()}. Everything that is past its retention limit by this clock will be deleted.`,
        );
      const confirmed = requireRow(await confirmSweepClock(database, {}));
      const doubt = await findClockDoubt(database);
      if (doubt) throw new UsageError(`${doubt.what} ${doubt.remedy}`);
      return { confirmed_at: confirmed.swept_at };
    },
  }),
];
