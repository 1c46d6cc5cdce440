import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, homeOf } from '#kit/database.ts';
import { type MailKind, mailPaces } from '#kit/outbox/kinds.ts';
import { takePlace } from './queries.ts';

/** What mails to many may use of the rate; the rest stays free for what somebody waits for. */
const bulkShare = 0.8;
/** A sender waits this long for its turn at most: with the dialogue (12 s) it stays within a lease of 25 s. */
const patienceSeconds = 8;

/**
 * Waits for a mail's turn, so that `perMinute` mails leave in a minute over all processes. `prompt` mails use what the
 * others leave, and a fifth of the rate in any case.
 * @returns false when its turn is too far away: try again.
 * @throws the signal's reason when it aborts.
 */
export async function waitForTurn(
  database: Database,
  { kind, perMinute }: { kind: MailKind; perMinute: number },
  signal: AbortSignal,
): Promise<boolean> {
  const pace = mailPaces[kind];
  const [place] = await takePlace(homeOf(database), {
    names: pace === 'bulk' ? ['bulk'] : ['bulk', 'prompt'],
    bulk_step: 60 / (perMinute * bulkShare),
    prompt_step: 60 / (perMinute * (1 - bulkShare)),
    patience: patienceSeconds,
  });
  const wait = place?.wait ?? patienceSeconds;
  if (wait > 0) await sleep(wait * 1_000, undefined, { signal });
  return place !== undefined;
}
