import { isRecord, own } from '../json.ts';
import { limits } from '../limits.ts';
import type { Theme } from '../theme/theme.ts';

/** The settings that are texts for visitors, as errors name them. */
export const settingTexts = [
  'confirmation_message',
  'closed_message',
  'theme.confirmation_title',
  'theme.submit_label',
  'theme.social_title',
] as const;
export type SettingText = (typeof settingTexts)[number];

/** The same in the form's other languages, by BCP-47 tag. */
export type SettingTranslations = Readonly<Record<string, Readonly<Partial<Record<SettingText, string>>>>>;

/** The texts of a confirmation by condition, and how long each may be, in bytes. */
export const confirmationTexts = ['title', 'message'] as const;
export type ConfirmationText = (typeof confirmationTexts)[number];
export const confirmationBytes = { title: limits.labelBytes, message: limits.textBytes } as const;
export const isConfirmationText = (name: string): name is ConfirmationText =>
  confirmationTexts.some((known) => known === name);

/** The same in the form's other languages, beside the texts: confirmations move among each other. */
export type ConfirmationTranslations = Readonly<
  Record<string, Readonly<Partial<Record<ConfirmationText, string>>>>
>;

/** What of a confirmation has texts. */
type ConfirmationWithTexts = {
  readonly title?: string;
  readonly message?: string;
  readonly translations?: ConfirmationTranslations;
};

/** A confirmation with every text, in every language, as `change` makes it. */
export function mapConfirmationTexts<Confirmation extends ConfirmationWithTexts>(
  confirmation: Confirmation,
  change: (text: string) => string,
): Confirmation {
  const map = (holder: object): object =>
    Object.fromEntries(
      Object.entries(holder).map(([name, text]) => [
        name,
        isConfirmationText(name) && typeof text === 'string' ? change(text) : text,
      ]),
    );
  const spoken = translationsOf(confirmation).map(([language, texts]) => [language, map(texts)]);
  // Only texts are others than before.
  return {
    ...map(confirmation),
    ...(spoken.length > 0 && { translations: Object.fromEntries(spoken) }),
  } as Confirmation;
}

/** What says its texts in other languages, without those that are no more. */
export function keepLanguages<Holder extends { readonly translations?: object }>(
  holder: Holder,
  languages: readonly string[],
): Holder {
  const { translations, ...rest } = holder;
  const kept = Object.entries(translations ?? {}).filter(([language]) => languages.includes(language));
  // Translations may be left out of any holder.
  return { ...rest, ...(kept.length > 0 && { translations: Object.fromEntries(kept) }) } as Holder;
}

/** What of the settings has texts. */
type WithTexts = {
  readonly confirmation_message?: string;
  readonly closed_message?: string;
  readonly theme?: Theme;
  readonly translations?: SettingTranslations;
  readonly confirmations?: readonly ConfirmationWithTexts[];
};

/** The texts in each other language; settings that are being made may hold anything there. */
export function translationsOf({
  translations,
}: {
  readonly translations?: object;
}): [language: string, texts: Readonly<Partial<Record<string, string>>>][] {
  if (!isRecord(translations)) return [];
  return Object.entries(translations as SettingTranslations).filter(([, texts]) => isRecord(texts));
}

export const isSettingText = (name: string): name is SettingText =>
  settingTexts.some((known) => known === name);

const themePart = 'theme.';

export function settingText(settings: WithTexts, name: SettingText): string | undefined {
  const holder: unknown = name.startsWith(themePart) ? settings.theme : settings;
  const text: unknown = isRecord(holder) ? own(holder, name.replace(themePart, '')) : undefined;
  return typeof text === 'string' ? text : undefined;
}

/** The settings with one text more, or another. */
export const withSettingText = <Settings extends WithTexts>(
  settings: Settings,
  name: SettingText,
  text: string,
): Settings =>
  name.startsWith(themePart)
    ? { ...settings, theme: { ...settings.theme, [name.replace(themePart, '')]: text } }
    : { ...settings, [name]: text };

/** Every text of the settings, in every language. */
export const allSettingTexts = (settings: WithTexts): string[] => [
  ...settingTexts.flatMap((name) => settingText(settings, name) ?? []),
  ...translationsOf(settings).flatMap(([, texts]) =>
    Object.values(texts).filter((text) => typeof text === 'string'),
  ),
];

/** The settings with every one of them as `change` makes it. */
export function mapAllSettingTexts<Settings extends WithTexts>(
  settings: Settings,
  change: (text: string) => string,
): Settings {
  const mapped = mapSettingTexts(settings, change);
  if (!settings.translations) return mapped;
  const translations = translationsOf(settings).map(([language, texts]) => [
    language,
    Object.fromEntries(
      Object.entries(texts).map(([name, text]) => [name, typeof text === 'string' ? change(text) : text]),
    ),
  ]);
  return { ...mapped, translations: Object.fromEntries(translations) as SettingTranslations };
}

/** The settings with the texts that they have as `change` makes them. */
const mapSettingTexts = <Settings extends WithTexts>(
  settings: Settings,
  change: (text: string, name: SettingText) => string,
): Settings =>
  settingTexts.reduce((now, name) => {
    const text = settingText(now, name);
    return text === undefined ? now : withSettingText(now, name, change(text, name));
  }, settings);

/** The settings with their texts in that language, as a page needs them; what is not translated stays as it was written. */
export function settingsInLanguage<Settings extends WithTexts>(
  settings: Settings,
  language: string | undefined,
): Settings {
  const said = <Texts>(translations: Readonly<Record<string, Texts>> = {}): Texts | undefined =>
    language === undefined ? undefined : own(translations, language);
  const texts = said(settings.translations);
  const {
    translations: _said,
    confirmations,
    ...spoken
  } = mapSettingTexts(settings, (text, name) => texts?.[name] ?? text);
  // Translations may be left out of any settings.
  return {
    ...spoken,
    ...(confirmations && {
      confirmations: confirmations.map(({ translations, ...each }) => ({ ...each, ...said(translations) })),
    }),
  } as unknown as Settings;
}
