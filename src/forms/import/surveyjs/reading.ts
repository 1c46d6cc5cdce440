import type { Speaker } from './languages.ts';
import type { Sketch } from '../sketch.ts';
import type { Part } from '../source.ts';

/** What reading a survey goes by. */
export type SurveyReading = Speaker & {
  readonly sketch: Sketch;
  /** Elements by their names, for conditions: those of rows too, under `panel.` and `row.`. */
  readonly named: Map<string, { element: string; type: string }>;
  /** What can only be read when every element is known. */
  readonly later: (() => void)[];
  /** The matrix whose columns are read: what they do not say of themselves, it does. */
  readonly matrix?: Part;
};
