import { withMoments } from '#ast/search.ts';
import { startOf } from '../../design/day.ts';

/** A question as the service takes it: its days are those of the reader. */
export const askedIn = (q: string): string => withMoments(q, (day) => startOf(day, 0));
