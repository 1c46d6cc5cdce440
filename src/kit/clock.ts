import { randomBytes, randomInt } from 'node:crypto';
import { v5, v7 } from 'uuid';

/** The only reader of the wall clock outside the database. Pure code takes `now` as an argument instead. */
export const now = (): Date => new Date();

/** A clock that is set back by less than this is waited for; by more, and ids would say a time that is far from true. */
const waitedForMs = 5 * 60_000;
const mostInMs = 2 ** 32;
let latest = { msecs: 0, seq: 0 };
/** For the ids to come: bytes that are asked for one id at a time take longer than all the rest of making it. */
let random = Buffer.alloc(0);
const randomPerId = 16;

/**
 * A new id: UUIDv7, so ids sort by the time they were made, and a list ordered by id is newest first. Each is greater
 * than the one before it in this process, within a millisecond too and when the clock is set back by some minutes: Node's
 * own `randomUUIDv7` puts half of those of one millisecond the wrong way round (49,836 of 100,000 in a loop). After a
 * clock that was far ahead they begin anew with the time of now, which the library's own state would not.
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

/** An id that is the same wherever it is made of the same words: what has it is there once. */
export const idOf = (...words: readonly string[]): string => v5(JSON.stringify(words), v5.URL);

/** Of any UUID, in capital letters too. */
export const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The millisecond in which a UUIDv7 was made: its first 48 bits. Gives a row one time for both id and created_at. */
export const timeOfId = (id: string): Date => new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));

/** The least UUIDv7 of a millisecond: all ids that were made from then on are greater. */
export function leastIdAt(time: Date): string {
  const digits = time.getTime().toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7000-8000-000000000000`;
}
