import type { ReactElement } from 'react';

/** A share as people read it, in their own language: `12%`. */
export const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 });

const percentage = (share: number): string => `${Math.min(100, share * 100)}%`;

/**
 * A line of a chart: words, a bar and a number. The words can be long, so the bars lie.
 * @param bar the part of the whole width that is filled, from 0 to 1; `paler` is that up to which it is filled less.
 */
export function LyingBar({
  label,
  bar,
  paler = 0,
  said,
  share,
}: {
  label: string;
  bar: number;
  paler?: number;
  said: string;
  share: number;
}): ReactElement {
  return (
    <div className="lying-bar">
      <span className="lying-label cut" title={label}>
        {label}
      </span>
      <svg className="lying-svg" height="12" focusable="false">
        <rect className="bar-ground" width="100%" height="12" rx="6" />
        {paler > bar && <rect className="bar-left" width={percentage(paler)} height="12" rx="6" />}
        {bar > 0 && <rect className="bar" width={percentage(bar)} height="12" rx="6" />}
      </svg>
      <span className="numeric small lying-number">
        {said} <span className="soft">{percent.format(share)}</span>
      </span>
    </div>
  );
}
