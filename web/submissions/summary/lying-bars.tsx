import type { ReactElement } from 'react';
import { type Narrowed, SubmissionsLink } from './submissions-link.tsx';

/** A share as people read it, in their own language: `12%`. */
export const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 });

const percentage = (share: number): string => `${Math.min(100, share * 100)}%`;

/** A line of a chart: words, their number, and below them a bar as wide as the chart. */
export type LyingBar = {
  readonly label: string;
  /** The part of the whole width that is filled, from 0 to 1; `paler` is that up to which it is filled less. */
  readonly bar: number;
  readonly paler?: number;
  readonly said: string;
  /** Behind it, with less weight. */
  readonly beside?: string;
  /** The address of a picture. */
  readonly picture?: string | undefined;
  /** To what the line leads. */
  readonly narrowed?: Narrowed | undefined;
};

/** A count with its share of all, whose part of the width it fills. */
export function counted(count: number, all: number): Pick<LyingBar, 'bar' | 'said' | 'beside'> {
  const share = all === 0 ? 0 : count / all;
  return { bar: share, said: count.toLocaleString(), beside: percent.format(share) };
}

/** Bars that lie below each other, each with its words: whoever does not see them reads the same. */
export function LyingBars({ label, bars }: { label: string; bars: readonly LyingBar[] }): ReactElement {
  return (
    <ul className="lying-bars" aria-label={label}>
      {bars.map(({ label, bar, paler = 0, said, beside, picture, narrowed }, index) => (
        // Two options may have one label.
        <li key={`${index} ${label}`} className="lying-bar">
          {picture !== undefined && <img className="lying-picture" src={picture} alt="" />}
          {narrowed ? (
            <SubmissionsLink className="lying-label" narrowed={narrowed}>
              {label}
            </SubmissionsLink>
          ) : (
            <span className="lying-label">{label}</span>
          )}
          <span className="lying-number numeric small">
            {said} {beside !== undefined && <span className="soft">{beside}</span>}
          </span>
          <svg className="lying-svg" height="12" focusable="false" aria-hidden="true">
            <rect className="bar-ground" width="100%" height="12" rx="6" />
            {paler > bar && <rect className="bar-paler" width={percentage(paler)} height="12" rx="6" />}
            {bar > 0 && <rect className="bar" width={percentage(bar)} height="12" rx="6" />}
          </svg>
        </li>
      ))}
    </ul>
  );
}
