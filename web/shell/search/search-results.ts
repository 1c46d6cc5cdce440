import type { ReplyOf } from '#app/operations/operations.ts';
import { replaceDaysWithTimes } from '#ast/search.ts';
import { getSubmissionTitle } from '#ast/submission-title.ts';
import { startOfLocalDay } from '../../design/day.ts';

/** Converts the days of a search to timestamps in the reader's time zone. */
export const toServerSearch = (q: string): string =>
  replaceDaysWithTimes(q, (day) => startOfLocalDay(day, 0));

export type SearchResults = ReplyOf<'searchSubmissions'>;
export type FoundSubmission = SearchResults['data'][number];

/** Returns who sent the submission, or its subject. */
export const senderOf = ({ metadata, answers }: FoundSubmission): string | undefined =>
  getSubmissionTitle(
    Object.entries(metadata.fields).map(([id, { label, type }]) => ({ id, label, type })),
    answers,
  );

/** Returns the first match: the label of its field and the text around it. */
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

/**
 * The link to the submission in its form's table. A search with `form:` is left out, because it has no
 * meaning within one form.
 */
export const submissionLink = ({ id, form_id }: FoundSubmission, q: string | undefined) => ({
  to: `/forms/${form_id}/submissions`,
  search: { open: id, ...(q !== undefined && !/\bform:/.test(q) && { q }) },
});

/** Returns notes about the results: corrected words, or an incomplete search. */
export function describeSearchNotes({ search }: SearchResults): string[] {
  const corrections = search?.corrections ?? [];
  return [
    ...corrections.map(({ from, to }) => `No results for “${from}”. Showing results for “${to}”.`),
    ...(search?.is_partial
      ? ['Only the newest matches were searched. Narrow your search with “after:” and “before:”.']
      : []),
  ];
}
