import type { AttributeSpecs, AttributesOf } from '../attributes/specs.ts';
import type { JsonSchema } from '../basics/json-schema.ts';
import type { FileAnswer } from '../rules/check-files.ts';
import type { PlainAnswer } from './rules.ts';

/** How the answers to a question are summarized (src/submissions/summary/summarise.ts). */
export type SummaryKind =
  | 'texts'
  | 'numbers'
  | 'months'
  | 'hours'
  | 'options'
  | 'levels'
  | 'recommendation'
  | 'ranking'
  | 'grid'
  | 'given'
  | 'yes_no'
  | 'files'
  | 'rows'
  | 'nothing';

/** The row of an element type in the elements table. */
export type ElementDefinition = {
  readonly group: 'input' | 'content' | 'composite';
  readonly title: string;
  /** The icon in the palette, drawn on a 20 × 20 grid. */
  readonly icon: string;
  /** Search words besides the title. */
  readonly words: string;
  /** The section of the palette, if it differs from the group and kind of the type. */
  readonly palette?: 'choice' | 'content';
  /** The label of a new element, if the title is not enough. */
  readonly firstLabel?: string;
  readonly attrs: AttributeSpecs;
  /** Additional attributes of a new element, so that it is complete. */
  readonly first?: Readonly<Record<string, unknown>>;
  readonly summary: SummaryKind;
  /** The width of its column in a table of submissions, in px. */
  readonly columnWidth?: number;
  /** Its answers always identify a person (identifies.ts). */
  readonly identifies?: true;
};

/** Controls that can show a placeholder. */
type WordControl = 'text' | 'textarea' | 'select' | 'email' | 'tel' | 'url';

/** The additional properties of an input type. */
type InputDefinition<Specs extends AttributeSpecs> = Omit<ElementDefinition, 'group' | 'attrs'> & {
  readonly attrs: Specs;
  /** The HTML control of an answer that is one text. */
  readonly control?: WordControl | 'date' | 'time' | 'datetime-local';
  /** The schema of a present answer (docs/rules.md 10), with the rules that a schema can express. */
  readonly schema: (attrs: AttributesOf<Specs>) => JsonSchema;
  /**
   * Returns sample answers, the most likely first. The form's rules select among them.
   * @param today YYYY-MM-DD
   */
  readonly samples: (attrs: AttributesOf<Specs>, today: string) => (PlainAnswer | FileAnswer[])[];
};

/** Defines the row of an input type. */
export const defineInputType = <const Specs extends AttributeSpecs>(definition: InputDefinition<Specs>) =>
  ({ group: 'input', ...definition }) as const;
