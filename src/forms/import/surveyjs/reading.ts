import type { Speaker } from './languages.ts';
import type { Sketch, Sketched } from '../sketch.ts';
import type { Part } from '../source.ts';

/** What an expression names: an element, and for a boolean the values that stand for yes and no in the survey. */
export type Named = { element: string; made: Sketched; yes: string; no: string };

/** What reading a survey goes by. */
export type SurveyReading = Speaker & {
  readonly sketch: Sketch;
  /** Elements by their names, for conditions: those of rows too, under `panel.` and `row.`. */
  readonly named: Map<string, Named>;
  /** What can only be read when every element is known. */
  readonly later: (() => void)[];
  /** The matrix whose columns are read: what they do not say of themselves, it does. */
  readonly matrix?: Part;
};
