import type { ReplyOf } from '#app/operations/operations.ts';
import { sayWho } from '#ast/say-who.ts';
import { withMoments } from '#ast/search.ts';
import { startOf } from '../../design/day.ts';

/** A question as the service takes it: its days are those of the reader. */
export const askedIn = (q: string): string => withMoments(q, (day) => startOf(day, 0));

export type Found = ReplyOf<'searchSubmissions'>;
export type FoundSubmission = Found['data'][number];

/** Who sent it, or what it is about. */
export const whoOf = ({ metadata, answers }: FoundSubmission): string | undefined =>
  sayWho(
    Object.entries(metadata.fields).map(([id, { label, type }]) => ({ id, label, type })),
    answers,
  );

/** Where its words were found first, as its form calls it, and the text around them. */
export function firstHit({
  hits = [],
  metadata,
}: FoundSubmission): { place: string; text: string; words: string[] } | undefined {
  const [hit] = hits;
  if (!hit) return undefined;
  const step =
    hit.path[0] === 'answers' ? hit.path.findLast((each) => typeof each === 'string') : hit.path[1];
  const place = String(step);
  return { place: metadata.fields[place]?.label ?? place, text: hit.excerpt, words: hit.words };
}

/** Its address in the table of its form. Within one form, which forms are meant says nothing. */
export const placeOf = ({ id, form_id }: FoundSubmission, q: string | undefined) => ({
  to: `/forms/${form_id}/submissions`,
  search: { open: id, ...(q !== undefined && !/\bform:/.test(q) && { q }) },
});

/** What else is to be said of an answer: other words were looked for, or not all was looked at. */
export function sayReading({ search }: Found): string[] {
  const corrections = search?.corrections ?? [];
  return [
    ...corrections.map(({ from, to }) => `Nobody wrote “${from}”: this is for “${to}”.`),
    ...(search?.is_partial
      ? [
          'Only the newest that have these words were looked through: narrow the search by “after:” and “before:”.',
        ]
      : []),
  ];
}
