import { Type } from 'typebox';
import { sayNumber } from '#ast/basics/say-number.ts';

/** What a column is sorted by: a fact of the submission, or the answer to an element; '' where there is no second column. */
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

/** So many columns order submissions: the first, and of equals the second. */
export const mostColumns = 2;

/**
 * So many submissions are sorted at most: each is read, and its answer is taken out of its JSON. With two columns that is
 * some 3 s of one core (docs/decisions/0068).
 */
export const mostSorted = 200_000;

/** What is no answer, by the id that its column has in the console. */
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
    description: `Columns that order the submissions, at most ${mostColumns} with a comma between them, each with a \`-\` before it where it descends: the id of an element, ${Object.keys(
      facts,
    )
      .map((id) => `\`${id}\``)
      .join(
        ', ',
      )}. \`$received\` is the completion of a submission, or the last save of an incomplete one. Without it newest first, or with \`q\` by relevance. Numbers come before texts, texts are compared without case and accents, options by their labels, rows and files by how many and what they are; who has no answer comes last, equals newest first. At most ${sayNumber(mostSorted)} submissions are sorted: of more, narrow them by \`created_from\` and \`created_to\`.`,
    examples: ['-$completed', 'age,-$created'],
  }),
);
