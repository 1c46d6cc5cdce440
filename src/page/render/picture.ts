import type { Picture } from '../theme/look.ts';
import { attributes, type Html, html } from './html.ts';

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
