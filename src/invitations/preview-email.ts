import { isLocale } from '#ast/basics/locales.ts';
import { ApiError } from '#kit/errors.ts';
import { requireRow } from '#kit/statement.ts';
import type { InvitationContext, InvitedForm } from './context.ts';
import { findFormNames, type InvitationDraft } from './draft.ts';
import { checkInvitation, type Invitation } from './invite.ts';
import { type InvitationEmail, renderInvitationEmail } from './message.ts';

/**
 * Renders a preview of the email to one person. Its link opens the form without an invitation.
 * @throws ApiError not_found; validation_error with the problems with the message.
 */
export async function previewInvitationEmail(
  { database, config }: Pick<InvitationContext, 'database' | 'config'>,
  { workspaceId, formId }: InvitedForm,
  invitation: Invitation,
  person: InvitationDraft,
): Promise<{ subject: string; letter: InvitationEmail }> {
  const names = requireRow(await findFormNames(database, { workspace_id: workspaceId, form_id: formId }));
  const errors = checkInvitation(invitation, new Set(Object.keys(person.reference)));
  if (errors.length > 0) throw new ApiError('validation_error', undefined, { errors });
  return renderInvitationEmail(
    invitation,
    {
      ...person,
      formName: names.form_name,
      workspaceName: names.workspace_name,
      link: `${config.publicUrl}/f/${formId}`,
      expiresAt: invitation.expiresAt,
      locale: isLocale(names.locale) ? names.locale : 'en',
    },
    'invitation',
  );
}
