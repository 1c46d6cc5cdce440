import type { ElementType } from '#ast/elements.ts';
import type { Column } from '../columns.ts';
import type { Bar, ElementSummary } from '../shapes.ts';

/** Adds up the answers to one question, one at a time, in memory that does not grow with free text. */
export type Tally = {
  add(answer: unknown): void;
  result(): Pick<ElementSummary, 'chart' | 'bars' | 'rows' | 'numbers' | 'score'>;
};

/** The question that is answered, as its column has it. */
export type Asked = { type: ElementType } & Pick<Column, 'options' | 'option_labels' | 'rows'>;

/** Counts an answer that has an order among those of its bar, which then says from where to where they go. */
export function addTo<Answer extends number | string>(bar: Spanned<Answer>, answer: Answer): void {
  bar.count += 1;
  if (bar.from === undefined || answer < bar.from) bar.from = answer;
  if (bar.to === undefined || answer > bar.to) bar.to = answer;
}

/** A bar without its label, while it is counted. */
export type Spanned<Answer extends number | string> = { count: number; from?: Answer; to?: Answer };

/** So many bars, each made from its place. */
export const spread = (length: number, make: (index: number) => Bar): Bar[] =>
  Array.from({ length }, (_, index) => make(index));
