import type { Settings } from '#ast/settings.ts';
import { stylesheet } from '#page/markup/style.ts';
import { chooseLanguage, problemsByLocale, wordsByLocale } from '#page/words/choose-locale.ts';
import { type PageProblems, type Words, withQuestionWords } from '#page/words/words.ts';

/**
 * Parses a page of the page renderer into a document from which nodes are copied. Style sheets are left out,
 * because the console's content security policy refuses inline styles. The caller adds them as constructed
 * style sheets.
 */
export function parsePage(text: string): Document {
  return new DOMParser().parseFromString(text.replaceAll(/<style>[^]*?<\/style>/g, ''), 'text/html');
}

/** The language and texts of a form's pages. */
export type PageTexts = {
  /** BCP 47 tag. */
  readonly language: string;
  readonly words: Words;
  readonly sentences: PageProblems;
  readonly numberLocale: string;
};

/** Returns the texts of a form for a visitor in its default language. */
export function pageTextsOf(
  languages: readonly string[],
  { layout, locale: setting }: Pick<Settings, 'layout' | 'locale'>,
): PageTexts {
  const { language, locale } = chooseLanguage(languages, { setting });
  return {
    language,
    words: layout === 'question' ? withQuestionWords(wordsByLocale[locale]) : wordsByLocale[locale],
    sentences: problemsByLocale[locale],
    numberLocale: language,
  };
}

/** Adds the style sheet of the page and the style of a theme to the document of a frame. */
export function setPageStyle(page: Document, style: string): void {
  const inside = page.defaultView!;
  page.adoptedStyleSheets = [stylesheet, style].map((text) => {
    const sheet = new inside.CSSStyleSheet();
    sheet.replaceSync(text);
    return sheet;
  });
}

/** Shows a page of the page renderer in the document of a frame. */
export function writePage(page: Document, text: string): void {
  const parsed = parsePage(text);
  page.title = parsed.title;
  page.documentElement.lang = parsed.documentElement.lang;
  page.documentElement.dir = parsed.documentElement.dir;
  page.body.replaceChildren(page.importNode(parsed.querySelector('main')!, true));
  page.defaultView!.scrollTo(0, 0);
}

/** Shows an email in the document of a frame, with its own style sheet. */
export function writeEmail(page: Document, text: string): void {
  const sheet = new page.defaultView!.CSSStyleSheet();
  sheet.replaceSync(/<style>([^]*?)<\/style>/.exec(text)?.[1] ?? '');
  page.adoptedStyleSheets = [sheet];
  const { documentElement, body } = parsePage(text);
  page.documentElement.lang = documentElement.lang;
  page.body.replaceChildren(...page.importNode(body, true).childNodes);
}

/**
 * Runs `write` for the document of a frame, and again if the browser inserts the empty document only later,
 * which some browsers do. @returns a function that ends it.
 */
export function fillFrame(
  frame: HTMLIFrameElement,
  write: (page: Document) => (() => void) | undefined,
): () => void {
  let leave = write(frame.contentDocument!);
  const again = (): void => {
    if (frame.contentDocument!.querySelector('main')) return;
    leave?.();
    leave = write(frame.contentDocument!);
  };
  frame.addEventListener('load', again);
  return () => {
    frame.removeEventListener('load', again);
    leave?.();
  };
}
