import type { MailKind } from '#kit/outbox/kinds.ts';
import type { MailState } from '#kit/outbox/queries.ts';
import {
  bigint,
  bytes,
  double,
  integer,
  nullable,
  ofInstance,
  plus,
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
    form_id: nullable(uuid),
    recipient: text,
    subject: text,
    content: nullable(bytes),
    state: word<MailState>(),
    attempts: integer,
    created_at: timestamp,
  },
  `select kind, form_id, recipient, subject, content, state, attempts, created_at
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
          settled_at = now() + case when $delay is null then interval '0' end
    where workspace_id = $workspace_id and id = $id and (state = 'queued' or $state = 'sent')`,
);

/** How many of some kinds have left to an address lately, from any workspace; counted no further than `most`. */
export const countSentTo = statement(
  'mail.count_sent_to',
  { recipient: text, kinds: texts, seconds: double, most: bigint },
  { count: bigint },
  `/* lookup: across workspaces */
   select count(*) as count from (
     select id from mails
      where lower(recipient) = lower($recipient) and state = 'sent' and kind = any($kinds)
        and settled_at > now() - make_interval(secs => $seconds)
      limit $most) sent`,
);

/** How many of some kinds have left lately from a workspace, or from one form of it; counted no further than `most`. */
export const countSentFrom = statement(
  'mail.count_sent_from',
  { workspace_id: uuid, form_id: nullable(uuid), kinds: texts, seconds: double, most: bigint },
  { count: bigint },
  `select count(*) as count from (
     select from mails
      where workspace_id = $workspace_id and ($form_id is null or form_id = $form_id) and state = 'sent'
        and kind = any($kinds) and settled_at > now() - make_interval(secs => $seconds)
      limit $most) sent`,
);

/** Says in the log why a mail waits. It has not been tried. */
export const putOffMail = statement(
  'mail.put_off',
  { workspace_id: uuid, id: uuid, reason: text, delay: double },
  {},
  `update mails set error = $reason, next_attempt_at = now() + make_interval(secs => $delay)
    where workspace_id = $workspace_id and id = $id and state = 'queued'`,
);

/** Seconds between two mails of a pace. */
const step = "case when name = 'bulk' then $bulk_step else $prompt_step end";

/**
 * Takes the next place of the pace that is free first, unless that is more than `patience` seconds away.
 * @returns the seconds until then.
 */
export const takePlace = ofInstance(
  'mail.take_place',
  {
    names: texts,
    /** Seconds between two mails of each pace. */
    bulk_step: double,
    prompt_step: double,
    patience: double,
  },
  { wait: double },
  `with taken as (
     update mail_pace
        set next_at = ${plus('greatest(next_at, now())', `make_interval(secs => ${step})`)}
      where name = (select name from mail_pace where name = any($names) order by next_at limit 1)
        and next_at <= now() + make_interval(secs => $patience)
     returning name, next_at
   )
   select greatest(extract(epoch from next_at - now())::double precision - ${step}, 0) as wait from taken`,
);
