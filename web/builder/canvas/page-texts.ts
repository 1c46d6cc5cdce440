import type { Settings } from '#ast/settings.ts';
import { chooseLanguage, problemsByLocale, wordsByLocale } from '#page/words/choose-locale.ts';
import { type PageProblems, type Words, withQuestionWords } from '#page/words/words.ts';

/** The language and texts of a form's pages. */
export type PageTexts = {
  /** BCP 47 tag. */
  readonly language: string;
  readonly words: Words;
  readonly sentences: PageProblems;
  readonly numberLocale: string;
};

/**
 * Returns the texts of a form for a visitor: in the requested language, or in the default language if none is
 * requested.
 */
export function pageTextsOf(
  languages: readonly string[],
  { layout, locale: setting }: Pick<Settings, 'layout' | 'locale'>,
  asked?: string,
): PageTexts {
  const { language, locale } = chooseLanguage(languages, { asked, setting });
  return {
    language,
    words: layout === 'question' ? withQuestionWords(wordsByLocale[locale]) : wordsByLocale[locale],
    sentences: problemsByLocale[locale],
    numberLocale: language,
  };
}
