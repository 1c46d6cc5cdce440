import type { InputElement } from '#ast/form/tree.ts';
import { toComparableMoments } from '#ast/rules/moments.ts';

type Moment = Extract<InputElement, { type: 'date' | 'datetime' | 'time' }>;

/**
 * Returns the earliest and latest day of a calendar as data attributes. The page's script applies them;
 * otherwise browsers would show their own messages for other days. `today` is YYYY-MM-DD.
 */
export function momentLimitAttributes(
  { type, attrs }: Moment,
  today: string,
): Readonly<Record<string, string | undefined>> {
  const limit = (moment: string | undefined, timeOfDay: string): string | undefined => {
    if (moment === undefined) return undefined;
    const [, aligned] = toComparableMoments('', moment, today);
    return type === 'datetime' && aligned.length === 10 ? `${aligned}T${timeOfDay}` : aligned;
  };
  return { 'data-min': limit(attrs.min, '00:00'), 'data-max': limit(attrs.max, '23:59') };
}
