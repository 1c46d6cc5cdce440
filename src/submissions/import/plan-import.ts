import { sayNumber } from '#ast/say-number.ts';
import { checkAnswers } from '#ast/answers.ts';
import { own } from '#ast/json.ts';
import type { AnswerContext } from '#ast/logic/evaluate.ts';
import { type Form, isRequired, matrixRowsOf } from '#ast/tree.ts';
import { newWork, TooMuchWork } from '#ast/work.ts';
import {
  type Column,
  type ColumnUse,
  describeColumns,
  findMappingProblem,
  importable,
  suggestMapping,
} from './mapping.ts';
import { guessDates, guessDecimal, readCell, readInstant, type Writing } from './read-cell.ts';
import { readWorkbook } from './read-workbook.ts';
import {
  importLimits,
  readCsvTable,
  type Table,
  type TableLine,
  tableProblem,
  type TableSource,
} from './table.ts';

/** What is to be imported, and how its columns and values are meant; what is left out is guessed. */
export type ImportSource = TableSource & {
  mapping?: readonly ColumnUse[] | undefined;
  dates?: Writing['dates'] | undefined;
  decimal?: Writing['decimal'] | undefined;
};

/** A submission that a line becomes: raw answers, reference data, and when it was, in ms. */
export type ImportEntry = {
  answers: Record<string, unknown>;
  reference: Record<string, string>;
  at?: number | undefined;
};

/** What is wrong with a line, in which column; `is_left_out`: the whole line is, else only what is said. */
export type LineProblem = { line: number; column: string | null; message: string; is_left_out: boolean };

/** What an import would do. */
export type ImportPlan = {
  columns: Column[];
  mapping: readonly ColumnUse[];
  writing: Writing;
  entries: { line: number; entry: ImportEntry }[];
  problems: LineProblem[];
};

/** What the rules look at beside the answers, as it goes to a thread. */
export type ImportForm = { form: Form; today: string; asksSingly: boolean };

/**
 * Reads a file line by line: the submissions that it has, checked as a page checks them, and what is wrong with which cell.
 * @returns a text that says why nothing of it can be used, or the plan.
 */
export async function planImport(source: ImportSource, about: ImportForm): Promise<ImportPlan | string> {
  if (source.kind === 'xlsx' && (source.data.length * 3) / 4 > importLimits.workbookBytes)
    return 'The workbook is larger than 4 MB. Import it in parts, or as CSV.';
  const table =
    source.kind === 'csv'
      ? readCsvTable(source.text)
      : await readWorkbook(Buffer.from(source.data, 'base64'));
  if (typeof table === 'string') return table;
  const problem = tableProblem(table);
  if (problem !== undefined) return problem;
  const columns = describeColumns(table);
  const mapping = source.mapping ?? suggestMapping(columns, about.form);
  const wrong = findMappingProblem(mapping, columns.length, about.form);
  const writing = writingOf(table, source, mapping);
  // Who has chosen nothing yet sees the columns first.
  if (wrong !== undefined)
    return source.mapping ? wrong : { columns, mapping, writing, entries: [], problems: [] };
  return { columns, mapping, writing, ...readLines(table, { ...about, columns, mapping, writing }) };
}

type Reading = ImportForm & Pick<ImportPlan, 'columns' | 'mapping' | 'writing'>;

function writingOf({ lines }: Table, source: ImportSource, mapping: readonly ColumnUse[]): Writing {
  const cells = lines
    .slice(1, 1_001)
    .flatMap((line) => line.cells.filter((_cell, index) => mapping[index]?.as !== 'ignore'));
  return { dates: source.dates ?? guessDates(cells), decimal: source.decimal ?? guessDecimal(cells) };
}

function readLines({ lines }: Table, reading: Reading): Pick<ImportPlan, 'entries' | 'problems'> {
  const entries: ImportPlan['entries'] = [];
  const problems: LineProblem[] = [];
  for (const line of lines.slice(1)) {
    const { entry, problems: found } = readLine(line, reading);
    problems.push(...found);
    if (!found.some((problem) => problem.is_left_out)) entries.push({ line: line.line, entry });
  }
  return { entries, problems };
}

function readLine(line: TableLine, reading: Reading): { entry: ImportEntry; problems: LineProblem[] } {
  const { form, columns, mapping, writing } = reading;
  const entry: ImportEntry = { answers: {}, reference: {} };
  const problems: LineProblem[] = [];
  const say = (column: string | null, message: string, is_left_out: boolean): void =>
    void problems.push({ line: line.line, column, message, is_left_out });
  for (const [index, use] of mapping.entries()) {
    const cell = line.cells[index] ?? '';
    if (typeof cell === 'string' && cell.trim() === '') continue;
    if (use.as === 'reference') {
      entry.reference[use.name] = String(cell);
      if (String(cell).length > longestReference)
        say(columns[index]!.title, `It is longer than ${sayNumber(longestReference)} characters.`, true);
    }
    if (use.as === 'submitted_at') {
      entry.at = readInstant(cell, writing.dates)?.getTime();
      if (entry.at === undefined || entry.at > latestFrom(reading))
        say(columns[index]!.title, 'This is no moment at which it can have been sent.', true);
    }
    if (use.as === 'answer')
      setAnswer(entry.answers, use, readCell(importable(form).get(use.name)!, cell, writing));
  }
  for (const { field, message } of refusalsOf(entry, reading)) say(columnOf(field, reading), message, true);
  if (problems.length === 0)
    for (const name of unasked(entry, reading))
      say(columnOf(name, reading), 'It is not asked where the other answers are so, and is left out.', false);
  return { entry, problems };
}

/** So long a value may be that a submit refers to. */
const longestReference = 8_192;

/** The end of the day after today, in ms: what was sent today may have been sent tomorrow elsewhere. */
const latestFrom = ({ today }: ImportForm): number => Date.parse(today) + 2 * 24 * 60 * 60 * 1_000;

function setAnswer(
  answers: Record<string, unknown>,
  { name, row }: { name: string; row?: string },
  value: unknown,
): void {
  if (value === undefined) return;
  answers[name] = row === undefined ? value : { ...(own(answers, name) as object | undefined), [row]: value };
}

const contextOf = ({ today, asksSingly }: ImportForm, { reference }: ImportEntry): AnswerContext => ({
  reference,
  today,
  asksSingly,
  work: newWork(),
});

function refusalsOf(entry: ImportEntry, about: ImportForm): readonly { field: string; message: string }[] {
  try {
    const checked = checkAnswers(about.form, entry.answers, new Map(), contextOf(about, entry));
    return checked.ok ? [] : checked.errors;
  } catch (error) {
    if (error instanceof TooMuchWork) return [{ field: '', message: error.message }];
    throw error;
  }
}

/** What a line answers and a page would not have asked. */
function unasked(entry: ImportEntry, about: ImportForm): string[] {
  const checked = checkAnswers(about.form, entry.answers, new Map(), contextOf(about, entry));
  if (!checked.ok) return [];
  const questions = importable(about.form);
  return Object.keys(entry.answers).filter((name) => {
    const input = questions.get(name);
    // No is no answer to what is agreed to.
    const isNothing = entry.answers[name] === false && input !== undefined && !isRequired(input);
    return own(checked.answers, name) === undefined && !isNothing;
  });
}

/** The title of the first column that answers a field (`name`, or `name[row]`); null where none does. */
function columnOf(field: string, { mapping, columns, form }: Reading): string | null {
  const [, id = '', row] = /^([^[]*)(?:\[(.*)\])?$/s.exec(field) ?? [];
  const input = importable(form).get(id);
  const isOfRow = input !== undefined && matrixRowsOf(input).length > 0 && row !== undefined;
  const index = mapping.findIndex(
    (use) => use.as === 'answer' && use.name === id && (!isOfRow || use.row === row),
  );
  return index < 0 ? null : columns[index]!.title;
}
