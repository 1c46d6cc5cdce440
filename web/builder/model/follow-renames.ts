import type { Settings } from '#ast/settings.ts';
import { type EditNode, findNode, textOf, walkNodes } from './edit-node.ts';

/** The settings that name an element by its id. */
const naming = ['subject_element', 'receipt_email_element'] as const satisfies (keyof Settings)[];

/** Settings go on naming the element that they named, when an edit gave it another id. */
export function followRenames(before: EditNode, after: EditNode, settings: Settings): Settings {
  if (before === after) return settings;
  const renamed = naming.flatMap((name) => {
    const id = settings[name];
    const node =
      id === undefined ? undefined : [...walkNodes(before)].find((each) => textOf(each, 'id') === id);
    const fresh = node && findNode(after, node.key);
    return fresh && textOf(fresh, 'id') !== id ? [[name, textOf(fresh, 'id')] as const] : [];
  });
  return renamed.length === 0 ? settings : { ...settings, ...Object.fromEntries(renamed) };
}
