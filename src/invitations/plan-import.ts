import { type CsvRecord, readCsv } from '#ast/basics/csv.ts';
import { formatWholeNumber } from '#ast/basics/format-number.ts';
import { countCharacters } from '#ast/basics/text.ts';
import { findInput, indexQuestionsById } from '#ast/form/fields.ts';
import { answerKindOf, type Form, listQuestions, type Question, takesSeveralInRow } from '#ast/form/tree.ts';
import { isListKind } from '#ast/types/rules.ts';
import { readMailAddress } from '#kit/outbox/address.ts';
import {
  columnUseKey,
  findColumnUseProblem,
  type ImportColumn,
  isInvalidReferenceName,
} from '#submissions/import/mapping.ts';
import {
  checkInvitationDraft,
  createPrefillableCheck,
  emailKeyOf,
  type InvitationDraft,
  type IsPrefillable,
  invitationImportLimits,
} from './draft.ts';

/** The use of a column of a file; `name` is the name of a reference value or the id of a question. */
type ColumnUse = { as: 'email' | 'name' | 'ignore' } | { as: 'reference' | 'prefill'; name: string };

/** One use for each column, in column order. */
type Mapping = readonly ColumnUse[];

/** Returns whether the first record is a header: it contains no email address. */
const hasHeader = ([first]: readonly CsvRecord[]): boolean =>
  first !== undefined && !first.cells.some((cell) => readMailAddress(cell.trim()));

function describeColumns(records: readonly CsvRecord[]): ImportColumn[] {
  const isHeaded = hasHeader(records);
  const width = Math.max(0, ...records.map(({ cells }) => cells.length));
  const people = isHeaded ? records.slice(1) : records;
  return Array.from({ length: width }, (_, index) => ({
    title: (isHeaded && records[0]!.cells[index]?.trim().slice(0, 200)) || `Column ${index + 1}`,
    samples: people.slice(0, 3).map(({ cells }) => (cells[index] ?? '').trim().slice(0, 200)),
  }));
}

/** Suggests the use of each column by its header and content. If two fit one use, the first gets it. */
function suggestMapping(
  records: readonly CsvRecord[],
  form: Form,
  isPrefillable: IsPrefillable,
): ColumnUse[] {
  const columns = describeColumns(records);
  const addresses = columns.findIndex(({ samples }) => samples.some((text) => readMailAddress(text)));
  const email = columns.findIndex(({ title }) => /^e[- ]?mail\b|^mail$|^email.?address$/i.test(title));
  const chosen = email >= 0 ? email : addresses;
  const questions = listQuestions(form);
  const isHeaded = hasHeader(records);
  const usedKeys = new Set<string>();
  return columns.map(({ title }, index): ColumnUse => {
    if (index === chosen) return { as: 'email' };
    if (!isHeaded) return { as: 'ignore' };
    const question = questions.find((each) => isNamed(each, title));
    const uses: ColumnUse[] = [{ as: 'reference', name: title.slice(0, 64) }];
    if (/^(full[ _]?)?name$/i.test(title)) uses.unshift({ as: 'name' });
    if (question && isPrefillable(question.element.attrs.id))
      uses.unshift({ as: 'prefill', name: question.element.attrs.id });
    const use = uses.find((each) => !usedKeys.has(columnUseKey(each)) && !isInvalidReferenceName(each));
    if (!use) return { as: 'ignore' };
    usedKeys.add(columnUseKey(use));
    return use;
  });
}

const isNamed = ({ element }: Question, title: string): boolean =>
  [element.attrs.id, element.attrs.label].some((text) => text.toLowerCase() === title.toLowerCase());

/**
 * Reads a record with the mapping. Blank cells are ignored; semicolons separate several choices of one
 * question.
 */
function draftOf(record: CsvRecord, mapping: Mapping, takesSeveral: IsPrefillable): InvitationDraft {
  const draft: InvitationDraft = { email: '', name: '', reference: {}, prefill: {} };
  for (const [index, use] of mapping.entries()) {
    const cell = (record.cells[index] ?? '').trim();
    if (cell === '') continue;
    if (use.as === 'email') {
      const parsed = readMailAddress(cell);
      draft.email = parsed?.address ?? cell;
      draft.name ||= parsed?.name ?? '';
    } else if (use.as === 'name') draft.name = cell;
    else if (use.as === 'reference') draft.reference[use.name] = cell;
    else if (use.as === 'prefill') draft.prefill[use.name] = takesSeveral(use.name) ? split(cell) : cell;
  }
  return draft;
}

const split = (cell: string): string[] =>
  cell
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** Returns the problem with a mapping as a whole, or undefined if it can be used. */
function findMappingProblem(mapping: Mapping, isPrefillable: IsPrefillable): string | undefined {
  if (!mapping.some(({ as }) => as === 'email')) return 'Choose the column with the email addresses.';
  const problem = findColumnUseProblem(mapping);
  if (problem !== undefined) return problem;
  const unknown = mapping.find((use) => use.as === 'prefill' && !isPrefillable(use.name));
  return unknown && 'name' in unknown
    ? `The form has no question "${unknown.name}" that can be prefilled.`
    : undefined;
}

/** A pasted address, with its line number, counted from 1. */
type PastedAddress = { line: number; email: string; name: string };

/**
 * Splits pasted addresses: one per line, or several separated by commas or semicolons, with or without names
 * (`Ada Lovelace <ada@example.org>`). Text that is not an address is returned as `email`, so that it is
 * reported.
 */
function readAddresses(text: string): PastedAddress[] {
  return text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\r|\n/)
    .flatMap((line, index) =>
      splitOutsideQuotes(line)
        .map((piece) => piece.trim())
        .filter((piece) => piece !== '')
        .map((piece) => {
          const parsed = readMailAddress(piece);
          return { line: index + 1, email: parsed?.address ?? piece, name: parsed?.name ?? '' };
        }),
    );
}

/** Splits at commas and semicolons, but not in quotes, as in `"Lovelace, Ada" <ada@example.org>`. */
function splitOutsideQuotes(line: string): string[] {
  const pieces: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < line.length; at += 1)
    if (line[at] === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (line[at] === ',' || line[at] === ';')) {
      pieces.push(line.slice(start, at));
      start = at + 1;
    }
  return [...pieces, line.slice(start)];
}

/** The source of an import: pasted addresses, or the text of a CSV file. */
export type InvitationImportSource =
  | { kind: 'addresses'; text: string }
  | { kind: 'csv'; text: string; mapping?: readonly ColumnUse[] | undefined };

/** A person to invite, their line, and the key by which addresses are compared. */
type PlannedDraft = { line: number; draft: InvitationDraft; key: string };
type ReadDraft = Omit<PlannedDraft, 'key'>;

/** An omitted line and the reason. */
type LineProblem = { line: number; message: string };

/** The plan of an import. `columns` and `mapping` are empty for pasted addresses. */
export type InvitationImportPlan = {
  columns: ImportColumn[];
  mapping: readonly ColumnUse[];
  drafts: PlannedDraft[];
  problems: LineProblem[];
};

/**
 * Plans an import line by line: people to invite, and problems with the other lines. An address that is on an
 * earlier line is a problem too.
 * @returns the plan, or the reason why the whole source cannot be used.
 */
export function planInvitationImport(
  source: InvitationImportSource,
  form: Form,
): InvitationImportPlan | string {
  if (countCharacters(source.text) > invitationImportLimits.characters)
    return `The text is longer than ${formatWholeNumber(invitationImportLimits.characters)} characters. Import it in parts.`;
  if (source.text.trim() === '') return 'There are no addresses yet. Paste some or choose a file.';
  const result = source.kind === 'csv' ? readFile(source, form) : readPasted(source.text);
  if (typeof result === 'string') return result;
  if (result.total > invitationImportLimits.people)
    return `The source has ${formatWholeNumber(result.total)} lines; the limit is ${formatWholeNumber(invitationImportLimits.people)} people. Import it in parts.`;
  return { ...sort(result.people, form), columns: result.columns, mapping: result.mapping };
}

type ReadPeople = Pick<InvitationImportPlan, 'columns' | 'mapping'> & { people: ReadDraft[]; total: number };

function readPasted(text: string): ReadPeople {
  const people = readAddresses(text).map(({ line, email, name }) => ({
    line,
    draft: { email, name, reference: {}, prefill: {} },
  }));
  return { people, total: people.length, columns: [], mapping: [] };
}

function readFile(
  { text, mapping: chosen }: Extract<InvitationImportSource, { kind: 'csv' }>,
  form: Form,
): ReadPeople | string {
  const csv = readCsv(text, invitationImportLimits.people + 1);
  if (!csv.ok) return csv.problem;
  const { records } = csv;
  const isPrefillable = createPrefillableCheck(form);
  const columns = describeColumns(records);
  const mapping = chosen ?? suggestMapping(records, form, isPrefillable);
  if (mapping.length !== columns.length)
    return `The file has ${columns.length} columns, but the mapping has ${mapping.length}.`;
  const problem = findMappingProblem(mapping, isPrefillable);
  // If no mapping was chosen, the person sees the columns first.
  if (problem !== undefined) return chosen ? problem : { columns, mapping, people: [], total: 0 };
  const takesSeveral = choicesOf(form);
  const isHeaded = hasHeader(records);
  const people = (isHeaded ? records.slice(1) : records).map((record) => ({
    line: record.line,
    draft: draftOf(record, mapping, takesSeveral),
  }));
  return { columns, mapping, people, total: isHeaded ? csv.total - 1 : csv.total };
}

function choicesOf(form: Form): (name: string) => boolean {
  const questions = indexQuestionsById(listQuestions(form));
  return (name) => {
    const found = findInput(questions, name);
    return found !== undefined && (isListKind(answerKindOf(found.input)) || takesSeveralInRow(found.input));
  };
}

function sort(people: readonly ReadDraft[], form: Form): Pick<InvitationImportPlan, 'drafts' | 'problems'> {
  const isPrefillable = createPrefillableCheck(form);
  const firstLines = new Map<string, number>();
  const drafts: PlannedDraft[] = [];
  const problems: LineProblem[] = [];
  for (const { line, draft } of people) {
    const wrong = checkInvitationDraft(draft, isPrefillable).map(({ message }) => message);
    const key = emailKeyOf(draft.email);
    const first = firstLines.get(key);
    if (draft.email === '') problems.push({ line, message: 'The email address is missing.' });
    else if (wrong.length > 0) problems.push({ line, message: wrong.join(' ') });
    else if (first !== undefined)
      problems.push({ line, message: `${draft.email} is already on line ${formatWholeNumber(first)}.` });
    else {
      firstLines.set(key, line);
      drafts.push({ line, draft, key });
    }
  }
  return { drafts, problems };
}
