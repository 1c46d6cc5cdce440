import type { InputElement } from '#ast/form/tree.ts';
import { alignMoments } from '#ast/rules/moments.ts';

type Moment = Extract<InputElement, { type: 'date' | 'datetime' | 'time' }>;

/**
 * Where a calendar begins and ends: for the page's script, which tells the browser. Without it the browser would
 * refuse a day beyond these in its own words. `today` is YYYY-MM-DD.
 */
export function momentHints(
  { type, attrs }: Moment,
  today: string,
): Readonly<Record<string, string | undefined>> {
  const limit = (moment: string | undefined, timeOfDay: string): string | undefined => {
    if (moment === undefined) return undefined;
    const [, aligned] = alignMoments('', moment, today);
    return type === 'datetime' && aligned.length === 10 ? `${aligned}T${timeOfDay}` : aligned;
  };
  return { 'data-min': limit(attrs.min, '00:00'), 'data-max': limit(attrs.max, '23:59') };
}
