import { isRecord } from '#ast/basics/json.ts';
import { fillPiped, pipedIds } from '#ast/form/piping.ts';
import type { Settings } from '#ast/settings.ts';
import {
  applySettingsTranslations,
  applyTextChanges,
  dropStaleTranslations,
  type FormText,
  languagesOfStructure,
  type TextChange,
} from '#ast/texts.ts';
import {
  allSettingTexts,
  dropRemovedLanguages,
  mapAllSettingTexts,
  textLists,
} from '#ast/translations/check-translations.ts';
import { setAttribute } from './edit.ts';
import { type EditNode, findNode, type NodeKey, nodeAt, textOf, walkNodes } from './edit-node.ts';
import { canContain } from './node-positions.ts';
import { jumpsOf } from './references.ts';

/* Operations on whole steps, with the same conventions as in edit.ts. */

/**
 * Moves all elements of a step to the end of the previous step, and removes the step. The step's conditions
 * move to each element, and its jumps to the previous step.
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

/** Adds the conditions of a step to an element. The element is hidden if either condition hides it. */
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

/**
 * Combines two conditions. Merges groups that have the same mode, so that repeated merges do not nest deeper.
 */
function joinConditions(mode: 'all' | 'any', ...conditions: readonly unknown[]): unknown {
  const [one, other] = conditions.filter((condition) => condition !== undefined);
  if (other === undefined) return one;
  const partsOf = (condition: unknown): readonly unknown[] =>
    isRecord(condition) && Array.isArray(condition[mode]) ? condition[mode] : [condition];
  return { [mode]: [...partsOf(one), ...partsOf(other)] };
}

/**
 * Moves an element and everything after it into a new step. The new step gets the conditions and the jumps of
 * the original.
 */
export function splitStep(root: EditNode, key: NodeKey, step: EditNode): EditNode {
  const index = root.children.findIndex(({ children }) => children.some((child) => child.key === key));
  const whole = root.children[index];
  if (!whole || !canContain(root, root.key, step)) return root;
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

/** The parts of a form that contain texts. */
type Document = { readonly root: EditNode; readonly settings: Settings };

/** Sets the translation of a text. An empty string removes it. */
export function setTranslation(
  { root, settings }: Document,
  text: FormText,
  language: string,
  to: string,
): Document {
  const change: TextChange = { text, language, to: to.trim() === '' ? undefined : to };
  if (text.path === undefined) return { root, settings: applySettingsTranslations(settings, [change]) };
  const node = nodeAt(root, text.path);
  const { translations } = applyTextChanges<{ translations?: unknown }>(node.attrs, [change]);
  return { root: setAttribute(root, node.key, 'translations', translations), settings };
}

/** Sets many translations, for example from an imported file. */
export const setTranslations = (document: Document, changes: readonly TextChange[]): Document =>
  changes.reduce<Document>(
    (now, { text, language, to }) => setTranslation(now, text, language, to ?? ''),
    document,
  );

/**
 * Sets the languages of the form; the first is the original. Removes translations of languages that are no
 * longer listed. An empty list leaves the original language undefined.
 */
export function setLanguages({ root, settings }: Document, languages: readonly string[]): Document {
  const renamed = setAttribute(root, root.key, 'languages', languages.length === 0 ? undefined : languages);
  const known = languagesOfStructure(renamed);
  const kept = dropRemovedLanguages(settings, known.slice(1));
  const lists = textLists.flatMap((list) => {
    const entries: readonly { readonly translations?: object }[] | undefined = kept[list];
    return entries ? [[list, entries.map((each) => dropRemovedLanguages(each, known.slice(1)))]] : [];
  });
  return { root: tidyAll(renamed, known), settings: { ...kept, ...Object.fromEntries(lists) } };
}

function tidyAll(node: EditNode, languages: readonly string[]): EditNode {
  const children = node.children.map((child) => tidyAll(child, languages));
  const isSame = children.every((child, index) => child === node.children[index]);
  const { translations, ...attrs } = node.attrs;
  if (translations === undefined) return isSame ? node : { ...node, children };
  const remaining = dropStaleTranslations(node, languages);
  return { ...node, attrs: remaining ? { ...attrs, translations: remaining } : attrs, children };
}

/** Updates references in the settings, and in their texts (`{{id}}`), if an edit changed element ids. */
export function updateSettingReferences(before: EditNode, after: EditNode, settings: Settings): Settings {
  if (before === after) return settings;
  const { subject_element: subject, receipt_email_element: receipt } = settings;
  const { certificate_name_element: certified, confirmations, notifications, receipt: words } = settings;
  const texts = allSettingTexts(settings).flatMap(pipedIds);
  const named = [subject, receipt, certified, ...texts, ...namedIn([confirmations, notifications, words])];
  const renamed = renamedAmong(new Set(named), before, after);
  if (renamed.size === 0) return settings;
  const follow = (id: string): string => renamed.get(id) ?? id;
  const followIn = (text: string): string => fillPiped(text, (id) => `{{${follow(id)}}}`);
  return {
    ...mapAllSettingTexts(settings, followIn),
    ...(subject && { subject_element: follow(subject) }),
    ...(receipt && { receipt_email_element: follow(receipt) }),
    ...(certified && { certificate_name_element: follow(certified) }),
    ...(confirmations && { confirmations: renameIn(confirmations, follow) }),
    ...(notifications && { notifications: renameIn(notifications, follow) }),
    ...(words && { receipt: renameIn(words, follow) }),
  };
}

/** Keys in conditions and recipients whose value is an element id. */
const naming = ['element', 'answer'];

/** Lists the ids used in the settings: in conditions, as recipients, and in texts. */
function namedIn(value: unknown): string[] {
  if (typeof value === 'string') return pipedIds(value);
  if (Array.isArray(value)) return value.flatMap(namedIn);
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    naming.includes(key) && typeof inner === 'string' ? [inner] : namedIn(inner),
  );
}

/** Replaces ids in a list. */
function renameIn<Value>(value: Value, follow: (id: string) => string): Value {
  const rename = (inner: unknown): unknown => {
    if (typeof inner === 'string') return fillPiped(inner, (id) => `{{${follow(id)}}}`);
    if (Array.isArray(inner)) return inner.map(rename);
    if (!isRecord(inner)) return inner;
    return Object.fromEntries(
      Object.entries(inner).map(([key, part]) => [
        key,
        // The compared value is an answer, not a text of the form.
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

/** Maps old ids of elements to their current ids. */
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
