import { memoizeByArguments } from '#ast/basics/memoize.ts';
import { attributes, type Html, html, safeUrl } from '../markup/html.ts';

/** The languages of a page as BCP 47 tags, and its URL in each. */
export type LanguageChoice = {
  readonly language: string;
  readonly languages: readonly string[];
  readonly addressIn: (language: string) => string;
};

/** Prefix of the value that a language button posts: `_go=language:de`. */
export const languageActionPrefix = 'language:';

/**
 * Renders the language switch, with each language in its own name. In a form, its buttons post the answers,
 * so that nothing is lost. A page without questions has links.
 * @param hasFocus whether the visitor just switched the language.
 */
export function languageSwitch(
  { language, languages, addressIn }: LanguageChoice,
  { word, isForm, hasFocus = false }: { word: string; isForm: boolean; hasFocus?: boolean },
): Html {
  const entry = (tag: string): Html => {
    const shared = { lang: tag, 'aria-current': tag === language && 'true' };
    const address = safeUrl(addressIn(tag));
    return isForm
      ? html`<li><button${attributes({ ...shared, type: 'submit', name: '_go', value: `${languageActionPrefix}${tag}`, formaction: address })}><bdi>${languageName(tag)}</bdi></button></li>`
      : html`<li><a${attributes({ ...shared, href: address, hreflang: tag })}><bdi>${languageName(tag)}</bdi></a></li>`;
  };
  return html`<details class="languages"><summary${attributes({ autofocus: hasFocus })}><span class="unseen">${word}: </span><bdi${attributes({ lang: language })}>${languageName(language)}</bdi></summary>
<ul role="list">
${languages.map(entry)}
</ul></details>`;
}

/** Returns the name of a language in that language: `Deutsch`, `Português (Brasil)`. */
export const languageName = memoizeByArguments((tag: string): string => {
  const name = new Intl.DisplayNames([tag], { type: 'language', languageDisplay: 'standard' }).of(tag) ?? tag;
  // Some languages write their name in lower case within a sentence.
  return `${name.charAt(0).toLocaleUpperCase(tag)}${name.slice(1)}`;
});

/** Styles for pages with a language switch. */
export const languageStyle = `
.languages { position: relative; inline-size: fit-content; margin-block-start: var(--4); }
.languages > summary { display: flex; gap: var(--2); align-items: center; min-block-size: 2.75rem; padding: .375rem .875rem; border: 1px solid var(--line); border-radius: 2rem; font-size: .9375rem; cursor: pointer; list-style: none; }
.languages > summary::-webkit-details-marker { display: none; }
.languages > summary::after { content: ""; inline-size: .4375rem; block-size: .4375rem; margin: -.25rem .125rem 0; border: solid var(--soft); border-width: 0 1.5px 1.5px 0; rotate: 45deg; }
.languages[open] > summary, .languages > summary:hover { border-color: var(--edge); background: var(--tint); }
.languages > summary::before {
  content: ""; flex: none; inline-size: 1.125rem; block-size: 1.125rem; border: 1.5px solid var(--soft); border-radius: 50%;
  background: linear-gradient(#0000 46%, var(--soft) 46% 54%, #0000 54%), radial-gradient(ellipse 26% 50%, #0000 76%, var(--soft) 80% 96%, #0000);
}
.languages > ul { position: absolute; z-index: 2; inset-block-start: calc(100% + .25rem); inset-inline-start: 0; min-inline-size: 100%; max-block-size: 20rem; overflow: auto; padding: var(--1); list-style: none; background: var(--paper); border: 1px solid var(--edge); border-radius: var(--round); box-shadow: 0 .5rem 1.5rem #0003; }
.languages :is(button, a) { display: block; inline-size: 100%; min-block-size: 2.75rem; padding: .5rem .875rem; border: 0; border-radius: calc(.8 * var(--round)); background: none; color: inherit; font-weight: 400; text-align: start; text-decoration: none; white-space: nowrap; cursor: pointer; }
.languages :is(button, a):hover { background: var(--tint); color: inherit; }
.languages [aria-current] { background: var(--tint); font-weight: 600; }
@media print { .languages { display: none; } }
`
  .replaceAll(/\n\s*/g, '\n')
  .trim();
