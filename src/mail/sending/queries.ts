import type { MailKind } from '#kit/outbox/kinds.ts';
import type { MailState } from '#kit/outbox/queries.ts';
import { double, nullable, statement, text, word } from '#kit/statement.ts';

/** A mail as its sender needs it; nothing when it was deleted with its form. */
export const findMail = statement(
  'mail.find_mail',
  'workspace_id id',
  [
    'form_id? recipient subject content? attempts:integer created_at',
    {
      kind: word<MailKind>(),
      /** Whose limits it counts against. */
      account_id: nullable(text),
      state: word<MailState>(),
    },
  ],
  `select m.kind, m.form_id, m.recipient, c.account_id, m.subject, m.content, m.state, m.attempts, m.created_at
     from mails m
     left join counted_emails c on c.workspace_id = m.workspace_id and c.id = m.id
    where m.workspace_id = $workspace_id and m.id = $id`,
);

/** Counts an email that was sent, also if it was queued so long ago that its row is gone. */
export const countSentEmail = statement(
  'mail.count_sent_email',
  ['workspace_id id form_id? account_id? recipient:bytes queued_at:timestamp', { kind: word<MailKind>() }],
  '',
  `insert into counted_emails (workspace_id, id, kind, form_id, account_id, recipient, queued_at, sent_at)
   values ($workspace_id, $id, $kind, $form_id, $account_id, $recipient, $queued_at, now())
   on conflict (workspace_id, id) do update set sent_at = excluded.sent_at`,
);

/** Deletes what no limit counts any more. @returns those removed; a full batch of 1,000 means that there may be more. */
export const deleteCountedEmails = statement(
  'mail.delete_counted_emails',
  '',
  'id',
  `/* sweep: across workspaces */
   delete from counted_emails where (workspace_id, id) in (
     select workspace_id, id from counted_emails
      where queued_at < now() - interval '2 days' and coalesce(sent_at, queued_at) < now() - interval '2 days'
      order by queued_at limit 1000)
   returning id`,
);

/** How an attempt ended. What was sent needs its content no more. What was cancelled meanwhile stays so, unless it left. */
export const settleMail = statement(
  'mail.settle_mail',
  [
    'workspace_id id error?',
    {
      state: word<MailState>(),
      /** Seconds until the next attempt; null when there is none. */
      delay: nullable(double),
    },
  ],
  '',
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
  'recipient:bytes kinds seconds most:bigint',
  'count',
  `/* lookup: across workspaces */
   select count(*) as count from (
     select id from counted_emails
      where recipient = $recipient and kind = any($kinds)
        and sent_at > now() - make_interval(secs => $seconds)
      limit $most) sent`,
);

/** How many of some kinds an account has sent lately, from any workspace; counted no further than `most`. */
export const countSentBy = statement(
  'mail.count_sent_by',
  'account_id kinds seconds most:bigint',
  'count',
  `/* lookup: across workspaces */
   select count(*) as count from (
     select id from counted_emails
      where account_id = $account_id and kind = any($kinds) and sent_at > now() - make_interval(secs => $seconds)
      limit $most) sent`,
);

/** How many of some kinds have left lately from a workspace, or from one form of it; counted no further than `most`. */
export const countSentFrom = statement(
  'mail.count_sent_from',
  'workspace_id form_id? kinds seconds most:bigint',
  'count',
  `select count(*) as count from (
     select from counted_emails
      where workspace_id = $workspace_id and ($form_id is null or form_id = $form_id)
        and kind = any($kinds) and sent_at > now() - make_interval(secs => $seconds)
      limit $most) sent`,
);

/** Says in the log why a mail waits. It has not been tried. */
export const putOffMail = statement(
  'mail.put_off',
  'workspace_id id reason delay',
  '',
  `update mails set error = $reason, next_attempt_at = now() + make_interval(secs => $delay)
    where workspace_id = $workspace_id and id = $id and state = 'queued'`,
);

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
