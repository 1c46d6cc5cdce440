import { Type } from 'typebox';
import { formatWholeNumber } from '#ast/basics/format-number.ts';
import { uuidPattern } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { createCursorError, type PageRequest } from '#kit/pagination.ts';
import { integers, type RowOf, type StatementColumn as SqlColumn, texts } from '#kit/statement.ts';
import { assignmentColumns, isSortableType } from '#rules/columns.ts';
import type { Column } from '#submissions/columns.ts';
import { readColumns } from '#submissions/read-columns.ts';

/**
 * The value that a column sorts by: a property of the submission, or the answer to an element; '' if there is
 * no second column.
 */
type SortKind =
  | 'created'
  | 'received'
  | 'completed'
  | 'updated'
  | 'status'
  | 'tags'
  | 'stage'
  | 'assignee'
  | 'reference'
  | 'answer'
  | '';

/** The maximum number of sort columns. The second one orders the ties of the first. */
const mostColumns = 2;

/**
 * The maximum number of submissions to sort: each is read, and its answer is extracted from its JSON. With
 * two columns, this takes some 3 s on one core (docs/decisions/0068).
 */
export const mostSorted = 200_000;

/** Properties other than answers, by the id of their column in the console. */
const facts = {
  $created: 'created',
  $received: 'received',
  $completed: 'completed',
  $updated: 'updated',
  $status: 'status',
  $tags: 'tags',
  [assignmentColumns.stage]: 'stage',
  [assignmentColumns.assignee]: 'assignee',
  $reference: 'reference',
} as const satisfies Readonly<Record<string, SortKind>>;
type FactId = keyof typeof facts;
const isFact = (id: string): id is FactId => Object.hasOwn(facts, id);

export const sortParameter = Type.Optional(
  Type.String({
    maxLength: 260,
    description: `Columns to sort by: at most ${mostColumns}, separated by commas. Prefix a column with \`-\` for descending order. Use the id of an element or one of ${Object.keys(
      facts,
    )
      .map((id) => `\`${id}\``)
      .join(
        ', ',
      )}. \`$received\` is the completion time, or the last save of an incomplete submission. Stages are sorted in their order, and assignees by name. The default is newest first, or relevance with \`q\`. Numbers come before text. Text is sorted without regard to case and accents, options by label, rows by number, and files by name. Submissions without an answer come last; ties are sorted newest first. At most ${formatWholeNumber(mostSorted)} submissions can be sorted: narrow them with \`created_from\` and \`created_to\`.`,
    examples: ['-$completed', 'age,-$created'],
  }),
);

/** The sort columns as parallel lists: the first column at index 0, the second at index 1. */
export const sortParameters = {
  sort_kinds: texts as SqlColumn<SortKind[]>,
  sort_elements: texts,
  /** JSON records of option labels by stored value. */
  sort_labels: texts,
  /** 1: ascending; -1: descending. */
  sort_signs: integers,
} as const;

/** The order of submissions, as parameters of the statements. */
export type Sort = RowOf<typeof sortParameters>;

/**
 * Reads the columns to sort by. Returns undefined for newest first, which needs no sorting.
 * @param isUsual whether newest first is the default order.
 * @throws ApiError bad_request for a column that the form never had, or that cannot be sorted.
 */
export async function readSort(
  database: Database,
  form: { workspaceId: string; formId: string },
  sent: string | undefined,
  { isUsual }: { isUsual: boolean },
): Promise<Sort | undefined> {
  if (sent === undefined || (isUsual && sent === '-$created')) return undefined;
  const parts = sent
    .split(',')
    .map((part) => ({ id: part.replace(/^-/, ''), sign: part.startsWith('-') ? -1 : 1 }));
  if (parts.length > mostColumns) throw refuse(`"sort" can have at most ${mostColumns} columns.`);
  if (new Set(parts.map(({ id }) => id)).size < parts.length)
    throw refuse('"sort" names a column twice. Remove one.');
  const columns = parts.every(({ id }) => isFact(id)) ? [] : await readColumns(database, form, undefined);
  const keys = parts.map(({ id, sign }) => ({ ...keyOf(id, columns), sign }));
  while (keys.length < mostColumns) keys.push({ kind: '', element: '', labels: {}, sign: 1 });
  return {
    sort_kinds: keys.map(({ kind }) => kind),
    sort_elements: keys.map(({ element }) => element),
    sort_labels: keys.map(({ labels }) => JSON.stringify(labels)),
    sort_signs: keys.map(({ sign }) => sign),
  };
}

type Key = { kind: SortKind; element: string; labels: Readonly<Record<string, string>> };

function keyOf(id: string, columns: readonly Column[]): Key {
  if (isFact(id)) return { kind: facts[id], element: '', labels: {} };
  const column = columns.find((each) => each.id === id);
  if (!column)
    throw refuse(
      `"sort" names "${id}", which is neither a top-level element of this form nor one of ${Object.keys(facts).join(', ')}.`,
    );
  if (!isSortableType(column.type))
    throw refuse(`"sort" cannot use "${id}": answers of the type ${column.type} have no order.`);
  return { kind: 'answer', element: id, labels: column.option_labels };
}

const refuse = (message: string): ApiError =>
  new ApiError('bad_request', message, { errors: [{ field: 'sort', message }] });

/** @throws ApiError bad_request for too many submissions to sort. */
export function limitSortedCount(count: number): void {
  if (count > mostSorted)
    throw refuse(
      `At most ${mostSorted} submissions can be sorted. Narrow them with created_from and created_to.`,
    );
}

/** The format of a position in a page cursor (readPageRequestByPosition): the sort keys of a row, and its id. */
export const sortPositionPattern = /^[\w-]{1,1500}$/;
export const encodeSortPosition = (place: string): string => Buffer.from(place).toString('base64url');

/**
 * Reads the position at which a list continues.
 * @throws ApiError bad_request for a cursor that this list did not return.
 */
export function decodeSortPosition({ after }: Pick<PageRequest, 'after'>): string | null {
  if (after === null) return null;
  const place = parsed(Buffer.from(after, 'base64url').toString());
  if (!isSortPosition(place))
    throw createCursorError('"cursor" is not valid for this list. Use a cursor that the list returned.');
  // Serialized again, because `1e0` is a number in JSON but not an integer in PostgreSQL.
  return JSON.stringify(place);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isSortPosition = (place: unknown): boolean =>
  Array.isArray(place) &&
  place.length === 7 &&
  isKey(place.slice(0, 3)) &&
  isKey(place.slice(3, 6)) &&
  typeof place[6] === 'string' &&
  uuidPattern.test(place[6]);

const isKey = ([rank, number, written]: readonly unknown[]): boolean =>
  [0, 1, 2].includes(rank as number) &&
  (number === null || Number.isFinite(number)) &&
  (written === null ||
    (typeof written === 'string' && written.isWellFormed() && !written.includes('\u0000')));
