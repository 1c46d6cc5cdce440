import type { Guest } from '#invitations/admission.ts';
import { invitationParameter } from '#invitations/token.ts';
import { type Address, writeAddress } from './address.ts';

/** Where saved answers are gone on with; for an invited person with the invitation, which alone may open the form. */
export const resumeAddress = (formId: string, token: string, guest: Guest | undefined): string =>
  `/f/${formId}/resume/${token}${guest ? `?${invitationParameter}=${guest.token}` : ''}`;

/** Where the page after saving asks for its link, as made above with the origin before it, by mail. */
export const resumeMailAddress = (link: string, { own }: Pick<Address, 'own'>): string =>
  writeAddress(`${new URL(link).pathname}/mail`, { reference: {}, prefill: [], own });
