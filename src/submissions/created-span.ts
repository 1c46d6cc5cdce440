import { Type } from 'typebox';
import { leastIdAt } from '#kit/clock.ts';
import { maximumId, minimumId } from '#kit/pagination.ts';

export const timeParameter = (description: string) =>
  Type.Optional(Type.String({ format: 'date-time', description }));

/** The parameters of the times between which submissions were begun. */
export const createdParameters = {
  created_from: timeParameter('At or after this time.'),
  created_to: timeParameter('Until this time, exclusive.'),
};

/** Returns the smallest id that can be created at a time. Ids start in 1970. */
export const leastIdCreatedAt = (time: string): string => leastIdAt(new Date(Math.max(0, Date.parse(time))));

/**
 * Returns the range of ids of the submissions created within a span of time: ids sort by time, and their
 * index finds them.
 */
export const readCreatedSpan = (span: { created_from?: string; created_to?: string }) => ({
  from_id: span.created_from === undefined ? minimumId : leastIdCreatedAt(span.created_from),
  to_id: span.created_to === undefined ? maximumId : leastIdCreatedAt(span.created_to),
});
