import { imageIdProblem, isImageId } from '../basics/image-id.ts';
import { getProperty, isRecord } from '../basics/json.ts';
import { formLimits } from '../basics/limits.ts';
import { quote } from '../basics/problems.ts';
import { fitsBytes, isCleanText } from '../basics/text.ts';
import { canPipeInSettings, pipedIds } from '../form/piping.ts';
import type { Form } from '../form/tree.ts';
import {
  choiceSetting,
  flagSetting,
  type SettingKind,
  type SettingsError,
  type SettingTexts,
  settingProblemsOf,
} from '../settings-kinds.ts';
import {
  contrast,
  formatContrast,
  fromOklch,
  isColour,
  minInkContrast,
  minTextContrast,
  paletteOf,
  paperContrast,
  readableAccent,
  type Scheme,
  schemesOf,
  toOklch,
} from './colour.ts';
import { corners, densities, fontNames, fonts, type Theme, themeModes } from './theme.ts';

type Part<Value> = SettingKind<Value> & SettingTexts;

/** A choice in the theme. Its schema has no default: the API returns only what is set. */
const oneOf = <const Id extends string>(
  ...[ids, labels, byDefault]: Parameters<typeof choiceSetting<Id>>
) => ({ ...choiceSetting(ids, labels, byDefault), schema: { type: 'string', enum: [...ids] } });

const colour = {
  accepts: (value): value is string => isColour(value),
  problem: 'must be a color like "#0b6655"',
  schema: { type: 'string', pattern: '^#[0-9a-fA-F]{6}$' },
} as const satisfies SettingKind<string>;

const image = {
  accepts: (value): value is string => isImageId(value),
  problem: imageIdProblem,
  schema: { type: 'string', format: 'uuid' },
  control: 'image',
  note: 'The id of an image in the workspace.',
} as const satisfies SettingKind<string>;

const line = {
  accepts: (value): value is string =>
    typeof value === 'string' &&
    value.trim() !== '' &&
    isCleanText(value) &&
    !/[\n\r]/.test(value) &&
    fitsBytes(value, formLimits.labelBytes),
  problem: `must be one line of text, at most ${formLimits.labelBytes} bytes`,
  schema: { type: 'string' },
  control: 'line',
  note: `One line of at most ${formLimits.labelBytes} bytes of UTF-8.`,
} as const satisfies SettingKind<string>;

/** Every part of a theme: its schema and its texts in the builder. */
export const themeParts = {
  color: {
    ...colour,
    title: 'Color',
    help: 'Used for buttons, selected options and the focus ring.',
    note: `Text on it needs a contrast of ${minTextContrast}:1.`,
  },
  background: { ...colour, title: 'Background', help: 'Behind the form, on screens wider than a phone.' },
  paper: {
    ...colour,
    title: 'Card color',
    help: 'The surface behind the questions: pale in light mode, dark in dark mode.',
    note: `The text on it needs a contrast of ${minInkContrast}:1.`,
  },
  font: { ...oneOf(fontNames, fonts, 'system'), title: 'Font' },
  corner: { ...oneOf(corners, { sharp: 'Sharp', soft: 'Soft', round: 'Round' }, 'soft'), title: 'Corners' },
  density: {
    ...oneOf(densities, { compact: 'Compact', regular: 'Regular', airy: 'Airy' }, 'regular'),
    title: 'Density',
  },
  mode: {
    ...oneOf(themeModes, { auto: 'Match the device', light: 'Always light', dark: 'Always dark' }, 'auto'),
    title: 'Color mode',
  },
  logo: { ...image, title: 'Logo', help: 'Above the title, 56 px high.' },
  logo_dark: { ...image, title: 'Logo on dark pages', help: 'Replaces the logo on a dark page.' },
  cover: { ...image, title: 'Cover', help: 'Across the top, cropped to 4 by 1.' },
  submit_label: { ...line, title: 'Submit button', help: 'The text of the last button.' },
  confirmation_title: {
    ...line,
    title: 'Title of the confirmation',
    help: 'The heading above the confirmation message. It can show answers.',
  },
  short_reference: {
    ...flagSetting(true),
    title: 'Short confirmation code',
    help: 'The confirmation and the receipt show ten characters, like K7QF2-9XM4D, instead of the full ID. Search finds both.',
  },
  favicon: { ...image, title: 'Favicon', help: 'Shown in the browser tab. Use a square image.' },
  social_title: {
    ...line,
    title: 'Link preview title',
    help: 'What chats and other sites show for a link to the form, instead of its name.',
  },
  social_image: {
    ...image,
    title: 'Link preview image',
    help: 'Shown with a link to the form. 1200 × 630 pixels works best.',
  },
} as const satisfies Record<keyof Theme, Part<unknown>>;

/** Returns the row of a part, with the general type that readers of the table use. */
export const themePart = (name: keyof Theme): Part<unknown> => themeParts[name];

/**
 * Returns the problems of a theme as it was sent, each under `theme.<part>`. Text on the accent and the
 * accent on paper need 4.5:1 (WCAG 2.2, 1.4.3). The error for a lower contrast states the ratio.
 */
export function findThemeProblems(input: unknown, form?: Form): readonly SettingsError[] {
  if (!isRecord(input)) return [{ field: 'theme', message: '"theme" must be an object.' }];
  const problems = Object.entries(input).flatMap(([key, value]): readonly SettingsError[] => {
    const part = getProperty<Part<unknown>>(themeParts, key);
    if (part) return settingProblemsOf(`theme.${key}`, part, value, undefined);
    const message = `Unknown theme key ${quote(key)}. Use one of these: ${Object.keys(themeParts).join(', ')}.`;
    return [{ field: 'theme', message }];
  });
  if (problems.length > 0) return problems;
  return [...paperProblems(input), ...contrastProblems(input), ...titleProblems(input, form)];
}

/** The title of the confirmation can show only answers that its message can show. */
function titleProblems({ confirmation_title: title = '' }: Theme, form: Form | undefined): SettingsError[] {
  const field = 'theme.confirmation_title';
  return pipedIds(title)
    .filter((id) => form && !canPipeInSettings(form, id))
    .map((id) => ({
      field,
      message: `"${field}" shows the answer to ${quote(id)}, which is not a question in the form outside repeatable composites.`,
    }));
}

/** Returns the lowest contrast of the theme's accent, and the scheme that has it. */
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
    if (paperContrast({ ...theme, paper }) >= minInkContrast) return paper;
  }
  return step < 0 ? '#000000' : '#ffffff';
}

/** Returns the nearest shade of the theme's color that would be accepted. */
export function suggestColour(theme: Theme): string {
  const [chosen] = schemesOf(theme);
  return readableAccent(theme.color!, paletteOf(theme, chosen).paper, chosen);
}

function paperProblems(theme: Theme): SettingsError[] {
  const ratio = theme.paper === undefined ? minInkContrast : paperContrast(theme);
  if (ratio >= minInkContrast) return [];
  const [scheme] = schemesOf(theme);
  return [
    {
      field: 'theme.paper',
      message: `"theme.paper" ${theme.paper} has a contrast of ${formatContrast(ratio)} with the ${scheme === 'dark' ? 'light' : 'dark'} text on it; it needs ${minInkContrast}:1. The nearest valid shade is ${suggestPaper(theme)}.`,
    },
  ];
}

function contrastProblems(theme: Theme): SettingsError[] {
  const { ratio, scheme } = accentContrast(theme);
  if (theme.color === undefined || ratio >= minTextContrast) return [];
  return [
    {
      field: 'theme.color',
      message: `"theme.color" ${theme.color} has a contrast of ${formatContrast(ratio)} on ${scheme} paper; text needs ${minTextContrast}:1. The nearest valid shade is ${suggestColour(theme)}.`,
    },
  ];
}
