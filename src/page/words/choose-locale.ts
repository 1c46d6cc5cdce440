import {
  isLocale,
  type Locale,
  type LocaleChoice,
  localeOf,
  matchLanguage,
  primaryLanguageOf,
} from '#ast/basics/language-tags.ts';
import { memoizeByArguments } from '#ast/basics/memoize.ts';
import ar from './ar.json' with { type: 'json' };
import de from './de.json' with { type: 'json' };
import en from './en.json' with { type: 'json' };
import es from './es.json' with { type: 'json' };
import fr from './fr.json' with { type: 'json' };
import ja from './ja.json' with { type: 'json' };
import nl from './nl.json' with { type: 'json' };
import pt from './pt.json' with { type: 'json' };
import type { PageProblems, Words } from './words.ts';
import zh from './zh.json' with { type: 'json' };

/** The page's own texts by language: labels and messages about invalid answers. */
const languages: Readonly<Record<Locale, { words: Words; problems: PageProblems }>> = {
  en,
  fr,
  de,
  es,
  pt,
  nl,
  ar,
  ja,
  zh,
};

const pick = <Part extends 'words' | 'problems'>(part: Part) =>
  Object.fromEntries(
    Object.entries(languages).map(([locale, language]) => [locale, language[part]]),
  ) as Record<Locale, (typeof languages)[Locale][Part]>;

/** The page's labels by language. */
export const wordsByLocale = pick('words');

/** The messages about invalid answers by language (format-problem.ts). */
export const problemsByLocale = pick('problems');

/**
 * The preferences that decide a page's language, strongest first. `stored` is the language of stored answers.
 */
type LanguagePreferences = {
  /** The URL parameter `_lang`, which links and embedding pages can set. */
  readonly asked?: string | undefined;
  readonly stored?: string | undefined;
  /** The form's `settings.locale`. */
  readonly setting?: LocaleChoice | undefined;
  /** The Accept-Language header. */
  readonly accepted?: string | undefined;
};

/**
 * Returns the language of the page's own texts. `_lang` and saved answers take precedence over the form's
 * setting. Without a setting, the visitor's browser decides, with English as the fallback.
 */
export function chooseLocale(preferences: LanguagePreferences): Locale {
  const { asked: requested, stored, setting = 'auto', accepted = '' } = preferences;
  if (isLocale(requested)) return requested;
  if (isLocale(stored)) return stored;
  if (setting !== 'auto') return setting;
  return readAccepted(accepted).map(languageOf).find(isLocale) ?? 'en';
}

/** The language of the author's texts, and that of the page's own texts. */
type ChosenLanguages = { readonly language: string; readonly locale: Locale };

/**
 * Chooses the languages for a form written in `languages`; the first is the fallback. The page's own texts
 * use the form's language if available, and otherwise the language chosen without a form. A form without
 * languages uses the page's language.
 */
export function chooseLanguage(languages: readonly string[], wanted: LanguagePreferences): ChosenLanguages {
  const { asked: requested, stored, setting = 'auto', accepted = '' } = wanted;
  const [first] = languages;
  if (first === undefined) {
    const locale = chooseLocale(wanted);
    return { language: locale, locale };
  }
  const tags = [requested, stored, setting === 'auto' ? undefined : setting, ...readAccepted(accepted)];
  const found = tags.map((tag) => (tag === undefined ? undefined : matchLanguage(tag, languages)));
  const language = found.find((tag) => tag !== undefined) ?? first;
  return { language, locale: localeOf(language) ?? chooseLocale({ setting, accepted }) };
}

const languageOf = (tag: string): string => tag.split('-', 1)[0]!;

/**
 * Returns the tag by which numbers are formatted: the page's language in the visitor's own region if the
 * browser names one, because Mexico writes 1,500.5, but Spain writes 1.500,5. Regions with one format share a
 * tag, so pages are cached by a few tags, although a browser can name any region.
 */
export function chooseNumberLocale(language: string, accepted = ''): string {
  const isRegional = (tag: string) =>
    languageOf(tag) === primaryLanguageOf(language) && /^\w\w-(?:[a-z]{2}|\d{3})$/.test(tag);
  const regional = readAccepted(accepted).find(isRegional);
  return regional === undefined ? language : shareNumberTag(language, regional);
}

/** The shared tags by language and format. A language has at most six formats. */
const firstTags = new Map<string, string>();

const shareNumberTag = memoizeByArguments((language: string, regional: string): string => {
  const [ownFormat, format] = [language, regional].map(formatSamples);
  const key = `${language} ${format}`;
  const shared = ownFormat === format ? language : (firstTags.get(key) ?? regional);
  firstTags.set(key, shared);
  return shared;
});

/** Formats numbers that show both separators and whether four digits have one. */
function formatSamples(tag: string): string {
  const numberFormat = new Intl.NumberFormat(tag, { numberingSystem: 'latn' });
  return [1_234, -1_234_567.5].map((value) => numberFormat.format(value)).join(' ');
}

/** Parses the languages in the header, by weight and in lower case. Reads at most 20. */
function readAccepted(header: string): string[] {
  const preferences = header
    .split(',', 20)
    .map((item) => {
      const [language = '', ...parameters] = item.trim().toLowerCase().split(';');
      const weight = parameters.map((text) => /^\s*q=([\d.]+)\s*$/.exec(text)?.[1]).find(Boolean);
      return { language, weight: weight === undefined ? 1 : Number(weight) };
    })
    .filter(({ weight }) => weight > 0);
  return preferences.sort((one, other) => other.weight - one.weight).map(({ language }) => language);
}
