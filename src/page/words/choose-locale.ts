import { isLocale, type Locale, type LocaleChoice } from '#ast/locales.ts';

/** What decides the language of a page, strongest first. */
type Wishes = {
  /** The address's `_lang`, for links and embedding pages that know better. */
  readonly asked?: string | undefined;
  /** settings.locale */
  readonly setting?: LocaleChoice | undefined;
  /** The header Accept-Language. */
  readonly accepted?: string | undefined;
};

/**
 * The language in which the page speaks. A form whose author set one speaks it to everybody, unless the address asks
 * otherwise; else the visitor's browser decides, and English is for all others.
 */
export function chooseLocale({ asked, setting = 'auto', accepted = '' }: Wishes): Locale {
  if (isLocale(asked)) return asked;
  if (setting !== 'auto') return setting;
  return readAccepted(accepted).find(isLocale) ?? 'en';
}

/** The languages of the header by weight, without their regions; at most 20 are looked at. */
function readAccepted(header: string): string[] {
  const wishes = header
    .split(',', 20)
    .map((item) => {
      const [tag = '', ...parameters] = item.trim().toLowerCase().split(';');
      const weight = parameters.map((text) => /^\s*q=([\d.]+)\s*$/.exec(text)?.[1]).find(Boolean);
      return { language: tag.split('-', 1)[0]!, weight: weight === undefined ? 1 : Number(weight) };
    })
    .filter(({ weight }) => weight > 0);
  return wishes.sort((one, other) => other.weight - one.weight).map(({ language }) => language);
}
