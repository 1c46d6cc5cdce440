import { stripInlineMarkup } from '#ast/basics/inline-markup.ts';
import { getProperty } from '#ast/basics/json.ts';
import { memoizeByObject } from '#ast/basics/memoize.ts';
import { otherChoice } from '#ast/basics/options.ts';
import {
  answerKindOf,
  type InputElement,
  inputAllowsOther,
  isDerived,
  takesSeveralInRow,
} from '#ast/form/tree.ts';
import type { AnswerKind } from '#ast/types/rules.ts';
import { parseListCell, parseRowsCell } from '../export/cells.ts';
import type { ColumnFormat } from './mapping.ts';
import { readInstant, readMomentAnswer } from './read-moment.ts';
import { readNumberCell } from './read-number.ts';
import { createLabelFinder, type ImportCell, type ImportQuestion, normalizeLabel } from './table.ts';
import type { FormRegion } from './time-zones.ts';

/**
 * The value of a cell, or the problem with it. `doubt` is set if the value is used but could have another
 * meaning.
 */
export type ImportCellResult =
  | { readonly value: unknown; readonly doubt?: string }
  | { readonly problem: string };

/** If there are two ways to read a cell, it is already ambiguous, so counting stops there. */
const tooMany = 2;

/**
 * Reads a cell with several choices. Our own exports quote a choice that contains a separator, so they are
 * unambiguous. Other services join choices with commas, semicolons or line breaks, even if a choice contains
 * one. In that case the options show where a choice ends.
 * @param isOwn whether the file is one of our own exports.
 */
function readChoices(question: ImportQuestion, text: string, isOwn: boolean): ImportCellResult {
  const find = createLabelFinder(question.options);
  const list = parseListCell(text) ?? [text];
  const chosen = list.map((part) => find(part) ?? part);
  const isKnown = list.every((part) => find(part) !== undefined);
  if (isOwn && parseListCell(text)) return { value: chosen };
  const ways = new Map(waysToRead(question, text).map((way) => [JSON.stringify(way.toSorted()), way]));
  if (isKnown) ways.set(JSON.stringify(chosen.toSorted()), chosen);
  const [only] = ways.values();
  if (ways.size > 1)
    return {
      problem: `"${text}" can match different choices. Write each choice in quotes, separated by semicolons.`,
    };
  if (only) return { value: only };
  return question.input && inputAllowsOther(question.input)
    ? readWithOther(question, text, chosen)
    : { value: chosen };
}

/** Google Forms writes the text of "Other" after the options, separated by a comma. */
function readWithOther(question: ImportQuestion, text: string, chosen: readonly string[]): ImportCellResult {
  const find = createLabelFinder(question.options);
  if (chosen.length > 1) return { value: chosen };
  for (const { 0: mark, index } of [...text.matchAll(/,\s*/g)].toReversed()) {
    const [known] = waysToRead(question, text.slice(0, index));
    const other = text.slice(index + mark.length).trim();
    if (!known || other === '' || find(other) !== undefined) continue;
    return { value: [...known, other], doubt: `"${other}" is read as an "Other" answer, not as an option.` };
  }
  return { value: chosen };
}

/** Returns the labels and ids of options, longest first. */
const namesOf = memoizeByObject((question: ImportQuestion): readonly string[] =>
  [
    ...new Set(
      question.options.flatMap(({ id, labels }) => [...labels, id].map((name) => name.toLowerCase())),
    ),
  ].toSorted((a, b) => b.length - a.length),
);

/** The maximum length of a list of choices; a longer one does not come from a form. */
const longestList = 20_000;

/** Returns the ways to read a text as a list that contains only options: none, one, or the first two. */
function waysToRead(question: ImportQuestion, text: string): string[][] {
  const find = createLabelFinder(question.options);
  const source = text.trim();
  const lower = source.toLowerCase();
  if (source.length > longestList || lower.length !== source.length) return [];
  const known = new Map<number, string[][]>();
  const from = (start: number, depth: number): string[][] => {
    const rest = source.slice(start);
    const skipped = start + rest.length - rest.trimStart().length;
    if (skipped >= source.length) return [[]];
    if (depth >= question.options.length) return [];
    const cached = known.get(skipped);
    if (cached) return cached;
    known.set(skipped, []);
    const ways: string[][] = [];
    for (const name of namesOf(question)) {
      if (ways.length >= tooMany) break;
      if (!lower.startsWith(name, skipped)) continue;
      const end = skipped + name.length;
      const id = find(source.slice(skipped, end));
      const separator = /^\s*[,;\n]|^\s*$/.exec(source.slice(end));
      if (id === undefined || !separator) continue;
      for (const way of from(end + separator[0].length, depth + 1))
        if (!way.includes(id)) ways.push([id, ...way]);
    }
    known.set(skipped, ways.slice(0, tooMany));
    return known.get(skipped)!;
  };
  return from(0, 0);
}

/**
 * How to read a cell: the format of its column, the form's language, and whether the file is one of our own
 * exports.
 */
type CellContext = { readonly format: ColumnFormat; readonly home: FormRegion; readonly isOwn: boolean };

type Reader = (question: ImportQuestion, cell: ImportCell, context: CellContext) => ImportCellResult;

/** The number and date formats within rows in our exports, which do not depend on the other columns. */
const exportedFormat: ColumnFormat = { dates: 'ymd', decimal: '.' };

/** Returns a cell as an unchecked answer, as a program would send it. A blank cell is no answer. */
export function readImportCell(
  question: ImportQuestion,
  cell: ImportCell,
  context: CellContext,
): ImportCellResult {
  if (isBlankCell(cell)) return { value: undefined };
  return question.input
    ? readers[answerKindOf(question.input)](question, cell, context)
    : readRows(question, cell, context);
}

export const isBlankCell = (cell: ImportCell): boolean => typeof cell === 'string' && cell.trim() === '';

const readText: Reader = (_question, cell) =>
  typeof cell === 'number' && Math.abs(cell) > Number.MAX_SAFE_INTEGER
    ? { problem: 'A workbook cannot store all digits of this number. Format the column as text.' }
    : { value: String(cell) };

const readers: Readonly<Record<AnswerKind, Reader>> = {
  text: readText,
  moment: ({ input }, cell, { format, home }) =>
    readMomentAnswer((input as Moment).type, cell, format.dates, home.language),
  number: (_question, cell, { format }) => readNumberCell(cell, format.decimal),
  boolean: (_question, cell) => ({ value: readFlag(cell) }),
  consent: readConsent,
  choice: (question, cell) => ({ value: readChoice(question, cell) }),
  choices: (question, cell, { isOwn }) => readChoices(question, String(cell), isOwn),
  order: (question, cell, { isOwn }) => readChoices(question, String(cell), isOwn),
  grid: readGrid,
  files: () => ({ value: undefined }),
};

type Moment = Extract<InputElement, { type: 'date' | 'time' | 'datetime' }>;

/** Finds an option by label or id. Other text stays unchanged, and may be the text of "Other". */
const readChoice = ({ options }: ImportQuestion, cell: ImportCell): string =>
  createLabelFinder(options)(String(cell)) ?? String(cell).trim();

/** Words in the languages of pages, and values that programs and spreadsheets write. */
const yes =
  'yes true 1 y x ✓ ✔ checked selected ja wahr oui vrai sí si verdadero sim verdadeiro نعم はい 是'.split(
    ' ',
  );
const no = 'no false 0 n - unchecked nein falsch non faux falso não nao لا いいえ 否'.split(' ');

/** Returns true for yes and false for no. Any other cell is returned unchanged. */
function readFlag(cell: ImportCell): unknown {
  const word = normalizeLabel(String(cell));
  if (yes.includes(word)) return true;
  return no.includes(word) ? false : cell;
}

/** Whether a cell has the text of a consent, as stored or as plain text. */
const isStatement = (statement: string, cell: ImportCell): boolean =>
  [statement, stripInlineMarkup(statement)].map(normalizeLabel).includes(normalizeLabel(String(cell)));

/** Reads yes, no, or the text of the accepted statement, as Google Forms writes it. */
function readConsent({ input }: ImportQuestion, cell: ImportCell): ImportCellResult {
  const isAccepted = input?.type === 'consent' && isStatement(input.attrs.statement, cell);
  return { value: isAccepted ? true : readFlag(cell) };
}

/** Reads a matrix in one cell: pairs of rows and chosen options. */
function readGrid(question: ImportQuestion, cell: ImportCell, context: CellContext): ImportCellResult {
  const rows = parseRowsCell(String(cell));
  if (rows?.length !== 1) return { value: String(cell) };
  return readPairs(rows[0]!, (label) => {
    const row = createLabelFinder(question.rows)(label);
    return row === undefined
      ? undefined
      : [row, (value) => readImportCellOfRow(question, row, value, context)];
  });
}

/**
 * Reads the cell of one matrix row, or of one part of a consent.
 * @param row the id of the row or part.
 */
export function readImportCellOfRow(
  question: ImportQuestion,
  row: string,
  cell: ImportCell,
  context: CellContext,
): ImportCellResult {
  if (isBlankCell(cell)) return { value: undefined };
  const { input } = question;
  if (input?.type === 'consent') return readConsentPart(input, row, cell, context);
  return input && takesSeveralInRow(input)
    ? readChoices(question, String(cell), context.isOwn)
    : { value: readChoice(question, cell) };
}

function readConsentPart(
  { attrs }: Extract<InputElement, { type: 'consent' }>,
  part: string,
  cell: ImportCell,
  { format, home }: CellContext,
): ImportCellResult {
  if (part === 'agreed') return { value: readFlag(cell) };
  // The version of another form is meaningless here; the text must be the statement of this form.
  if (part === 'version') return { value: undefined };
  if (part === 'text')
    return isStatement(attrs.statement, cell)
      ? { value: undefined }
      : { problem: 'The accepted text differs from the consent statement of this form.' };
  const moment = readInstant(typeof cell === 'boolean' ? String(cell) : cell, { order: format.dates, home });
  return 'problem' in moment ? moment : { value: new Date(moment.at).toISOString() };
}

/** Reads the rows of a repeatable group, one per line of the cell. */
function readRows(question: ImportQuestion, cell: ImportCell, context: CellContext): ImportCellResult {
  const rows = parseRowsCell(String(cell));
  if (!rows) return { problem: 'Write each row on its own line, as "Question: answer; Question: answer".' };
  const inRow = { ...context, format: exportedFormat, isOwn: true };
  const read = rows.map((row) =>
    readPairs(row, (label) => {
      const id = createLabelFinder(question.inputs)(label) ?? bracketedId(question, label);
      const found = question.inputs.find((input) => input.id === id);
      return found && [found.id, (value) => readInRow(found, value, inRow)];
    }),
  );
  const wrong = read.find((row) => 'problem' in row);
  return (
    wrong ?? { value: read.flatMap((row) => ('value' in row && row.value !== undefined ? [row.value] : [])) }
  );
}

/** Finds a question by `Name (id)`, which exports use if two questions have the same name. */
function bracketedId({ inputs }: ImportQuestion, label: string): string | undefined {
  return inputs.find(({ id }) => label.endsWith(` (${id})`))?.id;
}

function readInRow(question: ImportQuestion, value: string, context: CellContext): ImportCellResult {
  const { input } = question;
  if (input && answerKindOf(input) === 'files')
    return { problem: `"${question.labels[0]}" accepts files, which a cell cannot contain.` };
  // Calculated values are not imported but calculated again.
  if (input && isDerived(input)) return { value: undefined };
  const parts = input?.type === 'consent' ? parseRowsCell(value) : undefined;
  if (parts?.length !== 1) return readImportCell(question, value, context);
  const read = readPairs(parts[0]!, (label) => {
    const row = createLabelFinder(question.rows)(label);
    return row === undefined ? undefined : [row, (text) => readImportCellOfRow(question, row, text, context)];
  });
  return 'problem' in read ? read : { value: read.value };
}

type PairReader = (label: string) => [id: string, read: (value: string) => ImportCellResult] | undefined;

function readPairs(pairs: readonly (readonly [string, string])[], readerOf: PairReader): ImportCellResult {
  const answer: Record<string, unknown> = {};
  for (const [label, text] of pairs) {
    const [id, readValue] = readerOf(label) ?? [];
    if (id === undefined || !readValue) return { problem: `"${label}" is not a question of this form.` };
    if (getProperty(answer, id) !== undefined) return { problem: `"${label}" appears twice.` };
    const read = readValue(text);
    if ('problem' in read) return { problem: `${label}: ${read.problem}` };
    if (read.value !== undefined) answer[id] = read.value;
  }
  return { value: answer };
}

/** A choice with its own column: whether it was chosen, its rank, or the text of "Other". */
export type ChoiceCell = { readonly option: string; readonly rank?: number } | { readonly other: string };

/**
 * Reads the column of one choice, which contains its label, yes or no, or its rank. Returns undefined if it
 * was not chosen.
 */
export function readChoiceCell(
  question: ImportQuestion,
  option: string,
  cell: ImportCell,
): { value: ChoiceCell | undefined } | { problem: string } {
  if (isBlankCell(cell)) return { value: undefined };
  const flag = readFlag(cell);
  if (question.input && answerKindOf(question.input) === 'order') {
    const rank = Number(normalizeLabel(String(cell)));
    return Number.isInteger(rank) && rank > 0
      ? { value: { option, rank } }
      : { problem: 'A rank must be a whole number of at least 1.' };
  }
  if (flag === false) return { value: undefined };
  if (option === otherChoice)
    return flag === true
      ? { problem: 'The text of the "Other" answer is missing.' }
      : { value: { other: String(cell).trim() } };
  if (flag === true || createLabelFinder(question.options)(String(cell)) === option)
    return { value: { option } };
  return {
    problem: `"${String(cell).slice(0, 100)}" does not say whether this was chosen. Write yes or no.`,
  };
}

/** Joins the choices of several columns to one answer, ranked ones by rank. Each rank must be unique. */
export function joinChoices(chosen: readonly ChoiceCell[]): ImportCellResult {
  const ranks = chosen.flatMap((cell) => ('rank' in cell && cell.rank !== undefined ? [cell.rank] : []));
  if (new Set(ranks).size < ranks.length)
    return { problem: 'Two options have the same rank. Give each option its own rank.' };
  const sorted = chosen.toSorted((a, b) => rankOf(a) - rankOf(b));
  return { value: sorted.map((each) => ('other' in each ? each.other : each.option)) };
}

const rankOf = (cell: ChoiceCell): number => ('rank' in cell ? (cell.rank ?? 0) : 0);
