import { elements } from '#ast/elements.ts';
import { isRecord, own } from '#ast/json.ts';
import type { SummaryKind } from '#ast/types/definition.ts';
import { fileKindOf } from '../filter/file-kinds.ts';
import { tallyHours, tallyMonths } from './tally-moments.ts';
import { tallyNumbers, tallyRows } from './tally-numbers.ts';
import {
  tallyGiven,
  tallyGrid,
  tallyLevels,
  tallyOptions,
  tallyRanking,
  tallyRecommendation,
} from './tally-options.ts';
import { tallyTexts } from './tally-texts.ts';
import type { Asked, Tally } from './tally.ts';

const tallies: Record<SummaryKind, (asked: Asked) => Tally> = {
  texts: tallyTexts,
  numbers: tallyNumbers,
  months: tallyMonths,
  hours: tallyHours,
  options: tallyOptions,
  levels: tallyLevels,
  recommendation: tallyRecommendation,
  ranking: tallyRanking,
  grid: tallyGrid,
  given: tallyGiven,
  yes_no: () => tallyOptions({ options: ['Yes', 'No'], option_labels: {}, rows: [] }),
  files: tallyFiles,
  rows: tallyRows,
  nothing: countOnly,
};

/** A tally for the answers to a question. @param isPrivate of texts that tell who somebody is nothing is said but how many. */
export function openTally(asked: Asked, isPrivate = false): Tally {
  const { summary } = elements[asked.type];
  return summary === 'texts' && isPrivate ? countOnly() : tallies[summary](asked);
}

function countOnly(): Tally {
  return { add() {}, result: () => ({ chart: 'count', bars: [], numbers: null }) };
}

/** How many files of each kind there are; kinds that nobody sent are left out. */
function tallyFiles(): Tally {
  const counts = new Map<string, number>();
  return {
    add(answer) {
      for (const file of Array.isArray(answer) ? (answer as readonly unknown[]) : []) {
        const type = isRecord(file) ? String(own(file, 'content_type')) : '';
        const label = fileKindOf(type);
        counts.set(label, (counts.get(label) ?? 0) + 1);
      }
    },
    result: () => ({
      chart: 'files',
      bars: [...counts].map(([label, count]) => ({ label, count })).sort((a, b) => b.count - a.count),
      numbers: null,
    }),
  };
}
