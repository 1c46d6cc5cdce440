import { effectiveForm } from '#ast/form/effective-form.ts';
import type { Form } from '#ast/form/tree.ts';
import { requireForm } from '#forms/form-rows.ts';
import { newId, now } from '#kit/clock.ts';
import { transaction } from '#kit/database.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import type { Actor } from '#kit/operation.ts';
import { readMailAddress } from '#kit/outbox/address.ts';
import { jsonText, type Queryable, statement } from '#kit/statement.ts';
import { hashOfToken } from '#kit/vault.ts';
import { advanceTask, createTask, type NewTask } from '#tasks/run-tasks.ts';
import { signInvitationToken } from './admission.ts';
import type { InvitedForm, InvitingServices } from './context.ts';
import {
  checkDailyEmailLimits,
  checkInvitationDraft,
  createPrefillableCheck,
  emailKeyOf,
  type InvitationDraft,
} from './draft.ts';
import { type InvitationEmailServices, mailInvitations } from './mail-invitations.ts';
import { checkMessage, type InvitationMessage } from './message.ts';
import { lockToMail } from './remind.ts';

/**
 * Adds invitations to a batch. Addresses that are already invited, and repeated ones in `rows`, are omitted.
 * The unique index decides, so parallel requests cannot invite a person twice.
 * @returns the new invitations.
 */
const insertInvitations = statement(
  [
    'workspace_id form_id batch_id expires_at? created_at',
    {
      /** A list of {id, hash (hexadecimal), email, address_key, name, reference, prefill}. */
      rows: jsonText,
    },
  ],
  'id',
)`
  with inserted as (
    insert into invitations (workspace_id, id, form_id, batch_id, hash, email, address_key, name, reference, prefill,
                             expires_at, created_at)
    select $workspace_id, r.id, $form_id, $batch_id, decode(r.hash, 'hex'), r.email, r.address_key, r.name,
           r.reference, r.prefill, $expires_at, $created_at
      from json_to_recordset($rows)
        as r (id uuid, hash text, email text, address_key text, name text, reference jsonb, prefill jsonb)
    on conflict (workspace_id, form_id, address_key) where revoked_at is null do nothing
    returning id)
  select id from inserted`;

/** Adds a batch: invitations that share a message and options. */
const insertBatch = statement(
  [
    'workspace_id id form_id subject message reminder_subject? reminder_message?',
    'remind_after_days is_mailed created_by? created_at expires_at?',
  ],
  '',
)`
  insert into invitation_batches (workspace_id, id, form_id, subject, message, reminder_subject, reminder_message,
                                  remind_after_days, is_mailed, created_by, created_at, expires_at)
  values ($workspace_id, $id, $form_id, $subject, $message, $reminder_subject, $reminder_message,
          $remind_after_days, $is_mailed, $created_by, $created_at, $expires_at)`;

export type InvitationBatchOptions = InvitationMessage & {
  expiresAt: Date | null;
  /** Whether emails are requested. Without `smtp` none are sent. */
  isMailed: boolean;
  /** The account that invites: the signed-in person, or the one who created the API key. */
  createdBy: string | null;
};

/** A batch whose invitations are being created. */
type OpenBatch = {
  id: string;
  form_id: string;
  is_mailed: boolean;
  expires_at: Date | null;
  created_by: string | null;
};

/** The maximum number of people in one request; larger lists need an import. */
export const mostInvited = 1_000;

/**
 * Invites people and queues their emails in one transaction: all new addresses, or none if there is an error.
 * @returns the ids of the new invitations in the order of the drafts; undefined for an address that already
 * has one.
 * @throws ApiError not_found; validation_error with all problems.
 */
export async function invitePeople(
  context: InvitingServices,
  form: InvitedForm,
  drafts: readonly InvitationDraft[],
  invitation: InvitationBatchOptions,
  by: Actor,
): Promise<(string | undefined)[]> {
  const structure = await readStructure(context.database, form);
  const isPrefillable = createPrefillableCheck(structure);
  const errors: ErrorItem[] = drafts.flatMap((draft, index) =>
    checkInvitationDraft(draft, isPrefillable).map(({ field, message }) => ({
      field: `invitations.${index}.${field}`,
      message,
    })),
  );
  const names = new Set(drafts.flatMap(({ reference }) => Object.keys(reference)));
  errors.push(...checkBatchOptions(invitation, names));
  if (errors.length > 0) throw new ApiError('validation_error', undefined, { errors });
  const ids = await transaction(context.database, async (client) => {
    const task = { by, total: drafts.length };
    const batch = await createInvitationBatch(client, context, form, invitation, task, undefined);
    const added = await addInvitations(client, context, form.workspaceId, batch, drafts);
    const done = added.filter((id) => id !== undefined).length;
    await advanceTask(client, {
      workspace_id: form.workspaceId,
      id: batch.id,
      done,
      refused: drafts.length - done,
      problems: '[]',
      most: 0,
      result: {},
      finished_at: now(),
    });
    return added;
  });
  context.wakeQueue();
  return ids;
}

/** Returns the live structure of a form. @throws ApiError not_found. */
export const readStructure = async (db: Queryable, form: InvitedForm): Promise<Form> =>
  effectiveForm((await requireForm(db, form)).structure);

/** Returns the problems with a batch's message and options, given the names of reference values. */
export function checkBatchOptions(
  invitation: InvitationBatchOptions,
  referenceNames: ReadonlySet<string>,
): ErrorItem[] {
  const problems: ErrorItem[] = checkMessage(invitation, referenceNames);
  // RFC 3339 allows a leap second, but Date does not: the invalid Date is neither before nor after any time.
  if (invitation.expiresAt && !(invitation.expiresAt > now()))
    problems.push({ field: 'expires_at', message: 'The expiry must be in the future.', code: 'too_small' });
  return problems;
}

/**
 * Creates a batch and its task, under one id.
 * @param queued the job that runs it; undefined if the caller runs it in this transaction.
 * @throws ApiError rate_limit_exceeded.
 */
export async function createInvitationBatch(
  db: Queryable,
  context: Pick<InvitingServices, 'config'>,
  { workspaceId, formId }: InvitedForm,
  invitation: InvitationBatchOptions,
  task: Pick<NewTask, 'by' | 'items' | 'total'>,
  queued: Parameters<typeof createTask>[2],
): Promise<OpenBatch> {
  const id = newId();
  const isMailed = invitation.isMailed && context.config.smtp !== undefined;
  await createTask(db, { workspaceId, id, kind: 'invitations.send', formId, ...task }, queued);
  await insertBatch(db, {
    workspace_id: workspaceId,
    id,
    form_id: formId,
    subject: invitation.subject,
    message: invitation.message,
    reminder_subject: invitation.reminderSubject,
    reminder_message: invitation.reminderMessage,
    remind_after_days: invitation.remindAfterDays,
    is_mailed: isMailed,
    created_by: invitation.createdBy,
    created_at: now(),
    expires_at: invitation.expiresAt,
  });
  // The count is 0 because the new batch is already counted: none of its people is an invitation yet.
  await checkDailyEmailLimits(db, context, { workspaceId, accountId: invitation.createdBy }, 0);
  const { createdBy: created_by, expiresAt: expires_at } = invitation;
  return { id, form_id: formId, is_mailed: isMailed, expires_at, created_by };
}

/**
 * Creates invitations from at most a thousand drafts, with their emails, in the caller's transaction.
 * @returns their ids, in order; undefined for an address that already has an invitation to the form.
 */
export async function addInvitations(
  db: Queryable,
  context: InvitationEmailServices,
  workspaceId: string,
  batch: OpenBatch,
  drafts: readonly InvitationDraft[],
): Promise<(string | undefined)[]> {
  const rows = drafts.map((draft) => rowOf(context, { workspaceId, formId: batch.form_id }, draft));
  const inserted = await insertInvitations(db, {
    workspace_id: workspaceId,
    form_id: batch.form_id,
    batch_id: batch.id,
    rows: JSON.stringify(rows),
    expires_at: batch.expires_at,
    created_at: now(),
  });
  const insertedIds = new Set(inserted.map(({ id }) => id));
  if (batch.is_mailed) {
    const key = { workspace_id: workspaceId, form_id: batch.form_id };
    const mailable = await lockToMail(db, { ...key, ids: [...insertedIds], now: now() });
    const form = { workspaceId, formId: batch.form_id, accountId: batch.created_by };
    await mailInvitations(db, context, form, mailable, 'invitation');
  }
  return rows.map(({ id }) => (insertedIds.has(id) ? id : undefined));
}

function rowOf(
  { vault }: InvitationEmailServices,
  form: InvitedForm,
  { email: given, name, reference, prefill }: InvitationDraft,
) {
  const id = newId();
  // Removes the angle brackets from `<ada@example.org>`.
  const email = readMailAddress(given)?.address ?? given;
  const hash = hashOfToken(signInvitationToken(vault, { ...form, id })).toString('hex');
  return { id, hash, email, address_key: emailKeyOf(email), name, reference, prefill };
}
