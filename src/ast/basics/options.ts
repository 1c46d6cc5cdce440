import type { Condition } from './condition.ts';
import { defaults } from './defaults.ts';
import { factOf } from './fact-of.ts';
import { trimText } from './text.ts';

/**
 * An option of a question, as its form has it: a text that answers keep and people read, or an id that answers keep and
 * a label that people read, which may change.
 */
export type Option = string | ChoiceOption;

export type ChoiceOption = {
  readonly id: string;
  readonly label: string;
  /** What choosing it counts in a score. */
  readonly points?: number;
  /** The id of an image of the workspace. */
  readonly image?: string;
  /** How many completed submissions may have chosen it; without it, any number. */
  readonly capacity?: number;
  /** While it does not hold, the option is not offered. */
  readonly show_when?: Condition;
};

/** What an answer keeps of an option. */
export const idOf = (option: Option): string => (typeof option === 'string' ? option : option.id);

/** What people read of it. */
export const labelOf = (option: Option): string => (typeof option === 'string' ? option : option.label);

/** The attributes of a question that is answered by options. */
export type Selection = { readonly options: readonly Option[]; readonly other?: boolean };

type Attributes = Readonly<Partial<Selection>> | object;

/** Whether a selection takes one free text besides its options. */
export function otherTaken(attrs: Attributes): boolean {
  return 'options' in attrs && (attrs.other ?? defaults.other);
}

/** The options by their ids, in the form's order; none of what is no selection. There may be hundreds, and a check for each row. */
export const optionsById = factOf(
  (attrs: Attributes): ReadonlyMap<unknown, ChoiceOption> =>
    new Map((('options' in attrs && attrs.options) || []).map(entryOf)),
);

const entryOf = (option: Option): [id: string, option: ChoiceOption] => [idOf(option), written(option)];

/** Whether any of the options counts for something. */
export const havePoints = (attrs: Attributes): boolean =>
  optionsById(attrs)
    .values()
    .some(({ points }) => points !== undefined);

/** An option as if its id and its label had been written down. */
export const written = (option: Option): ChoiceOption =>
  typeof option === 'string' ? { id: option, label: option } : option;

/** The value of the choice that stands for an answer besides the options. */
export const otherChoice = '_other';

/** The name of the control for the text of that answer. */
export function otherName(name: string): string {
  return `${otherChoice}[${name}]`;
}

/** Returns a choice, or a list of them, without invisible characters around a text that is not an option as it stands. */
export function tidyChoices(attrs: Partial<Selection> | object, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((choice) => tidyChoices(attrs, choice));
  return typeof value === 'string' && !optionsById(attrs).has(value) ? trimText(value) : value;
}
