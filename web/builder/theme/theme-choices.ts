import { type LocaleChoice, localeChoices } from '#ast/locales.ts';
import { isColour } from '#ast/theme/colour.ts';
import type { Corner, Density, FontName, Mode, Theme } from '#ast/theme/theme.ts';
import { fontNames } from '#ast/theme/theme.ts';
import { type Face, faces } from '#page/theme/fonts.ts';
import type { Choice } from '../../design/select.tsx';

/** Preset colors. Each is readable on white, and has a shade that is readable on dark paper. */
export const presets = [
  { name: 'Green', color: '#0b6655' },
  { name: 'Blue', color: '#1d4ed8' },
  { name: 'Violet', color: '#6d28d9' },
  { name: 'Pink', color: '#be185d' },
  { name: 'Red', color: '#b42318' },
  { name: 'Brown', color: '#92400e' },
  { name: 'Slate', color: '#334155' },
  { name: 'Black', color: '#111111' },
] as const;

const labelOf = (name: FontName): Choice<FontName> => {
  if (name === 'system') return { id: name, label: 'System font', description: 'No font to download' };
  const { label, description }: Face = faces[name];
  return { id: name, label, description };
};
export const fontChoices: readonly Choice<FontName>[] = fontNames.map(labelOf);

export const cornerChoices: readonly Choice<Corner>[] = [
  { id: 'sharp', label: 'Sharp' },
  { id: 'soft', label: 'Soft' },
  { id: 'round', label: 'Round' },
];
export const densityChoices: readonly Choice<Density>[] = [
  { id: 'compact', label: 'Compact' },
  { id: 'regular', label: 'Regular' },
  { id: 'airy', label: 'Spacious' },
];
export const modeChoices: readonly Choice<Mode>[] = [
  { id: 'auto', label: 'Match device' },
  { id: 'light', label: 'Always light' },
  { id: 'dark', label: 'Always dark' },
];

const languageNames: Readonly<Record<LocaleChoice, string>> = {
  auto: 'Visitor’s browser language',
  en: 'English',
  fr: 'Français',
  de: 'Deutsch',
  es: 'Español',
  pt: 'Português',
  nl: 'Nederlands',
  ar: 'العربية',
  ja: '日本語',
  zh: '中文',
};
export const localeLabels: readonly Choice<LocaleChoice>[] = localeChoices.map((id) => ({
  id,
  label: languageNames[id],
}));

/** A change of a theme; undefined removes a property. */
export type ThemeChange = { readonly [Key in keyof Theme]?: Theme[Key] | undefined };

/**
 * Applies a change to a theme. Returns undefined if the theme becomes empty, because a form without a theme
 * has none stored.
 */
export function changedTheme(theme: Theme, change: ThemeChange): Theme | undefined {
  const entries = Object.entries({ ...theme, ...change }).filter(([, value]) => value !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Removes incomplete colors from a theme, so that it can be rendered. */
export function drawableTheme(theme: Theme): Theme {
  const { color, background, paper } = theme;
  const colours = {
    color: isColour(color) ? color : undefined,
    background: isColour(background) ? background : undefined,
    paper: isColour(paper) ? paper : undefined,
  };
  return changedTheme(theme, colours) ?? {};
}
