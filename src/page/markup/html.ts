import type { Row } from '#ast/form/fields.ts';
import { splitPiped } from '#ast/form/piping.ts';
import type { Picture } from '../theme/look.ts';

// A symbol as the key: nothing that was parsed from JSON can pass for markup.
const markup = Symbol('markup');

/** Markup that is safe to send. Only this file makes it. */
export type Html = { readonly [markup]: string };

/** What a template takes: text is escaped, `Html` stays, a list is written line by line, nothing leaves nothing. */
type Part = Html | string | number | null | undefined | false | readonly Part[];

/** What stands for a character, by its code. */
type Replacements = readonly (string | undefined)[];

function replacementsOf(texts: Readonly<Record<string, string>>): Replacements {
  const all: (string | undefined)[] = Array.from({ length: 128 });
  for (const [character, text] of Object.entries(texts)) all[character.charCodeAt(0)] = text;
  return all;
}

/** A text with some of its characters replaced. By hand: `replaceAll` takes many times as long where there are many. */
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

/** Text for an element's content or a quoted attribute value; both need the same five characters. */
const escape = (text: string): string => replaceEach(text, entities);

function write(part: Part): string {
  if (part === null || part === undefined || part === false) return '';
  if (typeof part === 'string') return escape(part);
  if (typeof part === 'number') return String(part);
  return markup in part ? part[markup] : part.map(write).join('\n');
}

/**
 * Markup from a template: html`<p title="${title}">${text}</p>`. Every part is escaped unless it is `Html`.
 * Parts stand in content or inside quotes; for anything else about attributes there is `attributes`.
 */
export function html(literals: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return {
    [markup]: literals.reduce((before, literal, index) => before + write(parts[index - 1]) + literal),
  };
}

/** Pieces of markup with nothing between them: a list among the parts of a template has a line for each. */
export function joined(pieces: readonly Html[]): Html {
  return { [markup]: pieces.map((piece) => piece[markup]).join('') };
}

/** Attributes with a leading space each: `true` is the bare name, `undefined` and `false` leave it out. */
export function attributes(values: Readonly<Record<string, string | number | boolean | undefined>>): Html {
  const written = Object.entries(values).map(([name, value]) => {
    if (value === undefined || value === false) return '';
    return value === true ? ` ${name}` : ` ${name}="${escape(String(value))}"`;
  });
  return { [markup]: written.join('') };
}

const safeProtocols = ['http:', 'https:', 'mailto:', 'tel:'];

/** An address for `href` or `action`: relative, http, https, mailto or tel. Anything that could run is `#`. */
export function url(address: string): string {
  const base = 'https://page.invalid';
  // The parser drops what browsers drop, so `java\nscript:` is seen for what it is.
  const isSafe = URL.canParse(address, base) && safeProtocols.includes(new URL(address, base).protocol);
  return isSafe ? address : '#';
}

/** A constant of our own as markup, unescaped: the style sheet. Never pass it anything that came from outside. */
export function verbatim(constant: string): Html {
  return { [markup]: constant };
}

const withoutTags = replacementsOf({ '<': '\\u003c' });

/**
 * A value as JSON in a `<script type="application/json">`. There, no entity is read, and `</script` or `<!--` would end
 * or open what they like: without `<` in it, neither can be written (docs/rules.md T6).
 */
export function json(value: unknown): Html {
  return { [markup]: replaceEach(JSON.stringify(value), withoutTags) };
}

/** The finished text of a page. */
export function toText(page: Html): string {
  return page[markup];
}

/** The answer to a question for a text that shows it: of a row, where the text stands in one. */
export type SayAnswer = (id: string, row?: Row) => string;

/**
 * A text of the author's with the answers that it shows, each by itself: an answer is text, whatever it says, and may be
 * of another direction. The script finds them by `data-answer`.
 */
export function piped(text: string, say: SayAnswer, row?: Row): Html {
  const parts = splitPiped(text).map((part) =>
    typeof part === 'string' ? html`${part}` : html`<bdi data-answer="${part.id}">${say(part.id, row)}</bdi>`,
  );
  return joined(parts);
}

/** How a picture stands in a page. */
type Standing = {
  readonly className?: 'logo' | 'cover';
  /** What it shows, in words; those of a theme say nothing that the title does not. */
  readonly alt?: string;
  /** How wide it is shown (`sizes` of HTML): the browser chooses by it what to load. */
  readonly sizes: string;
  /** What is shown in its place where the device is dark. */
  readonly dark?: Picture | undefined;
};

/** How wide covers are shown: as the column is (style.ts), or the screen. */
const coverSizes = '(min-width: 768px) 46rem, 100vw';
/** How high logos are shown (style.ts). */
const logoHeight = 56;

const logoSizes = ({ size }: Picture): string =>
  size ? `${Math.ceil((logoHeight * size.width) / size.height)}px` : '';

/** Which files of a picture there are in a format, for a browser to choose from. */
const candidates = ({ address, size }: Picture, format: 'avif' | 'webp'): string | undefined =>
  size?.widths.map((width) => `${address}-${width}.${format} ${width}w`).join(', ');

/** The cover: most often the largest thing that is first seen, so it is asked for before all others. */
export function cover(picture: Picture): Html {
  return draw(picture, { className: 'cover', sizes: coverSizes });
}

/** The logo; another one where the device is dark. */
export function logo(picture: Picture, dark: Picture | undefined): Html {
  return draw(picture, { className: 'logo', sizes: logoSizes(picture), dark });
}

/**
 * One among the questions, loaded when it is near: with its dimensions, so that nothing moves when it comes.
 * @param sizes how wide it is shown, where that is not the width of the column.
 */
export function picture(shown: Picture, alt: string, sizes = coverSizes): Html {
  return draw(shown, { alt, sizes });
}

/** Has the browser load the cover before it has read the page. */
export function preloadCover(picture: Picture): Html | undefined {
  const imagesrcset = candidates(picture, 'avif');
  if (imagesrcset === undefined) return undefined;
  const type = 'image/avif';
  return html`<link${attributes({ rel: 'preload', as: 'image', type, imagesrcset, imagesizes: coverSizes, fetchpriority: 'high' })}>`;
}

/** The picture for a browser's tab. */
export const iconAddress = ({ address, size }: Picture): string => (size ? `${address}-icon.png` : address);

function draw(shown: Picture, { className, alt = '', sizes, dark }: Standing): Html {
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
