import { type Form, isComposite, isInput, isRepeatable, listQuestions, walkElements } from '#ast/tree.ts';
import type { Queryable } from '#kit/statement.ts';
import { countAnswers } from './queries.ts';

/** Submissions that are looked at: 10,000 with 20 answers each took 0.2 s. */
export const scanLimit = 10_000;

/**
 * How many stored submissions answer each element of a form, and each option of the elements named: exact up to
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
  const counted = new Map(rows.map(({ element, option, count }) => [keyOf(element, option), count]));
  return {
    /** How many were looked at. */
    scanned: counted.get(keyOf(null, null)) ?? 0,
    /** Of each element that anybody answered. */
    counts: Object.fromEntries(
      rows.flatMap(({ element, option, count }) =>
        element !== null && option === null ? [[element, count]] : [],
      ),
    ),
    of: (element: string, option: string | null = null): number => counted.get(keyOf(element, option)) ?? 0,
  };
}

const keyOf = (element: string | null, option: string | null): string => JSON.stringify([element, option]);
