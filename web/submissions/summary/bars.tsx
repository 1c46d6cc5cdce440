import type { ReactElement } from 'react';
import type { Bar } from '#submissions/shapes.ts';
import { LyingBar } from './lying-bar.tsx';

/** One line an option: its words, its share and its number. */
export function LyingBars({ bars, answered }: { bars: readonly Bar[]; answered: number }): ReactElement {
  return (
    <div className="lying-bars" aria-hidden="true">
      {bars.map(({ label, count }) => {
        const share = answered === 0 ? 0 : count / answered;
        return <LyingBar key={label} label={label} bar={share} said={count.toLocaleString()} share={share} />;
      })}
    </div>
  );
}

const chartHeight = 100;
/** Of a bar's place, what it leaves free. */
const gap = 0.2;
/** Rem that a bar and its gap take at most: few bars stay bars, and do not become walls. */
const widestBar = 4.5;

/** Bars beside each other along a scale: numbers, months, hours. Their scale is named at both ends. */
export function StandingBars({ bars }: { bars: readonly Bar[] }): ReactElement {
  const most = Math.max(1, ...bars.map((bar) => bar.count));
  return (
    <div
      className="standing-bars"
      style={{ maxInlineSize: `${bars.length * widestBar}rem` }}
      aria-hidden="true"
    >
      <span className="soft small numeric standing-most">{most.toLocaleString()}</span>
      <svg
        className="standing-svg"
        viewBox={`0 0 ${bars.length} ${chartHeight}`}
        preserveAspectRatio="none"
        focusable="false"
      >
        {bars.map(({ label, count }, index) => {
          const height = (count / most) * chartHeight;
          return (
            <rect
              key={label}
              className="bar"
              x={index + gap / 2}
              y={chartHeight - height}
              width={1 - gap}
              height={height}
            >
              <title>{`${label}: ${count.toLocaleString()}`}</title>
            </rect>
          );
        })}
      </svg>
      <span className="standing-scale soft small numeric">
        <span>{bars[0]?.label}</span>
        {bars.length > 2 && <span>{bars[Math.floor(bars.length / 2)]!.label}</span>}
        {bars.length > 1 && <span>{bars.at(-1)!.label}</span>}
      </span>
    </div>
  );
}
