import { drawingUrl } from './pictures.ts';
import type { Template } from './templates.ts';

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
