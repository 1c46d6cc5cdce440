import { escapeSpreadsheetFormula, readCsv, unescapeSpreadsheetFormula } from '#ast/basics/csv.ts';
import { formatWholeNumber } from '#ast/basics/format-number.ts';
import { memoizeByObject } from '#ast/basics/memoize.ts';
import { otherChoice } from '#ast/basics/options.ts';
import { countCharacters } from '#ast/basics/text.ts';
import { withPipedLabels } from '#ast/form/piping.ts';
import {
  answerKindOf,
  type Form,
  type InputElement,
  inputAllowsOther,
  isDerived,
  languagesOf,
  listQuestions,
  matrixRowsOf,
  optionsOf,
} from '#ast/form/tree.ts';
import { formInLanguage } from '#ast/translations/translations.ts';
import { isListKind } from '#ast/types/rules.ts';
import { consentParts } from '../columns.ts';
import { fixedExportHeadings, spreadsheetFirstHeading } from '../export/cells.ts';

/**
 * The maximum numbers of lines, columns and characters in an import, and of bytes in a compressed workbook.
 */
export const importLimits = {
  lines: 10_000,
  columns: 100,
  characters: 5_000_000,
  workbookBytes: 4_000_000,
} as const;

/** The value of a cell. It is a number only if the workbook stores one. Dates and times are ISO 8601. */
export type ImportCell = string | number | boolean;

/** A line of a file with its number, counted from 1. */
export type ImportTableLine = { line: number; cells: readonly ImportCell[] };

/**
 * The lines of a file; `total` also counts lines beyond the limit. `apostrophe` is set if an apostrophe may
 * either escape a possible formula or belong to the text, and only the other cells decide which. It is the
 * first line with such a cell.
 */
export type ImportTable = {
  lines: ImportTableLine[];
  total: number;
  apostrophe?: { readonly line: number; readonly isRemoved: boolean };
};

/** A file as sent: the text of a CSV file, or a workbook in base64. */
export type ImportTableSource = { kind: 'csv'; text: string } | { kind: 'xlsx'; data: string };

/** Returns the lines of a CSV file, or why it cannot be read. */
export function readCsvTable(text: string): ImportTable | string {
  if (countCharacters(text) > importLimits.characters)
    return `The text is longer than ${formatWholeNumber(importLimits.characters)} characters. Import it in parts.`;
  const csv = readCsv(text, importLimits.lines + 1);
  if (!csv.ok) return csv.problem;
  const lines = joinHeadings(csv.records);
  const total = csv.total - (csv.records.length - lines.length);
  const { isGuarded, isSure } = findGuards(text, lines);
  const first = isSure
    ? undefined
    : lines.find(({ cells }) => cells.some((cell) => unescapeSpreadsheetFormula(cell) !== cell));
  return {
    lines: isGuarded
      ? lines.map(({ line, cells }) => ({ line, cells: cells.map(unescapeSpreadsheetFormula) }))
      : lines,
    total,
    ...(first && { apostrophe: { line: first.line, isRemoved: isGuarded } }),
  };
}

type TextLine = { line: number; cells: string[] };

/**
 * Finds out whether possible formulas are escaped by an apostrophe. Our export for spreadsheets escapes them,
 * and indicates this by quotes around its first heading; our export for programs does not. Any other file is
 * treated as escaped, unless it contains an unescaped formula.
 */
function findGuards(text: string, lines: readonly TextLine[]): { isGuarded: boolean; isSure: boolean } {
  if (new RegExp(`^\uFEFF?${spreadsheetFirstHeading},`).test(text)) return { isGuarded: true, isSure: true };
  if (text.startsWith(`${fixedExportHeadings[0]},`)) return { isGuarded: false, isSure: false };
  const isBare = (cell: string): boolean =>
    escapeSpreadsheetFormula(cell) !== cell &&
    unescapeSpreadsheetFormula(cell) === cell &&
    !/^[+-]?[\d.,]+$/.test(cell);
  const isGuarded = !lines.some(({ cells }) => cells.some(isBare));
  return { isGuarded, isSure: false };
}

/**
 * Joins headings: SurveyMonkey has two lines of them, with rows and choices, or `OpenApiResponse`, below a
 * question. The result is `Meals [Cake]`.
 */
function joinHeadings(lines: readonly TextLine[]): TextLine[] {
  const [first, second, ...rest] = lines;
  if (!first || !second || first.cells[0]?.trim() !== 'Respondent ID' || second.cells[0]?.trim() !== '')
    return [...lines];
  let question = '';
  const cells = Array.from({ length: Math.max(first.cells.length, second.cells.length) }, (_, index) => {
    question = first.cells[index]?.trim() || question;
    const part = second.cells[index]?.trim() ?? '';
    return part === '' || /^(?:Open-Ended )?Response$/.test(part) ? question : `${question} [${part}]`;
  });
  return [{ line: first.line, cells }, ...rest];
}

/** Returns the problem with a table as a whole; undefined if it is valid. */
export function findImportTableProblem({ lines, total }: ImportTable): string | undefined {
  if (lines.length < 2)
    return 'The file has no submissions. The first line must contain the headings, and each following line one submission.';
  if (total - 1 > importLimits.lines)
    return `The file has ${formatWholeNumber(total - 1)} lines, but an import can have at most ${formatWholeNumber(importLimits.lines)}. Import it in parts.`;
  if (lines.some(({ cells }) => cells.length > importLimits.columns))
    return `The file has more than ${importLimits.columns} columns. Remove some of them.`;
  return undefined;
}

/** Something that a heading or cell can name by its id, or by its label in any language of the form. */
export type NamedItem = { readonly id: string; readonly labels: readonly string[] };

/** A question that a column can answer. */
export type ImportQuestion = NamedItem & {
  readonly input: InputElement | undefined;
  /** The rows of a matrix or the parts of a consent, each with its own column. */
  readonly rows: readonly NamedItem[];
  /** The options. If several can be chosen, each can have its own column, and so can the other answer. */
  readonly options: readonly NamedItem[];
  readonly choices: readonly NamedItem[];
  /** The questions in a row of a repeatable group. */
  readonly inputs: readonly ImportQuestion[];
};

/** Returns the questions whose answers can be in a cell, by id: all except files and calculations. */
export const importableQuestions = memoizeByObject(
  (form: Form): ReadonlyMap<string, ImportQuestion> =>
    new Map([...questionsOf(form)].filter(([, { input }]) => !input || isReadable(input))),
);

/** Returns the questions whose answers cannot be in a cell: files and signatures. */
export const unimportableQuestions = memoizeByObject((form: Form): readonly ImportQuestion[] =>
  [...questionsOf(form).values()].filter(({ input }) => input && answerKindOf(input) === 'files'),
);

/** Returns the calculated questions. An import calculates them again. */
export const calculatedQuestions = memoizeByObject((form: Form): readonly ImportQuestion[] =>
  [...questionsOf(form).values()].filter(({ input }) => input && isDerived(input)),
);

const isReadable = (input: InputElement): boolean => answerKindOf(input) !== 'files' && !isDerived(input);

const questionsOf = memoizeByObject((form: Form): ReadonlyMap<string, ImportQuestion> => {
  const versions = [form, ...languagesOf(form).map((language) => formInLanguage(form, language))];
  const questionLists = versions.flatMap((version) => [version, withPipedLabels(version)]).map(listQuestions);
  return new Map(
    listQuestions(form).map((question, at) => {
      const all = questionLists.map((questions) => questions[at]!);
      const { id } = question.element.attrs;
      if (question.kind === 'input')
        return [id, questionOf(all.map(({ element }) => element as InputElement))];
      const inputs = question.inputs.map((_, index) =>
        questionOf(all.flatMap((each) => (each.kind === 'group' ? [each.inputs[index]!] : []))),
      );
      const labels = distinct(all.map(({ element }) => element.attrs.label));
      return [id, { id, labels, input: undefined, rows: [], options: [], choices: [], inputs }];
    }),
  );
});

/** Names that services and people use for "Other". */
const otherLabels = [
  'Other',
  'Other (please specify)',
  'Sonstiges',
  'Autre',
  'Otro',
  'Outro',
  'その他',
  '其他',
  'أخرى',
];

const distinct = (labels: readonly string[]): string[] => [...new Set(labels)];

/** Combines a question with its labels in each language of the form. */
function questionOf(inputs: readonly InputElement[]): ImportQuestion {
  const [input] = inputs as [InputElement, ...InputElement[]];
  const named = (listOf: (each: InputElement) => readonly { id: string; label: string }[]): NamedItem[] =>
    listOf(input).map(({ id }, index) => ({
      id,
      labels: distinct(inputs.map((each) => listOf(each)[index]!.label)),
    }));
  const options = named(optionsOf);
  const other = inputAllowsOther(input) ? [{ id: otherChoice, labels: otherLabels }] : [];
  return {
    id: input.attrs.id,
    labels: distinct(inputs.map(({ attrs }) => attrs.label)),
    input,
    rows:
      answerKindOf(input) === 'consent'
        ? consentParts.map(({ id }) => ({ id, labels: [id] }))
        : named(matrixRowsOf),
    options,
    choices: isListKind(answerKindOf(input)) ? [...options, ...other] : [],
    inputs: [],
  };
}

/** Normalizes a text for comparison: ignores case and repeated spaces. */
export const normalizeLabel = (text: string): string => text.trim().replace(/\s+/g, ' ').toLowerCase();

/** Finds an item by its exact label or id, or else by the normalized name if only one item has it. */
export const createLabelFinder = memoizeByObject(
  (several: readonly NamedItem[]): ((text: string) => string | undefined) => {
    const exact = new Map<string, string>();
    const loose = new Map<string, string | undefined>();
    for (const { id, labels } of several)
      for (const label of labels) if (!exact.has(label)) exact.set(label, id);
    for (const { id } of several) if (!exact.has(id)) exact.set(id, id);
    for (const [name, id] of exact) {
      const key = normalizeLabel(name);
      loose.set(key, loose.has(key) && loose.get(key) !== id ? undefined : id);
    }
    return (text) => exact.get(text) ?? exact.get(text.trim()) ?? loose.get(normalizeLabel(text));
  },
);
