import { isLocale } from '#ast/basics/language-tags.ts';
import { readPublicUrl } from '#forms/form-rows.ts';
import { ApiError } from '#kit/errors.ts';
import { requireRow } from '#kit/statement.ts';
import type { InvitationServices, InvitedForm } from './context.ts';
import { findFormAndWorkspaceNames, type InvitationDraft } from './draft.ts';
import { checkBatchOptions, type InvitationBatchOptions } from './invite.ts';
import { type InvitationEmail, renderInvitationEmail } from './message.ts';

/**
 * Renders a preview of the email to one person. Its link opens the form without an invitation.
 * @throws ApiError not_found; validation_error with the problems with the message.
 */
export async function previewInvitationEmail(
  { database, config }: Pick<InvitationServices, 'database' | 'config'>,
  { workspaceId, formId }: InvitedForm,
  invitation: InvitationBatchOptions,
  person: InvitationDraft,
): Promise<{ subject: string; letter: InvitationEmail }> {
  const names = requireRow(
    await findFormAndWorkspaceNames(database, { workspace_id: workspaceId, form_id: formId }),
  );
  const errors = checkBatchOptions(invitation, new Set(Object.keys(person.reference)));
  if (errors.length > 0) throw new ApiError('validation_error', undefined, { errors });
  return renderInvitationEmail(
    invitation,
    {
      ...person,
      formName: names.form_name,
      workspaceName: names.workspace_name,
      link: await readPublicUrl(database, config, { workspaceId, formId }),
      expiresAt: invitation.expiresAt,
      locale: isLocale(names.locale) ? names.locale : 'en',
    },
    'invitation',
  );
}
