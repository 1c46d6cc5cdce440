import { otherChoice } from '#ast/basics/options.ts';
import type { Form } from '#ast/form/tree.ts';
import { numberMarksOf } from '#ast/rules/written-numbers.ts';
import {
  assignmentHeadings,
  fixedExportHeadings,
  referenceHeading,
  respondentHeadings,
} from '../export/cells.ts';
import type { DateOrder } from './read-moment.ts';
import { type DecimalMark, plainNumber } from './read-number.ts';
import {
  type ImportCell,
  type ImportQuestion,
  type ImportTable,
  type ImportTableLine,
  importableQuestions,
  type NamedItem,
  normalizeLabel,
} from './table.ts';

/**
 * How a column is used; `reference_data` is all reference data as JSON. For an answer, `name` is the id of the
 * question. `row` is the id of a matrix row or consent part; `option` is the id of the option that the column
 * is for.
 */
export type ColumnUse =
  | { as: 'answer'; name: string; row?: string; option?: string }
  | { as: 'reference'; name: string }
  | { as: 'reference_data' | 'started_at' | 'submitted_at' | 'stage' | 'assignee' | 'ignore' };

/** A column before its use is chosen: its heading or number, and its first values. */
export type ImportColumn = { title: string; samples: string[] };

/** Returns the columns of a table, whose first line has the headings. */
export function describeColumns({ lines: [head, ...rest] }: ImportTable): ImportColumn[] {
  const width = Math.max(0, ...[head, ...rest].map((each) => each?.cells.length ?? 0));
  const shown = rest.slice(0, 3);
  const text = (line: ImportTableLine | undefined, index: number): string =>
    String(line?.cells[index] ?? '')
      .trim()
      .slice(0, 200);
  return Array.from({ length: width }, (_, index) => ({
    title: text(head, index) || `Column ${index + 1}`,
    samples: shown.map((line) => text(line, index)),
  }));
}

/** Headings for the submission time, here and at other services, in the languages of pages. */
const submitted =
  /^(?:completed at|completion time|submitted at|date submitted|submit ?date|submission (?:time|date)|timestamp|end ?(?:date|time)|recorded ?date|created at|zeitstempel|fertigstellungszeit|horodateur|marca temporal|carimbo de data\/hora|タイムスタンプ|时间戳记|طابع زمني)(?: ?\([^()]*\))?$/i;
/** Headings for the start time. */
const started = /^(?:start ?(?:date|time)|started at|date created|startzeit|created at)(?: ?\([^()]*\))?$/i;

/** Whether the columns are from one of our own exports. */
export const isFormloomExport = (columns: readonly ImportColumn[]): boolean =>
  fixedExportHeadings.every((head, index) => columns[index]?.title === head);

const assignmentUses: ReadonlyMap<string, ColumnUse> = new Map([
  [assignmentHeadings[0], { as: 'stage' }],
  [assignmentHeadings[1], { as: 'assignee' }],
  ...respondentHeadings.map((title): [string, ColumnUse] => [title, { as: 'ignore' }]),
]);

/** Returns the uses of the columns of our own exports that are not answers, by position. */
export function listExportUses(columns: readonly ImportColumn[]): ReadonlyMap<number, ColumnUse> {
  const first = ['ignore', 'ignore', 'started_at', 'submitted_at'] as const;
  const uses = new Map<number, ColumnUse>(first.map((as, index) => [index, { as }]));
  const last = columns.findLastIndex(({ title }) => title === referenceHeading);
  if (last < fixedExportHeadings.length) return uses;
  uses.set(last, { as: 'reference_data' });
  for (const [index, { title }] of columns.entries())
    if (index > last && assignmentUses.has(title)) uses.set(index, assignmentUses.get(title)!);
  return uses;
}

/** Uses by heading, most likely first. Two questions may have equal names. */
type Offers = ReadonlyMap<string, readonly ColumnUse[]>;

/** Returns the ways in which services join the name of a question with a row or choice. */
const joined = (name: string, part: string): string[] => [
  `${name} [${part}]`,
  `${name}.${part}`,
  `${name} (${part})`,
  `${name}: ${part}`,
  `${name} - ${part}`,
  `${name} >> ${part}`,
];

const namesOf = ({ id, labels }: NamedItem): string[] => [
  ...labels.map((label) => `${label} (${id})`),
  ...labels,
  id,
];

function offersOf(
  questions: Iterable<ImportQuestion>,
  keyOf: (name: string) => string,
  isOwn: boolean,
): Offers {
  const offers = new Map<string, ColumnUse[]>();
  const offer = (name: string, use: ColumnUse): void => {
    const known = offers.get(keyOf(name)) ?? [];
    offers.set(keyOf(name), [...known, use]);
  };
  const late: [string, ColumnUse][] = [];
  for (const question of questions) {
    const { id: name, rows, choices } = question;
    const names = namesOf(question);
    if (rows.length === 0 || question.input?.type === 'consent')
      for (const each of names) offer(each, { as: 'answer', name });
    for (const row of rows)
      for (const part of namesOf(row))
        for (const each of names.flatMap((title) => joined(title, part)))
          offer(each, { as: 'answer', name, row: row.id });
    for (const choice of choices)
      for (const part of namesOf(choice)) {
        const use: ColumnUse = { as: 'answer', name, option: choice.id };
        for (const each of names.flatMap((title) => joined(title, part))) offer(each, use);
        // Typeform uses only the choice as the heading of a choice's column.
        late.push([part, use]);
      }
  }
  if (!isOwn) for (const [name, use] of late) offer(name, use);
  return offers;
}

/**
 * Guesses the use of columns by their headings, which are ids and labels, as in exports. An exact match wins
 * over a similar one. If two columns answer the same question, the first wins.
 */
export function suggestMapping(columns: readonly ImportColumn[], form: Form): ColumnUse[] {
  const uses: (ColumnUse | undefined)[] = columns.map(() => undefined);
  const used = new Set<string>();
  const wholes = new Set<string>();
  const isOwn = isFormloomExport(columns);
  const put = (index: number, candidates: readonly ColumnUse[]): void => {
    if (uses[index]) return;
    const use = candidates.find((each) => !used.has(columnUseKey(each)) && !clashes(each, wholes));
    if (!use) return;
    used.add(columnUseKey(use));
    if (use.as === 'answer')
      wholes.add(use.row === undefined && use.option === undefined ? use.name : `part ${use.name}`);
    uses[index] = use;
  };
  if (isOwn) for (const [index, use] of listExportUses(columns)) uses[index] = use;
  const questions = [...importableQuestions(form).values()];
  for (const keyOf of [(name: string) => name.trim(), normalizeLabel]) {
    const offers = offersOf(questions, keyOf, isOwn);
    for (const [index, { title }] of columns.entries()) put(index, offers.get(keyOf(title)) ?? []);
  }
  if (!isOwn) {
    const isCompletedNamed = columns.some(({ title }) => /^completed at$/i.test(title));
    for (const [index, { title }] of columns.entries()) {
      const isCreated = /^created at/i.test(title);
      if (submitted.test(title) && !(isCreated && isCompletedNamed)) put(index, [{ as: 'submitted_at' }]);
      if (started.test(title)) put(index, [{ as: 'started_at' }]);
      if (assignmentUses.has(title)) put(index, [assignmentUses.get(title)!]);
    }
    // A start time is useless without a submission time.
    if (!uses.some((use) => use?.as === 'submitted_at'))
      for (const [index, use] of uses.entries()) if (use?.as === 'started_at') uses[index] = undefined;
  }
  return uses.map((use) => use ?? { as: 'ignore' });
}

/** Whether other columns already answer the question, as a whole or in parts. */
const clashes = (use: ColumnUse, wholes: ReadonlySet<string>): boolean =>
  use.as === 'answer' &&
  wholes.has(use.row === undefined && use.option === undefined ? `part ${use.name}` : use.name);

/** Finds the columns whose headings name one of the questions. */
export function findNamedColumns(
  columns: readonly ImportColumn[],
  questions: readonly ImportQuestion[],
): Set<number> {
  const offers = offersOf(questions, normalizeLabel, true);
  return new Set(columns.flatMap(({ title }, index) => (offers.has(normalizeLabel(title)) ? [index] : [])));
}

/**
 * Returns the problem with a mapping for any kind of import: two equal uses, or an invalid reference name.
 */
export function findColumnUseProblem(mapping: readonly { as: string; name?: string }[]): string | undefined {
  const targets = mapping.filter(({ as }) => as !== 'ignore').map(columnUseKey);
  if (new Set(targets).size < targets.length) return 'Two columns have the same use. Change one of them.';
  return mapping.some(isInvalidReferenceName)
    ? 'A reference name must have 1 to 64 characters and must not start with an underscore.'
    : undefined;
}

/** Returns the key of a use. Two columns cannot have the same key. */
export const columnUseKey = (use: object): string => JSON.stringify(Object.entries(use).toSorted());

export const isInvalidReferenceName = ({ as, name = '' }: { as: string; name?: string }): boolean =>
  as === 'reference' && !/^(?!_)[^\p{Cc}]{1,64}$/u.test(name);

/** Returns the problem with a mapping as a whole, or undefined if it can be used. */
export function findMappingProblem(
  mapping: readonly ColumnUse[],
  width: number,
  form: Form,
): string | undefined {
  if (mapping.length !== width)
    return `The file has ${width} columns, but the mapping has ${mapping.length}.`;
  const problem = findColumnUseProblem(mapping);
  if (problem !== undefined) return problem;
  const answers = mapping.filter((use) => use.as === 'answer');
  if (answers.length === 0) return 'Choose a question for at least one column.';
  for (const use of answers) {
    const found = findAnswerProblem(use, importableQuestions(form).get(use.name), answers);
    if (found !== undefined) return found;
  }
  return undefined;
}

type AnswerUse = Extract<ColumnUse, { as: 'answer' }>;

function findAnswerProblem(
  { name, row, option }: AnswerUse,
  question: ImportQuestion | undefined,
  answers: readonly AnswerUse[],
): string | undefined {
  if (!question) return `The form has no question "${name}" that a column can answer.`;
  const isWhole = row === undefined && option === undefined;
  const isMatrix = question.input?.type === 'matrix';
  if (isWhole && isMatrix) return `"${name}" needs one column for each of its rows.`;
  if (row !== undefined && !question.rows.some(({ id }) => id === row))
    return question.rows.length === 0
      ? `"${name}" has no rows. Use one column for it.`
      : `"${name}" has no row "${row}".`;
  if (option !== undefined && !question.choices.some(({ id }) => id === option))
    return question.choices.length === 0
      ? `"${name}" cannot have a column for each choice. Use one column for it.`
      : `"${name}" has no choice "${option === otherChoice ? 'Other' : option}".`;
  const others = answers.filter(
    (use) => use.name === name && use.row === undefined && use.option === undefined,
  );
  return !isWhole && others.length > 0
    ? `Use either one column for "${name}" or one column for each of its parts.`
    : undefined;
}

/** The formats of dates and numbers in a column. */
export type ColumnFormat = { readonly dates: DateOrder; readonly decimal: DecimalMark };

/** A cell that can be read in two ways, with a message about the chosen one. */
type Doubt = { readonly index: number; readonly message: string };

type Guess<Format> = { readonly format: Format; readonly doubt?: Doubt };

/** A numeric date whose year is not first. */
const dayInDigits = /(?<!\d)(\d{1,2})([-/.])(\d{1,2})\2(?:\d{4}|\d{2})(?!\d)/;

/**
 * Guesses the date order of a column: from unambiguous cells, or else from dots between the numbers, or else
 * from the form's language.
 */
export function guessDateOrder(cells: readonly ImportCell[], language: string): Guess<DateOrder> {
  let open: { index: number; text: string } | undefined;
  const settled = new Set<DateOrder>();
  for (const [index, cell] of cells.entries()) {
    const [text, first, mark, second] = (typeof cell === 'string' && dayInDigits.exec(cell)) || [];
    if (text === undefined || Number(first) === Number(second)) continue;
    if (mark === '.' || Number(first) > 12) settled.add('dmy');
    else if (Number(second) > 12) settled.add('mdy');
    else open ??= { index, text };
  }
  const [only] = settled;
  if (only && settled.size === 1) return { format: only };
  const format = dateOrderOf(language);
  if (!open) return { format };
  const [read, other] = format === 'mdy' ? ['month', 'day'] : ['day', 'month'];
  const message = `"${open.text}" is read with the ${read} first. If the ${other} comes first, set "dates" to "${format === 'mdy' ? 'dmy' : 'mdy'}".`;
  return { format, doubt: { index: open.index, message } };
}

/** Returns the order of day and month in a language or region (BCP 47). */
function dateOrderOf(language: string): 'dmy' | 'mdy' {
  const parts = new Intl.DateTimeFormat(language, { timeZone: 'UTC' })
    .formatToParts(0)
    .map(({ type }) => type);
  return parts.indexOf('month') < parts.indexOf('day') && parts.indexOf('year') > parts.indexOf('day')
    ? 'mdy'
    : 'dmy';
}

/** Guesses the decimal separator of a column from cells that make sense with only one separator. */
export function guessDecimalMark(cells: readonly ImportCell[], language: string): Guess<DecimalMark> {
  let open: { index: number; text: string } | undefined;
  const settled = new Set<DecimalMark>();
  for (const [index, cell] of cells.entries()) {
    if (typeof cell !== 'string') continue;
    const [point, comma] = [plainNumber(cell, '.'), plainNumber(cell, ',')];
    if (point === comma) continue;
    if (point === undefined || comma === undefined) settled.add(point === undefined ? ',' : '.');
    else open ??= { index, text: cell.trim() };
  }
  const [only] = settled;
  if (only && settled.size === 1) return { format: only };
  const format = numberMarksOf(language).startsWith(',') ? ',' : '.';
  if (!open) return { format };
  const message = `"${open.text}" is read as ${plainNumber(open.text, format)}. If it means ${plainNumber(open.text, format === '.' ? ',' : '.')}, set "decimal" to "${format === '.' ? ',' : '.'}".`;
  return { format, doubt: { index: open.index, message } };
}
