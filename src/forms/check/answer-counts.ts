import { type Form, isComposite, isInput, isRepeatable, listQuestions, walkElements } from '#ast/tree.ts';
import type { Queryable } from '#kit/statement.ts';
import { countAnswers } from './queries.ts';

/** Submissions that are looked at: 10,000 with 20 answers each took 0.2 s. */
export const scanLimit = 10_000;

/**
 * How many stored submissions answer each element of a form, and each option and row of the elements named: exact up to
 * `scanLimit` submissions, and over the newest of them in a larger form. Rows of a group count once.
 */
export async function countStoredAnswers(
  db: Queryable,
  { workspaceId, formId, form }: { workspaceId: string; formId: string; form: Form },
  choices: readonly string[] = [],
) {
  const groups = listQuestions(form).flatMap(({ kind, element }) =>
    kind === 'group' ? [element.attrs.id] : [],
  );
  const elements = [...walkElements(form)].flatMap(({ element }) =>
    isInput(element) || (isComposite(element) && isRepeatable(element)) ? [element.attrs.id] : [],
  );
  const rows = await countAnswers(db, {
    workspace_id: workspaceId,
    form_id: formId,
    elements,
    groups,
    choices: [...choices],
    limit: scanLimit,
  });
  const counted = new Map(
    rows.map(({ element, option, matrix_row: row, count }) => [keyOf(element, { option, row }), count]),
  );
  return {
    /** How many were looked at. */
    scanned: counted.get(keyOf(null, {})) ?? 0,
    /** Of each element that anybody answered. */
    counts: Object.fromEntries(
      rows.flatMap(({ element, option, matrix_row: row, count }) =>
        element !== null && option === null && row === null ? [[element, count]] : [],
      ),
    ),
    of: (element: string, part: Part = {}): number => counted.get(keyOf(element, part)) ?? 0,
  };
}

/** An option of an element, or a row of a matrix; of neither, the element. */
type Part = { readonly option?: string | null | undefined; readonly row?: string | null | undefined };

const keyOf = (element: string | null, { option, row }: Part): string =>
  JSON.stringify([element, option ?? null, row ?? null]);
