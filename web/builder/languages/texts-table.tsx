import { isLanguageTag } from '#ast/basics/language-tags.ts';
import { languageName } from '#page/render/language-switch.ts';
import '../../design/table.css';
import { type CSSProperties, Fragment, type ReactElement, useState } from 'react';
import { type FormText, parseEntryAttribute, untranslatedTexts } from '#ast/texts.ts';
import { translatedTextProblem } from '#ast/texts-file.ts';
import { attributesOfType } from '#ast/translations/check-translations.ts';
import { fillLabels } from '../../conditions/condition-tree.ts';
import { PipedText } from '../../design/author-text.tsx';
import { Pager } from '../../design/pager.tsx';
import { EmptyState } from '../../design/states.tsx';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import { describeNode } from '../model/compare.ts';
import { type EditNode, nodeAt } from '../model/edit-node.ts';
import { setTranslation } from '../model/edit-steps.ts';
import { finderIn } from '../model/form-index.ts';
import { PipedReading } from '../panel/formula-input.tsx';
import { formatEntryLabel, titleOfSetting } from '../settings/settings-values.ts';

/** The languages in the list. Others can be entered by their tag. */
const offered = [
  'ar',
  'bg',
  'bn',
  'ca',
  'cs',
  'da',
  'de',
  'el',
  'en',
  'es',
  'et',
  'eu',
  'fa',
  'fi',
  'fr',
  'ga',
  'gl',
  'he',
  'hi',
  'hr',
  'hu',
  'id',
  'is',
  'it',
  'ja',
  'ko',
  'lt',
  'lv',
  'mk',
  'ms',
  'mt',
  'nb',
  'nl',
  'nn',
  'pl',
  'pt',
  'pt-BR',
  'ro',
  'ru',
  'sk',
  'sl',
  'sq',
  'sr',
  'sv',
  'sw',
  'ta',
  'th',
  'tr',
  'uk',
  'ur',
  'vi',
  'zh-Hans',
  'zh-Hant',
] as const;

const english = new Intl.DisplayNames(['en'], { type: 'language', languageDisplay: 'standard' });

/** Formats a language in English and in the language itself: `German (Deutsch)`. */
export function formatLanguage(tag: string): string {
  const [name, own] = [english.of(tag) ?? tag, languageName(tag)];
  return name === own ? name : `${name} (${own})`;
}

/** Formats the English name only, for a narrow space. */
const formatLanguageShort = (tag: string): string => english.of(tag) ?? tag;

/** Lists the languages to choose from by name, including those that the form already has. */
export const languageChoices = (beside: readonly string[]): { id: string; label: string }[] =>
  [...new Set<string>([...offered, ...beside])]
    .map((id) => ({ id, label: formatLanguage(id) }))
    .toSorted((one, other) => one.label.localeCompare(other.label, 'en'));

/**
 * Parses a language that was entered as a tag or a name: `de`, `pt-br`, `German`, `Deutsch`. Returns
 * undefined if it is unknown.
 */
export function parseLanguageInput(entered: string): string | undefined {
  const text = entered.trim();
  const named = languageChoices([]).find(
    ({ id, label }) =>
      label === text || [formatLanguageShort(id), languageName(id)].some((name) => isSame(name, text)),
  );
  if (named) return named.id;
  const [language = '', ...rest] = text.split(/[-_]/);
  const tag = [
    language.toLowerCase(),
    ...rest.map((part) =>
      part.length === 4
        ? `${part.charAt(0).toUpperCase()}${part.slice(1).toLowerCase()}`
        : part.toUpperCase(),
    ),
  ].join('-');
  // A tag without a known name is treated as a typing error.
  return isLanguageTag(tag) && english.of(tag) !== tag ? tag : undefined;
}

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** Rows per page: each row has a field for each language. */
const perPage = 100;

type TextsProps = {
  readonly texts: readonly FormText[];
  readonly languages: readonly string[];
  readonly onlyMissing: boolean;
};

/** Shows a row for each text of the form, grouped by node, with a column for each language. */
export function TextsTable({ texts, languages, onlyMissing }: TextsProps): ReactElement {
  const { editor } = useBuilder();
  const { root } = useEditorState(editor).history.present;
  const [requestedPage, setPage] = useState(1);
  const [first, ...others] = languages;
  // A row with a missing text stays visible while it is edited, until the user opens another page.
  const [pinned, setPinned] = useState<ReadonlySet<string>>(new Set());
  const lacking = new Set(others.flatMap((language) => untranslatedTexts(texts, language)));
  const shown = onlyMissing ? texts.filter((text) => lacking.has(text) || pinned.has(text.key)) : texts;
  const page = Math.min(requestedPage, Math.max(1, Math.ceil(shown.length / perPage)));
  const rows = shown.slice((page - 1) * perPage, page * perPage);
  if (shown.length === 0)
    return (
      <EmptyState icon="check" title="Nothing to translate">
        <p>Every text has a translation in every language.</p>
      </EmptyState>
    );
  const go = (next: number): void => {
    setPinned(new Set());
    setPage(next);
  };
  return (
    <>
      <div className="table-card">
        <table className="table texts-table" style={{ '--languages': others.length } as CSSProperties}>
          <thead>
            <tr>
              {languages.map((language) => (
                <th key={language} scope="col">
                  {formatLanguage(language)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((text, index) => (
              <Fragment key={text.key}>
                {partOf(text) !== (rows[index - 1] && partOf(rows[index - 1]!)) && (
                  <tr className="texts-part">
                    <td colSpan={languages.length}>{describeTextNode(root, text)}</td>
                  </tr>
                )}
                <tr>
                  <th scope="row">
                    <span className="soft small">{describeTextKind(root, text)}</span>
                    <span className="texts-original" lang={first} dir="auto">
                      <PipedText text={fillLabels(text.text, finderIn(root))} />
                    </span>
                  </th>
                  {others.map((language) => (
                    <td key={language}>
                      <Translation
                        text={text}
                        language={language}
                        onWrite={() => setPinned((now) => new Set([...now, text.key]))}
                      />
                    </td>
                  ))}
                </tr>
              </Fragment>
            ))}
          </tbody>
        </table>
      </div>
      <Pager
        label="Pages of texts"
        pagination={{ page, per_page: perPage, total_count: shown.length }}
        onChange={go}
      />
    </>
  );
}

/** A text in one language. Typing in it is one step of history. */
function Translation({
  text,
  language,
  onWrite,
}: {
  text: FormText;
  language: string;
  onWrite: () => void;
}): ReactElement {
  const { editor, isReadOnly } = useBuilder();
  const { root } = useEditorState(editor).history.present;
  const value = text.translations[language] ?? '';
  const problem = translatedTextProblem(text, value);
  const write = (to: string): void => {
    onWrite();
    editor.change(
      (form) =>
        setTranslation({ root: form, settings: editor.read().history.present.settings }, text, language, to),
      `translate ${text.key} ${language}`,
    );
  };
  return (
    <>
      <textarea
        className="field-input"
        aria-label={`${formatLanguageShort(language)}: ${fillLabels(text.text, finderIn(root))}`}
        aria-invalid={problem !== undefined}
        lang={language}
        dir="auto"
        rows={1}
        placeholder=" "
        value={value}
        readOnly={isReadOnly}
        onChange={(event) => write(event.target.value)}
        onBlur={editor.endGesture}
      />
      <PipedReading text={value} />
      {problem && <p className="settings-problem small">It {problem}.</p>}
    </>
  );
}

const partOf = ({ path }: FormText): string => path?.join('.') ?? 'settings';

/** Formats the node that a text belongs to: `“Your email” (Email)`. */
const describeTextNode = (root: EditNode, { path }: FormText): string =>
  path ? describeNode(root, nodeAt(root, path)) : 'Settings';

/** Describes which of the node's texts it is. */
function describeTextKind(root: EditNode, { path, attribute, option }: FormText): string {
  if (path === undefined) {
    const place = parseEntryAttribute(attribute);
    if (place) {
      const what = { confirmations: 'confirmation', notifications: 'email' }[place.list];
      return formatEntryLabel(place.attribute, `${what} ${place.index + 1}`);
    }
    return titleOfSetting(attribute) ?? attribute;
  }
  const specs = attributesOfType(nodeAt(root, path).type);
  const title = specs[attribute]?.title ?? attribute;
  return option === undefined ? title : `${title}: ${option}`;
}
