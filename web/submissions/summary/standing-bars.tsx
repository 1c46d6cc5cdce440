import type { CSSProperties, ReactElement } from 'react';
import { DataDetails } from './data-details.tsx';
import { type Narrowed, SubmissionsLink } from './submissions-link.tsx';

export type StandingBar = {
  readonly label: string;
  readonly count: number;
  /** Another count, which stands on it. */
  readonly paler?: number;
  /** To what it leads. */
  readonly narrowed?: Narrowed | undefined;
};

/**
 * Bars beside each other along a scale that is named at both ends: numbers, months, days. What they say stands in a table
 * below; a bar may be too narrow to be met.
 */
export function StandingBars({
  label,
  heads,
  bars,
}: {
  label: string;
  /** What the scale is, what is counted, and what stands on it. */
  heads: readonly [scale: string, counted: string, ...paler: string[]];
  bars: readonly StandingBar[];
}): ReactElement {
  const most = Math.max(1, ...bars.map(({ count, paler = 0 }) => count + paler));
  const [, first, second] = heads;
  return (
    <>
      <div className="standing-bars" aria-hidden="true">
        <span className="spread soft small numeric">
          {most.toLocaleString()}
          {second !== undefined && (
            <span className="standing-key">
              <span className="standing-count" /> {first} <span className="standing-paler" /> {second}
            </span>
          )}
        </span>
        <div className="standing-plot">
          {bars.map(({ label, count, paler = 0, narrowed }) => {
            const words = `${label}: ${(count + paler).toLocaleString()}`;
            const drawn = (
              <>
                <span className="standing-paler" style={height(paler / most)} />
                <span className="standing-count" style={height(count / most)} />
              </>
            );
            return (
              <span key={label} className="standing-bar" title={words}>
                {narrowed ? (
                  <SubmissionsLink isDoubled narrowed={narrowed}>
                    {drawn}
                  </SubmissionsLink>
                ) : (
                  drawn
                )}
              </span>
            );
          })}
        </div>
        <span className="standing-scale soft small numeric">
          <span>{bars[0]?.label}</span>
          {bars.length > 2 && <span>{bars[Math.floor(bars.length / 2)]!.label}</span>}
          {bars.length > 1 && <span>{bars.at(-1)!.label}</span>}
        </span>
      </div>
      <DataDetails
        caption={label}
        heads={heads}
        rows={bars.map(({ label, count, paler, narrowed }) => [
          narrowed ? <SubmissionsLink narrowed={narrowed}>{label}</SubmissionsLink> : label,
          count,
          ...(paler === undefined ? [] : [paler]),
        ])}
      />
    </>
  );
}

const height = (share: number): CSSProperties => ({ blockSize: `${share * 100}%` });
