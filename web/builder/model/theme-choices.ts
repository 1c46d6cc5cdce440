import { isColour, type Scheme, schemesOf } from '#ast/theme/colour.ts';
import type { Theme } from '#ast/theme/theme.ts';
import type { PageStyle } from '#page/theme/page-style.ts';

/** Preset colors. Each is readable on white, and has a shade that is readable on a dark background. */
export const presetColours = [
  { name: 'Green', color: '#0b6655' },
  { name: 'Blue', color: '#1d4ed8' },
  { name: 'Violet', color: '#6d28d9' },
  { name: 'Pink', color: '#be185d' },
  { name: 'Red', color: '#b42318' },
  { name: 'Brown', color: '#92400e' },
  { name: 'Slate', color: '#334155' },
  { name: 'Black', color: '#111111' },
] as const;

/** A change to some parts of a theme; undefined removes a part. */
export type ThemeChange = { readonly [Key in keyof Theme]?: Theme[Key] | undefined };

/** Returns the theme after a change, or undefined if no part is left. */
export function applyThemeChange(theme: Theme, change: ThemeChange): Theme | undefined {
  const entries = Object.entries({ ...theme, ...change }).filter(([, value]) => value !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Returns the theme without incomplete color values. */
export function drawableTheme(theme: Theme): Theme {
  const { color, background, paper } = theme;
  const colours = {
    color: isColour(color) ? color : undefined,
    background: isColour(background) ? background : undefined,
    paper: isColour(paper) ? paper : undefined,
  };
  return applyThemeChange(theme, colours) ?? {};
}

/** Returns the color scheme to preview: the requested one, or the only scheme of the theme. */
export function chooseSchemeToPreview(theme: Theme, requested: Scheme): Scheme {
  const [only, ...others] = schemesOf(theme);
  return others.length > 0 ? requested : only;
}

/** Returns a page style with the logo of one color scheme, regardless of the system setting. */
export const withSchemeLogo = (look: PageStyle, scheme: Scheme): PageStyle => ({
  ...look,
  logo: (scheme === 'dark' ? look.darkLogo : undefined) ?? look.logo,
  darkLogo: undefined,
});
