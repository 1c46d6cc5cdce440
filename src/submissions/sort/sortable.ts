import { Type } from 'typebox';
import { sayNumber } from '#ast/basics/say-number.ts';

/**
 * The value that a column sorts by: a property of the submission, or the answer to an element; '' if there is
 * no second column.
 */
export type SortKind =
  | 'created'
  | 'received'
  | 'completed'
  | 'updated'
  | 'status'
  | 'tags'
  | 'reference'
  | 'answer'
  | '';

/** The maximum number of sort columns; the second one orders ties of the first. */
export const mostColumns = 2;

/**
 * The maximum number of submissions to sort: each is read, and its answer is extracted from its JSON. With
 * two columns, this takes some 3 s of one core (docs/decisions/0068).
 */
export const mostSorted = 200_000;

/** Properties other than answers, by the id of their column in the console. */
export const facts = {
  $created: 'created',
  $received: 'received',
  $completed: 'completed',
  $updated: 'updated',
  $status: 'status',
  $tags: 'tags',
  $reference: 'reference',
} as const satisfies Readonly<Record<string, SortKind>>;
type FactId = keyof typeof facts;
export const isFact = (id: string): id is FactId => Object.hasOwn(facts, id);

export const sortParameter = Type.Optional(
  Type.String({
    maxLength: 260,
    description: `Columns to sort by: at most ${mostColumns}, separated by commas, with \`-\` before a descending one. Use the id of an element or one of ${Object.keys(
      facts,
    )
      .map((id) => `\`${id}\``)
      .join(
        ', ',
      )}. \`$received\` is the completion time, or the last save of an incomplete submission. The default is newest first, or relevance with \`q\`. Numbers come before texts. Texts ignore case and accents; options are sorted by label, rows by number, and files by name. Submissions without an answer come last; ties are newest first. At most ${sayNumber(mostSorted)} submissions can be sorted: narrow them with \`created_from\` and \`created_to\`.`,
    examples: ['-$completed', 'age,-$created'],
  }),
);
