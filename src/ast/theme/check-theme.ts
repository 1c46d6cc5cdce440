import { imageIdProblem, isImageId } from '../basics/image-id.ts';
import { isRecord, own } from '../basics/json.ts';
import { limits } from '../basics/limits.ts';
import { quote } from '../basics/problems.ts';
import { fitsBytes, isCleanText } from '../basics/text.ts';
import {
  contrast,
  fromOklch,
  inkContrast,
  isColour,
  paletteOf,
  paperContrast,
  readableAccent,
  type Scheme,
  sayContrast,
  schemesOf,
  textContrast,
  toOklch,
} from './colour.ts';
import { corners, densities, fontNames, modes, type Theme } from './theme.ts';

type ThemeProblem = { readonly field: string; readonly message: string };

type Check = (value: unknown) => string | undefined;

const oneOf =
  (known: readonly string[]): Check =>
  (value) =>
    known.some((name) => name === value) ? undefined : `must be one of ${known.map(quote).join(', ')}`;
const colour: Check = (value) => (isColour(value) ? undefined : 'must be a color like "#0b6655"');
const image: Check = (value) => (isImageId(value) ? undefined : imageIdProblem);

const line: Check = (value) =>
  typeof value === 'string' &&
  value.trim() !== '' &&
  isCleanText(value) &&
  !/[\n\r]/.test(value) &&
  fitsBytes(value, limits.labelBytes)
    ? undefined
    : `must be one line of text, at most ${limits.labelBytes} bytes`;
const flag: Check = (value) => (typeof value === 'boolean' ? undefined : 'must be true or false');

/** The check of each key, which returns the end of the sentence about an invalid value. */
const keys = {
  color: colour,
  background: colour,
  paper: colour,
  font: oneOf(fontNames),
  corner: oneOf(corners),
  density: oneOf(densities),
  mode: oneOf(modes),
  logo: image,
  logo_dark: image,
  cover: image,
  submit_label: line,
  confirmation_title: line,
  short_reference: flag,
  favicon: image,
  social_title: line,
  social_image: image,
} as const satisfies Record<keyof Theme, Check>;

/**
 * Returns everything that is wrong with a theme, each under `theme.<key>`. Text on the accent and the accent
 * on paper need 4.5:1 (WCAG 2.2, 1.4.3). A lower contrast is rejected with its ratio.
 */
export function findThemeProblems(input: unknown): readonly ThemeProblem[] {
  if (!isRecord(input)) return [{ field: 'theme', message: '"theme" must be an object.' }];
  const problems = Object.entries(input).flatMap(([key, value]): ThemeProblem[] => {
    const check = own<Check>(keys, key);
    if (!check) {
      const message = `Unknown theme key ${quote(key)}. Use one of these: ${Object.keys(keys).join(', ')}.`;
      return [{ field: 'theme', message }];
    }
    const problem = check(value);
    return problem === undefined ? [] : [{ field: `theme.${key}`, message: `"theme.${key}" ${problem}.` }];
  });
  return problems.length > 0 ? problems : [...paperProblems(input), ...contrastProblems(input)];
}

/** Returns the lowest contrast of the theme's accent, and its scheme. */
export function accentContrast(theme: Theme): { ratio: number; scheme: Scheme } {
  const found = schemesOf(theme).map((scheme) => {
    const palette = paletteOf(theme, scheme);
    const ratio = Math.min(
      contrast(palette.accent, palette.paper),
      contrast(palette['on-accent'], palette.accent),
    );
    return { ratio, scheme };
  });
  return found.reduce((low, next) => (next.ratio < low.ratio ? next : low));
}

/** Returns the nearest shade of the theme's paper that would be accepted. */
export function suggestPaper(theme: Theme): string {
  const { lightness, ...hue } = toOklch(theme.paper!);
  const step = schemesOf(theme)[0] === 'dark' ? -0.02 : 0.02;
  for (let next = lightness + step; next > 0 && next < 1; next += step) {
    const paper = fromOklch({ ...hue, lightness: next });
    if (paperContrast({ ...theme, paper }) >= inkContrast) return paper;
  }
  return step < 0 ? '#000000' : '#ffffff';
}

/** Returns the nearest shade of the theme's color that would be accepted. */
export function suggestColour(theme: Theme): string {
  const [chosen] = schemesOf(theme);
  return readableAccent(theme.color!, paletteOf(theme, chosen).paper, chosen);
}

function paperProblems(theme: Theme): ThemeProblem[] {
  const ratio = theme.paper === undefined ? inkContrast : paperContrast(theme);
  if (ratio >= inkContrast) return [];
  const [scheme] = schemesOf(theme);
  return [
    {
      field: 'theme.paper',
      message: `"theme.paper" ${theme.paper} has a contrast of ${sayContrast(ratio)} with the ${scheme === 'dark' ? 'light' : 'dark'} text on it; it needs ${inkContrast}:1. The nearest valid shade is ${suggestPaper(theme)}.`,
    },
  ];
}

function contrastProblems(theme: Theme): ThemeProblem[] {
  const { ratio, scheme } = accentContrast(theme);
  if (theme.color === undefined || ratio >= textContrast) return [];
  return [
    {
      field: 'theme.color',
      message: `"theme.color" ${theme.color} has a contrast of ${sayContrast(ratio)} on ${scheme} paper; text needs ${textContrast}:1. The nearest valid shade is ${suggestColour(theme)}.`,
    },
  ];
}
