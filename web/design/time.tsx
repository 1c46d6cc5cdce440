import { type ReactElement, useEffect, useState, useSyncExternalStore } from 'react';
import { Focusable } from 'react-aria-components/Tooltip';
import { Tooltip } from './tooltip.tsx';

const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const satisfies readonly (readonly [Intl.RelativeTimeFormatUnit, number])[];

/** The current time shared by all relative times, so that they agree whenever they were rendered. */
let seenAt = Date.now();
const readers = new Set<() => void>();
let ticking: ReturnType<typeof setInterval> | undefined;
const tickMs = 10_000;

function tick(): void {
  seenAt = Date.now();
  for (const reader of readers) reader();
}

function listen(reader: () => void): () => void {
  readers.add(reader);
  ticking ??= setInterval(tick, tickMs);
  if (Date.now() - seenAt > 1_000) tick();
  return () => {
    readers.delete(reader);
    if (readers.size > 0) return;
    clearInterval(ticking);
    ticking = undefined;
  };
}

/** The shared current time. It updates every 10 seconds. */
export const useNow = (): number => useSyncExternalStore(listen, () => seenAt);

/** Formats "3 hours ago" within 30 days, otherwise the date. */
export function formatAgo(iso: string, now: number): string {
  const seconds = (Date.parse(iso) - now) / 1000;
  if (Math.abs(seconds) > 30 * 86_400) return day.format(new Date(iso));
  for (const [unit, size] of units)
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  return seconds <= 0 ? 'just now' : 'soon';
}

/** Formats date and time in the reader's time zone and language. */
export const formatDateTime = (iso: string): string => full.format(new Date(iso));
const month = new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric', timeZone: 'UTC' });
/** Formats a month such as `2026-06`. A year stays unchanged. */
export const formatMonth = (text: string): string =>
  /^\d{4}-\d\d$/.test(text) ? month.format(new Date(`${text}-01`)) : text;
export const formatDate = (iso: string): string => day.format(new Date(iso));

/** The relative time as text only, for places that also show the full date. */
export const AgoText = ({ at }: { at: string }): string => formatAgo(at, useNow());

/** A relative time that stays up to date. Hover or focus shows the full date and time. */
export function Ago({ at }: { at: string }): ReactElement {
  return (
    <Tooltip text={formatDateTime(at)}>
      <Focusable>
        <time dateTime={at} role="note" tabIndex={0} className="ago">
          <AgoText at={at} />
        </time>
      </Focusable>
    </Tooltip>
  );
}

/** Renders the component at regular intervals, for countdowns. */
export function useRegularRerender(everyMs: number): void {
  const [, setTicks] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTicks((ticks) => ticks + 1), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}

/**
 * Returns when a submission was received, which is when it was completed. For an incomplete one, it is when
 * it was last saved, or started if a list has no save time.
 */
export const receivedAt = (of: {
  created_at: string;
  completed_at?: string | null;
  updated_at?: string;
}): string => of.completed_at ?? of.updated_at ?? of.created_at;
