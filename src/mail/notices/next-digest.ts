import type { DigestMode } from '#ast/settings.ts';

const hourMs = 3_600_000;
/** Time zones are whole quarters of an hour away from each other. */
const quarterMs = hourMs / 4;
/** The time of the day, in the form's time zone, at which a daily digest leaves. */
const digestTime = '08:00';

/** When the digest leaves that gathers what is submitted now: at the next full hour, or at the next 08:00. */
export function nextDigest(at: Date, mode: Exclude<DigestMode, 'each'>, timeZone = 'UTC'): Date {
  const next = (step: number): Date => new Date(Math.floor(at.getTime() / step + 1) * step);
  if (mode === 'hourly') return next(hourMs);
  const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', hourCycle: 'h23', timeZone });
  const first = next(quarterMs);
  // On a day of 23 hours an hour of the clock may be missing: then the next day's, at most 48 hours away.
  for (let quarter = 0; quarter < 48 * 4; quarter += 1) {
    const candidate = new Date(first.getTime() + quarter * quarterMs);
    if (clock.format(candidate) === digestTime) return candidate;
  }
  return first;
}
