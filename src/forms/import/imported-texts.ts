import { elementIdPatternSource } from '#ast/basics/element-id.ts';
import { getProperty } from '#ast/basics/json.ts';
import { isLanguageTag, isLocale } from '#ast/basics/language-tags.ts';
import { formLimits } from '#ast/basics/limits.ts';
import type { Option } from '#ast/basics/options.ts';
import { cutToBytes, fitsBytes, isCleanText } from '#ast/basics/text.ts';
import { entryTextBytes, isSettingTextName, withSettingText } from '#ast/translations/check-translations.ts';
import { lineOfHtml, textOfHtml } from './html.ts';
import { attributeSpecsOf, type Sketch, type SketchNode } from './sketch.ts';
import type { SourcePart } from './source.ts';

const braces = new RegExp(String.raw`\{\{( ?(${elementIdPatternSource}) ?\}\})?`, 'gu');

/** Returns a text that a form can store. `{{…}}` remains only for the answers in `shown`. */
function tidy(text: string, shown: ReadonlySet<string>): string {
  const clean = isCleanText(text) ? text : text.replaceAll('\u0000', '').toWellFormed();
  return clean
    .replace(braces, (whole, rest: string | undefined, id: string) =>
      rest !== undefined && shown.has(id) ? whole : `{ {${rest ?? ''}`,
    )
    .trim();
}

function cut(part: SourcePart, text: string, most: number): string {
  if (fitsBytes(text, most)) return text;
  part.change(`The text was shortened to ${most} bytes.`);
  return cutToBytes(text, most);
}

/** How a service formats texts. */
type Style = {
  readonly isHtml?: boolean;
  /**
   * How a text includes an answer: the first group of the pattern captures its name, and `find` returns our
   * id.
   */
  readonly piped?: { readonly pattern: RegExp; readonly find: (name: string) => string | undefined };
  /**
   * The default language of a form with texts in several languages: `{"default": "Name", "de": "Vorname"}`.
   */
  readonly language?: string | undefined;
};

/**
 * Reads the texts of a document and sets them in the form, with their translations. Several parts are joined
 * with blank lines between them.
 */
export type Texts = {
  /** Returns a text in the language of the form, or undefined if it is blank. */
  readonly read: (parts: SourcePart | readonly SourcePart[], most?: number) => string | undefined;
  /** Converts a text of the service and cuts it to its limit. `part` is its source, for the report. */
  readonly write: (part: SourcePart, text: string, most: number, hasHeadings?: boolean) => string;
  /** Sets a text of a node. */
  readonly set: (node: SketchNode, attribute: string, parts: SourcePart | readonly SourcePart[]) => void;
  readonly setSetting: (name: string, parts: SourcePart | readonly SourcePart[]) => void;
  /** Sets the options or rows of a question. @returns the id of each. */
  readonly setOptions: (
    node: SketchNode,
    attribute: string,
    parts: readonly SourcePart[],
    read: (part: SourcePart) => OptionParts,
  ) => Map<SourcePart, string>;
  /** Adds the languages to the form. */
  readonly finish: () => void;
};

type OptionParts = {
  id?: string | undefined;
  label: SourcePart | string | undefined;
  points?: number | undefined;
};

export function newTexts(sketch: Sketch, { isHtml, piped, language }: Style = {}): Texts {
  const main = language ?? '';
  const others = new Set<string>();
  const translations: Record<string, Record<string, unknown>> = {};

  const write = (part: SourcePart, text: string, most: number, hasHeadings = false): string => {
    const isLine = most <= formLimits.labelBytes;
    const plain = !isHtml ? text : isLine ? lineOfHtml(text) : textOfHtml(text);
    const shown = new Set<string>();
    const named = !piped
      ? plain
      : plain.replace(piped.pattern, (whole, name: string) => {
          const id = piped.find(name);
          if (id !== undefined) shown.add(id);
          return id === undefined ? whole : `{{${id}}}`;
        });
    const tidied = tidy(isHtml && !hasHeadings ? named.replace(/^#{1,6} /gm, '') : named, shown);
    return cut(part, isLine ? tidied.replace(/\s+/g, ' ') : tidied, most);
  };
  /** Returns a part in each of its languages. */
  const inLanguages = (part: SourcePart): [language: string, text: SourcePart][] => {
    if (language === undefined || part.word() !== undefined) return [[main, part]];
    return part.parts().flatMap((each): [string, SourcePart][] => {
      const tag = each.name === 'default' ? main : languageTagOf(each.name);
      if (tag !== undefined) return [[tag, each]];
      each.leaveOut('This is not a known language tag.');
      return [];
    });
  };
  const readOne = (part: SourcePart, most: number, hasHeadings: boolean): Map<string, string> =>
    new Map(
      inLanguages(part).flatMap(([tag, each]): [string, string][] => {
        const text = write(each, each.word() ?? '', most, hasHeadings);
        return text === '' ? [] : [[tag, text]];
      }),
    );
  const inMain = (texts: ReadonlyMap<string, string>): string | undefined =>
    texts.get(main) ?? texts.values().next().value;
  const readAll = (
    parts: SourcePart | readonly SourcePart[],
    most: number,
    hasHeadings = false,
  ): Map<string, string> => {
    const all = [parts].flat().map((part) => readOne(part, most, hasHeadings));
    const languages = new Set(all.flatMap((texts) => [...texts.keys()]));
    return new Map(
      [...languages].map((tag) => {
        const text = all.flatMap((texts) => texts.get(tag) ?? inMain(texts) ?? []).join('\n\n');
        return [tag, cut([parts].flat()[0]!, text, most)];
      }),
    );
  };
  /** Sets a text in the form's language, and passes on each translation. */
  const share = (
    texts: Map<string, string>,
    set: (text: string) => void,
    translate: (tag: string, text: string) => void,
  ): void => {
    const text = inMain(texts);
    if (text === undefined) return;
    set(text);
    const [first] = texts.keys();
    for (const [tag, each] of texts) {
      if (tag === main || (!texts.has(main) && tag === first)) continue;
      others.add(tag);
      translate(tag, each);
    }
  };
  const translationsOf = (node: SketchNode, tag: string): Record<string, unknown> => {
    const all = (node.attrs['translations'] ??= {}) as Record<string, Record<string, unknown>>;
    return (all[tag] ??= {});
  };

  return {
    read: (parts, most = formLimits.textBytes) => inMain(readAll(parts, most)),
    write,
    set: (node, attribute, parts) =>
      share(
        readAll(parts, bytesOf(node.type, attribute), node.type === 'rich_text'),
        (text) => {
          node.attrs[attribute] = text;
        },
        (tag, text) => {
          translationsOf(node, tag)[attribute] = text;
        },
      ),
    setSetting: (name, parts) => {
      if (!isSettingTextName(name)) return;
      share(
        readAll(parts, formLimits.textBytes),
        (text) => Object.assign(sketch.settings, withSettingText(sketch.settings, name, text)),
        (tag, text) => {
          (translations[tag] ??= {})[name] = text;
        },
      );
    },
    setOptions: (node, attribute, parts, read) => {
      const ids = new Map<SourcePart, string>();
      const taken = { ids: new Set<string>(), labels: new Set<string>() };
      const options: Option[] = [];
      parts[formLimits.options]?.leaveOut(
        `A question has at most ${formLimits.options} options. This option and the following ones are left out.`,
      );
      for (const part of parts.slice(0, formLimits.options)) {
        const { id: given, label: source, points } = read(part);
        const texts =
          typeof source === 'object' ? readAll(source, formLimits.labelBytes) : new Map<string, string>();
        const label = inMain(texts) ?? (typeof source === 'string' ? source : given);
        const id = given || label;
        if (!label || !id) part.leaveOut('The option has no text.');
        else if (taken.labels.has(label) || taken.ids.has(id)) part.leaveOut('Another option has this text.');
        else {
          ids.set(part, id);
          taken.ids.add(id);
          taken.labels.add(label);
          const hasId = id !== label || points !== undefined;
          options.push(hasId ? { id, label, ...(points !== undefined && { points }) } : label);
          share(
            texts,
            () => undefined,
            (tag, text) => {
              const all = translationsOf(node, tag);
              ((all[attribute] ??= {}) as Record<string, string>)[id] = text;
            },
          );
        }
      }
      node.attrs[attribute] = options;
      return ids;
    },
    finish: () => {
      if (others.size === 0) return;
      sketch.form.attrs['languages'] = [main, ...others];
      for (const [tag, texts] of Object.entries(translations)) {
        const all = (sketch.settings['translations'] ??= {}) as Record<string, object>;
        all[tag] = { ...all[tag], ...texts };
      }
    },
  };
}

/** Returns the maximum length of a text in bytes. */
function bytesOf(type: string, attribute: string): number {
  const spec = getProperty(attributeSpecsOf(type), attribute);
  if (spec?.kind === 'string') return spec.maxBytes;
  return attribute === 'title' ? entryTextBytes.title : entryTextBytes.message;
}

/** Returns a language tag in the spelling of forms: `pt-br` becomes `pt-BR`. */
export function languageTagOf(name: string): string | undefined {
  const tag = name.replace(/[-_]([a-z]{2})$/i, (_whole, region: string) => `-${region.toUpperCase()}`);
  return isLanguageTag(tag) ? tag : undefined;
}

/** Reads the language of a form that has only one. */
export function readLocale(part: SourcePart, settings: Record<string, unknown>): void {
  const language = part.text();
  if (isLocale(language)) settings['locale'] = language;
  else part.leaveOut('The page is not translated into this language. It uses the language of the browser.');
}
