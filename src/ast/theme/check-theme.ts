import { isRecord, own } from '../json.ts';
import { quote } from '../problems.ts';
import { contrast, isColour, sayContrast } from './colour.ts';
import { paletteOf, readableAccent, type Scheme, schemesOf, textContrast } from './palette.ts';
import { corners, densities, fontNames, modes, type Theme } from './theme.ts';

type ThemeProblem = { readonly field: string; readonly message: string };

type Check = (value: unknown) => string | undefined;

const oneOf =
  (known: readonly string[]): Check =>
  (value) =>
    known.some((name) => name === value) ? undefined : `must be one of ${known.map(quote).join(', ')}`;
const colour: Check = (value) => (isColour(value) ? undefined : 'must be a colour like "#0b6655"');
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const image: Check = (value) =>
  typeof value === 'string' && uuid.test(value) ? undefined : 'must be the id of an image of this form';

/** What each key takes; the end of the sentence about a value that it does not. */
const keys = {
  color: colour,
  background: colour,
  font: oneOf(fontNames),
  corner: oneOf(corners),
  density: oneOf(densities),
  mode: oneOf(modes),
  logo: image,
  cover: image,
} as const satisfies Record<keyof Theme, Check>;

/**
 * Everything that is wrong with a theme as it was sent, each under `theme.<key>`; nothing when it is one. Text on the
 * accent and the accent on paper need 4.5:1 (WCAG 2.2, 1.4.3); what has less is refused with its figure.
 */
export function findThemeProblems(input: unknown): readonly ThemeProblem[] {
  if (!isRecord(input)) return [{ field: 'theme', message: '"theme" must be an object.' }];
  const problems = Object.entries(input).flatMap(([key, value]): ThemeProblem[] => {
    const check = own<Check>(keys, key);
    if (!check) {
      const message = `There is no ${quote(key)} in a theme. It may have: ${Object.keys(keys).join(', ')}.`;
      return [{ field: 'theme', message }];
    }
    const problem = check(value);
    return problem === undefined ? [] : [{ field: `theme.${key}`, message: `"theme.${key}" ${problem}.` }];
  });
  return problems.length > 0 ? problems : contrastProblems(input);
}

/** The lowest of the contrasts that the accent of a theme has, and in which scheme. */
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

/** The shade of the theme's colour nearest to it that would be accepted. */
export function suggestColour(theme: Theme): string {
  const [chosen] = schemesOf(theme);
  return readableAccent(theme.color!, paletteOf(theme, chosen).paper, chosen);
}

function contrastProblems(theme: Theme): ThemeProblem[] {
  const { ratio, scheme } = accentContrast(theme);
  if (theme.color === undefined || ratio >= textContrast) return [];
  return [
    {
      field: 'theme.color',
      message:
        `"theme.color" ${theme.color} has a contrast of ${sayContrast(ratio)} on ${scheme} paper; text needs ` +
        `${textContrast}:1. The nearest shade that has it is ${suggestColour(theme)}.`,
    },
  ];
}
