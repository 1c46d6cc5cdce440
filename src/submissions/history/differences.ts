import { isDeepStrictEqual } from 'node:util';
import { own } from '#ast/json.ts';

/** One thing that a change of a submission changed; what was not there before, or is not any more, is absent. */
export type Difference = {
  part: 'answers' | 'reference' | 'status' | 'tags';
  /** The element's id, or the name of a reference value; empty for the status and the tags. */
  name: string;
  from?: unknown;
  to?: unknown;
};

/** What can change of a submission. */
type Changeable = {
  status: string;
  answers: Readonly<Record<string, unknown>>;
  reference: Readonly<Record<string, unknown>>;
  tags: readonly string[];
};

/** What differs between two states of a submission, value by value. */
export function differencesOf(before: Changeable, after: Changeable): Difference[] {
  return [
    ...(before.status === after.status
      ? []
      : [{ part: 'status' as const, name: '', from: before.status, to: after.status }]),
    ...valueDifferences('answers', before.answers, after.answers),
    ...valueDifferences('reference', before.reference, after.reference),
    ...(isDeepStrictEqual(before.tags, after.tags)
      ? []
      : [{ part: 'tags' as const, name: '', ...someOf('from', before.tags), ...someOf('to', after.tags) }]),
  ];
}

/** No tags are as good as none of before. */
const someOf = (key: 'from' | 'to', tags: readonly string[]): object =>
  tags.length === 0 ? {} : { [key]: tags };

function valueDifferences(
  part: 'answers' | 'reference',
  before: Changeable['answers'],
  after: Changeable['answers'],
): Difference[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name): Difference[] => {
    const [from, to] = [own(before, name), own(after, name)];
    if (isDeepStrictEqual(from, to)) return [];
    return [{ part, name, ...(from !== undefined && { from }), ...(to !== undefined && { to }) }];
  });
}
