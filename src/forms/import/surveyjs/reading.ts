import type { Speaker } from './languages.ts';
import type { Sketch } from '../sketch.ts';

/** What reading a survey goes by. */
export type SurveyReading = Speaker & {
  readonly sketch: Sketch;
  /** Elements by their names, for conditions: those of rows too, under `panel.` and `row.`. */
  readonly named: Map<string, { element: string; type: string }>;
  /** What can only be read when every element is known. */
  readonly later: (() => void)[];
};
