import { addressOf } from './pictures.ts';
import type { Template } from './templates.ts';

type Beginning = Pick<Template, 'structure' | 'settings'>;

/**
 * A template as a form of a workspace begins with it: each of its pictures is uploaded, once and one after the other, and
 * named by the id that it has there.
 * @param upload sends the drawing at an address, and gives the id of the image.
 */
export async function beginFrom(
  { structure, settings = {} }: Beginning,
  upload: (address: string) => Promise<string>,
): Promise<Required<Beginning>> {
  const text = JSON.stringify({ structure, settings });
  const uploaded = new Map<unknown, string>();
  for (const id of new Set(text.match(/(?<=")[0-9a-f-]{36}(?=")/g))) {
    const address = addressOf(id);
    if (address) uploaded.set(id, await upload(address));
  }
  return JSON.parse(text, (_key, value: unknown) => uploaded.get(value) ?? value) as Required<Beginning>;
}
