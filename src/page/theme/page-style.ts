import type { Settings } from '#ast/settings.ts';
import { type Palette, paletteOf, type Scheme } from '#ast/theme/colour.ts';
import {
  type Corner,
  type Density,
  type FontName,
  fonts,
  type ImageSize,
  type Theme,
  type ThemeMode,
} from '#ast/theme/theme.ts';
import { type Face, type FaceName, faces, fontAddress, type Subset } from './fonts.ts';
import { imageAddress } from './image-address.ts';

/** The characters of each subset, as in the packages' unicode.json. Arabic lacks the mathematical symbols. */
const ranges: Readonly<Record<Subset, string>> = {
  arabic: 'U+600-6FF,U+750-77F,U+870-88E,U+890-891,U+897-8E1,U+8E3-8FF,U+200C-200E,U+FB50-FDFF,U+FE70-FEFC',
  cyrillic: 'U+301,U+400-45F,U+490-491,U+4B0-4B1,U+2116',
  greek: 'U+370-377,U+37A-37F,U+384-38A,U+38C,U+38E-3A1,U+3A3-3FF',
  vietnamese:
    'U+102-103,U+110-111,U+128-129,U+168-169,U+1A0-1A1,U+1AF-1B0,U+300-301,U+303-304,U+308-309,U+323,U+329,U+1EA0-1EF9,U+20AB',
  'latin-ext':
    'U+100-2BA,U+2BD-2C5,U+2C7-2CC,U+2CE-2D7,U+2DD-2FF,U+304,U+308,U+329,U+1D00-1DBF,U+1E00-1E9F,U+1EF2-1EFF,U+2020,U+20A0-20AB,U+20AD-20C0,U+2113,U+2C60-2C7F,U+A720-A7FF',
  latin:
    'U+0-FF,U+131,U+152-153,U+2BB-2BC,U+2C6,U+2DA,U+2DC,U+304,U+308,U+329,U+2000-206F,U+20AC,U+2122,U+2191,U+2193,U+2212,U+2215,U+FEFF,U+FFFD',
};

const systemSans = 'system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans",Arial,sans-serif';
const systemSerif = 'ui-serif,Georgia,"Times New Roman","Noto Serif",serif';

/**
 * Local fonts with the widths of Arial and Times: these two, then the fonts of Linux, then those of Android,
 * which differ by at most 1%.
 */
const standIns = {
  sans: {
    regular: 'local("Arial"),local("Liberation Sans"),local("Roboto")',
    bold: 'local("Arial Bold"),local("Liberation Sans Bold"),local("Roboto Bold")',
  },
  serif: {
    regular: 'local("Times New Roman"),local("Liberation Serif"),local("Noto Serif")',
    bold: 'local("Times New Roman Bold"),local("Liberation Serif Bold"),local("Noto Serif Bold")',
  },
} as const;

/** Returns the value of `font-family` for a font. */
function fontFamily(name: FontName): string {
  if (name === 'system') return systemSans;
  const [family] = fonts[name];
  return `"${family}","${family} stand-in",${faces[name].fallback === 'serif' ? systemSerif : systemSans}`;
}

/**
 * Returns the `@font-face` rules of a font: its subsets, and a local stand-in with adjusted metrics, so that
 * the layout does not shift when the font loads (`font-display: swap`).
 */
function fontFaceRules(name: FaceName): string {
  const face: Face = faces[name];
  const subsets = Object.keys(face.files) as Subset[];
  const own = subsets.map(
    (subset) =>
      `@font-face{font-family:"${fonts[name][0]}";font-weight:${face.weights};font-display:swap;` +
      `src:url(${fontAddress(name, subset)!}) format("woff2");unicode-range:${ranges[subset]}}`,
  );
  const { regular, bold } = standIns[face.fallback];
  return [...own, standIn(name, '100 500', regular, 0), standIn(name, '600 900', bold, 1)].join('\n');
}

function standIn(name: FaceName, weights: string, source: string, width: 0 | 1): string {
  const face: Face = faces[name];
  const size = face.widths[width];
  const share = (part: number): string => `${Math.round((part / size) * 10_000) / 100}%`;
  return (
    `@font-face{font-family:"${fonts[name][0]} stand-in";font-weight:${weights};src:${source};` +
    `size-adjust:${Math.round(size * 1000) / 10}%;ascent-override:${share(face.ascent)};` +
    `descent-override:${share(face.descent)};line-gap-override:0%}`
  );
}

/** The corner radius of controls and of the card. */
const cornerTokens: Readonly<Record<Corner, string>> = {
  sharp: '--round:.125rem;--round-paper:.125rem;',
  soft: '--round:.625rem;--round-paper:1rem;',
  round: '--round:1.5rem;--round-paper:2rem;',
};

/**
 * The height of controls, the space between questions, and the space around sections. Touch targets are at
 * least 44 px high.
 */
const densityTokens: Readonly<Record<Density, string>> = {
  compact: '--control:2.75rem;--gap:1.125rem;--part:1.75rem;',
  regular: '--control:3rem;--gap:1.625rem;--part:2.5rem;',
  airy: '--control:3.375rem;--gap:2.25rem;--part:3.5rem;',
};

/**
 * Returns what a theme changes in the page's style sheet (style.ts): the values of its properties, and the
 * rules of its font. Returns '' without a theme. If the theme leaves the color scheme to the visitor,
 * `scheme` decides it. A theme was validated when it was stored, so its values cannot break out of the CSS.
 */
export function themeStyle(theme: Theme | undefined, scheme?: Scheme): string {
  if (!theme) return '';
  const { font = 'system', corner, density } = theme;
  const shape = `${corner ? cornerTokens[corner] : ''}${density ? densityTokens[density] : ''}`;
  const face = font === 'system' ? '' : `--font:${fontFamily(font)};`;
  const rules = [
    font !== 'system' && fontFaceRules(font),
    shape + face !== '' && `:root{${shape}${face}}`,
    colourRules(theme, scheme),
  ];
  return rules.filter(Boolean).join('\n');
}

/**
 * Returns the theme's colors. A theme with one color scheme also sets `color-scheme`, so that the browser's
 * controls and scroll bars match.
 */
function colourRules(theme: Theme, scheme?: Scheme): string | false {
  const { color, background, mode = 'auto' } = theme;
  const only = mode === 'auto' ? scheme : mode;
  if (only) return schemeStyle(theme, only);
  if (color === undefined && background === undefined) return false;
  return `:root{${properties(paletteOf(theme, 'light'))}}\n@media (prefers-color-scheme:dark){:root{${properties(paletteOf(theme, 'dark'))}}}`;
}

/** Returns a theme's colors for one color scheme, regardless of the visitor's system, for previews. */
export function schemeStyle(theme: Theme, scheme: Scheme): string {
  return `:root{color-scheme:${scheme};${properties(paletteOf(theme, scheme))}}`;
}

function properties(palette: Palette): string {
  return Object.entries(palette)
    .map(([name, colour]) => `--${name}:${colour};`)
    .join('');
}

/** The settings of a form's layout that need additional styles. */
type StepLayoutStyle = Pick<Settings, 'layout' | 'review_step'>;

/** Styles of the review: each answer has its button beside it, or below it on narrow screens. */
const reviewStyle = `
.review h3 { margin-block-start: var(--5); }
.review h4 { margin: var(--4) 0 0; font-weight: 600; }
.answers { margin: var(--2) 0 0; border-block-start: 1px solid var(--line); }
.answers > div { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 var(--4); align-items: start; padding-block: var(--3); border-block-end: 1px solid var(--line); }
.answers dt { color: var(--soft); font-size: .9375rem; }
.answers + .answers { margin-block-start: 0; border-block-start: 0; }
.answers dd { margin: 0; grid-column: 1; }
.answers dd p { white-space: pre-line; }
.answers dd + dd { grid-area: 1 / 2 / 3; }
.answers table { border-spacing: 0; }
.answers :is(th, td) { padding: 0; padding-block-end: var(--1); font-weight: 400; text-align: start; vertical-align: top; }
.answers th { padding-inline-end: var(--4); color: var(--soft); }
.answers .file { display: flex; gap: var(--3); align-items: center; }
.answers .file + .file { margin-block-start: var(--2); }
.answers .file img { inline-size: 2.75rem; block-size: 2.75rem; border-radius: calc(.5 * var(--round)); object-fit: cover; }
.answers .signed { display: block; inline-size: 12rem; max-inline-size: 100%; border-radius: calc(.5 * var(--round)); }
.answers :is(dt, dd p), .review h4 { unicode-bidi: plaintext; text-align: left; }
[dir=rtl] :is(.answers :is(dt, dd p), .review h4) { text-align: right; }
.change { min-block-size: 2.75rem; padding: var(--2); margin: -.625rem calc(-1 * var(--2)); background: none; border: 0; color: var(--accent); font-weight: 400; text-decoration: underline; text-underline-offset: .2em; }
.change:hover { color: var(--ink); }
@media (min-width: 640px) {
  .answers > div { grid-template-columns: minmax(0, 2fr) minmax(0, 3fr) auto; }
  .answers dt { font-size: 1rem; }
  .answers dd { grid-column: 2; }
  .answers dd + dd { grid-area: 1 / 3; }
}
@media print { .step[hidden]:has(> .review) { display: none !important; } }
`;

/**
 * Styles of one question at a time. A page of its own fills the window with the question, below a thin bar; an
 * embedded one is as high as its content. The bar is full on the page after sending. With a script, questions
 * move in, and options show their keys.
 */
const questionStyle = `
.step > h2 { color: var(--accent); font-size: 1rem; letter-spacing: 0; }
.step:has(> .review) > h2 { color: inherit; font-size: 1.375rem; }
.step > .stack > .field > :is(label, legend):first-child { font-size: clamp(1.375rem, 1.1rem + 1.25vw, 1.875rem); line-height: 1.25; letter-spacing: -.01em; text-wrap: balance; }
:lang(ar) .step > .stack > .field > :is(label, legend) { letter-spacing: 0; }
.step > .stack > .field > :is(label, legend) > .mark { letter-spacing: 0; white-space: nowrap; }
.step > .stack > .labelled > :is(input, select, textarea) { font-size: 1.125rem; }
.step > .stack > .field > .options, .step > .stack > .labelled > :is(input, select, textarea) { margin-block-start: var(--4); }
.step > h2.unseen + .stack { margin-block-start: 0; }
html:not([data-embedded]) {
  body { padding: 0; background: var(--paper); }
  main {
    display: flex; flex-flow: column; position: relative; min-block-size: 100dvh; max-inline-size: none; border-radius: 0; box-shadow: none;
    padding: var(--6) max(var(--pad), 50vw - 21rem);
  }
  .cover { align-self: center; inline-size: 100vw; max-block-size: 25dvh; border-radius: 0; margin: calc(-1 * var(--6)) 0 var(--6); }
  main > form { flex: auto; display: flex; flex-flow: column; }
  .progress { display: block; margin-block-start: var(--4); }
  .progress progress, main:has(> .done)::before { position: absolute; inset: 0 0 auto; block-size: .3125rem; margin: 0; border-radius: 0; }
  main:has(> .done)::before { content: ""; background: var(--accent); }
  .actions { align-items: center; margin-block-start: var(--6); }
  @media (min-width: 640px) { .progress, .actions, .done { margin-block-end: auto; } form:not(:has(.progress)) > .step, .done { margin-block-start: auto; } }
}
.keys { display: none; }
@media (scripting: enabled) and (hover: hover) {
  .keys { display: block; color: var(--soft); font-size: .9375rem; }
  .actions > .keys { flex: none; }
  .step > .stack > .field > .options { counter-reset: option; }
  .step > .stack > .field > .options > .option:not(.none)::after {
    counter-increment: option; content: counter(option, upper-alpha); content: counter(option, upper-alpha) / ""; margin-inline-start: auto; min-inline-size: 1.5rem;
    padding: .0625rem .3125rem; border: 1px solid var(--line); border-radius: .3125rem; color: var(--soft); font-size: .8125rem; text-align: center;
  }
  .step > .stack > .field > .options > .option:nth-child(n + 27)::after, .options_row > .option::after { content: none !important; }
}
@media (scripting: enabled) and (prefers-reduced-motion: no-preference) {
  .step { animation: come .2s ease-out; }
  .returned { animation-name: come-back; }
  @keyframes come { from { opacity: 0; translate: 0 2rem; } }
  @keyframes come-back { from { opacity: 0; translate: 0 -2rem; } }
}
`;

/** Returns the additional styles for a form's layout; empty for the default layout. */
const stepLayoutStyle = ({ layout, review_step: hasReview }: StepLayoutStyle): string =>
  [layout === 'question' && questionStyle, hasReview && reviewStyle]
    .filter((rules) => typeof rules === 'string')
    .join('')
    .replaceAll(/\n\s+/g, '\n')
    .trim();

/** A picture of a theme: its URL, and its sizes if known. */
export type Picture = { readonly address: string; readonly size?: ImageSize | undefined };

/** The look of a form's pages, beyond the shared style sheet. */
export type PageStyle = {
  /** The theme's changes to the style sheet. All these rules are generated in this file. */
  readonly style: string;
  /** The color schemes of the page. */
  readonly mode: ThemeMode;
  /** The font file of the first text, to preload. */
  readonly font?: string | undefined;
  readonly logo?: Picture | undefined;
  /** The logo for dark mode, if the page follows the visitor's device. */
  readonly darkLogo?: Picture | undefined;
  readonly cover?: Picture | undefined;
  readonly favicon?: Picture | undefined;
  /** Whether the page is embedded in another one (`_embed=1`). */
  readonly isEmbedded: boolean;
  /** The origins that may frame the page; undefined allows any origin. */
  readonly embedOrigins?: readonly string[] | undefined;
};

/** The look without a theme, also for pages without a form. */
export const plainPageStyle: PageStyle = { style: '', mode: 'auto', isEmbedded: false };

/**
 * The context in which a page is shown. `elements` are the styles of its element types. `language` decides
 * which font subset is preloaded.
 */
type StyleContext = {
  readonly isEmbedded: boolean;
  readonly language: string;
  readonly elements?: string;
  /** Whether the page is personal. Only sites that the form lists may frame a personal page. */
  readonly isPersonal?: boolean | undefined;
  /** The color scheme of the embedding page. */
  readonly scheme?: Scheme | undefined;
  /** The sizes of the theme's pictures, by id. */
  readonly pictures?: ReadonlyMap<string, ImageSize> | undefined;
};

const pageStyleCache = new Map<string, PageStyle>();
/**
 * The size limit of the cache. A look has a few KB, and building one takes 0.2 ms, as long as rendering a
 * whole page.
 */
const pageStyleCacheSize = 500;

/** Returns the look for a form's settings. Equal settings return the same object. */
export function getPageStyle(
  formId: string,
  settings: Pick<Settings, 'theme' | 'embed_origins'> & StepLayoutStyle,
  context: StyleContext,
): PageStyle {
  const { theme, embed_origins: embedOrigins } = settings;
  const own = [stepLayoutStyle(settings), context.elements].filter(Boolean).join('\n');
  const isEmbedded = context.isEmbedded && !(context.isPersonal && embedOrigins === undefined);
  if (!theme && !isEmbedded && own === '') return plainPageStyle;
  const { language, scheme, pictures } = context;
  const occasion = { isEmbedded, language, scheme, pictures };
  const key = JSON.stringify([formId, theme, embedOrigins, isEmbedded, scheme, language === 'ar', own]);
  const known = pageStyleCache.get(key);
  if (known) return known;
  const drawn = theme || isEmbedded ? buildPageStyle(formId, theme ?? {}, occasion) : plainPageStyle;
  const look = { ...drawn, style: [drawn.style, own].filter(Boolean).join('\n'), embedOrigins };
  if (pageStyleCache.size >= pageStyleCacheSize) pageStyleCache.delete(pageStyleCache.keys().next().value!);
  pageStyleCache.set(key, look);
  return look;
}

/**
 * Returns the styles of an embedded page. It uses the embedding page's color scheme unless the author chose
 * one. Its background always has the embedding page's scheme: if the schemes of a frame and its page differ,
 * browsers paint an opaque background.
 */
function framedStyle(theme: Theme, scheme: Scheme): string {
  const { mode = 'auto' } = theme;
  const isOther = mode !== 'auto' && mode !== scheme;
  return `${themeStyle(theme, scheme)}${isOther ? `\n:root{color-scheme:${scheme}}main{color-scheme:${mode}}` : ''}`;
}

function buildPageStyle(
  formId: string,
  theme: Theme,
  { isEmbedded, language, scheme = 'light', pictures }: StyleContext,
): PageStyle {
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
