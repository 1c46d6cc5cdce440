import type { MailKind } from '#kit/outbox/kinds.ts';
import type { MailState } from '#kit/outbox/queries.ts';
import {
  bytes,
  double,
  integer,
  nullable,
  statement,
  text,
  texts,
  timestamp,
  uuid,
  word,
} from '#kit/statement.ts';

/** A mail as its sender needs it; nothing when it was deleted with its form. */
export const findMail = statement(
  'mail.find_mail',
  { workspace_id: uuid, id: uuid },
  {
    kind: word<MailKind>(),
    recipient: text,
    subject: text,
    content: nullable(bytes),
    state: word<MailState>(),
    attempts: integer,
    created_at: timestamp,
  },
  `select kind, recipient, subject, content, state, attempts, created_at
     from mails
    where workspace_id = $workspace_id and id = $id`,
);

/** How an attempt ended. What was sent needs its content no more. What was cancelled meanwhile stays so, unless it left. */
export const settleMail = statement(
  'mail.settle_mail',
  {
    workspace_id: uuid,
    id: uuid,
    state: word<MailState>(),
    error: nullable(text),
    /** Seconds until the next attempt; null when there is none. */
    delay: nullable(double),
  },
  {},
  `update mails
      set state = $state, attempts = attempts + 1, error = $error,
          next_attempt_at = now() + make_interval(secs => $delay),
          content = case when $state = 'sent' then null else content end,
          settled_at = case when $delay is null then now() end
    where workspace_id = $workspace_id and id = $id and (state = 'queued' or $state = 'sent')`,
);

/**
 * Takes the next place of the pace that is free first, unless that is more than `patience` seconds away.
 * @returns the seconds until then.
 */
export const takePlace = statement(
  'mail.take_place',
  {
    names: texts,
    /** Seconds between two mails of each pace. */
    bulk_step: double,
    prompt_step: double,
    patience: double,
  },
  { wait: double },
  `update mail_pace
      set next_at = greatest(next_at, now())
                    + make_interval(secs => case name when 'bulk' then $bulk_step else $prompt_step end)
    where name = (select name from mail_pace where name = any($names) order by next_at limit 1)
      and next_at <= now() + make_interval(secs => $patience)
   returning greatest(extract(epoch from next_at - now())::double precision
                      - case name when 'bulk' then $bulk_step else $prompt_step end, 0) as wait`,
);
