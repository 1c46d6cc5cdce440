import type { ReactElement } from 'react';

type Step = { number: number; label: string; reached: number; left: number; drop_off: number | null };

const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 });

/** One line a step: how many came, of whom the paler end of the bar went no further. */
export function StepBars({ steps }: { steps: readonly Step[] }): ReactElement {
  const most = Math.max(1, ...steps.map(({ reached }) => reached));
  const width = (count: number): string => `${(100 * count) / most}%`;
  return (
    <div className="lying-bars" aria-hidden="true">
      {steps.map(({ number, label, reached, left, drop_off }) => (
        <div key={number} className="lying-bar">
          <span className="lying-label cut" title={label}>
            {label}
          </span>
          <svg className="lying-svg" height="12" focusable="false">
            <rect className="bar-ground" width="100%" height="12" rx="6" />
            {left > 0 && <rect className="bar-left" width={width(reached)} height="12" rx="6" />}
            {reached > left && <rect className="bar" width={width(reached - left)} height="12" rx="6" />}
          </svg>
          <span className="numeric small lying-number">
            {left.toLocaleString()} left <span className="soft">{percent.format(drop_off ?? 0)}</span>
          </span>
        </div>
      ))}
    </div>
  );
}
