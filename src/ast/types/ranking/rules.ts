import { optionsById, type Selection } from '../../basics/options.ts';
import { accept, refuse } from '../rules.ts';

/** Every option once, the best first. */
export const rules = {
  kind: 'order',
  noun: 'order',
  check: (attrs: Selection, value: unknown) => {
    const options = optionsById(attrs);
    const places: readonly unknown[] = Array.isArray(value) ? value : [];
    const ranked = new Set(places.filter((option): option is string => options.has(option)));
    return ranked.size === options.size && places.length === options.size
      ? accept([...ranked])
      : refuse('order');
  },
} as const;
