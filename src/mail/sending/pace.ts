import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, homeOf } from '#kit/database.ts';
import { type MailKind, mailPaces } from '#kit/outbox/kinds.ts';
import { double, statement } from '#kit/statement.ts';

/** Seconds between two mails of a pace. */
const step = "case when name = 'bulk' then $bulk_step else $prompt_step end";

/**
 * Takes the next place of the pace that is free first, unless that is more than `patience` seconds away.
 * @returns the seconds until then.
 */
export const takePlace = statement(
  'mail.take_place',
  [
    'names prompt_step:double patience:double',
    {
      /** Seconds between two mails of each pace. */
      bulk_step: double,
    },
  ],
  'wait:double',
  `with taken as (
     update mail_pace
        set next_at = greatest(next_at, now()) + make_interval(secs => ${step})
      where name = (select name from mail_pace where name = any($names) order by next_at limit 1)
        and next_at <= now() + make_interval(secs => $patience)
     returning name, next_at
   )
   select greatest(extract(epoch from next_at - now())::double precision - ${step}, 0) as wait from taken`,
);

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
