import { fillPiped, pipedIds } from '#ast/piping.ts';
import type { Settings } from '#ast/settings.ts';
import { allSettingTexts, mapAllSettingTexts } from '#ast/translations/setting-texts.ts';
import { type EditNode, findNode, textOf, walkNodes } from './edit-node.ts';

/** Settings go on naming the elements that they named, by themselves and in texts (`{{id}}`), when an edit gave those other ids. */
export function followRenames(before: EditNode, after: EditNode, settings: Settings): Settings {
  if (before === after) return settings;
  const { subject_element: subject, receipt_email_element: receipt } = settings;
  const named = [subject, receipt, ...allSettingTexts(settings).flatMap(pipedIds)];
  const renamed = renamedAmong(new Set(named), before, after);
  if (renamed.size === 0) return settings;
  const follow = (id: string): string => renamed.get(id) ?? id;
  const followIn = (text: string): string => fillPiped(text, (id) => `{{${follow(id)}}}`);
  return {
    ...mapAllSettingTexts(settings, followIn),
    ...(subject && { subject_element: follow(subject) }),
    ...(receipt && { receipt_email_element: follow(receipt) }),
  };
}

/** The other ids that elements of these ids have now. */
function renamedAmong(
  ids: ReadonlySet<string | undefined>,
  before: EditNode,
  after: EditNode,
): Map<string, string> {
  const renamed = new Map<string, string>();
  for (const node of walkNodes(before)) {
    const id = textOf(node, 'id');
    const fresh = node.type !== 'step' && ids.has(id) && findNode(after, node.key);
    if (fresh && ![id, ''].includes(textOf(fresh, 'id'))) renamed.set(id, textOf(fresh, 'id'));
  }
  return renamed;
}
