import { type Palette, paletteOf, type Scheme } from '#ast/theme/palette.ts';
import type { Corner, Density, Theme } from '#ast/theme/theme.ts';
import { fontFaceRules, fontFamily } from './font-face.ts';

/** The radius of controls, and of the paper. */
const cornerTokens: Readonly<Record<Corner, string>> = {
  sharp: '--round:.125rem;--round-paper:.125rem;',
  soft: '--round:.625rem;--round-paper:1rem;',
  round: '--round:1.5rem;--round-paper:2rem;',
};

/** Heights of controls, the room between questions, and the room around parts. 44 px is the least to be touched. */
const densityTokens: Readonly<Record<Density, string>> = {
  compact: '--control:2.75rem;--gap:1.125rem;--part:1.75rem;',
  regular: '--control:3rem;--gap:1.625rem;--part:2.5rem;',
  airy: '--control:3.375rem;--gap:2.25rem;--part:3.5rem;',
};

/**
 * What a theme changes in the style sheet of the page (style.ts): the values of its properties, and the rules of its
 * face. '' for a form without a theme. Where it leaves the scheme to the visitor, `scheme` decides it instead.
 * A theme was checked when it was stored: nothing in it can leave its place.
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

/** A theme of one scheme says so to the browser too, which draws its own controls and scroll bars by it. */
function colourRules(theme: Theme, scheme?: Scheme): string | false {
  const { color, background, mode = 'auto' } = theme;
  const only = mode === 'auto' ? scheme : mode;
  if (only) return schemeStyle(theme, only);
  if (color === undefined && background === undefined) return false;
  return `:root{${properties(paletteOf(theme, 'light'))}}\n@media (prefers-color-scheme:dark){:root{${properties(paletteOf(theme, 'dark'))}}}`;
}

/** One of the two looks of a theme for itself, whatever the visitor's system prefers: for who chooses it. */
export function schemeStyle(theme: Theme, scheme: Scheme): string {
  return `:root{color-scheme:${scheme};${properties(paletteOf(theme, scheme))}}`;
}

function properties(palette: Palette): string {
  return Object.entries(palette)
    .map(([name, colour]) => `--${name}:${colour};`)
    .join('');
}
