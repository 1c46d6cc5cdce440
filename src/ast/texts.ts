import { isMissing } from './attributes/attributes.ts';
import { getProperty, isRecord } from './basics/json.ts';
import { formLimits } from './basics/limits.ts';
import { type Option, optionIdOf, optionLabelOf } from './basics/options.ts';
import type { Translation, Translations } from './basics/translations-schema.ts';
import type { FormNode } from './form/tree.ts';
import type { Settings } from './settings.ts';
import {
  attributesOfType,
  type EntryTextName,
  entryTextBytes,
  entryTextNames,
  getSettingText,
  isEntryTextName,
  settingTextNames,
  type TextList,
  textLists,
  translatableAttributesOf,
  translationsOf,
} from './translations/check-translations.ts';
import { changeTranslation } from './translations/translations.ts';

/** A form being edited: its structure, complete or not, and its settings. */
export type EditedForm = { readonly structure: FormNode; readonly settings: Settings };

/** One text of a form that visitors read, with its translations. */
export type FormText = {
  /**
   * The element ID (`$` and the path for a node without one, `$form` for the root, `$settings` for the
   * settings), the attribute, and the option ID: `colour/options/red`.
   */
  readonly key: string;
  /** The path of the node. Undefined for a setting. */
  readonly path: readonly number[] | undefined;
  readonly attribute: string;
  readonly option?: string;
  /** The text in the form's own language. */
  readonly text: string;
  /** The existing translations, by BCP 47 tag. */
  readonly translations: Readonly<Record<string, string>>;
  readonly maxBytes: number;
};

/** The attributes of a node, which can be incomplete or invalid. */
const attributesOf = ({ attrs }: FormNode): Readonly<Record<string, unknown>> =>
  isRecord(attrs) ? attrs : {};
const childrenOf = ({ children }: FormNode): readonly FormNode[] =>
  Array.isArray(children) && children.every(isRecord) ? (children as unknown as readonly FormNode[]) : [];
const optionsOf = (value: unknown): readonly Option[] =>
  Array.isArray(value)
    ? value.filter((option): option is Option => typeof option === 'string' || isNamed(option))
    : [];
const isNamed = (option: unknown): boolean =>
  isRecord(option) && typeof option['id'] === 'string' && typeof option['label'] === 'string';

/** Lists the languages of a structure, complete or not. */
export function languagesOfStructure(structure: FormNode): readonly string[] {
  const languages = getProperty(attributesOf(structure), 'languages');
  return Array.isArray(languages) ? languages.filter((tag) => typeof tag === 'string') : [];
}

/** Lists every text of a form in reading order, then the texts of its settings. */
export function listTexts({ structure, settings }: EditedForm): FormText[] {
  return [...walkTexts(structure, []), ...textsOfSettings(settings)];
}

/** Lists the texts without a translation into a language. */
export const untranslatedTexts = (texts: readonly FormText[], language: string): FormText[] =>
  texts.filter(({ translations }) => !Object.hasOwn(translations, language));

/** Returns the prefix of the keys of a node's texts. */
function keyPrefixOf(node: FormNode, path: readonly number[]): string {
  if (path.length === 0) return '$form';
  const id = getProperty(attributesOf(node), 'id');
  // A step can have the same ID as an element.
  return typeof id === 'string' && id !== '' && path.length > 1 ? id : `$${path.join('.')}`;
}

function* walkTexts(node: FormNode, path: readonly number[]): Generator<FormText, void> {
  const attrs = attributesOf(node);
  const translations = getProperty(attrs, 'translations');
  const known = isRecord(translations) ? (translations as Translations) : {};
  const findTexts = (find: (texts: Translations[string]) => unknown): Readonly<Record<string, string>> =>
    Object.fromEntries(
      Object.entries(known).flatMap(([language, texts]) => {
        const text = isRecord(texts) ? find(texts) : undefined;
        return typeof text === 'string' && !isMissing(text) ? [[language, text]] : [];
      }),
    );
  const place = keyPrefixOf(node, path);
  for (const [attribute, { kind, maxBytes }] of translatableAttributesOf(attributesOfType(node.type))) {
    const value = getProperty(attrs, attribute);
    const found = { path, attribute, maxBytes };
    if (kind === 'string' && typeof value === 'string' && !isMissing(value)) {
      const translated = findTexts((texts) => getProperty(texts, attribute));
      yield { ...found, key: `${place}/${attribute}`, text: value, translations: translated };
    }
    for (const option of kind === 'options' ? optionsOf(value) : []) {
      const id = optionIdOf(option);
      const translated = findTexts((texts) => {
        const labels = getProperty(texts, attribute);
        return isRecord(labels) ? getProperty(labels, id) : undefined;
      });
      const text = optionLabelOf(option);
      yield { ...found, option: id, key: `${place}/${attribute}/${id}`, text, translations: translated };
    }
  }
  for (const [index, child] of childrenOf(node).entries()) yield* walkTexts(child, [...path, index]);
}

const settingsKeyPrefix = '$settings';

function textsOfSettings(settings: Settings): FormText[] {
  const textOf = (
    attribute: string,
    text: unknown,
    maxBytes: number,
    find: (language: Readonly<Record<string, unknown>>) => unknown,
    holder: { readonly translations?: object },
  ): FormText[] => {
    if (typeof text !== 'string' || isMissing(text)) return [];
    const translations = translationsOf(holder).flatMap(([language, texts]) => {
      const translated = find(texts);
      return typeof translated === 'string' ? [[language, translated] as const] : [];
    });
    const key = `${settingsKeyPrefix}/${attribute}`;
    return [
      { key, path: undefined, attribute, text, translations: Object.fromEntries(translations), maxBytes },
    ];
  };
  return [
    ...settingTextNames.flatMap((name) => {
      const isLong = name.endsWith('message');
      return textOf(
        name,
        getSettingText(settings, name),
        isLong ? formLimits.textBytes : formLimits.labelBytes,
        (texts) => getProperty(texts, name),
        settings,
      );
    }),
    ...textLists.flatMap((list) =>
      (settings[list] ?? []).flatMap((entry, index) =>
        // Members read an email to a fixed address, so it needs no translation.
        'to' in entry && typeof entry.to === 'string' && !entry.translations
          ? []
          : entryTextNames.flatMap((name) =>
              textOf(
                `${list}.${index}.${name}`,
                getProperty<unknown>(entry, name),
                entryTextBytes[name],
                (texts) => getProperty(texts, name),
                entry,
              ),
            ),
      ),
    ),
  ];
}

/** The entry of a list and its text, such as the message of a confirmation. */
type EntryText = { readonly list: TextList; readonly index: number; readonly attribute: EntryTextName };

/** Returns the entry and text that a settings text belongs to, or undefined if it is in no list. */
export function parseEntryAttribute(attribute: string): EntryText | undefined {
  const [list, index, name] = attribute.split('.');
  const known = textLists.find((each) => each === list);
  return known && name !== undefined && isEntryTextName(name)
    ? { list: known, index: Number(index), attribute: name }
    : undefined;
}

/** Applies translated texts to the settings, including the entries of lists. */
export const applySettingsTranslations = (
  settings: Settings,
  changes: readonly TextChange[] = [],
): Settings =>
  changes.reduce((now, change) => {
    const place = parseEntryAttribute(change.text.attribute);
    if (!place) return applyTextChanges(now, [change]);
    const { list, index, attribute } = place;
    const entries: readonly { readonly translations?: object }[] = now[list] ?? [];
    const entry = entries[index];
    if (!entry) return now;
    const translated = applyTextChanges(entry, [{ ...change, text: { ...change.text, attribute } }]);
    return { ...now, [list]: entries.with(index, translated) };
  }, settings);

/** A change to one text in one language. Undefined removes the translation. */
export type TextChange = {
  readonly text: FormText;
  readonly language: string;
  readonly to: string | undefined;
};

/** Applies translated texts to a document. Shares unchanged parts with the original. */
export function applyFormTranslations(document: EditedForm, changes: readonly TextChange[]): EditedForm {
  const byPlace = Map.groupBy(changes, ({ text }) => text.path?.join('.') ?? settingsKeyPrefix);
  return {
    structure: translateNode(document.structure, '', byPlace),
    settings: applySettingsTranslations(document.settings, byPlace.get(settingsKeyPrefix)),
  };
}

type ChangesByKeyPrefix = ReadonlyMap<string, readonly TextChange[]>;

function translateNode(node: FormNode, place: string, changes: ChangesByKeyPrefix): FormNode {
  const old = attributesOf(node);
  const attrs = applyTextChanges(old, changes.get(place));
  const parts = childrenOf(node);
  const children = parts.map((child, index) =>
    translateNode(child, place === '' ? String(index) : `${place}.${index}`, changes),
  );
  const isSame = attrs === old && children.every((child, at) => child === parts[at]);
  return isSame ? node : { ...node, attrs, children };
}

/** Applies translated texts to the attributes of a node, or to settings. */
export function applyTextChanges<Holder extends { readonly translations?: unknown }>(
  holder: Holder,
  changes: readonly TextChange[] = [],
): Holder {
  if (changes.length === 0) return holder;
  const { translations: old, ...rest } = holder;
  const translations = changes.reduce<Translations | undefined>(
    (now, { text, language, to }) => changeTranslation(now, language, text, to),
    isRecord(old) ? (old as Translations) : undefined,
  );
  return { ...rest, ...(translations && { translations }) } as Holder;
}

type Entry<Value> = readonly [name: string, value: Value];

/** Drops translations into removed languages, and of removed attributes and options. */
export function dropStaleTranslations(
  node: FormNode,
  languages: readonly string[],
): Translations | undefined {
  const attrs = attributesOf(node);
  const translations = getProperty(attrs, 'translations');
  if (!isRecord(translations)) return undefined;
  const names = new Map(translatableAttributesOf(attributesOfType(node.type)));
  const kept = Object.entries(translations as Translations).flatMap(
    ([language, texts]): Entry<Translation>[] => {
      if (!languages.slice(1).includes(language)) return [];
      const left = Object.entries(texts).flatMap(([name, text]): Entry<Translation[string]>[] => {
        if (names.get(name)?.kind !== (typeof text === 'string' ? 'string' : 'options')) return [];
        if (typeof text === 'string') return [[name, text]];
        const ids = new Set(optionsOf(getProperty(attrs, name)).map(optionIdOf));
        const labels = Object.entries(text).filter(([id]) => ids.has(id));
        return labels.length === 0 ? [] : [[name, Object.fromEntries(labels)]];
      });
      return left.length === 0 ? [] : [[language, Object.fromEntries(left)]];
    },
  );
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
