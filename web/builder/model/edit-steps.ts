import { isRecord } from '#ast/basics/json.ts';
import { fillPiped, pipedIds } from '#ast/form/piping.ts';
import type { Settings } from '#ast/settings.ts';
import {
  type FormText,
  namedLanguages,
  type TextChange,
  tidyTranslations,
  translated,
  translateSettings,
} from '#ast/texts.ts';
import { allSettingTexts, keepLanguages, mapAllSettingTexts } from '#ast/translations/check-translations.ts';
import { mayHold } from './drop-place.ts';
import { setAttribute } from './edit.ts';
import { type EditNode, findNode, type NodeKey, nodeAt, textOf, walkNodes } from './edit-node.ts';
import { jumpsOf } from './references.ts';

/* What a person can do to whole steps, by the rules of edit.ts. */

/**
 * Moves all that a step holds to the end of the step before it, and takes the step away. When the step was shown goes
 * to each element of it, and where it led to the step before it.
 */
export function mergeStep(root: EditNode, key: NodeKey): EditNode {
  const index = root.children.findIndex((step) => step.key === key);
  const step = root.children[index];
  const before = root.children[index - 1];
  if (!step || !before) return root;
  const jumps = [...jumpsOf(before), ...jumpsOf(step)];
  const merged = {
    ...before,
    attrs: jumps.length === 0 ? before.attrs : { ...before.attrs, jumps },
    children: [...before.children, ...step.children.map((child) => withConditionsOf(step, child))],
  };
  return { ...root, children: root.children.toSpliced(index - 1, 2, merged) };
}

/** An element that is shown only while a step would be: what hides either of them hides it. */
function withConditionsOf(step: EditNode, child: EditNode): EditNode {
  const shown = joinConditions('all', step.attrs['show_when'], child.attrs['show_when']);
  const hidden = joinConditions('any', step.attrs['hide_when'], child.attrs['hide_when']);
  return {
    ...child,
    attrs: {
      ...child.attrs,
      ...(shown !== undefined && { show_when: shown }),
      ...(hidden !== undefined && { hide_when: hidden }),
    },
  };
}

/** Two conditions as one. Groups of the same mode become one group, so that many merges do not nest ever deeper. */
function joinConditions(mode: 'all' | 'any', ...conditions: readonly unknown[]): unknown {
  const [one, other] = conditions.filter((condition) => condition !== undefined);
  if (other === undefined) return one;
  const partsOf = (condition: unknown): readonly unknown[] =>
    isRecord(condition) && Array.isArray(condition[mode]) ? condition[mode] : [condition];
  return { [mode]: [...partsOf(one), ...partsOf(other)] };
}

/**
 * Takes everything from an element of a step on into a step of its own behind it, which is shown when the whole step
 * was, and leads where it led.
 */
export function splitStep(root: EditNode, key: NodeKey, step: EditNode): EditNode {
  const index = root.children.findIndex(({ children }) => children.some((child) => child.key === key));
  const whole = root.children[index];
  if (!whole || !mayHold(root, root.key, step)) return root;
  const at = whole.children.findIndex((child) => child.key === key);
  const { jumps, ...attrs } = whole.attrs;
  const { show_when, hide_when } = whole.attrs;
  const first = { ...whole, attrs, children: whole.children.slice(0, at) };
  const second = {
    ...step,
    attrs: {
      ...step.attrs,
      ...(show_when !== undefined && { show_when }),
      ...(hide_when !== undefined && { hide_when }),
      ...(jumps !== undefined && { jumps }),
    },
    children: whole.children.slice(at),
  };
  return { ...root, children: root.children.toSpliced(index, 1, first, second) };
}

/** What texts are changed in. */
type Document = { readonly root: EditNode; readonly settings: Settings };

/** A text said in another language, or with '' not any more. */
export function translateText(
  { root, settings }: Document,
  text: FormText,
  language: string,
  to: string,
): Document {
  const change: TextChange = { text, language, to: to.trim() === '' ? undefined : to };
  if (text.path === undefined) return { root, settings: translateSettings(settings, [change]) };
  const node = nodeAt(root, text.path);
  const { translations } = translated<{ translations?: unknown }>(node.attrs, [change]);
  return { root: setAttribute(root, node.key, 'translations', translations), settings };
}

/** Many at once, as a file of them brings. */
export const translateAll = (document: Document, changes: readonly TextChange[]): Document =>
  changes.reduce<Document>(
    (now, { text, language, to }) => translateText(now, text, language, to ?? ''),
    document,
  );

/**
 * The form in these languages, of which the first is that of its texts; what was said in one that went goes with it.
 * Without any, it does not say in which it is written.
 */
export function setLanguages({ root, settings }: Document, languages: readonly string[]): Document {
  const renamed = setAttribute(root, root.key, 'languages', languages.length === 0 ? undefined : languages);
  const known = namedLanguages(renamed);
  const { confirmations, ...rest } = keepLanguages(settings, known.slice(1));
  return {
    root: tidyAll(renamed, known),
    settings: {
      ...rest,
      ...(confirmations && {
        confirmations: confirmations.map((each) => keepLanguages(each, known.slice(1))),
      }),
    },
  };
}

function tidyAll(node: EditNode, languages: readonly string[]): EditNode {
  const children = node.children.map((child) => tidyAll(child, languages));
  const isSame = children.every((child, index) => child === node.children[index]);
  const { translations, ...attrs } = node.attrs;
  if (translations === undefined) return isSame ? node : { ...node, children };
  const kept = tidyTranslations(node, languages);
  return { ...node, attrs: kept ? { ...attrs, translations: kept } : attrs, children };
}

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
