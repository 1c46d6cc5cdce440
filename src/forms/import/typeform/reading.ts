import type { Condition } from '#ast/logic/condition.ts';
import type { Confirmation } from '#ast/settings-by-condition.ts';
import type { Sketch, Sketched } from '../sketch.ts';
import type { Part } from '../source.ts';

/** What reading a form of Typeform goes by. */
export type Reading = {
  sketch: Sketch;
  /** Our ids by theirs. */
  refs: ReadonlyMap<string, string>;
  write: (text: string) => string;
  elements: Map<string, Sketched>;
  /** The labels of choices, by their refs. */
  choices: Map<string, string>;
  /** What choosing an option counts, by its label. */
  points: Map<Sketched, Map<string, number>>;
  /** The step that a field is asked in, by its ref. */
  steps: Map<string, Sketched>;
  endings: Map<string, Ending>;
};

/** What a visitor sees at the end, and when, where that is said. */
export type Ending = { part: Part; when: Condition[]; isUsual: boolean; show: Omit<Confirmation, 'when'> };
