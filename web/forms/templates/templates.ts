import { elementDefinitions } from '#ast/form/elements.ts';
import { type Form, walkElements } from '#ast/form/tree.ts';
import type { Settings } from '#ast/settings.ts';
import eventsAndOrders from './events-and-orders.json' with { type: 'json' };
import opinionsAndQuizzes from './opinions-and-quizzes.json' with { type: 'json' };
import toBeginWith from './to-begin-with.json' with { type: 'json' };

/** A form to start from: its title in the gallery, its structure and its settings. */
export type Template = {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly structure: Form;
  readonly settings?: Settings;
};
type TemplateGroup = { readonly title: string; readonly templates: readonly Template[] };

/**
 * The templates by group, in display order. TypeScript types strings in JSON as plain strings, so
 * templates.test.ts validates each structure and its settings.
 */
export const templateGroups = [
  toBeginWith,
  opinionsAndQuizzes,
  eventsAndOrders,
] as unknown as readonly TemplateGroup[];
export const templates: readonly Template[] = templateGroups.flatMap((group) => group.templates);

/** Returns the searchable text of a template: titles, labels and question types. */
export function searchTextOf({ title, description, structure }: Template): string {
  const elementTexts = [...walkElements(structure)].map(({ element: { type, attrs } }) => {
    const { title: kind, words } = elementDefinitions[type];
    return `${attrs && 'label' in attrs ? attrs.label : ''} ${kind} ${words}`;
  });
  return [title, description, structure.attrs.name, ...elementTexts].join(' ').toLowerCase();
}
