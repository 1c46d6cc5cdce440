import type { AttributeSpecs, AttributesOf } from '../attributes/specs.ts';
import type { JsonSchema } from '../basics/json-schema.ts';
import type { FileAnswer } from '../rules/check-files.ts';
import type { PlainAnswer } from './rules.ts';

/** How the answers to a question are added up (src/submissions/summary/tallies.ts). */
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

/** What is said of an element type in one place: its row in the table of elements. */
export type ElementDefinition = {
  readonly group: 'input' | 'content' | 'composite';
  readonly title: string;
  /** Its picture in the palette, drawn on 20 by 20. */
  readonly icon: string;
  /** Words that people look for it by, beside its title. */
  readonly words: string;
  /** Where the palette shows it, if not with its group and its kind of answer. */
  readonly palette?: 'choice' | 'content';
  /** The label of a new one, where its title does not say enough. */
  readonly firstLabel?: string;
  readonly attrs: AttributeSpecs;
  /** What a new one says besides, so that it is complete. */
  readonly first?: Readonly<Record<string, unknown>>;
  readonly summary: SummaryKind;
  /** How wide its column is in a table of submissions, in px. */
  readonly columnWidth?: number;
  /** Its answers tell who somebody is, whatever is asked (identifies.ts). */
  readonly identifies?: true;
};

/** What has room for words while it is empty. */
type WordControl = 'text' | 'textarea' | 'select' | 'email' | 'tel' | 'url';

/** What is said of an input type besides. */
type InputDefinition<Specs extends AttributeSpecs> = Omit<ElementDefinition, 'group' | 'attrs'> & {
  readonly attrs: Specs;
  /** The HTML control for an answer that is one text. */
  readonly control?: WordControl | 'date' | 'time' | 'datetime-local';
  /** The schema of an answer that is there (docs/rules.md 10), by the author's rules as far as a schema can say them. */
  readonly schema: (attrs: AttributesOf<Specs>) => JsonSchema;
  /** What somebody might answer, the likeliest first; the form's own rules choose. @param today YYYY-MM-DD */
  readonly samples: (attrs: AttributesOf<Specs>, today: string) => (PlainAnswer | FileAnswer[])[];
};

/** The row of an input type. */
export const inputType = <const Specs extends AttributeSpecs>(definition: InputDefinition<Specs>) =>
  ({ group: 'input', ...definition }) as const;
