import type { Locale } from '#ast/locales.ts';
import { arabic, arabicProblems } from './ar.ts';
import { chinese, chineseProblems } from './zh.ts';
import { english, englishProblems } from './en.ts';
import { french, frenchProblems } from './fr.ts';
import { german, germanProblems } from './de.ts';
import { japanese, japaneseProblems } from './ja.ts';
import { portuguese, portugueseProblems } from './pt.ts';
import { spanish, spanishProblems } from './es.ts';
import type { PageProblems, Words } from './words.ts';

/** Everything that the page says, in every language that it speaks. */
export const wordsOf: Readonly<Record<Locale, Words>> = {
  en: english,
  fr: french,
  de: german,
  es: spanish,
  pt: portuguese,
  ar: arabic,
  ja: japanese,
  zh: chinese,
};

/** What is said of an answer that breaks a rule, in every language (say-problem.ts). */
export const problemsOf: Readonly<Record<Locale, PageProblems>> = {
  en: englishProblems,
  fr: frenchProblems,
  de: germanProblems,
  es: spanishProblems,
  pt: portugueseProblems,
  ar: arabicProblems,
  ja: japaneseProblems,
  zh: chineseProblems,
};
