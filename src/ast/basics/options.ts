import type { Condition } from './condition.ts';
import { attributeDefaults } from './defaults.ts';
import { memoizeByObject } from './memoize.ts';
import { trimText } from './text.ts';

/** An option of a question: a text that is stored and shown, or a stored ID with a changeable label. */
export type Option = string | ChoiceOption;

export type ChoiceOption = {
  readonly id: string;
  readonly label: string;
  /** The points for choosing the option, which are added to a score. */
  readonly points?: number;
  /** The ID of an image in the workspace. */
  readonly image?: string;
  /** The number of completed submissions that can choose the option. There is no limit by default. */
  readonly capacity?: number;
  /** The option is offered only if this condition is true. */
  readonly show_when?: Condition;
};

/** Returns the part of an option that answers store. */
export const optionIdOf = (option: Option): string => (typeof option === 'string' ? option : option.id);

/** Returns the part of an option that people read. */
export const optionLabelOf = (option: Option): string => (typeof option === 'string' ? option : option.label);

/** The attributes of a question with options. */
export type ChoiceAttributes = { readonly options: readonly Option[]; readonly other?: boolean };

type Attributes = Readonly<Partial<ChoiceAttributes>> | object;

/** Returns whether a selection accepts free text in addition to its options. */
export function allowsOtherChoice(attrs: Attributes): boolean {
  return 'options' in attrs && (attrs.other ?? attributeDefaults.other);
}

/** Returns the options by ID, in form order. Cached, because every row checks hundreds of options. */
export const optionsById = memoizeByObject(
  (attrs: Attributes): ReadonlyMap<unknown, ChoiceOption> =>
    new Map((('options' in attrs && attrs.options) || []).map(entryOf)),
);

const entryOf = (option: Option): [id: string, option: ChoiceOption] => [
  optionIdOf(option),
  toChoiceOption(option),
];

/** Returns whether any option has points. */
export const havePoints = (attrs: Attributes): boolean =>
  optionsById(attrs)
    .values()
    .some(({ points }) => points !== undefined);

/** Converts a string option to an option with an ID and a label. */
export const toChoiceOption = (option: Option): ChoiceOption =>
  typeof option === 'string' ? { id: option, label: option } : option;

/** The value of the option "Other". */
export const otherChoice = '_other';

/** Returns the name of the control for the free text of "Other". */
export function otherControlName(name: string): string {
  return `${otherChoice}[${name}]`;
}

/** Trims invisible characters around each choice, unless the choice is an option as it was sent. */
export function tidyChoices(attrs: Partial<ChoiceAttributes> | object, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((choice) => tidyChoices(attrs, choice));
  return typeof value === 'string' && !optionsById(attrs).has(value) ? trimText(value) : value;
}
