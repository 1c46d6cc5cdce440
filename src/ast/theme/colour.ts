import type { Theme } from './theme.ts';

/** A color as red, green and blue from 0 to 1, in sRGB encoding. */
type Rgb = readonly [red: number, green: number, blue: number];

/** A perceptual color (OKLCH): lightness 0 to 1, chroma from 0 (gray), hue in degrees. */
type Oklch = { readonly lightness: number; readonly chroma: number; readonly hue: number };

/** Returns whether the value is `#rrggbb`, in either case. */
export function isColour(value: unknown): value is string {
  return typeof value === 'string' && /^#[0-9a-f]{6}$/i.test(value);
}

/** Returns the contrast of two colors, 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** Formats a contrast: `3.2:1`. Truncates, so that 4.49 is never shown as 4.5. */
export function formatContrast(ratio: number): string {
  return `${Math.floor(ratio * 10) / 10}:1`;
}

function luminance(colour: string): number {
  const [red, green, blue] = readHex(colour).map(toLinear) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function readHex(colour: string): Rgb {
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255);
  return [red!, green!, blue!];
}

const toLinear = (share: number): number =>
  share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
const toEncoded = (light: number): number =>
  light <= 0.0031308 ? light * 12.92 : 1.055 * light ** (1 / 2.4) - 0.055;

/** Converts a color to Björn Ottosson's Oklab (2021), in which distances match perception. */
export function toOklch(colour: string): Oklch {
  const [red, green, blue] = readHex(colour).map(toLinear) as [number, number, number];
  const long = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const medium = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const short = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  const a = 1.9779984951 * long - 2.428592205 * medium + 0.4505937099 * short;
  const b = 0.0259040371 * long + 0.7827717662 * medium - 0.808675766 * short;
  return {
    lightness: 0.2104542553 * long + 0.793617785 * medium - 0.0040720468 * short,
    chroma: Math.hypot(a, b),
    hue: (Math.atan2(b, a) * 180) / Math.PI,
  };
}

/** Returns the perceived distance of two colors. White and black are 1 apart. */
export function colourDistance(one: string, other: string): number {
  const place = (colour: string): readonly number[] => {
    const { lightness, chroma, hue } = toOklch(colour);
    const angle = (hue * Math.PI) / 180;
    return [lightness, chroma * Math.cos(angle), chroma * Math.sin(angle)];
  };
  const from = place(other);
  return Math.hypot(...place(one).map((value, axis) => value - from[axis]!));
}

/** Returns the nearest displayable color: keeps lightness and hue, and reduces chroma. */
export function fromOklch({ lightness, chroma, hue }: Oklch): string {
  let [fits, tooMuch] = [0, chroma];
  const whole = toRgb({ lightness, chroma, hue });
  if (isShown(whole)) return writeHex(whole);
  // Twelve halvings leave less than 1/4000 of the chroma, which is not visible.
  for (let halving = 0; halving < 12; halving += 1) {
    const middle = (fits + tooMuch) / 2;
    if (isShown(toRgb({ lightness, chroma: middle, hue }))) fits = middle;
    else tooMuch = middle;
  }
  return writeHex(toRgb({ lightness, chroma: fits, hue }));
}

function toRgb({ lightness, chroma, hue }: Oklch): Rgb {
  const angle = (hue * Math.PI) / 180;
  const [a, b] = [chroma * Math.cos(angle), chroma * Math.sin(angle)];
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    toEncoded(4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short),
    toEncoded(-1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short),
    toEncoded(-0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short),
  ];
}

/** A value outside the range by up to half a step of 1/255 is rounded into it. */
const isShown = (colour: Rgb): boolean => colour.every((share) => share >= -0.002 && share <= 1.002);

function writeHex(colour: Rgb): string {
  const pairs = colour.map((share) =>
    Math.round(Math.min(1, Math.max(0, share)) * 255)
      .toString(16)
      .padStart(2, '0'),
  );
  return `#${pairs.join('')}`;
}

/** The light and dark mode of a page. */
export type Scheme = 'light' | 'dark';

/** Every color of a page as `#rrggbb`, named like the properties of the style sheet. */
export type Palette = Readonly<Record<PaletteName, string>>;
type PaletteName =
  | 'ground'
  | 'paper'
  | 'ink'
  | 'soft'
  | 'edge'
  | 'line'
  | 'tint'
  | 'accent'
  | 'deep'
  | 'on-accent'
  | 'bad'
  | 'bad-tint';

/** The minimum contrast of text (WCAG 2.2, 1.4.3). */
export const minTextContrast = 4.5;
/** The minimum contrast of main text on a chosen paper. It leaves room for all other colors. */
export const minInkContrast = 10;
/** The minimum contrast of the edges of controls (1.4.11). */
const edgeContrast = 3;

/** The accent of a theme without a color. */
export const defaultColour = '#0b6655';

/** Lightness and chroma of colors that share the accent's hue. A test verifies their contrast. */
const neutrals = {
  light: {
    ground: [0.949, 0.008],
    paper: [1, 0],
    ink: [0.235, 0.018],
    soft: [0.47, 0.02],
    edge: [0.6, 0.018],
    line: [0.902, 0.01],
    tint: [0.97, 0.011],
  },
  dark: {
    ground: [0.175, 0.009],
    paper: [0.225, 0.012],
    ink: [0.94, 0.008],
    soft: [0.75, 0.016],
    edge: [0.605, 0.018],
    line: [0.32, 0.014],
    tint: [0.27, 0.016],
  },
} as const satisfies Record<Scheme, Partial<Record<PaletteName, readonly [number, number]>>>;

/** The red of errors, and alternatives for similar accents, in order of preference. */
const warnings = {
  light: { red: '#b3261e', others: ['#6f0e0f', '#db1c22', '#3d0000'], tint: '#fcf1f0' },
  dark: { red: '#ff9d94', others: ['#ffd54a', '#ffd1d0', '#f3625d', '#fff0ef'], tint: '#2b1d1c' },
} as const satisfies Record<Scheme, { red: string; others: readonly string[]; tint: string }>;

/** From this distance (Oklab), two colors are clearly different. White and black are 1 apart. */
export const minColourDistance = 0.15;

/** Returns an error color that is readable on the paper and differs from the accent. */
function warningsOf(accent: string, paper: string, scheme: Scheme): Pick<Palette, 'bad' | 'bad-tint'> {
  const { red, others, tint } = warnings[scheme];
  const reading = (shade: string): string => readableOn([paper], shade, minTextContrast, scheme);
  const plain = reading(red);
  if (colourDistance(accent, plain) >= minColourDistance) return { bad: plain, 'bad-tint': tint };
  const shades = others.map(reading);
  const [furthest] = shades.toSorted((one, other) => contrast(accent, other) - contrast(accent, one));
  const bad = shades.find((shade) => colourDistance(accent, shade) >= minColourDistance) ?? furthest!;
  return { bad, 'bad-tint': tint };
}

/** Returns the scheme whose colors the author chooses, and the schemes that visitors see. */
export function schemesOf({ mode = 'auto' }: Theme): readonly [chosen: Scheme, ...derived: Scheme[]] {
  return mode === 'auto' ? ['light', 'dark'] : [mode];
}

/**
 * Returns the colors of a theme in one scheme. The accent is the exact color in the scheme it was chosen for.
 * In the other scheme it is a shade of its hue that is readable on that paper.
 */
export function paletteOf(theme: Theme, scheme: Scheme): Palette {
  const chosen = theme.color ?? defaultColour;
  const neutral = neutralsOf(theme);
  const shades = neutrals[scheme];
  const { paper, tint, line } = groundsOf(theme, scheme, neutral);
  const isChosen = schemesOf(theme)[0] === scheme;
  // The default color was chosen for white paper.
  const isReadable = theme.color === undefined ? contrast(chosen, paper) >= minTextContrast : isChosen;
  const accent = isReadable ? chosen : readableAccent(chosen, paper, scheme);
  return {
    ground:
      theme.background === undefined
        ? neutral(shades.ground)
        : isChosen
          ? theme.background
          : toDarkScheme(theme.background, neutrals.dark.ground[0]),
    paper,
    ink: neutral(shades.ink),
    soft: readableOn([paper, tint], neutral(shades.soft), minTextContrast, scheme),
    edge: readableOn([paper, tint], neutral(shades.edge), edgeContrast, scheme),
    line,
    tint,
    accent,
    deep: pressedShade(accent, scheme),
    'on-accent': textOn(accent),
    ...warningsOf(accent, paper, scheme),
  };
}

type Neutral = (shade: readonly [lightness: number, breath: number]) => string;

/** A gray accent gets gray paper. From a chroma of 0.05 on, the paper has the full tint. */
function neutralsOf({ color = defaultColour }: Theme): Neutral {
  const { hue, chroma } = toOklch(color);
  const strength = Math.min(1, chroma / 0.05);
  return ([lightness, breath]) => fromOklch({ lightness, chroma: breath * strength, hue });
}

/** Returns the lowest contrast of main text, in the scheme that the theme was chosen for. */
export function paperContrast(theme: Theme): number {
  const [scheme] = schemesOf(theme);
  const neutral = neutralsOf(theme);
  const { paper, tint } = groundsOf(theme, scheme, neutral);
  const ink = neutral(neutrals[scheme].ink);
  return Math.min(contrast(ink, paper), contrast(ink, tint));
}

/** Returns the background colors. A chosen paper stays exact in its scheme; other layers are its shades. */
function groundsOf(theme: Theme, scheme: Scheme, neutral: Neutral): Pick<Palette, 'paper' | 'tint' | 'line'> {
  const { paper, tint, line } = neutrals[scheme];
  if (theme.paper === undefined) return { paper: neutral(paper), tint: neutral(tint), line: neutral(line) };
  const chosen = schemesOf(theme)[0] === scheme ? theme.paper : toDarkScheme(theme.paper, paper[0]);
  const { lightness, ...hue } = toOklch(chosen);
  const shade = ([other]: readonly [number, number]): string =>
    fromOklch({ ...hue, lightness: lightness + other - paper[0] });
  return { paper: chosen, tint: shade(tint), line: shade(line) };
}

/** Converts a color of the light scheme to the dark scheme. */
function toDarkScheme(colour: string, lightness: number): string {
  const { hue, chroma } = toOklch(colour);
  return fromOklch({ lightness, chroma: Math.min(chroma, 0.03), hue });
}

/** Returns the color if it is readable on these backgrounds, or else the nearest shade that is. */
function readableOn(grounds: readonly string[], colour: string, least: number, scheme: Scheme): string {
  const reads = (shade: string): boolean => grounds.every((ground) => contrast(shade, ground) >= least);
  const from = toOklch(colour);
  const step = scheme === 'dark' ? 0.02 : -0.02;
  let shade = colour;
  for (let lightness = from.lightness; !reads(shade) && lightness > 0 && lightness < 1; ) {
    lightness += step;
    shade = fromOklch({ ...from, lightness });
  }
  return shade;
}

/** Returns white or near-black text, whichever has more contrast. One of them always has 4.5:1. */
function textOn(colour: string): string {
  const { hue, chroma } = toOklch(colour);
  const dark = fromOklch({ lightness: 0.2, chroma: Math.min(chroma, 0.03), hue });
  return contrast('#ffffff', colour) >= contrast(dark, colour) ? '#ffffff' : dark;
}

/** Returns the hover color of a button: a little further from the paper, and still readable. */
function pressedShade(accent: string, scheme: Scheme): string {
  const { lightness, ...rest } = toOklch(accent);
  const step = scheme === 'dark' || lightness < 0.25 ? 0.07 : -0.07;
  const moved = fromOklch({ ...rest, lightness: Math.min(0.97, lightness + step) });
  return contrast(moved, textOn(accent)) >= minTextContrast ? moved : accent;
}

/** Returns the nearest shade of the color with slightly more than the minimum contrast on this paper. */
export function readableAccent(colour: string, paper: string, scheme: Scheme): string {
  const from = toOklch(colour);
  const [start, step] = scheme === 'dark' ? [Math.max(from.lightness, 0.74), 0.01] : [from.lightness, -0.01];
  for (let lightness = start; lightness >= 0 && lightness <= 1; lightness += step) {
    const shade = fromOklch(reduceChroma({ ...from, lightness }, scheme));
    if (contrast(shade, paper) >= minTextContrast + 0.1) return shade;
  }
  return scheme === 'dark' ? '#ffffff' : '#000000';
}

/** Full chroma glows on a dark page, so it is reduced a little. */
const reduceChroma = (colour: Oklch, scheme: Scheme): Oklch =>
  scheme === 'dark' ? { ...colour, chroma: Math.min(colour.chroma, 0.13) } : colour;
