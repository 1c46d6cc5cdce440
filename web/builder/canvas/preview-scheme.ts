import { type Scheme, schemesOf } from '#ast/theme/colour.ts';
import type { Theme } from '#ast/theme/theme.ts';
import type { PageStyle } from '#page/theme/page-style.ts';

/** Returns the color scheme to preview: the requested one, or the only scheme of the theme. */
export function chooseSchemeToPreview(theme: Theme, wished: Scheme): Scheme {
  const [only, ...others] = schemesOf(theme);
  return others.length > 0 ? wished : only;
}

/** Returns a page style with the logo of one color scheme, regardless of the system setting. */
export const withSchemeLogo = (look: PageStyle, scheme: Scheme): PageStyle => ({
  ...look,
  logo: (scheme === 'dark' ? look.darkLogo : undefined) ?? look.logo,
  darkLogo: undefined,
});
