import { sayNumber } from '#ast/say-number.ts';
import { findInput, questionsById } from '#ast/fields.ts';
import { countCharacters } from '#ast/text.ts';
import { type Form, kindOf, listQuestions, takesSeveralInRow } from '#ast/tree.ts';
import { isList } from '#ast/types/rules.ts';
import { addressKeyOf, checkDraft, type InvitationDraft, prefillableOf } from '../draft.ts';
import { importLimits } from './limits.ts';
import type { Column } from '#submissions/import/mapping.ts';
import {
  type ColumnUse,
  describeColumns,
  draftOf,
  findMappingProblem,
  hasHeading,
  suggestMapping,
} from './mapping.ts';
import { readAddresses } from './read-addresses.ts';
import { readCsv } from '#ast/csv.ts';

/** What a person gives to be imported: addresses as they were pasted, or the text of a CSV file. */
export type ImportSource =
  | { kind: 'addresses'; text: string }
  | { kind: 'csv'; text: string; mapping?: readonly ColumnUse[] | undefined };

/** Somebody who will be invited, the line that they are on, and by what their address is compared with others. */
type PlannedDraft = { line: number; draft: InvitationDraft; key: string };
type ReadDraft = Omit<PlannedDraft, 'key'>;

/** A line that is left out, and why. */
type LineProblem = { line: number; message: string };

/** What an import would do. `columns` and `mapping` are empty for pasted addresses. */
export type ImportPlan = {
  columns: Column[];
  mapping: readonly ColumnUse[];
  drafts: PlannedDraft[];
  problems: LineProblem[];
};

/**
 * Reads what is to be imported, line by line: who will be invited, and what is wrong with the other lines. An address
 * that was on an earlier line is a problem too.
 * @returns a text that says why nothing of it can be used, or the plan.
 */
export function planImport(source: ImportSource, form: Form): ImportPlan | string {
  if (countCharacters(source.text) > importLimits.characters)
    return `The text is longer than ${sayNumber(importLimits.characters)} characters. Import it in parts.`;
  if (source.text.trim() === '') return 'There is nothing in it yet.';
  const read = source.kind === 'csv' ? readFile(source, form) : readPasted(source.text);
  if (typeof read === 'string') return read;
  if (read.total > importLimits.people)
    return `It has ${sayNumber(read.total)} lines; at most ${sayNumber(importLimits.people)} people can be invited at once. Import it in parts.`;
  return { ...sort(read.people, form), columns: read.columns, mapping: read.mapping };
}

type Read = Pick<ImportPlan, 'columns' | 'mapping'> & { people: ReadDraft[]; total: number };

function readPasted(text: string): Read {
  const people = readAddresses(text).map(({ line, email, name }) => ({
    line,
    draft: { email, name, reference: {}, prefill: {} },
  }));
  return { people, total: people.length, columns: [], mapping: [] };
}

function readFile(
  { text, mapping: chosen }: Extract<ImportSource, { kind: 'csv' }>,
  form: Form,
): Read | string {
  const csv = readCsv(text, importLimits.people + 1);
  if (!csv.ok) return csv.problem;
  const { records } = csv;
  const isPrefillable = prefillableOf(form);
  const columns = describeColumns(records);
  const mapping = chosen ?? suggestMapping(records, form, isPrefillable);
  if (mapping.length !== columns.length)
    return `The file has ${columns.length} columns, and the mapping has ${mapping.length}.`;
  const problem = findMappingProblem(mapping, isPrefillable);
  // A person who has chosen nothing yet sees the columns first.
  if (problem !== undefined) return chosen ? problem : { columns, mapping, people: [], total: 0 };
  const takesSeveral = choicesOf(form);
  const named = hasHeading(records);
  const people = (named ? records.slice(1) : records).map((record) => ({
    line: record.line,
    draft: draftOf(record, mapping, takesSeveral),
  }));
  return { columns, mapping, people, total: named ? csv.total - 1 : csv.total };
}

function choicesOf(form: Form): (name: string) => boolean {
  const questions = questionsById(listQuestions(form));
  return (name) => {
    const found = findInput(questions, name);
    return found !== undefined && (isList(kindOf(found.input)) || takesSeveralInRow(found.input));
  };
}

function sort(people: readonly ReadDraft[], form: Form): Pick<ImportPlan, 'drafts' | 'problems'> {
  const isPrefillable = prefillableOf(form);
  const firstLines = new Map<string, number>();
  const drafts: PlannedDraft[] = [];
  const problems: LineProblem[] = [];
  for (const { line, draft } of people) {
    const wrong = checkDraft(draft, isPrefillable).map(({ message }) => message);
    const key = addressKeyOf(draft.email);
    const first = firstLines.get(key);
    if (draft.email === '') problems.push({ line, message: 'There is no email address.' });
    else if (wrong.length > 0) problems.push({ line, message: wrong.join(' ') });
    else if (first !== undefined)
      problems.push({ line, message: `${draft.email} is on line ${sayNumber(first)} already.` });
    else {
      firstLines.set(key, line);
      drafts.push({ line, draft, key });
    }
  }
  return { drafts, problems };
}
