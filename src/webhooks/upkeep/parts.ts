import type { ClientBase, PoolClient } from 'pg';
import { findHome, setPath } from '#kit/cells/queries.ts';
import { leastIdAt, now } from '#kit/clock.ts';
import { type Database, openClient, transaction } from '#kit/database.ts';
import { only, type Queryable } from '#kit/statement.ts';
import { eventRange } from '../sending/id-range.ts';
import {
  beginPart,
  boundPart,
  dropFirst,
  endPart,
  forgetPart,
  isBeyond,
  isHeld,
  isUsedForLong,
  lockLedger,
  lockParts,
  measurePart,
  provenPart,
  selectParts,
  splitPart,
  tellFeeds,
  unboundPart,
  waitBriefly,
  waitLonger,
} from './queries.ts';

/*
 * Events, deliveries and attempts lie in parts by the time that their ids say (docs/decisions/0088-the-ledger-goes-by-the-day.md). An
 * instance has one, until that is large; from then on each day has its own, which is dropped as a whole.
 */

export const dayMs = 86_400_000;
/** What is smaller is removed row by row, which nobody notices: some 400,000 events with a delivery each. */
const largeBytes = 2 ** 30;
/** Parts that are kept: each statement locks all of them, and PostgreSQL has room for so many locks. */
const mostKept = 40;
/** How long before its first moment a day has its part. */
const aheadMs = 3 * dayMs;
/** A part that is being written ends so long after it was said: it is read through before, and what is there must not come to its end meanwhile. */
const noticeMs = 7 * dayMs;
/** So long before its end a part that is written has a next one, unless something keeps it from being cut. */
export const shortestNoticeMs = 2 * dayMs;
/** A delivery that is still sent holds its day up for so long. Then all others of it go row by row. */
const holdsMs = 3 * dayMs;

export type Part = { number: number; opens: Date | null; below: Date | null };

const later = (moment: Date, ms: number): Date => new Date(moment.getTime() + ms);

/** A part is a day long, or as many as it takes to have no more than 40 of what is kept. */
const lengthFor = (retentionDays: number): number => Math.ceil(retentionDays / mostKept) * dayMs;

/** Where the last part ends next, when the one that is written now is large; null: it is early days. */
export function nextEnd({ opens, below }: Part, at: Date, retentionDays: number): Date | null {
  if (below) return below;
  if (opens && opens > at) return opens > later(at, aheadMs) ? null : later(opens, lengthFor(retentionDays));
  return new Date(Math.ceil((at.getTime() + noticeMs) / dayMs) * dayMs);
}

/**
 * Gives the days to come parts of their own, where the part that is written now is large. What is broken off goes on the next time.
 * @returns how many parts were begun.
 * @throws Error where the last part ends within two days and cannot be cut, as somebody holds the tables all the time.
 */
export async function beginParts(
  { database }: { database: Database },
  { retentionDays, large = largeBytes, at = now() }: { retentionDays: number; large?: number; at?: Date },
): Promise<number> {
  for (let begun = 0; ; begun += 1) {
    const parts = await selectParts(database, {});
    const last = parts.at(-1)!;
    const end = nextEnd(last, at, retentionDays);
    if (!end) return begun;
    const written = parts.findLast(({ opens }) => !opens || opens <= at)!;
    if (!last.below && (await measurePart(database, written))[0]!.bytes < large) return begun;
    if (await splitLast(database, parts, end, at)) continue;
    if (last.below && isNear(last.below, at)) throw new Error(endsSoon(last.below));
    return begun;
  }
}

const isNear = (end: Date, at: Date): boolean => end < later(at, shortestNoticeMs);

/** What is wrong when the part that is written has been told its end, and is not cut. */
export const endsSoon = (end: Date): string =>
  `The delivery log takes nothing from ${end.toISOString()} on, and its next part is not there: submissions with a webhook fail from then on.`;

/** What is wrong when ids of the part that would be told its end are of a later time. */
const goesBeyond = (end: Date): string =>
  `The delivery log cannot be cut at ${end.toISOString()}: it has ids of a later time, which a clock that was ahead made. It is one part from there on and goes row by row, until they are gone.`;

/** The first part has all from before it, also when it was not always the first. */
const fromOf = (parts: readonly Part[]): Date | null => (parts.length > 1 ? parts.at(-1)!.opens : null);

/** @throws Error where ids go beyond that end. */
const splitLast = (database: Database, parts: Part[], end: Date, at: Date): Promise<boolean> => {
  const { opens } = parts.at(-1)!;
  return opens && opens > at ? splitToCome(database, parts, end) : splitWritten(database, parts, end, at);
};

/** A part of days to come, which is empty: in one transaction. */
async function splitToCome(database: Database, parts: Part[], end: Date): Promise<boolean> {
  if (await goesOn(database, end)) throw new Error(goesBeyond(end));
  return changeParts(database, parts, async (client) => {
    await bind(client, parts, end);
    await runAll(client, provenPart(parts.at(-1)!.number, fromOf(parts)));
    await cut(client, parts, end);
  });
}

/** The part that is written: it is told its end, read through beside readers and writers, and cut. The end is taken back where ids go beyond it, since nothing would be taken from it on. */
async function splitWritten(database: Database, parts: Part[], end: Date, at: Date): Promise<boolean> {
  if (!parts.at(-1)!.below && !(await changeParts(database, parts, (client) => bind(client, parts, end))))
    return false;
  // Once it is bound nothing comes any more from there on.
  const bound = await selectParts(database, {});
  if (bound.at(-1)!.number !== parts.at(-1)!.number) return false;
  if (await goesOn(database, end)) {
    await takeBack(database, bound);
    throw new Error(goesBeyond(end));
  }
  await prove(database, bound);
  return changeParts(database, bound, (client) => cut(client, bound, end), {
    isUrgent: isNear(end, at),
  });
}

const goesOn = async (database: Database, end: Date): Promise<boolean> =>
  (await isBeyond(database, { below: leastIdAt(end) }))[0]!.beyond;

async function bind(client: PoolClient, parts: readonly Part[], end: Date): Promise<void> {
  const { number } = parts.at(-1)!;
  await runAll(client, boundPart(number, fromOf(parts), end));
  await endPart(client, { number, below: end });
}

async function cut(client: PoolClient, parts: readonly Part[], end: Date): Promise<void> {
  const { number } = parts.at(-1)!;
  await runAll(client, splitPart(number, fromOf(parts), end));
  await beginPart(client, { number: number + 1, opens: end });
}

const takeBack = (database: Database, parts: readonly Part[]): Promise<boolean> =>
  changeParts(database, parts, async (client) => {
    const { number } = parts.at(-1)!;
    await runAll(client, unboundPart(number));
    await endPart(client, { number, below: null });
  });

/** May take minutes, and is as silent: on a connection that nothing ends. */
async function prove(database: Database, parts: readonly Part[]): Promise<void> {
  const { path } = only(await findHome(database, {}))!;
  const client = openClient(database);
  await client.connect();
  try {
    for (const text of provenPart(parts.at(-1)!.number, fromOf(parts))) {
      await client.query('begin');
      await setPath(client, { path });
      await client.query(text);
      await client.query('commit');
    }
  } finally {
    await client.end();
  }
}

/** What ended before it has been held up for longer than a day has to be: no part goes before the first. */
export const longHeld = (retentionDays: number): Date => later(now(), -retentionDays * dayMs - 2 * holdsMs);

/** Drops the parts that ended before a moment and of which nothing is sent any more. @returns how many. */
export async function dropParts(database: Database, before: Date): Promise<number> {
  for (let dropped = 0; ; dropped += 1) {
    const parts = await selectParts(database, {});
    const [first, next] = parts;
    if (!next || first!.below! > before) return dropped;
    const below = leastIdAt(first!.below!);
    const within = eventRange({ least: below, most: below }).most_event;
    const isSent = async (db: Queryable): Promise<boolean> => (await isHeld(db, { below, within }))[0]!.held;
    if (await isSent(database)) return dropped;
    const isGone = await changeParts(
      database,
      parts,
      async (client) => {
        if (await isSent(client)) throw new Busy();
        await runAll(
          client,
          dropFirst(first!.number, { ...next, below: parts.length > 2 ? next.below : null }),
        );
        await forgetPart(client, { number: first!.number });
      },
      { before: (client) => tellFeeds(client, { below }) },
    );
    if (!isGone) return dropped;
  }
}

/** Up to when rows are removed one by one, where what ended before `before` was dropped: the rest of its day goes with that. */
export function rowsUpTo(parts: readonly Part[], before: Date, retentionDays: number): Date {
  const day = parts.find(
    ({ opens, below }) =>
      opens && below && below <= later(opens, lengthFor(retentionDays)) && below > later(before, -holdsMs),
  );
  return day && day.opens! < before ? day.opens! : before;
}

async function runAll(client: ClientBase, texts: readonly string[]): Promise<void> {
  for (const text of texts) await client.query(text);
}

/** Somebody else is at it. */
class Busy extends Error {}
/** A lock that was waited for in vain, or a circle of those who wait. */
const busyStates = new Set(['55P03', '40P01']);

/**
 * Changes parts in one transaction, if nobody has since they were read, nor uses the ledger for long. What is killed leaves them
 * as they were.
 * @param isUrgent everybody else would have to stop soon: waits for who uses it, and has others wait, for up to two seconds at each table.
 * @returns whether it did. If not, the next time will do.
 */
async function changeParts(
  database: Database,
  known: readonly Part[],
  change: (client: PoolClient) => Promise<void>,
  {
    before,
    isUrgent = false,
  }: { before?: (client: PoolClient) => Promise<unknown>; isUrgent?: boolean } = {},
): Promise<boolean> {
  // Who asks for these locks keeps everybody from the tables while it waits, which would be in vain.
  if (!isUrgent && only(await isUsedForLong(database, {}))!.used) return false;
  try {
    await transaction(database, async (client) => {
      await client.query(isUrgent ? waitLonger : waitBriefly);
      if (JSON.stringify(await lockParts(client, {})) !== JSON.stringify(known)) throw new Busy();
      // Feeds before events, as who places events has them.
      await before?.(client);
      await client.query(lockLedger);
      await change(client);
    });
    return true;
  } catch (error) {
    const state = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (error instanceof Busy || busyStates.has(state)) return false;
    throw error;
  }
}
