import type { DigestMode } from '#ast/settings.ts';

const hourMs = 3_600_000;
/** The hour of the day, in the form's time zone, at which a daily digest leaves. */
const digestHour = 8;

/** When the digest leaves that gathers what is submitted now: at the next full hour, or at the next 08:00. */
export function nextDigest(at: Date, mode: Exclude<DigestMode, 'each'>, timeZone = 'UTC'): Date {
  const next = new Date(Math.floor(at.getTime() / hourMs + 1) * hourMs);
  if (mode === 'hourly') return next;
  const hour = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', hourCycle: 'h23', timeZone });
  // On a day of 23 hours an hour of the clock may be missing: then the next day's, at most 48 hours away.
  for (let step = 0; step < 48; step += 1) {
    const candidate = new Date(next.getTime() + step * hourMs);
    if (Number(hour.format(candidate)) === digestHour) return candidate;
  }
  return next;
}
