import { columns, jsonb, jsonText, nullable, orNothing, statement, text, word } from '#kit/statement.ts';
import type { InvitationStatus } from './status.ts';

/** An invitation as a reader sees it. */
export const invitationColumns = columns(
  'id form_id batch_id email name expires_at? created_at sent_at:timestamp?',
  'opened_at:timestamp? started_at:timestamp? completed_at? revoked_at? reminders:integer',
  'reminded_at:timestamp? mail_error:text? is_unsubscribed:boolean submission_id?',
  {
    status: word<InvitationStatus>(),
    reference: jsonb<Record<string, string>>(),
    prefill: jsonb<Record<string, string | string[]>>(),
  },
);

/**
 * An invitation `i` with the submission `s` that has its id as its key. Only the furthest of what happened is its
 * status, and a submission that was deleted for good did not happen.
 */
export const statusOf = `case
    when s.completed_at is not null then 'completed'
    when i.revoked_at is not null then 'revoked'
    when s.id is not null or i.started_at is not null then 'started'
    when i.opened_at is not null then 'opened'
    when i.bounced_at is not null then 'bounced'
    when i.sent_at is not null then 'sent'
    else 'pending' end`;

export const withSubmission = `left join submissions s on s.workspace_id = i.workspace_id and s.key = i.id`;

/** What an address is known by that wants no more mails (unsubscribed_addresses). @param key SQL of the address in lower case. */
export const wishOf = (key: string): string => `encode(sha256(convert_to(${key}, 'UTF8')), 'hex')`;

const selection = `i.id, i.form_id, i.batch_id, i.email, i.name, ${statusOf} as status, i.reference, i.prefill,
  i.expires_at, i.created_at, i.sent_at, i.opened_at, i.started_at, s.completed_at, i.revoked_at, i.reminders,
  i.reminded_at, i.mail_error,
  exists (select from unsubscribed_addresses u
           where u.workspace_id = i.workspace_id and u.address_key = ${wishOf('i.address_key')}) as is_unsubscribed,
  case when s.completed_at is not null and s.trashed_at is null then s.id end as submission_id`;

export const findInvitations = statement(
  'invitations.find_invitations',
  'workspace_id form_id ids',
  invitationColumns,
  `select ${selection}
     from invitations i ${withSubmission}
     join forms f on f.workspace_id = i.workspace_id and f.id = i.form_id
    where i.workspace_id = $workspace_id and i.form_id = $form_id and i.id = any($ids) and f.deleted_at is null`,
);

/**
 * One page of a form's invitations, newest first, with the exact total in each row. A form without rows on this page
 * gives one row without an invitation; an absent form gives none.
 */
export const listInvitations = statement(
  'invitations.list_invitations',
  [
    'workspace_id form_id below_id limit offset',
    {
      status: nullable(word<InvitationStatus>()),
      /** A part of the address or the name, in lower case. */
      words: nullable(text),
    },
  ],
  ['total', orNothing(invitationColumns)],
  `with found as (
     select i.id
       from invitations i ${withSubmission}
      where i.workspace_id = $workspace_id and i.form_id = $form_id
        and ($status is null or ${statusOf} = $status)
        and ($words is null or strpos(i.address_key, $words) > 0 or strpos(lower(i.name), $words) > 0)),
   page as (select id from found where id < $below_id order by id desc limit $limit offset $offset)
   select (select count(*) from found) as total, ${selection}
     from forms f
     left join (invitations i join page using (id) ${withSubmission})
            on i.workspace_id = f.workspace_id and i.form_id = f.id
    where f.workspace_id = $workspace_id and f.id = $form_id and f.deleted_at is null
    order by i.id desc`,
);

/** How many invitations of a form there are of each status that there is one of. */
export const countInvitations = statement(
  'invitations.count_invitations',
  'workspace_id form_id',
  ['count', { status: word<InvitationStatus>() }],
  `select ${statusOf} as status, count(*) as count
     from invitations i ${withSubmission}
    where i.workspace_id = $workspace_id and i.form_id = $form_id
    group by 1`,
);

/**
 * Adds invitations to a batch. An address that is invited already is left out, also when it is twice in `rows`: the
 * unique index decides, so parallel requests cannot invite somebody twice.
 * @returns those that are new.
 */
export const insertInvitations = statement(
  'invitations.insert_invitations',
  [
    'workspace_id form_id batch_id expires_at? created_at',
    {
      /** A list of {id, hash (hexadecimal), email, address_key, name, reference, prefill}. */
      rows: jsonText,
    },
  ],
  'id',
  `with made as (
     insert into invitations (workspace_id, id, form_id, batch_id, hash, email, address_key, name, reference, prefill,
                              expires_at, created_at)
     select $workspace_id, r.id, $form_id, $batch_id, decode(r.hash, 'hex'), r.email, r.address_key, r.name,
            r.reference, r.prefill, $expires_at, $created_at
       from json_to_recordset($rows)
         as r (id uuid, hash text, email text, address_key text, name text, reference jsonb, prefill jsonb)
     on conflict (workspace_id, form_id, address_key) where revoked_at is null do nothing
     returning id)
   select id from made`,
);

/** From now on the link leads nowhere, and no mail about it leaves. No row: it is absent, or revoked already. */
export const revokeInvitation = statement(
  'invitations.revoke_invitation',
  'workspace_id form_id id now',
  'mail_id?',
  `update invitations set revoked_at = $now, remind_at = null
    where workspace_id = $workspace_id and form_id = $form_id and id = $id and revoked_at is null
   returning mail_id`,
);

/** Some of a form's invitations, newest first, after one of them: for lists that are read to their end. */
export const readOnInvitations = statement(
  'invitations.read_on_invitations',
  'workspace_id form_id before:uuid? limit',
  invitationColumns,
  `select ${selection}
     from invitations i ${withSubmission}
    where i.workspace_id = $workspace_id and i.form_id = $form_id and ($before is null or i.id < $before)
    order by i.id desc limit $limit`,
);

/** The names that a mail about a form carries. */
export const findFormNames = statement(
  'invitations.find_form_names',
  'workspace_id form_id',
  'form_name workspace_name:text locale:text?',
  `select f.name as form_name, w.name as workspace_name, f.settings->>'locale' as locale
     from forms f join workspaces w on w.id = f.workspace_id
    where f.workspace_id = $workspace_id and f.id = $form_id and f.deleted_at is null`,
);

/** Makes those who invite in one workspace take turns, until the transaction ends. */
export const lockInviting = statement(
  'invitations.lock_inviting',
  'workspace_id',
  'id',
  `select id from workspaces where id = $workspace_id for no key update`,
);

/** An invitation or reminder of the last day, by when it was queued or sent. */
const isRecentMail = `kind in ('invitation', 'reminder') and greatest(queued_at, sent_at) > $since`;

/**
 * How many invitations and reminders a workspace, and one person in it, have queued or sent since then. Lines of imports
 * that wait are counted too, and invitations without a mail by when they were made. `oldest` is the first of these.
 */
export const countInvited = statement(
  'invitations.count_invited',
  'workspace_id created_by? since:timestamp',
  'by_person:bigint by_workspace:bigint oldest',
  `with counted as (
     select 1 as count, account_id, greatest(queued_at, sent_at) as at from counted_emails
      where workspace_id = $workspace_id and ${isRecentMail}
     union all
     select case when is_mailed then total - created - skipped else total end, created_by, greatest(created_at, $since)
       from invitation_batches
      where workspace_id = $workspace_id
        and case when is_mailed then created + skipped < total else created_at > $since end)
   select coalesce(sum(count) filter (where account_id = $created_by), 0)::bigint as by_person,
          coalesce(sum(count), 0)::bigint as by_workspace, coalesce(min(at), now()) as oldest
     from counted`,
);

/** The same of an account in all other workspaces. */
export const countAccountEmails = statement(
  'invitations.count_account_emails',
  'account_id workspace_id since:timestamp',
  'count oldest',
  `/* lookup: across workspaces */
   select count(*) as count, coalesce(min(greatest(queued_at, sent_at)), now()) as oldest from counted_emails
    where account_id = $account_id and workspace_id <> $workspace_id and ${isRecentMail}`,
);
