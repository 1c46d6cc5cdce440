import { type Palette, paletteOf, type Scheme } from '#ast/theme/palette.ts';
import type { Corner, Density, FontName, Theme } from '#ast/theme/theme.ts';
import { type Face, type FaceName, faces, fontAddress, type Subset } from './fonts.ts';

/** The letters of each subset, as the packages cut them (their unicode.json); Arabic without its mathematics. */
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

/** Faces of the same widths under other names: those of Linux, and Android's, which is within 1 %. */
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

/** The value of `font-family` for a face. */
function fontFamily(name: FontName): string {
  if (name === 'system') return systemSans;
  const face: Face = faces[name];
  return `"${face.label}","${face.label} stand-in",${face.fallback === 'serif' ? systemSerif : systemSans}`;
}

/**
 * The rules that bring a face: its subsets, and under another name the device's own face, made as wide and as high,
 * so that nothing moves when the letters arrive (`font-display: swap`).
 */
function fontFaceRules(name: FaceName): string {
  const face: Face = faces[name];
  const subsets = Object.keys(face.files) as Subset[];
  const own = subsets.map(
    (subset) =>
      `@font-face{font-family:"${face.label}";font-weight:${face.weights};font-display:swap;` +
      `src:url(${fontAddress(name, subset)!}) format("woff2");unicode-range:${ranges[subset]}}`,
  );
  const { regular, bold } = standIns[face.fallback];
  return [...own, standIn(face, '100 500', regular, 0), standIn(face, '600 900', bold, 1)].join('\n');
}

function standIn(face: Face, weights: string, source: string, width: 0 | 1): string {
  const size = face.widths[width];
  const share = (part: number): string => `${Math.round((part / size) * 10_000) / 100}%`;
  return (
    `@font-face{font-family:"${face.label} stand-in";font-weight:${weights};src:${source};` +
    `size-adjust:${Math.round(size * 1000) / 10}%;ascent-override:${share(face.ascent)};` +
    `descent-override:${share(face.descent)};line-gap-override:0%}`
  );
}

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
