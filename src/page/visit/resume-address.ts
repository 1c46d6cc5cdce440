import type { Guest } from '#invitations/admission/guest.ts';
import { invitationParameter } from '#invitations/token.ts';

/** Where saved answers are gone on with; for an invited person with the invitation, which alone may open the form. */
export const resumeAddress = (formId: string, token: string, guest: Guest | undefined): string =>
  `/f/${formId}/resume/${token}${guest ? `?${invitationParameter}=${guest.token}` : ''}`;
