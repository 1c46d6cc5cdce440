import { formatCount } from '#ast/basics/format-number.ts';
import type { Locale } from '#ast/basics/language-tags.ts';
import { type DigestMode, editDaysOf } from '#ast/settings.ts';
import { notificationsFor, recipientsOf, type SubmissionNotification } from '#ast/settings-email.ts';
import { settingsInLanguage } from '#ast/translations/check-translations.ts';
import { readPublicUrl } from '#forms/form-rows.ts';
import { createEvaluationContext } from '#forms/live-form.ts';
import { now } from '#kit/clock.ts';
import { sharedDatabaseOf } from '#kit/database.ts';
import { readMailAddress } from '#kit/outbox/address.ts';
import { type EmailBlock, enqueueMail, enqueueMails, type NewMail } from '#kit/outbox.ts';
import { boolean, onlyRow, type Queryable, statement, textEnum } from '#kit/statement.ts';
import { assignmentColumns } from '#rules/columns.ts';
import { signSubmissionLinkToken } from '#submissions/links.ts';
import { hasVisitorLink } from '#submissions/submission-record.ts';
import { describeWait } from '#submissions/waiting-list.ts';
import { type EmailEvent, enqueueEmailEvent } from '#workspaces/audit/email-events.ts';
import type { NoticeServices } from '../notice-context.ts';
import {
  composeDigest,
  composeNotification,
  composeReceipt,
  consoleAddress,
  type EditLink,
  listReceipts,
  type NotifiedSubmission,
  noticeColumns,
  type SubmissionNews,
} from './submission-emails.ts';

const hourMs = 3_600_000;
/** All time zone offsets are multiples of a quarter of an hour. */
const quarterMs = hourMs / 4;
/** The time of day of a daily digest, in the form's time zone. */
const digestTime = '08:00';

/**
 * Returns when the digest of a submission received now is sent: at the next full hour, or at the next 08:00.
 */
export function getNextDigestTime(at: Date, mode: Exclude<DigestMode, 'each'>, timeZone = 'UTC'): Date {
  const next = (step: number): Date => new Date(Math.floor(at.getTime() / step + 1) * step);
  if (mode === 'hourly') return next(hourMs);
  const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', hourCycle: 'h23', timeZone });
  const first = next(quarterMs);
  // A day of 23 hours may lack 08:00. The next day's is at most 48 hours away.
  for (let quarter = 0; quarter < 48 * 4; quarter += 1) {
    const candidate = new Date(first.getTime() + quarter * quarterMs);
    if (clock.format(candidate) === digestTime) return candidate;
  }
  return first;
}

const noticeSelection = `
     select s.id, s.form_id, v.name as form_name, f.settings, v.structure, s.answers, s.reference, s.language, s.completed_at, s.status
       from submissions s
       join form_versions v on v.workspace_id = s.workspace_id and v.form_id = s.form_id and v.version = s.version
       join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id`;

/**
 * Finds a completed submission for its notices; returns nothing if it was deleted in the meantime. Reopening
 * a submission changes nothing: only its first completion is notified. The row is locked, so that an erasure
 * and the emails about the submission wait for each other.
 */
const findForNotice = statement(['workspace_id id', { is_cancelled: boolean }], noticeColumns)`
  ${noticeSelection}
   where s.workspace_id = $workspace_id and s.id = $id and s.completed_at is not null
     and (s.trashed_at is not null) = $is_cancelled and f.deleted_at is null
     for key share of s`;

const insertDigestItem = statement('workspace_id form_id submission_id', '')`
  insert into digest_items (workspace_id, form_id, submission_id)
  values ($workspace_id, $form_id, $submission_id)
  on conflict (workspace_id, form_id, submission_id) do nothing`;

/**
 * Creates a digest or locks the pending one, so that it cannot end before this transaction adds its
 * submission.
 */
const lockDigest = statement(['workspace_id form_id', { mode: textEnum<DigestMode>() }], 'is_new')`
  insert into digests as d (workspace_id, form_id, mode) values ($workspace_id, $form_id, $mode)
  on conflict (workspace_id, form_id) do update set mode = d.mode
  returning d.xmax = 0 as is_new`;

/**
 * Ends a form's digest. It waits for transactions that are adding a submission, so it must run before
 * emptyDigest.
 */
const endDigest = statement('workspace_id form_id', '')`
  delete from digests where workspace_id = $workspace_id and form_id = $form_id`;

/** Empties the list of an ended digest. Returns the number of submissions and the first `limit` of them. */
const emptyDigest = statement('workspace_id form_id limit', ['total', noticeColumns])`
  with item as (
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
  select count(*) over () as total, notice.* from notice order by id limit $limit`;

const dayMs = 86_400_000;
/** The maximum number of submissions listed in a digest; it links to the rest. */
const digestLength = 20;

/** Sends the notices of a submission: to the form's addresses, and receipts to its visitor, unless they cancelled it. */
export async function sendSubmissionNotices(
  context: NoticeServices,
  client: Queryable,
  workspaceId: string,
  { kind, submissionId, locale }: SubmissionNotice,
): Promise<void> {
  const is_cancelled = kind === 'submission_cancelled';
  const row = onlyRow(
    await findForNotice(client, { workspace_id: workspaceId, id: submissionId, is_cancelled }),
  );
  if (!row) return;
  const isWaiting = row.status === 'waiting' && !is_cancelled;
  const news: SubmissionNews | undefined = isWaiting ? 'waiting' : newsOf[kind];
  const place = { workspaceId, formId: row.form_id, id: row.id };
  const found = {
    ...row,
    news,
    ...(isWaiting && (await describeWait(client, place, row.status))),
    settings: settingsInLanguage(row.settings, row.language ?? undefined),
  };
  const { settings, structure, answers, reference } = found;
  const heard = notificationsFor(
    settings.notifications,
    structure,
    answers,
    createEvaluationContext(settings, reference),
  );
  const edit = hasVisitorLink(settings)
    ? {
        url: `${await readPublicUrl(client, context.config, { workspaceId, formId: found.form_id })}/edit/${signSubmissionLinkToken(context.vault, 'edit', { workspaceId, formId: found.form_id, id: found.id })}`,
        until: new Date(
          (news === 'promoted' ? now() : found.completed_at).getTime() + editDaysOf(settings) * dayMs,
        ),
      }
    : undefined;
  await notifyAddresses(context, client, workspaceId, found, { heard, edit });
  const isCompleted = news === undefined || news === 'promoted';
  if (isCompleted && settings.notification_email !== undefined && isDigested(settings.notification_digest))
    await addToDigest(client, workspaceId, found, settings.notification_digest);
  if (!is_cancelled) await sendReceipts(context, client, workspaceId, found, { heard, edit, locale });
}

type SubmissionNotice = {
  kind: keyof typeof newsOf;
  submissionId: string;
  locale?: Locale | undefined;
};

/** What each kind of event reports. */
const newsOf = {
  submission_completed: undefined,
  submission_promoted: 'promoted',
  submission_cancelled: 'cancelled',
} as const satisfies Partial<Record<EmailEvent['kind'], SubmissionNews | undefined>>;

const isDigested = (mode: DigestMode | undefined): mode is Exclude<DigestMode, 'each'> =>
  mode !== undefined && mode !== 'each';

async function addToDigest(
  client: Queryable,
  workspaceId: string,
  found: NotifiedSubmission,
  mode: Exclude<DigestMode, 'each'>,
): Promise<void> {
  const form = { workspace_id: workspaceId, form_id: found.form_id };
  const digest = onlyRow(await lockDigest(client, { ...form, mode }));
  await insertDigestItem(client, { ...form, submission_id: found.id });
  if (!digest?.is_new) return;
  const at = now();
  const due = getNextDigestTime(at, mode, found.settings.time_zone);
  const news = { kind: 'digest_due', formId: found.form_id } as const;
  await enqueueEmailEvent(client, workspaceId, news, (due.getTime() - at.getTime()) / 1_000);
}

type Heard = { heard: readonly SubmissionNotification[]; edit: EditLink };

/**
 * Emails the fixed addresses, each once: those in the form's notifications with the words of the first one, then those
 * that are notified of every submission.
 */
async function notifyAddresses(
  { vault, config }: NoticeServices,
  client: Queryable,
  workspaceId: string,
  found: NotifiedSubmission,
  { heard, edit }: Heard,
): Promise<void> {
  const { notification_email: people = '', notification_digest: mode } = found.settings;
  const { news } = found;
  const isLate = isDigested(mode) && news !== 'waiting' && news !== 'cancelled';
  // The author's own words are about a completed submission.
  const told = news === undefined ? heard : heard.map(({ to }) => ({ to }));
  const all = [...told, { to: isLate ? '' : people }];
  const mails = new Map<string, NewMail>();
  for (const { to, ...words } of all)
    for (const mail of typeof to === 'string'
      ? toEach(to, composeNotification(found, config.publicUrl, { edit, words }))
      : [])
      if (!mails.has(mail.to.address)) mails.set(mail.to.address, mail);
  await enqueueMails(client, vault, aboutOne(workspaceId, found), [...mails.values()]);
}

/** Sends a due digest. It covers only submissions that still exist. */
export async function sendDueDigest(
  { vault, config }: NoticeServices,
  client: Queryable,
  workspaceId: string,
  { formId }: { formId: string },
): Promise<void> {
  const form = { workspace_id: workspaceId, form_id: formId };
  await endDigest(client, form);
  const [first, ...rest] = await emptyDigest(client, { ...form, limit: digestLength });
  const people = first?.settings.notification_email;
  if (!first || people === undefined) return;
  const mail = composeDigest([first, ...rest], first.total, config.publicUrl);
  const submissionIds = [first, ...rest].map(({ id }) => id);
  await enqueueMails(client, vault, { workspaceId, formId, submissionIds }, toEach(people, mail));
}

async function sendReceipts(
  { vault, config }: NoticeServices,
  client: Queryable,
  workspaceId: string,
  found: NotifiedSubmission,
  { heard, edit, locale }: Heard & { locale: Locale | undefined },
): Promise<void> {
  const spoken = locale ?? found.settings.locale;
  const mails = listReceipts(found, heard).flatMap(({ address, words }) => {
    const to = readMailAddress(address);
    return to ? [{ ...composeReceipt(found, config.publicUrl, { edit, words, spoken }), to }] : [];
  });
  await enqueueMails(client, vault, aboutOne(workspaceId, found), mails);
}

const aboutOne = (workspaceId: string, { id, form_id: formId }: NotifiedSubmission) => ({
  workspaceId,
  formId,
  submissionIds: [id],
});

/** Creates a separate email for each address, so that recipients do not see each other. */
const toEach = (people: string, mail: Omit<NewMail, 'to'>): NewMail[] =>
  recipientsOf(people).flatMap((address) => {
    const to = readMailAddress(address);
    return to ? [{ ...mail, to }] : [];
  });

// Assignments ----------------------------------------------------------------------------------------------

/** Finds a submission that is still assigned to the person. The row is locked, as for other notices. */
const findAssigned = statement('workspace_id id user_id', 'form_name total:integer')`
  select f.name as form_name, 1 as total from submissions s
    join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id and f.deleted_at is null
   where s.workspace_id = $workspace_id and s.id = $id and s.assignee_id = $user_id and s.trashed_at is null
     for key share of s`;

/** Counts the submissions that a bulk change assigned to the person and that still are, unless it was undone. */
const findAssigning = statement('workspace_id id user_id', 'form_name total:integer')`
  select f.name as form_name,
         (select count(distinct s.id)::integer from submission_changes c
            join submissions s on s.workspace_id = c.workspace_id and s.id = c.submission_id
           where c.workspace_id = t.workspace_id and c.bulk_id = t.id and s.assignee_id = $user_id
             and s.trashed_at is null) as total
    from tasks t join forms f on f.workspace_id = t.workspace_id and f.id = t.form_id and f.deleted_at is null
   where t.workspace_id = $workspace_id and t.id = $id
     and not exists (
       select from tasks u
       where u.workspace_id = $workspace_id and u.subject_id = $id and u.kind = 'submissions.undo')`;

/** Finds a member who wants these emails. */
const findAssignee = statement('workspace_id user_id', 'workspace')`
  select w.name as workspace from members m join workspaces w on w.id = m.workspace_id
   where m.workspace_id = $workspace_id and m.user_id = $user_id`;

const findAddress = statement('id:text', 'email')`
  select email from users where id = $id and assignment_emails and ends_at is null`;

const findAssigner = statement('workspace_id changed_by? api_key_id?', 'name?')`
  select coalesce((select name from users where id = $changed_by),
                  (select name from api_keys where workspace_id = $workspace_id and id = $api_key_id)) as name`;

/** Emails a person about submissions that were assigned to them, unless they turned these emails off. */
export async function notifyAssigned(
  { vault, config }: NoticeServices,
  client: Queryable,
  workspaceId: string,
  { userId, formId, submissionId, bulkId, by }: Extract<EmailEvent, { kind: 'submissions_assigned' }>,
): Promise<void> {
  if (!config.smtp) return;
  const key = { workspace_id: workspaceId, user_id: userId };
  const member = onlyRow(await findAssignee(client, key));
  const address = member && onlyRow(await findAddress(sharedDatabaseOf(client), { id: userId }));
  const to = address && readMailAddress(address.email);
  if (!to) return;
  const found = onlyRow(
    submissionId === undefined
      ? await findAssigning(client, { ...key, id: bulkId! })
      : await findAssigned(client, { ...key, id: submissionId }),
  );
  if (!found?.total) return;
  const [assigner] = await findAssigner(client, { workspace_id: workspaceId, ...by });
  const condition = [{ on: 'answer', name: assignmentColumns.assignee, op: 'any', values: [userId] }];
  const [label, url] =
    submissionId === undefined
      ? ([
          'View submissions',
          `${config.publicUrl}/app/forms/${formId}/submissions?where=${encodeURIComponent(JSON.stringify(condition))}`,
        ] as const)
      : ([
          'View submission',
          consoleAddress(config.publicUrl, { form_id: formId, id: submissionId }),
        ] as const);
  const about = { workspaceId, formId, submissionIds: submissionId === undefined ? [] : [submissionId] };
  const assignment = { ...found, ...member, by: assigner?.name, publicUrl: config.publicUrl };
  const mail = composeAssignment(assignment, { kind: 'button', label, url });
  await enqueueMail(client, vault, about, { ...mail, to });
}

type Assigned = Record<'form_name' | 'workspace' | 'publicUrl', string> & {
  total: number;
  by: string | null | undefined;
};

function composeAssignment(
  { form_name, workspace, publicUrl, total, by }: Assigned,
  button: EmailBlock,
): Omit<NewMail, 'to'> {
  const what = total === 1 ? 'A submission was' : `${formatCount(total, 'submission')} were`;
  const heading = `${what} assigned to you`;
  const fields = [
    { label: 'Form', value: form_name },
    { label: 'Assigned by', value: by ?? 'A deleted account or key' },
  ];
  return {
    kind: 'assignment',
    subject: `${heading}: ${form_name}`,
    letter: {
      heading,
      blocks: [{ kind: 'fields', fields }, button],
      reason: `You're receiving this email because you are a member of the workspace “${workspace}”. You can turn off these emails in your account: ${publicUrl}/app/account`,
    },
  };
}
