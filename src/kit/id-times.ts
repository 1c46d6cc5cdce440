// What kit/clock.ts knows of ids, as SQL: an expression for an expression.

/** The moment in which an id was made: its first 48 bits, in milliseconds. */
export const timeOfId = (id: string): string =>
  `to_timestamp(('x' || left(replace(${id}::text, '-', ''), 12))::bit(48)::bigint / 1000.0)`;

/** Less than every id that is made from a moment on. */
export const leastIdAt = (moment: string): string =>
  `(lpad(to_hex(greatest(0, extract(epoch from ${moment}) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid`;
