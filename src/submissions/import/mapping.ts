import { factOf } from '#ast/fact-of.ts';
import {
  type Form,
  type InputElement,
  isCalculation,
  kindOf,
  listQuestions,
  matrixRowsOf,
} from '#ast/tree.ts';
import type { Table, TableLine } from './table.ts';

/**
 * What a column of a file becomes: an answer (`name` is the id of the question, `row` of a matrix that of its row), a
 * reference value, the moment of the submission, or nothing.
 */
export type ColumnUse =
  | { as: 'answer'; name: string; row?: string }
  | { as: 'reference'; name: string }
  | { as: 'submitted_at' | 'ignore' };

/** A column as a person sees it before choosing: its heading, or its number, and its first values. */
export type Column = { title: string; samples: string[] };

/** The questions whose answers a cell can hold, by id: not files, nor what is asked in rows or worked out. */
export const importable = factOf(
  (form: Form): ReadonlyMap<string, InputElement> =>
    new Map(
      listQuestions(form).flatMap((question) => {
        if (question.kind === 'group' || isCalculation(question.element)) return [];
        const { element } = question;
        return kindOf(element) === 'files' ? [] : [[element.attrs.id, element] as const];
      }),
    ),
);

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

/** Headings of the moment at which something was sent, here and at other services. */
const moments =
  /^(completed at|submitted at|submit date.*|timestamp|zeitstempel|submission time|end date|created at)$/i;

/** What the columns probably are, by their headings: ids and labels, as exports have them. Of two for the same the first counts. */
export function suggestMapping(columns: readonly Column[], form: Form): ColumnUse[] {
  const targets = new Map<string, ColumnUse>();
  for (const [id, input] of importable(form)) {
    const { label } = input.attrs;
    const rows = matrixRowsOf(input);
    for (const name of [id, label, `${label} (${id})`]) {
      if (rows.length === 0) offer(targets, name, { as: 'answer', name: id });
      for (const row of rows) {
        offer(targets, `${name} [${row.label}]`, { as: 'answer', name: id, row: row.id });
        offer(targets, `${name}.${row.id}`, { as: 'answer', name: id, row: row.id });
      }
    }
  }
  const taken = new Set<string>();
  const isCompletedTold = columns.some(({ title }) => /^completed at$/i.test(title));
  return columns.map(({ title }): ColumnUse => {
    const isMoment = moments.test(title) && !(isCompletedTold && /^created at$/i.test(title));
    const use = targets.get(plain(title)) ?? (isMoment ? ({ as: 'submitted_at' } as const) : undefined);
    if (!use || taken.has(targetOf(use))) return { as: 'ignore' };
    taken.add(targetOf(use));
    return use;
  });
}

const offer = (targets: Map<string, ColumnUse>, name: string, use: ColumnUse): void => {
  if (!targets.has(plain(name))) targets.set(plain(name), use);
};

/** As people compare words. */
export const plain = (text: string): string => text.trim().replace(/\s+/g, ' ').toLowerCase();

/** What is wrong with what columns become of an import, whatever they may become: two are the same, or a reference value has no name. */
export function findUseProblem(mapping: readonly { as: string; name?: string }[]): string | undefined {
  const targets = mapping.filter(({ as }) => as !== 'ignore').map(targetOf);
  if (new Set(targets).size < targets.length) return 'Two columns are used for the same.';
  return mapping.some(isBadReference)
    ? 'A reference value has a name of 1 to 64 characters that does not begin with an underscore.'
    : undefined;
}

/** What no two columns may become. */
export const targetOf = (use: object): string => JSON.stringify(use);

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
  const questions = importable(form);
  for (const use of mapping) {
    if (use.as !== 'answer') continue;
    const input = questions.get(use.name);
    if (!input) return `The form has no question "${use.name}" that a column can answer.`;
    const rows = matrixRowsOf(input).map(({ id }) => id);
    const isFit = rows.length === 0 ? use.row === undefined : rows.includes(use.row ?? '');
    if (!isFit)
      return `"${use.name}" is answered by ${rows.length === 0 ? 'one column' : 'a column for each of its rows'}.`;
  }
  if (!mapping.some(({ as }) => as === 'answer')) return 'Choose a question for at least one column.';
  return undefined;
}
