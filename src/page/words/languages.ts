import type { Locale } from '#ast/locales.ts';
import ar from './ar.json' with { type: 'json' };
import de from './de.json' with { type: 'json' };
import en from './en.json' with { type: 'json' };
import es from './es.json' with { type: 'json' };
import fr from './fr.json' with { type: 'json' };
import ja from './ja.json' with { type: 'json' };
import pt from './pt.json' with { type: 'json' };
import zh from './zh.json' with { type: 'json' };
import type { PageProblems, Words } from './words.ts';

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
