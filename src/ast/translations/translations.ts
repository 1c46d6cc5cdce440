import { getProperty } from '../basics/json.ts';
import type { ChoiceOption, Option } from '../basics/options.ts';
import type { Translations } from '../basics/translations-schema.ts';
import { type Form, type FormNode, languagesOf } from '../form/tree.ts';

// Forms are immutable and every request needs the derived form, so it is cached.
const formsByLanguage = new WeakMap<Form, Map<string, Form>>();

/**
 * Returns a form in one of its languages: a tree with only the texts of that language, for rendering and
 * checks. Untranslated texts stay in the original language. A form without languages is returned itself.
 * @param language a BCP 47 tag; if the form does not have this language, its first language is used.
 */
export function formInLanguage(form: Form, language: string | undefined): Form {
  const languages = languagesOf(form);
  const [first] = languages;
  if (first === undefined) return form;
  const tag = language !== undefined && languages.includes(language) ? language : first;
  const cached = formsByLanguage.get(form) ?? new Map<string, Form>();
  formsByLanguage.set(form, cached);
  const { languages: _languages, ...attrs } = form.attrs;
  // Translated texts do not change the attributes of a node.
  const translated = cached.get(tag) ?? (nodeIn({ ...form, attrs }, tag) as Form);
  cached.set(tag, translated);
  return translated;
}

function nodeIn(node: FormNode, language: string): FormNode {
  const { attrs, children } = node;
  return {
    ...node,
    ...(attrs && { attrs: attributesIn(attrs, language) }),
    ...(children && { children: children.map((child) => nodeIn(child, language)) }),
  };
}

type Attributes = Readonly<Record<string, unknown>>;

function attributesIn(given: Attributes, language: string): Attributes {
  if (given['translations'] === undefined) return given;
  const { translations, ...attrs } = given;
  const texts = getProperty(translations as Translations, language) ?? {};
  const translated = Object.entries(texts).flatMap(([name, text]) => {
    const original = getProperty(attrs, name);
    if (original === undefined) return [];
    return [
      [name, typeof text === 'string' ? text : optionsIn(original as readonly Option[], text)] as const,
    ];
  });
  return { ...attrs, ...Object.fromEntries(translated) };
}

const optionsIn = (options: readonly Option[], labels: Readonly<Record<string, string>>): readonly Option[] =>
  options.map((option): Option => {
    const given: ChoiceOption = typeof option === 'string' ? { id: option, label: option } : option;
    const label = getProperty(labels, given.id);
    return label === undefined ? option : { ...given, label };
  });

/** Sets one translated text, or removes it if undefined. Returns undefined if no translations are left. */
export function changeTranslation(
  translations: Translations | undefined,
  language: string,
  place: { readonly attribute: string; readonly option?: string | undefined },
  text: string | undefined,
): Translations | undefined {
  const { attribute, option } = place;
  const old = (translations && getProperty(translations, language)) ?? {};
  const labels = getProperty(old, attribute);
  const value =
    option === undefined ? text : setOrRemoveEntry(typeof labels === 'object' ? labels : {}, option, text);
  return setOrRemoveEntry(translations ?? {}, language, setOrRemoveEntry(old, attribute, value));
}

/** Sets one entry of a record, or removes it if undefined. Returns undefined if the record becomes empty. */
function setOrRemoveEntry<Value>(
  record: Readonly<Record<string, Value>>,
  name: string,
  value: Value | undefined,
): Readonly<Record<string, Value>> | undefined {
  const others = Object.entries(record).filter(([key]) => key !== name);
  const isThere = Object.hasOwn(record, name);
  if (value === undefined) return others.length === 0 ? undefined : Object.fromEntries(others);
  // Keeps the position of a replaced entry.
  return Object.fromEntries(
    isThere
      ? Object.entries(record).map(([key, old]) => [key, key === name ? value : old])
      : [...others, [name, value]],
  );
}
