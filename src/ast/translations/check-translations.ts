import { type AttributeSpec, type AttributeSpecs, isMissing } from '../attributes/attributes.ts';
import { getProperty, isRecord } from '../basics/json.ts';
import { formLimits } from '../basics/limits.ts';
import { memoizeByObject } from '../basics/memoize.ts';
import { type Option, optionIdOf } from '../basics/options.ts';
import { formatExactBytes, quote } from '../basics/problems.ts';
import { fitsBytes } from '../basics/text.ts';
import type { Translation, Translations } from '../basics/translations-schema.ts';
import { elementDefinitions, formAttributes, isElementType, stepAttributes } from '../form/elements.ts';
import type { Theme } from '../theme/theme.ts';

type TextSpec = AttributeSpec<'string' | 'options'>;

const isText = (spec: AttributeSpec): spec is TextSpec => spec.kind === 'string' || spec.kind === 'options';

/** Returns the attributes of a node type. */
export function attributesOfType(type: string): AttributeSpecs {
  if (isElementType(type)) return elementDefinitions[type].attrs;
  if (type === 'step') return stepAttributes;
  return type === 'form' ? formAttributes : {};
}

/**
 * The attributes with translatable texts: one text, or one for each option. New attributes are included by
 * their kind. A type without `translations` has none.
 */
export const translatableAttributesOf = memoizeByObject(
  (specs: AttributeSpecs): readonly [name: string, spec: TextSpec][] =>
    'translations' in specs
      ? Object.entries(specs).flatMap(([name, spec]) => (isText(spec) ? [[name, spec]] : []))
      : [],
);

type TextInLanguage = Translation[string];

/** The attributes of a node that are valid on their own. */
type Attributes = Readonly<Record<string, unknown>> & { readonly translations?: Translations };

/**
 * Yields the problems of a node's `translations`, each as the end of a sentence about them: unknown
 * languages, attributes and options, and invalid texts.
 */
export function* translationProblems(
  attrs: Attributes,
  specs: AttributeSpecs,
  languages: readonly string[],
): Generator<string, void> {
  const texts = new Map(translatableAttributesOf(specs));
  for (const [language, translated] of Object.entries(attrs.translations ?? {})) {
    const where = `in ${quote(language)}`;
    const problem = languageProblem(language, languages);
    if (problem) yield problem;
    else
      for (const [name, text] of Object.entries(translated)) {
        const spec = texts.get(name);
        if (!spec)
          yield `include ${quote(name)} ${where}, which is not one of its texts: ${[...texts.keys()].join(', ')}`;
        else if (spec.kind === 'string') yield* textProblem(text, spec.maxBytes, `${quote(name)} ${where}`);
        else
          yield* labelProblems(
            text,
            spec.maxBytes,
            optionIds(getProperty(attrs, name)),
            `${quote(name)} ${where}`,
          );
      }
  }
}

/** Returns what is wrong with the language of a translation. */
export function languageProblem(language: string, languages: readonly string[]): string | undefined {
  if (languages.slice(1).includes(language)) return undefined;
  if (language === languages[0])
    return `include ${quote(language)}, which is the language of the original texts`;
  const known = languages.length === 0 ? 'it names none' : languages.map(quote).join(', ');
  return `include ${quote(language)}, which is not in the form's "languages" (${known})`;
}

function* textProblem(text: TextInLanguage, maxBytes: number, what: string): Generator<string, void> {
  if (typeof text !== 'string') yield `must have text for ${what}`;
  else if (isMissing(text)) yield `must not have a blank ${what}; omit it instead`;
  else if (!fitsBytes(text, maxBytes)) yield `must have at most ${formatExactBytes(maxBytes)} for ${what}`;
}

function* labelProblems(
  labels: TextInLanguage,
  maxBytes: number,
  ids: ReadonlySet<string>,
  what: string,
): Generator<string, void> {
  if (typeof labels === 'string') {
    yield `must have labels by option ID for ${what}`;
    return;
  }
  for (const [id, label] of Object.entries(labels))
    if (!ids.has(id)) yield `include the option ${quote(id)} in ${what}, which does not exist`;
    else if (/[\r\n]/.test(label)) yield `must have no line breaks in ${what}`;
    else yield* textProblem(label, maxBytes, `label of ${quote(id)} in ${what}`);
}

const optionIds = (options: unknown): ReadonlySet<string> =>
  new Set(Array.isArray(options) ? options.map((option: Option) => optionIdOf(option)) : []);

/** The settings with texts for visitors, under the names that errors use. */
export const settingTextNames = [
  'confirmation_message',
  'closed_message',
  'receipt.subject',
  'receipt.message',
  'theme.confirmation_title',
  'theme.submit_label',
  'theme.social_title',
] as const;
export type SettingTextName = (typeof settingTextNames)[number];

/** The text settings in the other languages of the form, by BCP 47 tag. */
export type SettingTranslations = Readonly<
  Record<string, Readonly<Partial<Record<SettingTextName, string>>>>
>;

/** The settings that are lists whose entries have texts of their own. */
export const textLists = ['confirmations', 'notifications'] as const;
export type TextList = (typeof textLists)[number];

/** The texts of an entry of these lists, and their limits in bytes. */
export const entryTextBytes = {
  title: formLimits.labelBytes,
  subject: formLimits.labelBytes,
  message: formLimits.textBytes,
} as const;
export type EntryTextName = keyof typeof entryTextBytes;
export const entryTextNames = Object.keys(entryTextBytes) as readonly EntryTextName[];
export const isEntryTextName = (name: string): name is EntryTextName => Object.hasOwn(entryTextBytes, name);

/** The translated texts of an entry. They are stored with it, so that entries can be reordered. */
export type EntryTranslations = Readonly<Record<string, Readonly<Partial<Record<EntryTextName, string>>>>>;

/** The parts of an entry that have texts. */
type EntryWithTexts = Readonly<Partial<Record<EntryTextName, string>>> & {
  readonly translations?: EntryTranslations;
};

/** Applies `change` to every text of an entry, in every language. */
export function mapEntryTexts<Entry extends EntryWithTexts>(
  entry: Entry,
  change: (text: string) => string,
): Entry {
  const map = (holder: object): object =>
    Object.fromEntries(
      Object.entries(holder).map(([name, text]) => [
        name,
        isEntryTextName(name) && typeof text === 'string' ? change(text) : text,
      ]),
    );
  const translations = translationsOf(entry).map(([language, texts]) => [language, map(texts)]);
  // The type is unchanged, because only texts differ from the original.
  return {
    ...map(entry),
    ...(translations.length > 0 && { translations: Object.fromEntries(translations) }),
  } as Entry;
}

/** Drops translations into languages that the form no longer has. */
export function dropRemovedLanguages<Holder extends { readonly translations?: object }>(
  holder: Holder,
  languages: readonly string[],
): Holder {
  const { translations, ...rest } = holder;
  const kept = Object.entries(translations ?? {}).filter(([language]) => languages.includes(language));
  // The cast is safe: translations are optional in every holder.
  return { ...rest, ...(kept.length > 0 && { translations: Object.fromEntries(kept) }) } as Holder;
}

/** The parts of the settings that have texts. */
type WithTexts = {
  readonly confirmation_message?: string;
  readonly closed_message?: string;
  readonly receipt?: { readonly subject?: string; readonly message?: string };
  readonly theme?: Theme;
  readonly translations?: SettingTranslations;
} & { readonly [List in TextList]?: readonly EntryWithTexts[] };

/** Returns the texts of each other language. In unvalidated settings, translations can be any value. */
export function translationsOf({
  translations,
}: {
  readonly translations?: object;
}): [language: string, texts: Readonly<Partial<Record<string, string>>>][] {
  if (!isRecord(translations)) return [];
  return Object.entries(translations as SettingTranslations).filter(([, texts]) => isRecord(texts));
}

export const isSettingTextName = (name: string): name is SettingTextName =>
  settingTextNames.some((known) => known === name);

/** Splits `theme.submit_label` into the setting and its part. */
const splitName = (name: SettingTextName) => name.split('.') as [keyof WithTexts, string?];

export function getSettingText(settings: WithTexts, name: SettingTextName): string | undefined {
  const [setting, part] = splitName(name);
  const holder: unknown = part === undefined ? settings : settings[setting];
  const text: unknown = isRecord(holder) ? getProperty(holder, part ?? setting) : undefined;
  return typeof text === 'string' ? text : undefined;
}

/** Returns the settings with one text added or replaced. */
export function withSettingText<Settings extends WithTexts>(
  settings: Settings,
  name: SettingTextName,
  text: string,
): Settings {
  const [setting, part] = splitName(name);
  return {
    ...settings,
    [setting]: part === undefined ? text : { ...(settings[setting] as object | undefined), [part]: text },
  };
}

/** Lists every text of the settings, in every language. */
export const allSettingTexts = (settings: WithTexts): string[] => [
  ...settingTextNames.flatMap((name) => getSettingText(settings, name) ?? []),
  ...translationsOf(settings).flatMap(([, texts]) =>
    Object.values(texts).filter((text) => typeof text === 'string'),
  ),
];

/** Applies `change` to every text of the settings, in every language. */
export function mapAllSettingTexts<Settings extends WithTexts>(
  settings: Settings,
  change: (text: string, name: string) => string,
): Settings {
  const mapped = mapSettingTexts(settings, change);
  if (!settings.translations) return mapped;
  const translations = translationsOf(settings).map(([language, texts]) => [
    language,
    Object.fromEntries(
      Object.entries(texts).map(([name, text]) => [
        name,
        typeof text === 'string' ? change(text, name) : text,
      ]),
    ),
  ]);
  return { ...mapped, translations: Object.fromEntries(translations) as SettingTranslations };
}

/** Applies `change` to the original texts of the settings. */
const mapSettingTexts = <Settings extends WithTexts>(
  settings: Settings,
  change: (text: string, name: SettingTextName) => string,
): Settings =>
  settingTextNames.reduce((now, name) => {
    const text = getSettingText(now, name);
    return text === undefined ? now : withSettingText(now, name, change(text, name));
  }, settings);

/** Returns the settings with texts in one language. Untranslated texts stay as they are. */
export function settingsInLanguage<Settings extends WithTexts>(
  settings: Settings,
  language: string | undefined,
): Settings {
  const pick = <Texts>(translations: Readonly<Record<string, Texts>> = {}): Texts | undefined =>
    language === undefined ? undefined : getProperty(translations, language);
  const texts = pick(settings.translations);
  const { translations: _, ...translated } = mapSettingTexts(settings, (text, name) => texts?.[name] ?? text);
  const lists = textLists.flatMap((list) => {
    const entries = settings[list]?.map(({ translations, ...each }) => ({ ...each, ...pick(translations) }));
    return entries ? [[list, entries]] : [];
  });
  return { ...translated, ...Object.fromEntries(lists) };
}
