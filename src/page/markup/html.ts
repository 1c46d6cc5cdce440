import type { GroupRow } from '#ast/form/fields.ts';
import { splitPiped } from '#ast/form/piping.ts';
import type { Picture } from '../theme/page-style.ts';

// With a symbol as the key, parsed JSON can never pass for markup.
const markup = Symbol('markup');

/** Markup that is safe to send. Only this file makes it. */
export type Html = { readonly [markup]: string };

/**
 * A value in a template: text is escaped, `Html` is not; a list has one item per line; `null`, `undefined`
 * and `false` are left out.
 */
type Part = Html | string | number | null | undefined | false | readonly Part[];

/** Replacement strings by character code. */
type Replacements = readonly (string | undefined)[];

function replacementsOf(texts: Readonly<Record<string, string>>): Replacements {
  const all: (string | undefined)[] = Array.from({ length: 128 });
  for (const [character, text] of Object.entries(texts)) all[character.charCodeAt(0)] = text;
  return all;
}

/**
 * Replaces characters in a string. Uses a loop, because `replaceAll` is many times slower for strings with
 * many replacements.
 */
function replaceEach(text: string, replacements: Replacements): string {
  let [replaced, from] = ['', 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const replacement = code < replacements.length ? replacements[code] : undefined;
    if (replacement === undefined) continue;
    if (from < at) replaced += text.slice(from, at);
    replaced += replacement;
    from = at + 1;
  }
  return from === 0 ? text : replaced + text.slice(from);
}

const entities = replacementsOf({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' });

/** Escapes text for an element's content or a quoted attribute value; both need the same five characters. */
const escape = (text: string): string => replaceEach(text, entities);

function write(part: Part): string {
  if (part === null || part === undefined || part === false) return '';
  if (typeof part === 'string') return escape(part);
  if (typeof part === 'number') return String(part);
  return markup in part ? part[markup] : part.map(write).join('\n');
}

/**
 * Builds markup from a template: html`<p title="${title}">${text}</p>`. Every value is escaped unless it is
 * `Html`. Values may be in content or inside quotes; use `attributes` for whole attributes.
 */
export function html(literals: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return {
    [markup]: literals.reduce((before, literal, index) => before + write(parts[index - 1]) + literal),
  };
}

/** Joins pieces of markup without line breaks, which a list in a template would add. */
export function joinHtml(pieces: readonly Html[]): Html {
  return { [markup]: pieces.map((piece) => piece[markup]).join('') };
}

/**
 * Renders attributes, each with a leading space. For `true`, only the name is written; `undefined` and
 * `false` are left out.
 */
export function attributes(values: Readonly<Record<string, string | number | boolean | undefined>>): Html {
  const written = Object.entries(values).map(([name, value]) => {
    if (value === undefined || value === false) return '';
    return value === true ? ` ${name}` : ` ${name}="${escape(String(value))}"`;
  });
  return { [markup]: written.join('') };
}

const safeProtocols = ['http:', 'https:', 'mailto:', 'tel:'];

/**
 * Returns a URL that is safe for `href` or `action`: relative, http, https, mailto or tel. Any other URL
 * becomes `#`, because it could run code.
 */
export function safeUrl(address: string): string {
  const base = 'https://page.invalid';
  // The parser ignores the characters that browsers ignore, so it recognizes `java\nscript:`.
  const isSafe = URL.canParse(address, base) && safeProtocols.includes(new URL(address, base).protocol);
  return isSafe ? address : '#';
}

/**
 * Returns one of our constants, such as the style sheet, as unescaped markup. Never pass text from outside.
 */
export function unescapedHtml(constant: string): Html {
  return { [markup]: constant };
}

const withoutTags = replacementsOf({ '<': '\\u003c' });

/**
 * Renders a value as JSON for `<script type="application/json">`. Entities are not decoded there, and
 * `</script` or `<!--` would end or change the script, so every `<` is escaped (docs/rules.md T6).
 */
export function renderJson(value: unknown): Html {
  return { [markup]: replaceEach(JSON.stringify(value), withoutTags) };
}

/** Returns markup as text. */
export function htmlToString(page: Html): string {
  return page[markup];
}

/** Formats an answer for display in a text. In a row, it is the answer in that row. */
export type FormatAnswer = (id: string, row?: GroupRow) => string;

/**
 * Renders an author's text and fills in the answers it refers to. Each answer is isolated in a `bdi`, as its
 * text direction may differ. The script finds the answers by `data-answer`.
 */
export function renderPiped(text: string, formatAnswer: FormatAnswer, row?: GroupRow): Html {
  const render = (id: string): Html => html`<bdi data-answer="${id}">${formatAnswer(id, row)}</bdi>`;
  return joinHtml(
    splitPiped(text).map((part) => (typeof part === 'string' ? html`${part}` : render(part.id))),
  );
}

/** How a picture is shown in a page. */
type PictureDisplay = {
  readonly className?: 'logo' | 'cover';
  /** Alternative text. Pictures of a theme are decorative and have none. */
  readonly alt?: string;
  /** The displayed width (`sizes` in HTML), from which the browser chooses a file. */
  readonly sizes: string;
  /** The picture for dark mode. */
  readonly dark?: Picture | undefined;
};

/** The width of covers: the column (style.ts) or the screen. */
const coverSizes = '(min-width: 768px) 46rem, 100vw';
/** The height of logos (style.ts), in pixels. */
const logoHeight = 56;

const logoSizes = ({ size }: Picture): string =>
  size ? `${Math.ceil((logoHeight * size.width) / size.height)}px` : '';

/** Lists a picture's files of one format as a `srcset`. */
const candidates = ({ address, size }: Picture, format: 'avif' | 'webp'): string | undefined =>
  size?.widths.map((width) => `${address}-${width}.${format} ${width}w`).join(', ');

/** Renders the cover with high priority: it is usually the largest visible element. */
export function renderCover(picture: Picture): Html {
  return draw(picture, { className: 'cover', sizes: coverSizes });
}

/** Renders the logo, and its dark-mode version if there is one. */
export function renderLogo(picture: Picture, dark: Picture | undefined): Html {
  return draw(picture, { className: 'logo', sizes: logoSizes(picture), dark });
}

/**
 * Renders a picture among the questions. It loads lazily, and its dimensions keep the layout from shifting.
 * @param sizes its width, if it differs from the width of the column.
 */
export function renderPicture(shown: Picture, alt: string, sizes = coverSizes): Html {
  return draw(shown, { alt, sizes });
}

/** Renders a link that preloads the cover. */
export function renderCoverPreload(picture: Picture): Html | undefined {
  const imagesrcset = candidates(picture, 'avif');
  if (imagesrcset === undefined) return undefined;
  const type = 'image/avif';
  return html`<link${attributes({ rel: 'preload', as: 'image', type, imagesrcset, imagesizes: coverSizes, fetchpriority: 'high' })}>`;
}

/** Returns the URL of the favicon. */
export const faviconAddress = ({ address, size }: Picture): string =>
  size ? `${address}-icon.png` : address;

function draw(shown: Picture, { className, alt = '', sizes, dark }: PictureDisplay): Html {
  const { address, size } = shown;
  const image = attributes({
    class: className,
    src: address,
    width: size?.width,
    height: size?.height,
    fetchpriority: className === 'cover' && size && 'high',
    loading: className === undefined && 'lazy',
    alt,
  });
  return html`<picture>${dark && sources(dark, logoSizes(dark), '(prefers-color-scheme: dark)')}${sources(shown, sizes)}<img${image}></picture>`;
}

function sources(picture: Picture, sizes: string, media?: string): Html[] {
  const { address, size } = picture;
  if (!size) return media === undefined ? [] : [html`<source${attributes({ media, srcset: address })}>`];
  const { width, height } = size;
  return (['avif', 'webp'] as const).map((format) => {
    const srcset = candidates(picture, format);
    return html`<source${attributes({ type: `image/${format}`, srcset, sizes, media, width, height })}>`;
  });
}
