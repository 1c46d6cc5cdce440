import './languages-view.css';
import { type ReactElement, useMemo, useState } from 'react';
import { FileTrigger } from 'react-aria-components/FileTrigger';
import { formatCount } from '#ast/basics/format-number.ts';
import { formLimits } from '#ast/basics/limits.ts';
import { type EditedForm, languagesOfStructure, listTexts, untranslatedTexts } from '#ast/texts.ts';
import { readTextsFile, type TextsFileProblem, writeTextsFile } from '#ast/texts-file.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { Switch } from '../../design/checkbox.tsx';
import { Chip } from '../../design/chip.tsx';
import { TextField } from '../../design/field.tsx';
import { downloadTextFile, readTextFile } from '../../design/files.ts';
import { Message } from '../../design/message.tsx';
import { Card } from '../../design/page.tsx';
import { Select } from '../../design/select.tsx';
import { toastProblem } from '../../design/toast.tsx';
import { editWithUndoToast, useBuilder, useEditorState } from '../editor/use-editor.ts';
import { textOf, toStructure } from '../model/edit-node.ts';
import { setLanguages, setTranslations } from '../model/edit-steps.ts';
import type { LocatedProblem } from '../model/form-problems.ts';
import type { SettingProblem } from '../settings/settings-values.ts';
import { formatLanguage, languageChoices, parseLanguageInput, TextsTable } from './texts-table.tsx';

/** The languages of a form and its translated texts. They belong to the working copy, like the elements. */
export function LanguagesView({
  problems,
  settingProblems,
}: {
  problems: readonly LocatedProblem[];
  settingProblems: readonly SettingProblem[];
}): ReactElement {
  const { editor } = useBuilder();
  const { root, settings } = useEditorState(editor).history.present;
  const document: EditedForm = useMemo(() => ({ structure: toStructure(root), settings }), [root, settings]);
  const texts = useMemo(() => listTexts(document), [document]);
  const languages = languagesOfStructure(document.structure);
  const [onlyMissing, setOnlyMissing] = useState(false);
  const wrong = [
    ...problems.filter(({ message }) => /^The translations of |^"(languages|translations)" /.test(message)),
    ...settingProblems.filter(({ view }) => view === 'languages'),
  ];
  return (
    <div className="builder-page languages-page">
      <div className="stack">
        <div className="spread">
          <div>
            <h2>Languages</h2>
            <p className="soft">
              Visitors see the form in their browser’s language or in one they choose. Untranslated text
              appears in the original language.
            </p>
          </div>
          {languages.length > 1 && <TextsFile document={document} />}
        </div>
        {wrong.length > 0 && (
          <Message tone="bad" title="Fix these problems before you publish">
            <ul>
              {wrong.map(({ message }, index) => (
                <li key={index}>{message}</li>
              ))}
            </ul>
          </Message>
        )}
        <LanguagesCard
          languages={languages}
          missing={(language) => untranslatedTexts(texts, language).length}
          total={texts.length}
        />
        {languages.length > 1 && (
          <Card
            title="Texts"
            actions={
              <Switch isSelected={onlyMissing} onChange={setOnlyMissing}>
                Only missing translations
              </Switch>
            }
          >
            <TextsTable texts={texts} languages={languages} onlyMissing={onlyMissing} />
          </Card>
        )}
      </div>
    </div>
  );
}

type LanguagesProps = {
  readonly languages: readonly string[];
  readonly missing: (language: string) => number;
  readonly total: number;
};

/** The original language of the form, and the languages it is translated into. */
function LanguagesCard({ languages, missing, total }: LanguagesProps): ReactElement {
  const { editor, isReadOnly } = useBuilder();
  const [first, ...others] = languages;
  const set = (next: readonly string[], message: string): void =>
    editor.change((root) => ({
      ...setLanguages({ root, settings: editor.read().history.present.settings }, next),
      message,
    }));
  const remove = (language: string): void => {
    const name = formatLanguage(language);
    const left = languages.filter((each) => each !== language);
    editWithUndoToast(
      editor,
      () => set(left, `${name} removed`),
      `${name} and its translations were removed.`,
    );
  };
  const written = languageChoices(languages).filter(({ id }) => !others.includes(id));
  return (
    <Card title="Form languages">
      <Select
        label="Original language"
        description="The language your form is written in. Browsers and screen readers use it."
        value={first ?? ''}
        choices={[...(first === undefined ? [{ id: '', label: 'Not set' }] : []), ...written]}
        onChange={(language) => set([language, ...others], `Original language: ${formatLanguage(language)}`)}
        isDisabled={isReadOnly}
      />
      {others.length > 0 && (
        <ul role="list" className="languages-list" aria-label="Translated into">
          {others.map((language) => {
            const count = missing(language);
            return (
              <li key={language} className="languages-item">
                <span lang={language}>{formatLanguage(language)}</span>
                <span className="row">
                  <Chip tone={count === 0 ? 'good' : 'warn'}>
                    {count === 0 ? 'Complete' : `${count} of ${total} missing`}
                  </Chip>
                  <IconButton
                    icon="remove"
                    size="small"
                    label={`Remove ${formatLanguage(language)}`}
                    isDisabled={isReadOnly}
                    onPress={() => remove(language)}
                  />
                </span>
              </li>
            );
          })}
        </ul>
      )}
      {first !== undefined && !isReadOnly && (
        <AddLanguage
          languages={languages}
          onAdd={(language) => set([...languages, language], `${formatLanguage(language)} added`)}
        />
      )}
    </Card>
  );
}

function AddLanguage({
  languages,
  onAdd,
}: {
  languages: readonly string[];
  onAdd: (language: string) => void;
}): ReactElement {
  const [entered, setEntered] = useState('');
  const [problem, setProblem] = useState<string>();
  const isFull = languages.length >= formLimits.languages;
  const add = (): void => {
    const language = parseLanguageInput(entered);
    const found =
      language === undefined
        ? 'Choose a language, or enter its code, such as “de” or “pt-BR”.'
        : languages.includes(language)
          ? `The form already has ${formatLanguage(language)}.`
          : undefined;
    setProblem(found);
    if (found !== undefined || language === undefined) return;
    setEntered('');
    onAdd(language);
  };
  if (isFull) return <p className="soft">A form can have at most {formLimits.languages} languages.</p>;
  return (
    <form
      className="languages-add"
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <TextField
        label="Add a language"
        value={entered}
        onChange={setEntered}
        error={problem}
        list="known-languages"
      />
      <Button type="submit" icon="add">
        Add
      </Button>
      <datalist id="known-languages">
        {languageChoices([])
          .filter(({ id }) => !languages.includes(id))
          .map(({ id, label }) => (
            <option key={id} value={label} />
          ))}
      </datalist>
    </form>
  );
}

/**
 * Exports the texts as a file for translators, and imports it again. An import is one step of history, so it
 * can be undone.
 */
function TextsFile({ document }: { document: EditedForm }): ReactElement {
  const { editor, isReadOnly } = useBuilder();
  const { root } = useEditorState(editor).history.present;
  const [problems, setProblems] = useState<readonly TextsFileProblem[]>([]);
  const name = textOf(root, 'name') || 'Form';
  const take = async (file: File): Promise<void> => {
    const opened = await readTextFile(file);
    if ('problem' in opened) return setProblems([{ line: 1, message: opened.problem }]);
    const read = readTextsFile(document, opened.text);
    setProblems(read.ok ? [] : read.problems);
    if (!read.ok) return;
    const put = (): void =>
      editor.change((now) =>
        setTranslations({ root: now, settings: editor.read().history.present.settings }, read.changes),
      );
    const { length: count } = read.changes;
    const old = read.outdated.length;
    editWithUndoToast(
      editor,
      put,
      `${formatCount(count, 'translation', 'translations')} imported.${old > 0 ? ` ${formatCount(old, 'was', 'were')} edited in the form after the file was exported. Check these translations.` : ''}`,
    );
  };
  return (
    <div className="stack-tight">
      <div className="row">
        <Button
          icon="download"
          size="small"
          onPress={() =>
            downloadTextFile(
              `${name} texts.csv`,
              `\uFEFF${writeTextsFile(document)}`,
              'text/csv;charset=utf-8',
            )
          }
        >
          Export CSV
        </Button>
        {!isReadOnly && (
          <FileTrigger
            acceptedFileTypes={['.csv', 'text/csv']}
            onSelect={(files) => {
              const [file] = [...(files ?? [])];
              if (file) take(file).catch(toastProblem);
            }}
          >
            <Button icon="share" size="small">
              Import CSV
            </Button>
          </FileTrigger>
        )}
      </div>
      {problems.length > 0 && (
        <Message tone="bad" title="Nothing was imported">
          <ul>
            {problems.slice(0, 10).map(({ line, message }) => (
              <li key={`${line} ${message}`}>
                Line {line}: {message}
              </li>
            ))}
          </ul>
        </Message>
      )}
    </div>
  );
}
