import type { Settings } from '#ast/settings.ts';
import type { Mode, Theme } from '#ast/theme/theme.ts';
import { fontAddress } from './fonts.ts';
import { themeStyle } from './theme-style.ts';

/** How a form's pages look, beside the style sheet that all share. */
export type Look = {
  /** What the theme changes in the style sheet: rules of our own making. */
  readonly style: string;
  readonly mode: Mode;
  /** The face that the first words need, for the browser to load before it has read the style. */
  readonly font?: string | undefined;
  /** Addresses of images. */
  readonly logo?: string | undefined;
  readonly cover?: string | undefined;
  /** Whether the page stands inside another one (`_embed=1`). */
  readonly isEmbedded: boolean;
  /** Whose pages may have it inside them; any, when there is no list. */
  readonly embedOrigins?: readonly string[] | undefined;
};

/** The look of a form without a theme, and of pages that belong to no form. */
export const plainLook: Look = { style: '', mode: 'auto', isEmbedded: false };

/** What a page is drawn for. `language` decides which letters of a face come first. */
type Occasion = { readonly isEmbedded: boolean; readonly language: string };

const made = new Map<string, Look>();
/** A look is a few KB, and drawing one takes a fifth of a millisecond, as much as a whole page. */
const keptLooks = 500;

/** The look that a form's settings give its pages. Equal settings get the same object. */
export function lookOf(
  formId: string,
  { theme, embed_origins: embedOrigins }: Pick<Settings, 'theme' | 'embed_origins'>,
  occasion: Occasion,
): Look {
  if (!theme && !occasion.isEmbedded) return plainLook;
  const { isEmbedded, language } = occasion;
  const key = JSON.stringify([formId, theme, embedOrigins, isEmbedded, language === 'ar']);
  const known = made.get(key);
  if (known) return known;
  const look = { ...drawLook(formId, theme ?? {}, occasion), embedOrigins };
  if (made.size >= keptLooks) made.delete(made.keys().next().value!);
  made.set(key, look);
  return look;
}

function drawLook(formId: string, theme: Theme, { isEmbedded, language }: Occasion): Look {
  const { font = 'system', mode = 'auto', logo, cover } = theme;
  const subset = language === 'ar' ? 'arabic' : 'latin';
  return {
    style: themeStyle(theme),
    mode,
    font: font === 'system' ? undefined : (fontAddress(font, subset) ?? fontAddress(font, 'latin')),
    logo: logo && imageAddress(formId, logo),
    cover: cover && imageAddress(formId, cover),
    isEmbedded,
  };
}

/** Where an image of a form is served (image-route.ts). */
export function imageAddress(formId: string, imageId: string): string {
  return `/f/${formId}/images/${imageId}`;
}
