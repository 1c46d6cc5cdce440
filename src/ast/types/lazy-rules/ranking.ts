import { type ChoiceAttributes, optionsById } from '../../basics/options.ts';
import { acceptAnswer, refuseAnswer } from '../rules.ts';

/** Every option once, the best first. */
export const rules = {
  kind: 'order',
  noun: 'order',
  check: (attrs: ChoiceAttributes, value: unknown) => {
    const options = optionsById(attrs);
    const places: readonly unknown[] = Array.isArray(value) ? value : [];
    const ranked = new Set(places.filter((option): option is string => options.has(option)));
    return ranked.size === options.size && places.length === options.size
      ? acceptAnswer([...ranked])
      : refuseAnswer('order');
  },
} as const;
