// The id functions of kit/clock.ts as SQL: each takes and returns an expression.

/** The time at which an id was created: its first 48 bits, in milliseconds. */
export const timeOfIdSql = (id: string): string =>
  `to_timestamp(('x' || left(replace(${id}::text, '-', ''), 12))::bit(48)::bigint / 1000.0)`;

/** A value less than every id that is created at or after a time. */
export const leastIdAtSql = (moment: string): string =>
  `(lpad(to_hex(greatest(0, extract(epoch from ${moment}) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid`;
