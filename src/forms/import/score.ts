import { add, node, type Sketch, type Sketched } from './sketch.ts';
import type { Part } from './source.ts';

/** Adds the sum of what the chosen options count, behind the last question, where any of them counts something. */
export function addScore(sketch: Sketch, wished: string, part: Part, start = 0): string | undefined {
  const counted = [...sketch.origins.keys()].filter(countsPoints).map(({ attrs }) => String(attrs['id']));
  const last = sketch.form.children.at(-1);
  if (counted.length === 0 || !last) return undefined;
  const id = sketch.newId(wished);
  const formula = [...(start === 0 ? [] : [start]), ...counted.map((each) => `points({${each}})`)].join(
    ' + ',
  );
  add(sketch, last, node('calculation', { id, label: 'Score', formula, hidden: true }), part);
  return id;
}

const countsPoints = ({ attrs: { options } }: Sketched): boolean =>
  Array.isArray(options) &&
  options.some(
    (option: string | { points?: number }) => typeof option !== 'string' && option.points !== undefined,
  );
