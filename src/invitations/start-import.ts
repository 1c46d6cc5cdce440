import type { Form } from '#ast/form/tree.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Actor } from '#kit/operation.ts';
import type { Job } from '#kit/queue.ts';
import { statement } from '#kit/statement.ts';
import { runInThread } from '#kit/threads/run-in-thread.ts';
import { runTaskStep } from '#tasks/run-tasks.ts';
import type { InvitationServices, InvitedForm, InvitingServices } from './context.ts';
import type { InvitationDraft } from './draft.ts';
import {
  addInvitations,
  checkBatchOptions,
  createInvitationBatch,
  type InvitationBatchOptions,
  readStructure,
} from './invite.ts';
import { unsubscribedHashSql } from './links-file.ts';
import type { InvitationEmailServices } from './mail-invitations.ts';
import {
  type InvitationImportPlan,
  type InvitationImportSource,
  planInvitationImport,
} from './plan-import.ts';

/**
 * Texts up to this many characters are read in the main thread in a few ms; starting a thread takes longer.
 */
const shortText = 20_000;

/** Five million characters, the maximum, stay far below both limits. */
const limits = {
  megabytes: 256,
  ms: 30_000,
  tooMuch: 'Reading the file takes too much time or memory. Import it in parts.',
} as const;

/** Runs planImport; for a long text in a thread, because five million characters take half a second. */
export async function planImportInThread(
  workspaceId: string,
  source: InvitationImportSource,
  form: Form,
): Promise<InvitationImportPlan | string> {
  if (source.text.length <= shortText) return planInvitationImport(source, form);
  const module = new URL('plan-import.ts', import.meta.url);
  const given: Parameters<typeof planInvitationImport> = [source, form];
  return runInThread(workspaceId, { module, name: planInvitationImport.name, given }, limits);
}

/** Returns which of these addresses have unsubscribed from the workspace's emails. */
const selectUnsubscribed = statement('workspace_id address_keys', 'address_key')`
  select given.address_key from unnest($address_keys) as given (address_key)
    join unsubscribed_addresses u
      on u.workspace_id = $workspace_id and u.address_key = ${unsubscribedHashSql('given.address_key')}`;

/** Finds the batch for a step of its import, unless its form is deleted. */
const findBatch = statement('workspace_id id', 'id form_id is_mailed expires_at? created_by?')`
  select b.id, b.form_id, b.is_mailed, b.expires_at, b.created_by
    from invitation_batches b join forms f on f.workspace_id = b.workspace_id and f.id = b.form_id
   where b.workspace_id = $workspace_id and b.id = $id and f.deleted_at is null`;

/** Returns which of these addresses have an invitation to the form that is not revoked. */
const selectInvited = statement('workspace_id form_id address_keys', 'address_key')`
  select address_key from invitations
   where workspace_id = $workspace_id and form_id = $form_id and address_key = any($address_keys)
     and revoked_at is null`;

/** The job that turns the lines of an import into invitations, step by step. */
export const invitationImportJob = 'invitations.import';

/** A line that is not an invitation yet. */
type WaitingDraft = { entry: InvitationDraft };

/** Lines that become invitations and emails in one transaction: about half a second of work. */
const stepSize = 500;

/** The plan of an import, checked against existing invitations and unsubscribed addresses. */
type ImportPreview = InvitationImportPlan & { unsubscribed: number };

/**
 * Plans an import and changes nothing. A person's reference values include all reference columns, with an
 * empty string for a blank cell: the preview of the email needs them.
 * @throws ApiError not_found; validation_error if the whole source cannot be used.
 */
export async function createImportPreview(
  context: Pick<InvitationServices, 'database'>,
  form: InvitedForm,
  source: InvitationImportSource,
): Promise<ImportPreview> {
  const preview = await readImport(context, form, source);
  const blank = Object.fromEntries([...referenceNames(preview)].map((name) => [name, '']));
  const drafts = preview.drafts.map(({ line, draft, key }) => ({
    line,
    key,
    draft: { ...draft, reference: { ...blank, ...draft.reference } },
  }));
  return { ...preview, drafts };
}

/** Returns the names of all reference values in the import. */
const referenceNames = ({ mapping }: InvitationImportPlan): ReadonlySet<string> =>
  new Set(mapping.flatMap((use) => (use.as === 'reference' ? [use.name] : [])));

async function readImport(
  { database }: Pick<InvitationServices, 'database'>,
  form: InvitedForm,
  source: InvitationImportSource,
): Promise<ImportPreview> {
  const plan = await planImportInThread(form.workspaceId, source, await readStructure(database, form));
  if (typeof plan === 'string')
    throw new ApiError('validation_error', plan, { errors: [{ field: 'text', message: plan }] });
  const keys = plan.drafts.map(({ key }) => key);
  const { workspaceId: workspace_id, formId: form_id } = form;
  const existing = await selectInvited(database, { workspace_id, form_id, address_keys: keys });
  const invited = new Set(existing.map(({ address_key }) => address_key));
  const unsubscribed = await selectUnsubscribed(database, { workspace_id, address_keys: keys });
  return {
    ...plan,
    drafts: plan.drafts.filter(({ key }) => !invited.has(key)),
    problems: [
      ...plan.problems,
      ...plan.drafts
        .filter(({ key }) => invited.has(key))
        .map(({ line, draft }) => ({ line, message: `${draft.email} already has an invitation.` })),
    ].toSorted((a, b) => a.line - b.line),
    unsubscribed: unsubscribed.filter(({ address_key }) => !invited.has(address_key)).length,
  };
}

/**
 * Starts an import. Its lines are stored with the job that turns them into invitations, so it continues after
 * a restart. Lines with problems are omitted.
 * @returns the id of its batch, and how many people will be invited.
 * @throws ApiError not_found, validation_error.
 */
export async function enqueueInvitationImport(
  context: InvitingServices,
  form: InvitedForm,
  source: InvitationImportSource,
  invitation: InvitationBatchOptions,
  by: Actor,
): Promise<{ batchId: string; total: number; problems: InvitationImportPlan['problems'] }> {
  const preview = await readImport(context, form, source);
  const { drafts, problems } = preview;
  const errors = checkBatchOptions(invitation, referenceNames(preview));
  if (drafts.length === 0)
    errors.push({
      field: 'text',
      message: 'There is no one to invite. Check the problems in the preview.',
      code: 'too_few',
    });
  if (errors.length > 0) throw new ApiError('validation_error', undefined, { errors });
  const items = drafts.map(({ draft }): WaitingDraft => ({ entry: draft }));
  const queued = { kind: invitationImportJob, lane: `invitations of ${form.formId}` };
  const { id: batchId } = await transaction(context.database, (client) =>
    createInvitationBatch(client, context, form, invitation, { by, items, total: items.length }, queued),
  );
  context.wakeQueue();
  return { batchId, total: drafts.length, problems };
}

/** Runs one step of an import: creates invitations and puts their emails into the outbox. */
export const runInvitationImportStep = (
  context: InvitationEmailServices & { database: Database; wakeQueue: () => void },
  job: Job,
): Promise<void> =>
  runTaskStep<WaitingDraft>(context, job, stepSize, async (client, { items }) => {
    const { workspaceId, id } = job;
    const [batch] = await findBatch(client, { workspace_id: workspaceId, id });
    // There is no batch if the form was deleted in the meantime.
    if (!batch || items.length === 0) return {};
    const drafts = items.map(({ entry }) => entry);
    const added = await addInvitations(client, context, workspaceId, batch, drafts);
    const done = added.filter((one) => one !== undefined).length;
    return { done, refused: drafts.length - done, isWaking: true };
  });
