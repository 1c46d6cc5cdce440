import { sayCount } from '#ast/say-count.ts';

/** How a limit in time is given. */
export const ways = ['none', 'fixed', 'before', 'after'] as const;
export type Way = (typeof ways)[number];

/** How a stored limit reads: `today-18` is 18 days before today. */
export function readMoment(text: string): { readonly way: Way; readonly days: number } {
  if (text === '') return { way: 'none', days: 0 };
  const [isRelative, sign, days] = /^today(?:([+-])(\d+))?$/.exec(text) ?? [];
  if (isRelative === undefined) return { way: 'fixed', days: 0 };
  return { way: sign === '+' ? 'after' : 'before', days: Number(days ?? 0) };
}

/** A limit in words: `today-18` is `18 days before today`; a fixed one stays as it is. */
export function sayMoment(text: string): string {
  const { way, days } = readMoment(text);
  if (way !== 'before' && way !== 'after') return text;
  if (days === 0) return 'today';
  return `${sayCount(days, 'day')} ${way} today`;
}
