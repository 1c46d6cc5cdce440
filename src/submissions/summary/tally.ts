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

/** So many bars, each made from its place. */
export const spread = (length: number, make: (index: number) => Bar): Bar[] =>
  Array.from({ length }, (_, index) => make(index));
