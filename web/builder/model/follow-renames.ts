import { isRecord } from '#ast/json.ts';
import { fillPiped, pipedIds } from '#ast/piping.ts';
import type { Settings } from '#ast/settings.ts';
import { allSettingTexts, mapAllSettingTexts } from '#ast/translations/setting-texts.ts';
import { type EditNode, findNode, textOf, walkNodes } from './edit-node.ts';

/** Settings go on naming the elements that they named, by themselves and in texts (`{{id}}`), when an edit gave those other ids. */
export function followRenames(before: EditNode, after: EditNode, settings: Settings): Settings {
  if (before === after) return settings;
  const { subject_element: subject, receipt_email_element: receipt } = settings;
  const { confirmations = [], notifications = [] } = settings;
  const texts = allSettingTexts(settings).flatMap(pipedIds);
  const named = [subject, receipt, ...texts, ...namedIn([confirmations, notifications])];
  const renamed = renamedAmong(new Set(named), before, after);
  if (renamed.size === 0) return settings;
  const follow = (id: string): string => renamed.get(id) ?? id;
  const followIn = (text: string): string => fillPiped(text, (id) => `{{${follow(id)}}}`);
  return {
    ...mapAllSettingTexts(settings, followIn),
    ...(subject && { subject_element: follow(subject) }),
    ...(receipt && { receipt_email_element: follow(receipt) }),
    ...(confirmations.length > 0 && { confirmations: renameIn(confirmations, follow) }),
    ...(notifications.length > 0 && { notifications: renameIn(notifications, follow) }),
  };
}

/** The keys under which conditions and recipients name an element. */
const naming = ['element', 'answer'];

/** The ids that lists of the settings name, in their conditions, as recipients and in their texts. */
function namedIn(value: unknown): string[] {
  if (typeof value === 'string') return pipedIds(value);
  if (Array.isArray(value)) return value.flatMap(namedIn);
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    naming.includes(key) && typeof inner === 'string' ? [inner] : namedIn(inner),
  );
}

/** The same list with other ids in it. */
function renameIn<Value>(value: Value, follow: (id: string) => string): Value {
  const rename = (inner: unknown): unknown => {
    if (typeof inner === 'string') return fillPiped(inner, (id) => `{{${follow(id)}}}`);
    if (Array.isArray(inner)) return inner.map(rename);
    if (!isRecord(inner)) return inner;
    return Object.fromEntries(
      Object.entries(inner).map(([key, part]) => [
        key,
        // What is compared with is an answer, and no text of the form's.
        key === 'value'
          ? part
          : naming.includes(key) && typeof part === 'string'
            ? follow(part)
            : rename(part),
      ]),
    );
  };
  return rename(value) as Value;
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
