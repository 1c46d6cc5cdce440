import { randomBytes, randomInt } from 'node:crypto';
import { v5, v7 } from 'uuid';

/** Returns the current time. Only this function reads the clock; pure code gets `now` as an argument. */
export const now = (): Date => new Date();

/**
 * If the clock moves back by less than this, ids keep the later time. For a larger step, that time would be
 * too far off.
 */
const waitedForMs = 5 * 60_000;
const mostInMs = 2 ** 32;
let latest = { msecs: 0, seq: 0 };
/** A pool of random bytes: requesting them for each id takes longer than the rest of the work. */
let random = Buffer.alloc(0);
const randomPerId = 16;

/**
 * Returns a new UUIDv7, so ids sort by creation time. Each id is greater than the previous one in this
 * process, even within a millisecond and if the clock moves back by some minutes. Node's `randomUUIDv7` puts
 * half of the ids of one millisecond in the wrong order (49,836 of 100,000 in a loop). If the clock was far
 * ahead, ids restart at the current time, unlike with the library's own state.
 */
export function newId(): string {
  const msecs = now().getTime();
  const isNew = msecs > latest.msecs || msecs < latest.msecs - waitedForMs;
  if (isNew) latest = { msecs, seq: randomInt(mostInMs / 2) };
  else if (latest.seq + 1 < mostInMs) latest.seq += 1;
  else latest = { msecs: latest.msecs + 1, seq: 0 };
  if (random.length === 0) random = randomBytes(256 * randomPerId);
  const own = random.subarray(0, randomPerId);
  random = random.subarray(randomPerId);
  return v7({ ...latest, random: own });
}

/** Returns an id derived from words: equal words give equal ids, which prevents duplicates. */
export const deriveId = (...words: readonly string[]): string => v5(JSON.stringify(words), v5.URL);

/** Matches any UUID, also in uppercase. */
export const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns the creation time of a UUIDv7 (its first 48 bits), so that id and created_at share one time. */
export const timeOfId = (id: string): Date => new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));

/** Returns the smallest UUIDv7 of a millisecond. All ids from that time on are greater. */
export function leastIdAt(time: Date): string {
  const digits = time.getTime().toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7000-8000-000000000000`;
}

// The id functions of kit/clock.ts as SQL: each takes and returns an expression.

/** The time at which an id was created: its first 48 bits, in milliseconds. */
export const timeOfIdSql = (id: string): string =>
  `to_timestamp(('x' || left(replace(${id}::text, '-', ''), 12))::bit(48)::bigint / 1000.0)`;

/** A value less than every id that is created at or after a time. */
export const leastIdAtSql = (moment: string): string =>
  `(lpad(to_hex(greatest(0, extract(epoch from ${moment}) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid`;
