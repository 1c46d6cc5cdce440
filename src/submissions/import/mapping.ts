import { otherChoice } from '#ast/basics/options.ts';
import type { Form } from '#ast/form/tree.ts';
import { numberMarksOf } from '#ast/rules/written-numbers.ts';
import { fixedHeads, lastHead } from '../export/cells.ts';
import type { DateOrder } from './read-moment.ts';
import { type DecimalMark, plainNumber } from './read-number.ts';
import {
  type Cell,
  type ImportQuestion,
  importable,
  type Named,
  plain,
  type Table,
  type TableLine,
} from './table.ts';

/**
 * What a column of a file becomes: an answer (`name` is the id of the question, `row` of a matrix or consent that of its
 * part, `option` that of the one choice that the column is about), a reference value, all reference data as JSON, when
 * the submission was begun or sent, or nothing.
 */
export type ColumnUse =
  | { as: 'answer'; name: string; row?: string; option?: string }
  | { as: 'reference'; name: string }
  | { as: 'reference_data' | 'started_at' | 'submitted_at' | 'ignore' };

/** A column as a person sees it before choosing: its heading, or its number, and its first values. */
export type Column = { title: string; samples: string[] };

/** The columns of a table, whose first line names them. */
export function describeColumns({ lines: [head, ...rest] }: Table): Column[] {
  const width = Math.max(0, ...[head, ...rest].map((each) => each?.cells.length ?? 0));
  const shown = rest.slice(0, 3);
  const text = (line: TableLine | undefined, index: number): string =>
    String(line?.cells[index] ?? '')
      .trim()
      .slice(0, 200);
  return Array.from({ length: width }, (_, index) => ({
    title: text(head, index) || `Column ${index + 1}`,
    samples: shown.map((line) => text(line, index)),
  }));
}

/** Headings of when something was sent, here and at other services, in the languages that pages speak. */
const submitted =
  /^(?:completed at|completion time|submitted at|date submitted|submit ?date|submission (?:time|date)|timestamp|end ?(?:date|time)|recorded ?date|created at|zeitstempel|fertigstellungszeit|horodateur|marca temporal|carimbo de data\/hora|タイムスタンプ|时间戳记|طابع زمني)(?: ?\([^()]*\))?$/i;
/** The same of when it was begun. */
const started = /^(?:start ?(?:date|time)|started at|date created|startzeit|created at)(?: ?\([^()]*\))?$/i;

/** Whether the columns are those of an export of this product. */
export const isOwnExport = (columns: readonly Column[]): boolean =>
  fixedHeads.every((head, index) => columns[index]?.title === head);

/** Uses by heading, those first that a heading means first. Two questions may have one name. */
type Offers = ReadonlyMap<string, readonly ColumnUse[]>;

/** How services join the name of a question with that of a row or choice. */
const joined = (name: string, part: string): string[] => [
  `${name} [${part}]`,
  `${name}.${part}`,
  `${name} (${part})`,
  `${name}: ${part}`,
  `${name} - ${part}`,
  `${name} >> ${part}`,
];

const namesOf = ({ id, labels }: Named): string[] => [
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
        // Typeform heads the column of a choice with nothing but the choice.
        late.push([part, use]);
      }
  }
  if (!isOwn) for (const [name, use] of late) offer(name, use);
  return offers;
}

/**
 * What the columns probably are, by their headings: ids and labels, as exports have them. A heading that is exactly that of
 * a question comes before one that only reads like it, and of two columns for the same answer the first counts.
 */
export function suggestMapping(columns: readonly Column[], form: Form): ColumnUse[] {
  const uses: (ColumnUse | undefined)[] = columns.map(() => undefined);
  const used = new Set<string>();
  const wholes = new Set<string>();
  const isOwn = isOwnExport(columns);
  const put = (index: number, candidates: readonly ColumnUse[]): void => {
    if (uses[index]) return;
    const use = candidates.find((each) => !used.has(targetOf(each)) && !clashes(each, wholes));
    if (!use) return;
    used.add(targetOf(use));
    if (use.as === 'answer')
      wholes.add(use.row === undefined && use.option === undefined ? use.name : `part ${use.name}`);
    uses[index] = use;
  };
  if (isOwn) {
    const ownUses: ColumnUse['as'][] = ['ignore', 'ignore', 'started_at', 'submitted_at'];
    for (const [index, as] of ownUses.entries()) uses[index] = { as } as ColumnUse;
    const last = columns.findLastIndex(({ title }) => title === lastHead);
    if (last >= fixedHeads.length) uses[last] = { as: 'reference_data' };
  }
  const questions = [...importable(form).values()];
  for (const keyOf of [(name: string) => name.trim(), plain]) {
    const offers = offersOf(questions, keyOf, isOwn);
    for (const [index, { title }] of columns.entries()) put(index, offers.get(keyOf(title)) ?? []);
  }
  if (!isOwn) {
    const isCompletedNamed = columns.some(({ title }) => /^completed at$/i.test(title));
    for (const [index, { title }] of columns.entries()) {
      const isCreated = /^created at/i.test(title);
      if (submitted.test(title) && !(isCreated && isCompletedNamed)) put(index, [{ as: 'submitted_at' }]);
      if (started.test(title)) put(index, [{ as: 'started_at' }]);
    }
    // The moment at which something was begun says nothing where nothing says when it was sent.
    if (!uses.some((use) => use?.as === 'submitted_at'))
      for (const [index, use] of uses.entries()) if (use?.as === 'started_at') uses[index] = undefined;
  }
  return uses.map((use) => use ?? { as: 'ignore' });
}

/** Whether a question is answered by another column already: whole by one, or in parts by several. */
const clashes = (use: ColumnUse, wholes: ReadonlySet<string>): boolean =>
  use.as === 'answer' &&
  wholes.has(use.row === undefined && use.option === undefined ? `part ${use.name}` : use.name);

/** The columns whose headings name one of the questions. */
export function findNamed(columns: readonly Column[], questions: readonly ImportQuestion[]): Set<number> {
  const offers = offersOf(questions, plain, true);
  return new Set(columns.flatMap(({ title }, index) => (offers.has(plain(title)) ? [index] : [])));
}

/** What is wrong with what columns become of an import, whatever they may become: two are the same, or a reference value has no name. */
export function findUseProblem(mapping: readonly { as: string; name?: string }[]): string | undefined {
  const targets = mapping.filter(({ as }) => as !== 'ignore').map(targetOf);
  if (new Set(targets).size < targets.length) return 'Two columns are used for the same.';
  return mapping.some(isBadReference)
    ? 'A reference value has a name of 1 to 64 characters that does not begin with an underscore.'
    : undefined;
}

/** What no two columns may become. */
export const targetOf = (use: object): string => JSON.stringify(Object.entries(use).toSorted());

export const isBadReference = ({ as, name = '' }: { as: string; name?: string }): boolean =>
  as === 'reference' && !/^(?!_)[^\p{Cc}]{1,64}$/u.test(name);

/** What is wrong with a mapping as a whole; undefined when it can be used. */
export function findMappingProblem(
  mapping: readonly ColumnUse[],
  width: number,
  form: Form,
): string | undefined {
  if (mapping.length !== width)
    return `The file has ${width} columns, and the mapping has ${mapping.length}.`;
  const problem = findUseProblem(mapping);
  if (problem !== undefined) return problem;
  const answers = mapping.filter((use) => use.as === 'answer');
  if (answers.length === 0) return 'Choose a question for at least one column.';
  for (const use of answers) {
    const found = findAnswerProblem(use, importable(form).get(use.name), answers);
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
  if (isWhole && isMatrix) return `"${name}" is answered by a column for each of its rows.`;
  if (row !== undefined && !question.rows.some(({ id }) => id === row))
    return question.rows.length === 0
      ? `"${name}" is answered by one column.`
      : `"${name}" has no row "${row}".`;
  if (option !== undefined && !question.choices.some(({ id }) => id === option))
    return question.choices.length === 0
      ? `"${name}" takes no columns for its choices.`
      : `"${name}" has no choice "${option === otherChoice ? 'Other' : option}".`;
  const others = answers.filter(
    (use) => use.name === name && use.row === undefined && use.option === undefined,
  );
  return !isWhole && others.length > 0
    ? `"${name}" is answered by one column, or by one for each of its parts, and not by both.`
    : undefined;
}

/** How a column writes days and numbers. */
export type ColumnFormat = { readonly dates: DateOrder; readonly decimal: DecimalMark };

/** A cell that could be read in another way, and how it is read. */
type Doubt = { readonly index: number; readonly message: string };

type Guess<Format> = { readonly format: Format; readonly doubt?: Doubt };

/** A day without a name of its month whose year does not come first. */
const dayInDigits = /(?<!\d)(\d{1,2})([-/.])(\d{1,2})\2(?:\d{4}|\d{2})(?!\d)/;

/**
 * Guesses the order in which a column writes days: as those cells settle it that have only one order, else as a point
 * between the numbers does, else as people write days in the form's language.
 */
export function guessDateOrder(cells: readonly Cell[], language: string): Guess<DateOrder> {
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

/** The order of day and month in a language or region (BCP-47). */
function dateOrderOf(language: string): 'dmy' | 'mdy' {
  const parts = new Intl.DateTimeFormat(language, { timeZone: 'UTC' })
    .formatToParts(0)
    .map(({ type }) => type);
  return parts.indexOf('month') < parts.indexOf('day') && parts.indexOf('year') > parts.indexOf('day')
    ? 'mdy'
    : 'dmy';
}

/** Guesses the mark before the decimals of a column: as those cells settle it that can be read with one mark only. */
export function guessDecimalMark(cells: readonly Cell[], language: string): Guess<DecimalMark> {
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
