import { isRecord } from '#ast/json.ts';
import { optionLabel } from '../columns.ts';
import type { Bar } from '../shapes.ts';
import { tallyNumbers } from './tally-numbers.ts';
import type { Asked, Tally } from './tally.ts';

/** Answers that were never an option (an older version's) are counted up to so many different ones. */
const otherOptions = 20;

/** One bar an option in the form's order, also for those that nobody chose; what is no option any more comes last. */
export function tallyOptions(asked: Omit<Asked, 'type'>): Tally {
  const { options } = asked;
  const counts = new Map(options.map((option) => [option, 0]));
  const addOne = (option: string): void => {
    const count = counts.get(option);
    if (count !== undefined || counts.size < options.length + otherOptions)
      counts.set(option, (count ?? 0) + 1);
  };
  return {
    add(answer) {
      if (typeof answer === 'boolean') addOne(answer ? 'Yes' : 'No');
      for (const choice of Array.isArray(answer) ? answer : [answer])
        if (typeof choice === 'string') addOne(choice);
    },
    result: () => ({
      chart: 'options',
      bars: [...counts].map(([option, count]) => ({ ...barOf(asked, option), count })),
      numbers: null,
    }),
  };
}

/** An option as people read it, and what answers keep of it, where that is another text. */
function barOf(asked: Omit<Asked, 'type'>, option: string): Pick<Bar, 'label' | 'option'> {
  const label = optionLabel(asked, option);
  return { label, ...(label !== option && { option }) };
}

/** How many agreed, or signed; who did not gave no answer. */
export function tallyGiven({ type }: Asked): Tally {
  let count = 0;
  return {
    add(answer) {
      if (isRecord(answer) || Array.isArray(answer)) count += 1;
    },
    result: () => ({
      chart: 'given',
      bars: [{ label: type === 'consent' ? 'Agreed' : 'Signed', count }],
      numbers: null,
    }),
  };
}

/** One bar a level, also for those that nobody chose, and what they come to. */
export function tallyLevels(asked: Asked): Tally {
  const [levels, numbers] = [tallyOptions(asked), tallyNumbers()];
  return {
    add(answer) {
      if (typeof answer !== 'number') return;
      levels.add(String(answer));
      numbers.add(answer);
    },
    result() {
      const bars = levels.result().bars.map(atLevel);
      return { chart: 'levels', bars, numbers: numbers.result().numbers };
    },
  };
}

/** A level is a number, as which its answers are found. */
function atLevel(bar: Bar): Bar {
  const level = Number(bar.label);
  return bar.count > 0 ? { ...bar, from: level, to: level } : bar;
}

/** From 0 to 10, a scale says how many recommend and how many advise against; of other lengths it is levels. */
export function tallyRecommendation(asked: Asked): Tally {
  const levels = tallyLevels(asked);
  if (asked.options[0] !== '0' || asked.options.at(-1) !== '10') return levels;
  return {
    add: (answer) => levels.add(answer),
    result() {
      const { bars, numbers } = levels.result();
      const countOf = (from: number, to: number): number =>
        bars.reduce(
          (sum, { label, count }) => (Number(label) >= from && Number(label) <= to ? sum + count : sum),
          0,
        );
      const all = countOf(0, 10);
      const score = all === 0 ? undefined : Math.round((100 * (countOf(9, 10) - countOf(0, 6))) / all);
      return { chart: 'recommendation', bars, numbers, ...(score !== undefined && { score }) };
    },
  };
}

/** How often each option came first, and its mean place, the best first. */
export function tallyRanking(asked: Asked): Tally {
  const found = new Map(asked.options.map((option) => [option, { first: 0, places: 0, count: 0 }]));
  return {
    add(answer) {
      for (const [index, option] of (Array.isArray(answer) ? (answer as readonly unknown[]) : []).entries()) {
        const of = typeof option === 'string' ? found.get(option) : undefined;
        if (!of) continue;
        of.first += Number(index === 0);
        of.places += index + 1;
        of.count += 1;
      }
    },
    result: () => ({
      chart: 'ranking',
      bars: [...found]
        .map(([option, { first, places, count }]) => ({
          ...barOf(asked, option),
          count: first,
          ...(count > 0 && { mean: places / count }),
        }))
        .sort((a, b) => (a.mean ?? Infinity) - (b.mean ?? Infinity)),
      numbers: null,
    }),
  };
}

/** The options of each row. */
export function tallyGrid(asked: Asked): Tally {
  const counts = new Map(
    asked.rows.map(({ id, label }) => [id, { label, answered: 0, tally: tallyOptions(asked) }]),
  );
  return {
    add(answer) {
      for (const [id, cell] of Object.entries(isRecord(answer) ? answer : {})) {
        const row = counts.get(id);
        if (!row) continue;
        row.answered += 1;
        row.tally.add(cell);
      }
    },
    result: () => ({
      chart: 'grid',
      bars: [],
      rows: [...counts].map(([id, { label, answered, tally }]) => ({
        id,
        label,
        answered,
        bars: tally.result().bars,
      })),
      numbers: null,
    }),
  };
}
