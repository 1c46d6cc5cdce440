import { isLanguageTag } from '#ast/translations/match-language.ts';
import { nameOf } from '#page/render/language-switch.ts';

/** The languages that are offered at once; any other is entered by its tag. */
const offered = [
  'ar',
  'bg',
  'bn',
  'ca',
  'cs',
  'da',
  'de',
  'el',
  'en',
  'es',
  'et',
  'eu',
  'fa',
  'fi',
  'fr',
  'ga',
  'gl',
  'he',
  'hi',
  'hr',
  'hu',
  'id',
  'is',
  'it',
  'ja',
  'ko',
  'lt',
  'lv',
  'mk',
  'ms',
  'mt',
  'nb',
  'nl',
  'nn',
  'pl',
  'pt',
  'pt-BR',
  'ro',
  'ru',
  'sk',
  'sl',
  'sq',
  'sr',
  'sv',
  'sw',
  'ta',
  'th',
  'tr',
  'uk',
  'ur',
  'vi',
  'zh-Hans',
  'zh-Hant',
] as const;

const english = new Intl.DisplayNames(['en'], { type: 'language', languageDisplay: 'standard' });

/** A language in English and as it calls itself: `German (Deutsch)`. */
export function sayLanguage(tag: string): string {
  const [name, own] = [english.of(tag) ?? tag, nameOf(tag)];
  return name === own ? name : `${name} (${own})`;
}

/** The same in a narrow place. */
export const sayShortly = (tag: string): string => english.of(tag) ?? tag;

/** The languages to choose from, by their names, with those that the form has already. */
export const languageChoices = (beside: readonly string[]): { id: string; label: string }[] =>
  [...new Set<string>([...offered, ...beside])]
    .map((id) => ({ id, label: sayLanguage(id) }))
    .toSorted((one, other) => one.label.localeCompare(other.label, 'en'));

/**
 * The language that somebody entered, by its tag or by a name: `de`, `pt-br`, `German`, `Deutsch`; undefined when it is
 * none.
 */
export function readLanguage(entered: string): string | undefined {
  const text = entered.trim();
  const named = languageChoices([]).find(
    ({ id, label }) => label === text || [sayShortly(id), nameOf(id)].some((name) => isSame(name, text)),
  );
  if (named) return named.id;
  const [language = '', ...rest] = text.split(/[-_]/);
  const tag = [
    language.toLowerCase(),
    ...rest.map((part) =>
      part.length === 4
        ? `${part.charAt(0).toUpperCase()}${part.slice(1).toLowerCase()}`
        : part.toUpperCase(),
    ),
  ].join('-');
  // What nobody has a name for is a slip of the pen.
  return isLanguageTag(tag) && english.of(tag) !== tag ? tag : undefined;
}

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
