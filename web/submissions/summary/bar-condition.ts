import type { Bar, ElementSummary } from '#submissions/shapes.ts';
import type { ElementType } from '#ast/elements.ts';
import { type Condition, kindOfColumn } from '../filter/conditions.ts';

/**
 * What a filter asks for, so that the submissions that a bar counts are found. Undefined where no filter can say it: of
 * questions in rows, files, places in a ranking, and of bars that count nothing.
 * @param row of a matrix, the row whose options the bars are.
 */
export function barCondition(
  { id, group, chart, type }: Pick<ElementSummary, 'id' | 'group' | 'chart' | 'type'>,
  bar: Bar,
  row?: string,
): Condition | undefined {
  if (group !== null || bar.count === 0) return undefined;
  const answer = { on: 'answer', name: id } as const;
  const option = bar.option ?? bar.label;
  switch (chart) {
    case 'options': {
      const kind = kindOfColumn({ type: type as ElementType });
      if (kind === 'yes_no') return { ...answer, op: 'equals', value: option === 'Yes' };
      if (kind === 'text') return { ...answer, op: 'equals', value: option };
      return kind === 'choice' || kind === 'choices' ? { ...answer, op: 'any', values: [option] } : undefined;
    }
    case 'grid':
      return row === undefined ? undefined : { ...answer, row, op: 'any', values: [option] };
    case 'texts':
      return { ...answer, op: 'equals', value: bar.label };
    case 'given':
      return { ...answer, op: 'filled' };
    case 'histogram':
    case 'levels':
    case 'recommendation':
      return typeof bar.from === 'number' && typeof bar.to === 'number'
        ? { ...answer, op: 'number', from: bar.from, to: bar.to }
        : undefined;
    case 'months':
    case 'hours':
      return typeof bar.from === 'string' && typeof bar.to === 'string'
        ? { ...answer, op: 'time', from: bar.from, to: bar.to }
        : undefined;
    case 'ranking':
    case 'files':
    case 'rows':
    case 'count':
      return undefined;
    default:
      return chart satisfies never;
  }
}
