import { idOf, type Option } from '#ast/answers/options.ts';
import { limits } from '#ast/limits.ts';
import { isLocale } from '#ast/locales.ts';
import { isLanguageTag } from '#ast/translations/match-language.ts';
import { isSettingText, withSettingText } from '#ast/translations/check-translations.ts';
import { optionsOf, type Sketch, type Sketched, words } from '../sketch.ts';
import type { Part } from '../source.ts';

/** Texts in several languages beside each other (`{"default": "Name", "de": "Vorname"}`), put where ours are. */
export type Speaker = {
  /** The text in the language of the form; blank is undefined. */
  readonly say: (part: Part) => string | undefined;
  /** Gives a node a text, with its translations. */
  readonly tell: (made: Sketched, attribute: string, part: Part) => void;
  readonly tellSetting: (name: string, part: Part) => void;
  /** Gives a question its options, or its rows: each a value, or `{value, text}`. */
  readonly tellOptions: (made: Sketched, attribute: 'options' | 'rows', parts: readonly Part[]) => void;
  /** Says at the end which languages there are. */
  readonly finish: () => void;
};

/** @param write how texts are written here, those of one line and longer ones. */
export function speaker(
  sketch: Sketch,
  root: Part,
  write: (text: string, isLong: boolean) => string,
): Speaker {
  const locale = root.text('locale') ?? '';
  const own = tagOf(locale) ?? 'en';
  if (locale !== '' && tagOf(locale) === undefined)
    root.part('locale').leaveOut('No page is in such a language.');
  const others = new Set<string>();
  const translations: Record<string, Record<string, unknown>> = {};

  /** A part in each language that it is in; where it is in one alone, that is the form's. */
  const inLanguages = (part: Part): [language: string, text: Part][] => {
    if (part.word() !== undefined) return [[own, part]];
    return part.parts().flatMap((each): [string, Part][] => {
      const language = each.name === 'default' ? own : tagOf(each.name);
      if (language !== undefined) return [[language, each]];
      each.leaveOut('No page is in such a language.');
      return [];
    });
  };
  const spoken = (part: Part, most: number, isHeaded = false): Map<string, string> =>
    new Map(
      inLanguages(part).flatMap(([language, each]): [string, string][] => {
        const text = words(each, most, (source) => {
          const written = write(source, most > limits.labelBytes);
          // Only a rich text has headings.
          return isHeaded ? written : written.replace(/^#{1,6} /gm, '');
        });
        return text === undefined ? [] : [[language, text]];
      }),
    );
  /** Sets what is in the form's language, and hands each of the others over. */
  const share = (
    texts: Map<string, string>,
    set: (text: string) => void,
    translate: (language: string, text: string) => void,
  ): void => {
    const [first] = texts.keys();
    const main = texts.has(own) ? own : first;
    if (main === undefined) return;
    set(texts.get(main)!);
    for (const [language, text] of texts) {
      if (language === main || language === own) continue;
      others.add(language);
      translate(language, text);
    }
  };
  const translationsOf = (made: Sketched, language: string): Record<string, unknown> => {
    const all = (made.attrs['translations'] ??= {}) as Record<string, Record<string, unknown>>;
    return (all[language] ??= {});
  };

  return {
    say: (part) => {
      const texts = spoken(part, limits.textBytes);
      return texts.get(own) ?? texts.values().next().value;
    },
    tell: (made, attribute, part) => {
      const most = longTexts.includes(attribute) ? limits.textBytes : limits.labelBytes;
      share(
        attribute === 'text' ? spoken(part, limits.richTextBytes, true) : spoken(part, most),
        (text) => {
          made.attrs[attribute] = text;
        },
        (language, text) => {
          translationsOf(made, language)[attribute] = text;
        },
      );
    },
    tellSetting: (name, part) => {
      if (!isSettingText(name)) return;
      share(
        spoken(part, limits.textBytes),
        (text) => Object.assign(sketch.settings, withSettingText(sketch.settings, name, text)),
        (language, text) => {
          (translations[language] ??= {})[name] = text;
        },
      );
    },
    tellOptions: (made, attribute, parts) => {
      const said = new Map<Part, Map<string, string>>();
      const read = (part: Part) => {
        const value = part.word();
        const [id, label] = value === undefined ? [part.word('value'), part.part('text')] : [value, part];
        const texts = spoken(label, limits.labelBytes);
        said.set(part, texts);
        const main = texts.get(own) ?? texts.values().next().value;
        const word = id === undefined ? undefined : write(id, false);
        return { id: word || undefined, label: main ?? word };
      };
      const options: Option[] = optionsOf(parts, read);
      made.attrs[attribute] = options;
      const ids = new Set(options.map(idOf));
      for (const [part, texts] of said) {
        const id = part.word() ?? part.word('value');
        const kept = id !== undefined && ids.has(id) ? id : undefined;
        for (const [language, text] of kept === undefined ? [] : texts) {
          if (language === own) continue;
          others.add(language);
          const all = translationsOf(made, language);
          const list = (all[attribute] ??= {}) as Record<string, string>;
          list[kept!] = text;
        }
      }
    },
    finish: () => {
      if (isLocale(own) && root.part('locale').isThere && others.size === 0) sketch.settings['locale'] = own;
      if (others.size === 0) return;
      sketch.form.attrs['languages'] = [own, ...others];
      if (Object.keys(translations).length > 0) sketch.settings['translations'] = translations;
    },
  };
}

const longTexts: readonly string[] = ['description', 'help_text', 'placeholder', 'statement'];

/** `pt-br` as forms write it, `pt-BR`. */
function tagOf(name: string): string | undefined {
  const tag = name.replace(/[-_]([a-z]{2})$/i, (_whole, region: string) => `-${region.toUpperCase()}`);
  return isLanguageTag(tag) ? tag : undefined;
}
