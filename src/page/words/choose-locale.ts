import { isLocale, type Locale, type LocaleChoice, localeOf } from '#ast/basics/locales.ts';
import { matchLanguage, primaryOf } from '#ast/basics/match-language.ts';
import { type NumberMarks, numberMarksOf } from '#ast/rules/written-numbers.ts';
import ar from './ar.json' with { type: 'json' };
import de from './de.json' with { type: 'json' };
import en from './en.json' with { type: 'json' };
import es from './es.json' with { type: 'json' };
import fr from './fr.json' with { type: 'json' };
import ja from './ja.json' with { type: 'json' };
import pt from './pt.json' with { type: 'json' };
import type { PageProblems, Words } from './words.ts';
import zh from './zh.json' with { type: 'json' };

/** What the page says in each of its languages: its words, and its sentences about answers that break a rule. */
const languages: Readonly<Record<Locale, { words: Words; problems: PageProblems }>> = {
  en,
  fr,
  de,
  es,
  pt,
  ar,
  ja,
  zh,
};

const pick = <Part extends 'words' | 'problems'>(part: Part) =>
  Object.fromEntries(
    Object.entries(languages).map(([locale, language]) => [locale, language[part]]),
  ) as Record<Locale, (typeof languages)[Locale][Part]>;

/** The words of the page by language. */
export const wordsOf = pick('words');

/** The sentences about answers that break a rule, by language (say-problem.ts). */
export const problemsOf = pick('problems');

/** What decides the language of a page, strongest first. `stored` is that of answers that are gone on with. */
type Wishes = {
  /** The address's `_lang`, for links and embedding pages that know better. */
  readonly asked?: string | undefined;
  readonly stored?: string | undefined;
  /** settings.locale */
  readonly setting?: LocaleChoice | undefined;
  /** The header Accept-Language. */
  readonly accepted?: string | undefined;
};

/**
 * The language in which the page speaks. A form whose author set one speaks it to everybody, unless the address asks
 * otherwise; else the visitor's browser decides, and English is for all others.
 */
export function chooseLocale({ asked, stored, setting = 'auto', accepted = '' }: Wishes): Locale {
  if (isLocale(asked)) return asked;
  if (isLocale(stored)) return stored;
  if (setting !== 'auto') return setting;
  return readAccepted(accepted).map(languageOf).find(isLocale) ?? 'en';
}

/** The language of the author's texts, and the one in which the page itself speaks. */
type Spoken = { readonly language: string; readonly locale: Locale };

/**
 * Both for a form that is written in these languages, the first where no wish is met. The page speaks the same where it
 * can, else what it would speak without them. A form that names none is spoken as the page is.
 */
export function chooseLanguage(languages: readonly string[], wishes: Wishes): Spoken {
  const { asked, stored, setting = 'auto', accepted = '' } = wishes;
  const [first] = languages;
  if (first === undefined) {
    const locale = chooseLocale(wishes);
    return { language: locale, locale };
  }
  const wanted = [asked, stored, setting === 'auto' ? undefined : setting, ...readAccepted(accepted)];
  const found = wanted.map((wish) => (wish === undefined ? undefined : matchLanguage(wish, languages)));
  const language = found.find((tag) => tag !== undefined) ?? first;
  return { language, locale: localeOf(language) ?? chooseLocale({ setting, accepted }) };
}

const languageOf = (tag: string): string => tag.split('-', 1)[0]!;

const knownMarks = new Map<string, NumberMarks>();

/**
 * How numbers are written on a page in the language: as in the visitor's own region where the browser names one, since
 * Mexico writes 1,500.5 for what is 1.500,5 in Spain.
 */
export function chooseNumbers(language: string, accepted = ''): NumberMarks {
  const isRegional = (tag: string) =>
    languageOf(tag) === primaryOf(language) && /^\w\w-(?:[a-z]{2}|\d{3})$/.test(tag);
  const tag = readAccepted(accepted).find(isRegional) ?? language;
  const marks = knownMarks.get(tag) ?? numberMarksOf(tag);
  knownMarks.set(tag, marks);
  return marks;
}

/** The languages of the header by weight, in lower case; at most 20 are looked at. */
function readAccepted(header: string): string[] {
  const wishes = header
    .split(',', 20)
    .map((item) => {
      const [language = '', ...parameters] = item.trim().toLowerCase().split(';');
      const weight = parameters.map((text) => /^\s*q=([\d.]+)\s*$/.exec(text)?.[1]).find(Boolean);
      return { language, weight: weight === undefined ? 1 : Number(weight) };
    })
    .filter(({ weight }) => weight > 0);
  return wishes.sort((one, other) => other.weight - one.weight).map(({ language }) => language);
}
