import { type Scheme, schemesOf } from '#ast/theme/colour.ts';
import type { Theme } from '#ast/theme/theme.ts';
import type { Look } from '#page/theme/look.ts';

/** The scheme in which a theme is shown to its maker, who wishes for one: where it has only one, that. */
export function schemeOf(theme: Theme, wished: Scheme): Scheme {
  const [only, ...others] = schemesOf(theme);
  return others.length > 0 ? wished : only;
}

/** A look with the logo of one scheme, whatever the system prefers. */
export const lookInScheme = (look: Look, scheme: Scheme): Look => ({
  ...look,
  logo: (scheme === 'dark' ? look.darkLogo : undefined) ?? look.logo,
  darkLogo: undefined,
});
