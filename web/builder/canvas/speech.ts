import { type NumberMarks, numberMarksOf } from '#ast/rules/written-numbers.ts';
import type { Settings } from '#ast/settings.ts';
import { chooseLanguage, problemsOf, wordsOf } from '#page/words/choose-locale.ts';
import { countingQuestions, type PageProblems, type Words } from '#page/words/words.ts';

/** The language and texts of a form's pages. */
export type Speech = {
  /** BCP 47 tag. */
  readonly language: string;
  readonly words: Words;
  readonly sentences: PageProblems;
  readonly numbers: NumberMarks;
};

/**
 * Returns the texts of a form for a visitor: in a requested language, or the default without a preference.
 */
export function speechOf(
  languages: readonly string[],
  { layout, locale: setting }: Pick<Settings, 'layout' | 'locale'>,
  asked?: string,
): Speech {
  const { language, locale } = chooseLanguage(languages, { asked, setting });
  return {
    language,
    words: layout === 'question' ? countingQuestions(wordsOf[locale]) : wordsOf[locale],
    sentences: problemsOf[locale],
    numbers: numberMarksOf(language),
  };
}
