/** A receiver may put us off for no longer than this, in seconds: else one wrong header would end a delivery. */
const longestWait = 3_600;

/**
 * How long a receiver asks us to wait, in seconds, at most an hour. RFC 9110 10.2.3: a number of seconds or a date.
 * @returns undefined for what is neither, and for what is over already.
 */
export function readRetryAfter(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim() ?? '';
  const seconds = /^\d+$/.test(text) ? Number(text) : secondsUntil(text, now);
  return seconds !== undefined && seconds > 0 ? Math.min(seconds, longestWait) : undefined;
}

const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

function secondsUntil(text: string, now: Date): number | undefined {
  if (!httpDate.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : Math.ceil((time - now.getTime()) / 1_000);
}
