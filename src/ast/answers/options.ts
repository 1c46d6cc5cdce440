import { defaults } from '../attributes/defaults.ts';

/** The attributes of a question that is answered by options. */
export type Selection = { readonly options: readonly string[]; readonly other?: boolean };

type Attributes = Readonly<Partial<Selection>> | object;

/** Whether a selection takes one free text besides its options. */
export function otherTaken(attrs: Attributes): boolean {
  return 'options' in attrs && (attrs.other ?? defaults.other);
}

// A form never changes; there may be hundreds of options, and a check for each row.
const optionSets = new WeakMap<Attributes, ReadonlySet<unknown>>();

/** The options, to ask whether something is one of them; none of what is no selection. */
export function optionSetOf(attrs: Attributes): ReadonlySet<unknown> {
  const options = optionSets.get(attrs) ?? new Set('options' in attrs ? attrs.options : []);
  optionSets.set(attrs, options);
  return options;
}
