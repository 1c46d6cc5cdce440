import { checkAnswers } from '#ast/answers/check-answers.ts';
import { formatWholeNumber } from '#ast/basics/format-number.ts';
import { getProperty, isRecord } from '#ast/basics/json.ts';
import { isCleanText } from '#ast/basics/text.ts';
import { createWorkBudget, TooMuchWork } from '#ast/basics/work.ts';
import { type Form, isRequired, matrixRowsOf } from '#ast/form/tree.ts';
import type { EvaluationContext } from '#ast/logic/evaluate.ts';
import type { Assignment } from '../changes/assign.ts';
import type { ColumnFormat, ColumnUse, ImportColumn } from './mapping.ts';
import {
  type ChoiceCell,
  type ImportCellResult,
  isBlankCell,
  joinChoices,
  readChoiceCell,
  readImportCell,
  readImportCellOfRow,
} from './read-cell.ts';
import { readInstant, zoneOfHeading } from './read-moment.ts';
import {
  createLabelFinder,
  type ImportCell,
  type ImportTableLine,
  importableQuestions,
  type NamedItem,
} from './table.ts';
import type { FormRegion } from './time-zones.ts';

/**
 * The submission on a line: raw answers, reference data, the times of submission and start in ms, and the
 * stage and the assignee.
 */
export type ImportedSubmission = {
  answers: Record<string, unknown>;
  reference: Record<string, string>;
  at?: number | undefined;
  begun?: number | undefined;
  assignment?: Assignment;
};

/** A problem with a line or a column. `is_left_out`: whether the whole line is skipped, or only the cell. */
export type LineProblem = { line: number; column: string | null; message: string; is_left_out: boolean };

/** A value that could have another meaning. */
export type LineDoubt = { line: number; column: string | null; message: string };

/** The form, the context of its rules, and the stages and members of its workspace, as a thread receives them. */
export type ImportForm = FormRegion &
  Record<'stages' | 'members', readonly NamedItem[]> & { form: Form; today: string; asksSingly: boolean };

/** The settings for reading the lines of a file. */
export type LineSettings = ImportForm & {
  columns: readonly ImportColumn[];
  mapping: readonly ColumnUse[];
  formats: readonly ColumnFormat[];
  /** Whether the file is one of our own exports. */
  isOwn: boolean;
};

/** Returns the submission on a line, with its problems and doubtful values. */
export function readLine(
  line: ImportTableLine,
  reading: LineSettings,
): { entry: ImportedSubmission; problems: LineProblem[]; doubts: LineDoubt[] } {
  const { columns, mapping } = reading;
  const entry: ImportedSubmission = { answers: {}, reference: {} };
  const choices = new Map<string, ChoiceCell[]>();
  const problems: LineProblem[] = [];
  const doubts: LineDoubt[] = [];
  const add = (column: string | null, message: string, is_left_out: boolean): void =>
    void problems.push({ line: line.line, column, message, is_left_out });
  const status = reading.isOwn ? line.cells[1] : undefined;
  if (status === 'incomplete' || status === 'waiting')
    add(columns[1]!.title, `This submission is ${status}. Only completed submissions can be imported.`, true);
  for (const [index, use] of mapping.entries()) {
    const cell = line.cells[index] ?? '';
    if (isBlankCell(cell)) continue;
    const { title } = columns[index]!;
    const read = wasCut(cell)
      ? { problem: 'The workbook contains only the beginning of this text. Import it as CSV.' }
      : readUse(use, index, cell, { entry, choices, reading });
    if ('problem' in read) add(title, read.problem, true);
    else if (read.doubt !== undefined) doubts.push({ line: line.line, column: title, message: read.doubt });
  }
  for (const [name, chosen] of choices) {
    const read = joinChoices(chosen);
    if ('problem' in read) add(columnOf(name, reading), read.problem, true);
    else entry.answers[name] = read.value;
  }
  dropRefusedConsents(entry, reading.form);
  if (entry.begun !== undefined && entry.at !== undefined && entry.begun > entry.at)
    add(null, 'The start time must be before the submission time.', true);
  const faulty = new Set(problems.map(({ column }) => column));
  for (const { field, message } of refusalsOf(entry, reading)) {
    const column = columnOf(field, reading);
    if (column === null || !faulty.has(column)) add(column, message, true);
  }
  if (problems.length === 0)
    for (const name of unasked(entry, reading))
      add(
        columnOf(name, reading),
        'Given the other answers, the form would not ask this question, so this cell is skipped.',
        false,
      );
  return { entry, problems, doubts };
}

/** Finds the notice that a workbook export adds to a text that is too long for a cell. */
const wasCut = (cell: ImportCell): boolean =>
  typeof cell === 'string' &&
  cell.length > 32_000 &&
  /… \[(?:Cut: of|Truncated: the text has) \d+ characters/.test(cell.slice(-200));

type LineParts = { entry: ImportedSubmission; choices: Map<string, ChoiceCell[]>; reading: LineSettings };

/** Adds the value of a cell to the entry, depending on the use of its column. */
function readUse(use: ColumnUse, index: number, cell: ImportCell, parts: LineParts): ImportCellResult {
  const { entry, reading } = parts;
  const context = { format: reading.formats[index]!, home: reading, isOwn: reading.isOwn };
  if (use.as === 'ignore') return { value: undefined };
  if (use.as === 'answer') return readAnswer(use, cell, context, parts);
  if (use.as === 'reference') return addReference(entry, { [use.name]: String(cell) });
  if (use.as === 'reference_data') return addReference(entry, parseReference(String(cell)));
  if (use.as === 'stage' || use.as === 'assignee') {
    const id = createLabelFinder(use.as === 'stage' ? reading.stages : reading.members)(String(cell));
    if (id !== undefined) entry.assignment = { ...entry.assignment, [`${use.as}_id`]: id };
    return id === undefined ? { problem: unknownNames[use.as] } : { value: id };
  }
  const heading = zoneOfHeading(reading.columns[index]!.title);
  const moment = readInstant(cell, { order: context.format.dates, home: reading, heading });
  if ('problem' in moment) return moment;
  if (moment.at < 0 || moment.at > latestFrom(reading))
    return { problem: 'The time must be between 1970 and tomorrow.' };
  entry[use.as === 'started_at' ? 'begun' : 'at'] = moment.at;
  return { value: moment.at };
}

const unknownNames = {
  stage: 'The workspace has no stage with this name.',
  assignee: 'No single member has this name. Use the email address of a member.',
} as const;

function readAnswer(
  { name, row, option }: Extract<ColumnUse, { as: 'answer' }>,
  cell: ImportCell,
  context: Parameters<typeof readImportCell>[2],
  { entry, choices, reading }: LineParts,
): ImportCellResult {
  const question = importableQuestions(reading.form).get(name)!;
  if (option !== undefined) {
    const read = readChoiceCell(question, option, cell);
    if ('value' in read && read.value) choices.set(name, [...(choices.get(name) ?? []), read.value]);
    return read;
  }
  const read =
    row === undefined
      ? readImportCell(question, cell, context)
      : readImportCellOfRow(question, row, cell, context);
  if ('problem' in read || read.value === undefined) return read;
  const before = getProperty(entry.answers, name) as object | undefined;
  entry.answers[name] = row === undefined ? read.value : { ...before, [row]: read.value };
  return read;
}

/** The maximum length and number of reference values of a submission. */
const longestReference = 8_192;
const mostReferences = 200;

/** Parses reference data as our exports write it: a JSON object whose values are strings. */
function parseReference(text: string): Record<string, string> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isFit = isRecord(value) && Object.values(value).every((each) => typeof each === 'string');
    return isFit ? (value as Record<string, string>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function addReference(
  entry: ImportedSubmission,
  values: Record<string, string> | undefined,
): ImportCellResult {
  if (!values)
    return {
      problem:
        'Reference data must be a JSON object whose values are strings, such as {"campaign": "spring"}.',
    };
  const together = { ...entry.reference, ...values };
  if (Object.keys(together).length > mostReferences)
    return { problem: `A submission can have at most ${mostReferences} reference values.` };
  for (const [name, value] of Object.entries(values)) {
    if (value.length > longestReference)
      return {
        problem: `A reference value can have at most ${formatWholeNumber(longestReference)} characters.`,
      };
    if (!isCleanText(name) || !isCleanText(value))
      return { problem: 'Remove the characters that cannot be stored (NUL, unpaired surrogates).' };
  }
  entry.reference = together;
  return { value: values };
}

/** Returns the end of tomorrow, in ms: in another time zone, it may already have been tomorrow. */
const latestFrom = ({ today }: ImportForm): number => Date.parse(today) + 2 * 24 * 60 * 60 * 1_000;

/** Drops consents that were not given: they count as no answer, even if each part has a column. */
function dropRefusedConsents(entry: ImportedSubmission, form: Form): void {
  for (const [name, answer] of Object.entries(entry.answers)) {
    const isRefused = isRecord(answer) && answer['agreed'] === false;
    if (isRefused && importableQuestions(form).get(name)?.input?.type === 'consent')
      delete entry.answers[name];
  }
}

const contextOf = (
  { today, asksSingly }: ImportForm,
  { reference }: ImportedSubmission,
): EvaluationContext => ({ reference, today, asksSingly, work: createWorkBudget() });

function refusalsOf(
  entry: ImportedSubmission,
  about: ImportForm,
): readonly { field: string; message: string }[] {
  try {
    const checked = checkAnswers(about.form, entry.answers, new Map(), contextOf(about, entry));
    return checked.ok ? [] : checked.errors;
  } catch (error) {
    if (error instanceof TooMuchWork) return [{ field: '', message: error.message }];
    throw error;
  }
}

/** Returns the answered questions that the page would not have asked, including questions in rows. */
function unasked(entry: ImportedSubmission, about: ImportForm): string[] {
  const checked = checkAnswers(about.form, entry.answers, new Map(), contextOf(about, entry));
  if (!checked.ok) return [];
  const questions = importableQuestions(about.form);
  return Object.entries(entry.answers).flatMap(([name, given]) => {
    const { input, inputs = [] } = questions.get(name) ?? {};
    const kept = getProperty(checked.answers, name);
    const count = (rows: unknown, id: string): number =>
      Array.isArray(rows)
        ? rows.filter((row) => isRecord(row) && (getProperty(row, id) ?? false) !== false).length
        : 0;
    // A no to an optional consent counts as no answer, so dropping it loses nothing.
    const isNothing = given === false && input !== undefined && !isRequired(input);
    const isLost = input
      ? kept === undefined && !isNothing
      : inputs.some(({ id }) => count(given, id) > count(kept, id));
    return isLost ? [name] : [];
  });
}

/** Returns the title of the first column for a field (`name`, or `name[row]`); null if there is none. */
function columnOf(field: string, { mapping, columns, form }: LineSettings): string | null {
  const [, id = '', row] = /^([^[]*)(?:\[(.*)\])?$/s.exec(field) ?? [];
  const input = importableQuestions(form).get(id)?.input;
  const isOfRow = input !== undefined && matrixRowsOf(input).length > 0 && row !== undefined;
  const index = mapping.findIndex(
    (use) => use.as === 'answer' && use.name === id && (!isOfRow || use.row === row),
  );
  return index < 0 ? null : columns[index]!.title;
}
