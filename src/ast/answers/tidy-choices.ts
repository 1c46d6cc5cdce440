import { trimText } from '../text.ts';
import { optionsById, type Selection } from './options.ts';

/** Returns a choice, or a list of them, without invisible characters around a text that is not an option as it stands. */
export function tidyChoices(attrs: Partial<Selection> | object, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((choice) => tidyChoices(attrs, choice));
  return typeof value === 'string' && !optionsById(attrs).has(value) ? trimText(value) : value;
}
