import type { Settings } from '#ast/settings.ts';
import { keepLanguages } from '#ast/translations/setting-texts.ts';
import {
  type FormText,
  namedLanguages,
  type TextChange,
  tidyTranslations,
  translated,
  translateSettings,
} from '#ast/translations/texts.ts';
import { type EditNode, nodeAt } from './edit-node.ts';
import { setAttribute } from './edit.ts';

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
