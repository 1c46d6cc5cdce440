import { now } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { deleteExpiredLinks } from '../links/queries.ts';
import { deleteHeldBefore } from './queries.ts';

/** How long the spam box keeps what nobody decided on. */
const heldDays = 30;

/** Removes what lay in spam boxes for too long, a batch at a time, and links whose time is over. */
export async function pruneHeld(database: Database): Promise<void> {
  const before = new Date(now().getTime() - heldDays * 86_400_000);
  while ((await deleteHeldBefore(database, { before })).length === 500);
  while ((await deleteExpiredLinks(database, { now: now() })).length === 1_000);
}
