import type { ReactElement } from 'react';
import { Focusable } from 'react-aria-components/Tooltip';
import { Tooltip } from './tooltip.tsx';
import { useClock } from './use-clock.ts';

const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const satisfies readonly (readonly [Intl.RelativeTimeFormatUnit, number])[];

/** "3 hours ago" within a month, else the date. Looks at the clock when it is drawn. */
export function sayAgo(iso: string, now: number = Date.now()): string {
  const seconds = (Date.parse(iso) - now) / 1000;
  if (Math.abs(seconds) > 30 * 86_400) return day.format(new Date(iso));
  for (const [unit, size] of units) {
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  }
  return seconds <= 0 ? 'just now' : 'in a moment';
}

/** A moment, in full: date and time in the reader's zone and language. */
export const sayMoment = (iso: string): string => full.format(new Date(iso));
/** A moment's day. */
export const sayDay = (iso: string): string => day.format(new Date(iso));

/** A moment as people say it, also after a while; in full while it has the pointer or the focus. */
export function Ago({ at }: { at: string }): ReactElement {
  useClock(30_000);
  return (
    <Tooltip text={sayMoment(at)}>
      <Focusable>
        <time dateTime={at} role="note" tabIndex={0} className="ago">
          {sayAgo(at)}
        </time>
      </Focusable>
    </Tooltip>
  );
}
