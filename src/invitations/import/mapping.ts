import { type Form, type Question, listQuestions } from '#ast/tree.ts';
import { readMailAddress } from '#kit/outbox/address.ts';
import type { InvitationDraft, Prefillable } from '../draft.ts';
import type { CsvRecord } from '#ast/csv.ts';
import { type Column, findUseProblem, isBadReference, targetOf } from '#submissions/import/mapping.ts';

/** What a column of a file becomes; `name` is that of the reference value, or the id of the question. */
export type ColumnUse = { as: 'email' | 'name' | 'ignore' } | { as: 'reference' | 'prefill'; name: string };

/** One use for each column, in their order. */
type Mapping = readonly ColumnUse[];

/** Whether the first record names the columns: a list of people has an address in it, a heading has none. */
export const hasHeading = ([first]: readonly CsvRecord[]): boolean =>
  first !== undefined && !first.cells.some((cell) => readMailAddress(cell.trim()));

export function describeColumns(records: readonly CsvRecord[]): Column[] {
  const named = hasHeading(records);
  const width = Math.max(0, ...records.map(({ cells }) => cells.length));
  const people = named ? records.slice(1) : records;
  return Array.from({ length: width }, (_, index) => ({
    title: (named && records[0]!.cells[index]?.trim().slice(0, 200)) || `Column ${index + 1}`,
    samples: people.slice(0, 3).map(({ cells }) => (cells[index] ?? '').trim().slice(0, 200)),
  }));
}

/** What the columns probably are: by their headings, and by what is in them. Of two for the same the first counts. */
export function suggestMapping(
  records: readonly CsvRecord[],
  form: Form,
  isPrefillable: Prefillable,
): ColumnUse[] {
  const columns = describeColumns(records);
  const addresses = columns.findIndex(({ samples }) => samples.some((text) => readMailAddress(text)));
  const email = columns.findIndex(({ title }) => /^e[- ]?mail\b|^mail$|^email.?address$/i.test(title));
  const chosen = email >= 0 ? email : addresses;
  const questions = listQuestions(form);
  const named = hasHeading(records);
  const taken = new Set<string>();
  return columns.map(({ title }, index): ColumnUse => {
    if (index === chosen) return { as: 'email' };
    if (!named) return { as: 'ignore' };
    const question = questions.find((each) => isNamed(each, title));
    const uses: ColumnUse[] = [{ as: 'reference', name: title.slice(0, 64) }];
    if (/^(full[ _]?)?name$/i.test(title)) uses.unshift({ as: 'name' });
    if (question && isPrefillable(question.element.attrs.id))
      uses.unshift({ as: 'prefill', name: question.element.attrs.id });
    const use = uses.find((each) => !taken.has(targetOf(each)) && !isBadReference(each));
    if (!use) return { as: 'ignore' };
    taken.add(targetOf(use));
    return use;
  });
}

const isNamed = ({ element }: Question, title: string): boolean =>
  [element.attrs.id, element.attrs.label].some((text) => text.toLowerCase() === title.toLowerCase());

/** Reads a record as the mapping says. Blank cells say nothing; several choices of one question stand between semicolons. */
export function draftOf(record: CsvRecord, mapping: Mapping, takesSeveral: Prefillable): InvitationDraft {
  const draft: InvitationDraft = { email: '', name: '', reference: {}, prefill: {} };
  for (const [index, use] of mapping.entries()) {
    const cell = (record.cells[index] ?? '').trim();
    if (cell === '') continue;
    if (use.as === 'email') {
      const read = readMailAddress(cell);
      draft.email = read?.address ?? cell;
      draft.name ||= read?.name ?? '';
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

/** What is wrong with a mapping as a whole; undefined when it can be used. */
export function findMappingProblem(mapping: Mapping, isPrefillable: Prefillable): string | undefined {
  if (!mapping.some(({ as }) => as === 'email')) return 'Choose the column that holds the email addresses.';
  const problem = findUseProblem(mapping);
  if (problem !== undefined) return problem;
  const unknown = mapping.find((use) => use.as === 'prefill' && !isPrefillable(use.name));
  return unknown && 'name' in unknown
    ? `The form has no question "${unknown.name}" that can be filled in.`
    : undefined;
}
