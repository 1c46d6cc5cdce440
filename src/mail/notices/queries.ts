import type { Answers } from '#ast/answers.ts';
import type { DigestMode, Settings } from '#ast/settings.ts';
import type { MailKind } from '#kit/outbox/kinds.ts';
import { json, jsonb, nullable, statement, text, timestamp, uuid, word } from '#kit/statement.ts';
import { formTree } from '#forms/structure-columns.ts';

export const noticeColumns = {
  id: uuid,
  form_id: uuid,
  form_name: text,
  settings: jsonb<Settings>(),
  /** As it was answered. */
  structure: formTree,
  answers: json<Answers>(),
  reference: json<Record<string, string>>(),
  /** In which it was answered, as a BCP-47 tag; null where the form names none. */
  language: nullable(text),
  completed_at: timestamp,
} as const;

const noticeSelection = `
     select s.id, s.form_id, v.name as form_name, f.settings, v.structure, s.answers, s.reference, s.language, s.completed_at
       from submissions s
       join form_versions v on v.workspace_id = s.workspace_id and v.form_id = s.form_id and v.version = s.version
       join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id`;

/**
 * A submission that was completed, as a mail tells of it; nothing when it was deleted meanwhile. Who makes it incomplete
 * again takes nothing back: its first completion is told of once, or never. Locked, so that an erasing waits for what is
 * written of it, or it for the erasing.
 */
export const findForNotice = statement(
  'mail.find_for_notice',
  'workspace_id id',
  noticeColumns,
  `${noticeSelection}
    where s.workspace_id = $workspace_id and s.id = $id and s.completed_at is not null and s.trashed_at is null
      and f.deleted_at is null
      for key share of s`,
);

/** Puts a submission on the list of its form's next digest. */
export const insertDigestItem = statement(
  'mail.insert_digest_item',
  'workspace_id form_id submission_id',
  '',
  `insert into digest_items (workspace_id, form_id, submission_id)
   values ($workspace_id, $form_id, $submission_id)
   on conflict (workspace_id, form_id, submission_id) do nothing`,
);

/**
 * Begins a digest, or takes hold of the one that is under way, so that it does not end before this transaction has put
 * its submission on the list.
 */
export const holdDigest = statement(
  'mail.hold_digest',
  ['workspace_id form_id', { mode: word<DigestMode>() }],
  'is_new',
  `insert into digests as d (workspace_id, form_id, mode) values ($workspace_id, $form_id, $mode)
   on conflict (workspace_id, form_id) do update set mode = d.mode
   returning d.xmax = 0 as is_new`,
);

/** Ends a form's digest. Whoever is putting a submission on its list is waited for, so this comes before takeDigest. */
export const endDigest = statement(
  'mail.end_digest',
  'workspace_id form_id',
  '',
  `delete from digests where workspace_id = $workspace_id and form_id = $form_id`,
);

/** Empties the list of a digest that has ended: the number of submissions on it, and the first `limit` of them. */
export const takeDigest = statement(
  'mail.take_digest',
  'workspace_id form_id limit',
  ['total', noticeColumns],
  `with item as (
     delete from digest_items where workspace_id = $workspace_id and form_id = $form_id returning submission_id
   ),
   told as materialized (
     select id from submissions
      where workspace_id = $workspace_id and form_id = $form_id and id = any (array(select submission_id from item))
        and status = 'completed' and trashed_at is null
        for key share
   ),
   notice as (${noticeSelection}
      where s.workspace_id = $workspace_id and s.id in (select id from told) and f.deleted_at is null
   )
   select count(*) over () as total, notice.* from notice order by id limit $limit`,
);

/** Lets one mail at a time be counted and added for an address, until the transaction ends. */
export const lockRecipient = statement(
  'mail.lock_recipient',
  'workspace_id recipient',
  '',
  `select from pg_advisory_xact_lock(hashtextextended($workspace_id::text || lower($recipient), 0))`,
);

/** How many mails of some kinds were written to an address, in whatever case, in the last so many seconds. */
export const countMailsTo = statement(
  'mail.count_mails_to',
  'workspace_id recipient kinds seconds',
  'count',
  `select count(*) as count from mails
    where workspace_id = $workspace_id and lower(recipient) = lower($recipient) and kind = any($kinds)
      and created_at > now() - make_interval(secs => $seconds)`,
);

/** What was written to people whom nobody asked: see countMailsTo. */
export const visitorKinds: readonly MailKind[] = ['receipt', 'resume_link'];
