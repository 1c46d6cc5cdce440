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

/** The drawings of the templates, by the placeholder id used until each is uploaded. */
const addresses: ReadonlyMap<string, string> = new Map(
  // Each URL is written out, so that the console's build finds it.
  [
    new URL('./pictures/plain-weave.svg', import.meta.url),
    new URL('./pictures/twill-weave.svg', import.meta.url),
    new URL('./pictures/satin-weave.svg', import.meta.url),
    new URL('./pictures/stripes.svg', import.meta.url),
    new URL('./pictures/checks.svg', import.meta.url),
    new URL('./pictures/herringbone.svg', import.meta.url),
    new URL('./pictures/garland.svg', import.meta.url),
    new URL('./pictures/fairground.svg', import.meta.url),
  ].map(({ href }, index) => [`00000000-0000-0000-0000-${String(index + 1).padStart(12, '0')}`, href]),
);

/** Returns the URL of the drawing with a placeholder id. Undefined for any other id. */
export const drawingUrl = (id: string | undefined): string | undefined =>
  id === undefined ? undefined : addresses.get(id);

type TemplateContent = Pick<Template, 'structure' | 'settings'>;

/**
 * Prepares a template for a workspace: uploads each of its images once, one at a time, and replaces the ids.
 * @param upload uploads the drawing at a URL, and returns the id of the image.
 */
export async function prepareTemplate(
  { structure, settings = {} }: TemplateContent,
  upload: (address: string) => Promise<string>,
): Promise<Required<TemplateContent>> {
  const text = JSON.stringify({ structure, settings });
  const uploaded = new Map<unknown, string>();
  for (const id of new Set(text.match(/(?<=")[0-9a-f-]{36}(?=")/g))) {
    const address = drawingUrl(id);
    if (address) uploaded.set(id, await upload(address));
  }
  return JSON.parse(
    text,
    (_key, value: unknown) => uploaded.get(value) ?? value,
  ) as Required<TemplateContent>;
}
