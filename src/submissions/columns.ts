import type { Answers } from '#ast/answers/check-answers.ts';
import { getProperty } from '#ast/basics/json.ts';
import { matchLanguage } from '#ast/basics/language-tags.ts';
import { chooseSearchLanguage } from '#ast/basics/languages.ts';
import { formLimits } from '#ast/basics/limits.ts';
import type { ChoiceOption } from '#ast/basics/options.ts';
import { byteLength, cutToBytes } from '#ast/basics/text.ts';
import type { ElementType } from '#ast/form/elements.ts';
import { withPipedLabels } from '#ast/form/piping.ts';
import {
  answerKindOf,
  type Form,
  type InputElement,
  isInput,
  languagesOf,
  listQuestions,
  matrixRowsOf,
  numberDetailsOf,
  optionsOf,
  type Question,
  scaleLevelsOf,
  walkElements,
} from '#ast/form/tree.ts';
import type { NumberFormat } from '#ast/rules/written-numbers.ts';
import { chosenLabels, searchableText } from '#ast/searchable.ts';
import type { Settings } from '#ast/settings.ts';
import { formInLanguage } from '#ast/translations/translations.ts';
import { indexSubmission } from './search-text/document.ts';

/** A question as the header of a column. */
type ColumnQuestion = {
  id: string;
  label: string;
  type: ElementType;
  /** The stored values of a selection's options, or the levels of a scale; empty for other types. */
  options: readonly string[];
  /** Labels by stored value, for options whose label differs from it, including previous options. */
  option_labels: Readonly<Record<string, string>>;
  /** The rows of a matrix (previous ones last) or the parts of a consent; empty for other types. */
  rows: readonly { readonly id: string; readonly label: string }[];
  /** How a calculation shows its results. */
  number_format?: NumberFormat;
  /** The points that are needed to pass, for a score with a pass mark. */
  pass_mark?: number;
};

/** A column of a form's submissions: a top-level question. */
export type Column = ColumnQuestion & {
  /** The questions in a row of a repeatable group. */
  inputs: readonly ColumnQuestion[];
  /** Whether only versions before the live one have the question. */
  is_retired: boolean;
};

/**
 * Returns the columns of a form across the versions that were answered: the questions of the live version in
 * order, and each retired question after the question that it used to follow.
 * @param written the live version first, then the others from new to old; the first version with an element
 * defines it.
 * @param language the reader's language (BCP 47), for versions that have it.
 */
export function listColumnsOfVersions(written: readonly Form[], language = ''): Column[] {
  const versions = written.map((form) => formInLanguage(form, matchLanguage(language, languagesOf(form))));
  const labels = { options: labelsIn(versions, optionsOf), rows: labelsIn(versions, matrixRowsOf) };
  let columns: Column[] = [];
  for (const [age, form] of versions.entries()) {
    const known = new Set(columns.map(({ id }) => id));
    /** New columns of this version by the column that they follow; undefined for the first position. */
    const added = new Map<string | undefined, Column[]>();
    let before: string | undefined;
    for (const question of listQuestions(withPipedLabels(form))) {
      const { id } = question.element.attrs;
      if (known.has(id)) {
        before = id;
        continue;
      }
      const beside = added.get(before) ?? [];
      beside.push(columnOf(question, age > 0, labels));
      added.set(before, beside);
    }
    columns = [
      ...(added.get(undefined) ?? []),
      ...columns.flatMap((column) => [column, ...(added.get(column.id) ?? [])]),
    ];
  }
  return columns;
}

/**
 * Labels of options or rows, by element id and stored value. The newest version that has an option or row
 * defines its label.
 */
type LabelsById = ReadonlyMap<string, ReadonlyMap<string, string>>;
type Labels = { readonly options: LabelsById; readonly rows: LabelsById };

function labelsIn(
  versions: readonly Form[],
  listOf: (input: InputElement) => readonly ChoiceOption[],
): LabelsById {
  const labels = new Map<string, Map<string, string>>();
  for (const { element } of versions.flatMap((form) => [...walkElements(form)])) {
    if (!isInput(element)) continue;
    const known = labels.get(element.attrs.id) ?? new Map<string, string>();
    labels.set(element.attrs.id, known);
    for (const { id, label } of listOf(element)) if (!known.has(id)) known.set(id, label);
  }
  return labels;
}

/** Returns the label of a current or previous option of a column. */
export const optionLabel = (
  { option_labels: labels }: Pick<ColumnQuestion, 'option_labels'>,
  id: string,
): string => getProperty(labels, id) ?? id;

function columnOf(question: Question, isRetired: boolean, labels: Labels): Column {
  const isGroup = question.kind === 'group';
  return {
    ...columnQuestionOf(question.element, labels),
    inputs: isGroup ? question.inputs.map((input) => columnQuestionOf(input, labels)) : [],
    is_retired: isRetired,
  };
}

/** The parts of a consent, each of which is a column in exports. */
export const consentParts = (['agreed', 'text', 'version', 'at'] as const).map((id) => ({ id, label: id }));

function columnQuestionOf(element: Question['element'], labels: Labels): ColumnQuestion {
  const { type, attrs } = element;
  const known = [...(labels.options.get(attrs.id) ?? [])];
  return {
    id: attrs.id,
    label: attrs.label,
    type,
    options: isInput(element)
      ? [...optionsOf(element).map(({ id }) => id), ...scaleLevelsOf(element).map(String)]
      : [],
    option_labels: Object.fromEntries(known.filter(([id, label]) => id !== label)),
    rows:
      isInput(element) && answerKindOf(element) === 'consent'
        ? consentParts
        : 'rows' in attrs
          ? [...(labels.rows.get(attrs.id) ?? [])].map(([id, label]) => ({ id, label }))
          : [],
    ...(isInput(element) && numberDetailsOf(element)),
  };
}

/**
 * Returns the search document of a submission: its words in the language in which it was answered, the chosen
 * options in every language of the form, and the language for stemming.
 */
export const buildSearchData = (
  form: Form,
  settings: Settings,
  given: {
    readonly answers: Answers;
    readonly reference: Readonly<Record<string, string>>;
    /** A BCP 47 tag; null if the form has no language. */
    readonly language: string | null;
  },
): ReturnType<typeof indexSubmission> => {
  const shown = formInLanguage(form, given.language ?? undefined);
  const { subject, body } = searchableText(shown, given.answers, given.reference, settings.subject_element);
  const others = labelsElsewhere(form, shown, given.answers);
  const all =
    others === '' ? body : cutToBytes(`${body}\n${others}`, formLimits.searchBytes - byteLength(subject));
  return indexSubmission({ subject, body: all }, chooseSearchLanguage(settings, given.language));
};

/**
 * Returns the labels of chosen options in the other languages of the form; empty for a form with one
 * language.
 */
function labelsElsewhere(form: Form, shown: Form, answers: Answers): string {
  const languages = languagesOf(form);
  if (languages.length < 2) return '';
  const known = chosenLabels(shown, answers);
  const others = languages.flatMap((language) => [...chosenLabels(formInLanguage(form, language), answers)]);
  return [...new Set(others)].filter((label) => !known.has(label)).join('\n');
}
