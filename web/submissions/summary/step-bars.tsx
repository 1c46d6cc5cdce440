import type { ReactElement } from 'react';
import { LyingBar } from './lying-bar.tsx';

type Step = { number: number; label: string; reached: number; left: number; drop_off: number | null };

/** One line a step: how many came, of whom the paler end of the bar went no further. */
export function StepBars({ steps }: { steps: readonly Step[] }): ReactElement {
  const most = Math.max(1, ...steps.map(({ reached }) => reached));
  return (
    <div className="lying-bars" aria-hidden="true">
      {steps.map(({ number, label, reached, left, drop_off }) => (
        <LyingBar
          key={number}
          label={label}
          bar={(reached - left) / most}
          paler={reached / most}
          said={`${left.toLocaleString()} left`}
          share={drop_off ?? 0}
        />
      ))}
    </div>
  );
}
