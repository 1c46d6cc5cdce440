import { trimText } from '#ast/text.ts';
import type { Tally } from './tally.ts';

/** Different texts that are counted, of so many characters each: others come once, or are long. */
const mostTexts = 5_000;
const longestText = 100;
/** Those that were written most are shown. */
const mostBars = 10;

/** Texts that were written more than once, the most frequent first: white space around them and their case aside. */
export function tallyTexts(): Tally {
  const counts = new Map<string, { label: string; count: number }>();
  return {
    add(answer) {
      if (typeof answer !== 'string') return;
      const label = trimText(answer);
      if (label === '' || label.length > longestText) return;
      const key = label.toLowerCase();
      const counted = counts.get(key);
      if (counted) counted.count += 1;
      else if (counts.size < mostTexts) counts.set(key, { label, count: 1 });
    },
    result: () => ({
      chart: 'texts',
      bars: [...counts.values()]
        .filter(({ count }) => count > 1)
        .sort((a, b) => b.count - a.count)
        .slice(0, mostBars),
      numbers: null,
    }),
  };
}
