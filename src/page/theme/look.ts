import type { Settings } from '#ast/settings.ts';
import type { Scheme } from '#ast/theme/palette.ts';
import type { Mode, PictureSize, Theme } from '#ast/theme/theme.ts';
import { fontAddress } from './fonts.ts';
import { themeStyle } from './theme-style.ts';

/** How a form asks, as far as its pages look otherwise for it. */
type AskingStyle = Pick<Settings, 'layout' | 'review_step'>;

/** The rules of the list of answers: beside each its button, and below it where there is no room. */
const reviewStyle = `
.review h3 { margin-block-start: var(--5); }
.review h4 { margin: var(--4) 0 0; font-weight: 600; }
.answers { margin: var(--2) 0 0; border-block-start: 1px solid var(--line); }
.answers > div { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 var(--4); align-items: start; padding-block: var(--3); border-block-end: 1px solid var(--line); }
.answers dt { color: var(--soft); font-size: .9375rem; }
.answers + .answers { margin-block-start: 0; border-block-start: 0; }
.answers dd { margin: 0; grid-column: 1; }
.answers dd p { white-space: pre-line; }
.answers dd:last-child { grid-area: 1 / 2 / 3; }
.answers :is(dt, dd p), .review h4 { unicode-bidi: plaintext; text-align: left; }
[dir=rtl] :is(.answers :is(dt, dd p), .review h4) { text-align: right; }
.change { min-block-size: 2.75rem; padding: var(--2); margin: -.625rem calc(-1 * var(--2)); background: none; border: 0; color: var(--accent); font-weight: 400; text-decoration: underline; text-underline-offset: .2em; }
.change:hover { color: var(--ink); }
@media (min-width: 640px) {
  .answers > div { grid-template-columns: minmax(0, 2fr) minmax(0, 3fr) auto; }
  .answers dt { font-size: 1rem; }
  .answers dd { grid-column: 2; }
  .answers dd:last-child { grid-area: 1 / 3; }
}
@media print { .step[hidden]:has(> .review) { display: none !important; } }
`;

/** The rules of one question at a time: it is large, comes in gently, and its options show their keys. */
const questionStyle = `
.step > h2 { color: var(--accent); font-size: 1rem; letter-spacing: 0; }
.step:has(> .review) > h2 { color: inherit; font-size: 1.375rem; }
.step > .stack > .field > :is(label, legend):first-child { font-size: clamp(1.25rem, 1.1rem + .75vw, 1.625rem); line-height: 1.25; letter-spacing: -.01em; text-wrap: balance; }
:lang(ar) .step > .stack > .field > :is(label, legend) { letter-spacing: 0; }
.step > .stack > .field > :is(label, legend) > .mark { letter-spacing: 0; white-space: nowrap; }
.step > .stack > .labelled > :is(input, select, textarea) { font-size: 1.125rem; }
.step > .stack > .field > .options, .step > .stack > .labelled > :is(input, select, textarea) { margin-block-start: var(--4); }
.step > h2.unseen + .stack { margin-block-start: 0; }
@media (hover: none) { .keys { display: none; } }
@media (scripting: enabled) and (hover: hover) {
  .step > .stack > .field > .options { counter-reset: option; }
  .step > .stack > .field > .options > .option:not(.none)::after {
    counter-increment: option; content: counter(option); content: counter(option) / ""; margin-inline-start: auto; min-inline-size: 1.5rem;
    padding: .0625rem .3125rem; border: 1px solid var(--line); border-radius: .3125rem; color: var(--soft); font-size: .8125rem; text-align: center;
  }
  .step > .stack > .field > .options > .option:nth-child(n + 10)::after, .options_row > .option::after { content: none !important; }
}
@media (prefers-reduced-motion: no-preference) {
  .step { animation: come .2s ease-out; }
  @keyframes come { from { opacity: 0; translate: 0 .75rem; } }
}
`;

/** What the style sheet of a form's pages has besides for how it asks; empty for a form that asks step by step. */
const askingStyle = ({ layout, review_step: hasReview }: AskingStyle): string =>
  [layout === 'question' && questionStyle, hasReview && reviewStyle]
    .filter((rules) => typeof rules === 'string')
    .join('')
    .replaceAll(/\n\s+/g, '\n')
    .trim();

/** A picture of a theme: where it is, and its sizes where they are known. */
export type Picture = { readonly address: string; readonly size?: PictureSize | undefined };

/** How a form's pages look, beside the style sheet that all share. */
export type Look = {
  /** What the theme changes in the style sheet: rules of our own making. */
  readonly style: string;
  /** The schemes that its ground may have. */
  readonly mode: Mode;
  /** The face that the first words need, for the browser to load before it has read the style. */
  readonly font?: string | undefined;
  readonly logo?: Picture | undefined;
  /** In place of the logo where the visitor's device is dark, and the page with it. */
  readonly darkLogo?: Picture | undefined;
  readonly cover?: Picture | undefined;
  /** What the browser's tab shows. */
  readonly favicon?: Picture | undefined;
  /** Whether the page stands inside another one (`_embed=1`). */
  readonly isEmbedded: boolean;
  /** Whose pages may have it inside them; any, when there is no list. */
  readonly embedOrigins?: readonly string[] | undefined;
};

/** The look of a form without a theme, and of pages that belong to no form. */
export const plainLook: Look = { style: '', mode: 'auto', isEmbedded: false };

/** What a page is drawn for. `elements` are the rules for the types of its elements, and `language` decides which letters of a face come first. */
type Occasion = {
  readonly isEmbedded: boolean;
  readonly language: string;
  readonly elements?: string;
  /** Whether it is of one visitor: no site may have it inside its pages but those that the form names. */
  readonly isPersonal?: boolean | undefined;
  /** The scheme of the page that it stands in. */
  readonly scheme?: Scheme | undefined;
  /** The sizes of the theme's pictures, by id. */
  readonly pictures?: ReadonlyMap<string, PictureSize> | undefined;
};

const made = new Map<string, Look>();
/** A look is a few KB, and drawing one takes a fifth of a millisecond, as much as a whole page. */
const keptLooks = 500;

/** The look that a form's settings give its pages. Equal settings get the same object. */
export function lookOf(
  formId: string,
  settings: Pick<Settings, 'theme' | 'embed_origins'> & AskingStyle,
  asked: Occasion,
): Look {
  const { theme, embed_origins: embedOrigins } = settings;
  const own = [askingStyle(settings), asked.elements].filter(Boolean).join('\n');
  const isEmbedded = asked.isEmbedded && !(asked.isPersonal && embedOrigins === undefined);
  if (!theme && !isEmbedded && own === '') return plainLook;
  const { language, scheme, pictures } = asked;
  const occasion = { isEmbedded, language, scheme, pictures };
  const key = JSON.stringify([formId, theme, embedOrigins, isEmbedded, scheme, language === 'ar', own]);
  const known = made.get(key);
  if (known) return known;
  const drawn = theme || isEmbedded ? drawLook(formId, theme ?? {}, occasion) : plainLook;
  const look = { ...drawn, style: [drawn.style, own].filter(Boolean).join('\n'), embedOrigins };
  if (made.size >= keptLooks) made.delete(made.keys().next().value!);
  made.set(key, look);
  return look;
}

/**
 * Inside another page the form is of that page's scheme, unless the author chose one; its ground is that page's in any
 * case: browsers paint one of their own where the schemes of a frame and of the page around it are not the same.
 */
function framedStyle(theme: Theme, scheme: Scheme): string {
  const { mode = 'auto' } = theme;
  const isOther = mode !== 'auto' && mode !== scheme;
  return `${themeStyle(theme, scheme)}${isOther ? `\n:root{color-scheme:${scheme}}main{color-scheme:${mode}}` : ''}`;
}

function drawLook(
  formId: string,
  theme: Theme,
  { isEmbedded, language, scheme = 'light', pictures }: Occasion,
): Look {
  const { font = 'system', mode = 'auto', cover, favicon } = theme;
  const paper = mode === 'auto' && isEmbedded ? scheme : mode;
  const picture = (id: string | undefined): Picture | undefined =>
    id === undefined ? undefined : { address: imageAddress(formId, id), size: pictures?.get(id) };
  const { logo = theme.logo_dark, logo_dark: dark = theme.logo } = theme;
  const subset = language === 'ar' ? 'arabic' : 'latin';
  return {
    style: isEmbedded ? framedStyle(theme, scheme) : themeStyle(theme),
    mode: isEmbedded ? scheme : mode,
    font: font === 'system' ? undefined : (fontAddress(font, subset) ?? fontAddress(font, 'latin')),
    logo: picture(paper === 'dark' ? dark : logo),
    darkLogo: paper === 'auto' && dark !== logo ? picture(dark) : undefined,
    cover: picture(cover),
    favicon: picture(favicon),
    isEmbedded,
  };
}

/** Where an image of a form is served (image-route.ts). */
export function imageAddress(formId: string, imageId: string): string {
  return `/f/${formId}/images/${imageId}`;
}
