import { getProperty, isRecord } from '../basics/json.ts';
import type { Translations } from '../basics/translations-schema.ts';

type Attributes = Readonly<Record<string, unknown>>;

/** Returns the translations. In an unvalidated form they can be any value. */
function translationsOf(attrs: Attributes): Translations {
  const translations = getProperty(attrs, 'translations');
  return isRecord(translations) && Object.values(translations).every(isRecord)
    ? (translations as Translations)
    : {};
}

/** Returns a text of a node in its original language, with the key '', and in every translation. */
export function textInAllLanguages(
  attrs: Attributes,
  name: string,
): { readonly language: string; readonly text: string }[] {
  const text = getProperty(attrs, name);
  const written = typeof text === 'string' ? [{ language: '', text }] : [];
  const translated = Object.entries(translationsOf(attrs)).flatMap(([language, texts]) => {
    const translation: unknown = getProperty(texts, name);
    return typeof translation === 'string' ? [{ language, text: translation }] : [];
  });
  return [...written, ...translated];
}

/** Changes a text in every language. Returns the original object if nothing changed. */
export function mapTextInAllLanguages<Attrs extends Attributes>(
  attrs: Attrs,
  name: string,
  change: (text: string) => string,
): Attrs {
  const changed = textInAllLanguages(attrs, name).filter(({ text }) => change(text) !== text);
  return changed.reduce<Attrs>((now, { language, text }) => {
    if (language === '') return { ...now, [name]: change(text) };
    const translations = translationsOf(now);
    return {
      ...now,
      translations: { ...translations, [language]: { ...translations[language], [name]: change(text) } },
    };
  }, attrs);
}
