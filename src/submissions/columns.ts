import type { Answers } from '#ast/answers/check-answers.ts';
import { own } from '#ast/basics/json.ts';
import { type Language, searchLanguage } from '#ast/basics/languages.ts';
import { limits } from '#ast/basics/limits.ts';
import { matchLanguage } from '#ast/basics/match-language.ts';
import type { ChoiceOption } from '#ast/basics/options.ts';
import { byteLength, cutToBytes } from '#ast/basics/text.ts';
import type { ElementType } from '#ast/form/elements.ts';
import { withStableLabels } from '#ast/form/piping.ts';
import {
  type Form,
  type InputElement,
  isInput,
  kindOf,
  languagesOf,
  levelsOf,
  listQuestions,
  matrixRowsOf,
  optionsOf,
  type Question,
  walkElements,
} from '#ast/form/tree.ts';
import { chosenLabels, searchableText } from '#ast/searchable.ts';
import type { Settings } from '#ast/settings.ts';
import { inLanguage } from '#ast/translations/translations.ts';

/** What a question asks, as the head of a column. */
type Asked = {
  id: string;
  label: string;
  type: ElementType;
  /** What answers keep of the choices of a selection, and the levels of a scale; empty for everything else. */
  options: readonly string[];
  /** What people read of an option, by what answers keep of it, where that is another text; of former options too. */
  option_labels: Readonly<Record<string, string>>;
  /** The rows of a matrix, former ones last, and the parts of a consent; empty for everything else. */
  rows: readonly { readonly id: string; readonly label: string }[];
};

/** A column of a form's submissions: a question that can be answered at the top level. */
export type Column = Asked & {
  /** The questions of one row, of a repeatable composite. */
  inputs: readonly Asked[];
  /** No longer asked: only versions before the live one have it. */
  is_retired: boolean;
};

/**
 * The columns of a form over the versions that were answered: the live form's questions in its order, and each
 * question that is no longer asked behind the one that it used to follow.
 * @param written the live one first, then others from new to old; of an element in several, the first counts.
 * @param language the one of the reader, for versions that are written in it (BCP-47).
 */
export function unionColumns(written: readonly Form[], language = ''): Column[] {
  const versions = written.map((form) => inLanguage(form, matchLanguage(language, languagesOf(form))));
  const labels = { options: labelsIn(versions, optionsOf), rows: labelsIn(versions, matrixRowsOf) };
  let columns: Column[] = [];
  for (const [age, form] of versions.entries()) {
    const known = new Set(columns.map(({ id }) => id));
    /** What is new in this version, behind the column that it follows; undefined: before all. */
    const added = new Map<string | undefined, Column[]>();
    let before: string | undefined;
    for (const question of listQuestions(withStableLabels(form))) {
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

/** What people read of options or rows, by element id and what answers keep: as the newest version that has one calls it. */
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

/** An option of a column, or one that it had, as people read it. */
export const optionLabel = ({ option_labels: labels }: Pick<Asked, 'option_labels'>, id: string): string =>
  own(labels, id) ?? id;

function columnOf(question: Question, isRetired: boolean, labels: Labels): Column {
  const isGroup = question.kind === 'group';
  return {
    ...askedOf(question.element, labels),
    inputs: isGroup ? question.inputs.map((input) => askedOf(input, labels)) : [],
    is_retired: isRetired,
  };
}

/** What an export has of a consent, each in a column. */
export const consentParts = (['agreed', 'text', 'version', 'at'] as const).map((id) => ({ id, label: id }));

function askedOf(element: Question['element'], labels: Labels): Asked {
  const { type, attrs } = element;
  const known = [...(labels.options.get(attrs.id) ?? [])];
  return {
    id: attrs.id,
    label: attrs.label,
    type,
    options: isInput(element)
      ? [...optionsOf(element).map(({ id }) => id), ...levelsOf(element).map(String)]
      : [],
    option_labels: Object.fromEntries(known.filter(([id, label]) => id !== label)),
    rows:
      isInput(element) && kindOf(element) === 'consent'
        ? consentParts
        : 'rows' in attrs
          ? [...(labels.rows.get(attrs.id) ?? [])].map(([id, label]) => ({ id, label }))
          : [],
  };
}

/**
 * What a submission is found by: its words, as they were read when it was answered, options in every language of the form,
 * and how they are stemmed.
 */
export const searchColumns = (
  form: Form,
  settings: Settings,
  given: {
    readonly answers: Answers;
    readonly reference: Readonly<Record<string, string>>;
    /** As a BCP-47 tag; null where the form names none. */
    readonly language: string | null;
  },
): { language: Language; subject: string; body: string } => {
  const spoken = inLanguage(form, given.language ?? undefined);
  const { subject, body } = searchableText(spoken, given.answers, given.reference, settings.subject_element);
  const others = labelsElsewhere(form, spoken, given.answers);
  return {
    language: searchLanguage(settings, given.language),
    subject,
    body: others === '' ? body : cutToBytes(`${body}\n${others}`, limits.searchBytes - byteLength(subject)),
  };
};

/** What chosen options are called in the other languages of the form; nothing of a form in one. */
function labelsElsewhere(form: Form, spoken: Form, answers: Answers): string {
  const languages = languagesOf(form);
  if (languages.length < 2) return '';
  const known = chosenLabels(spoken, answers);
  const others = languages.flatMap((language) => [...chosenLabels(inLanguage(form, language), answers)]);
  return [...new Set(others)].filter((label) => !known.has(label)).join('\n');
}
