import { invitationParameter } from '#invitations/token.ts';
import type { Submitted } from '#submissions/submit.ts';
import type { Visit } from '../visit/visit.ts';

/**
 * Where a visitor goes after a submission: to the author's own page, told the receipt, or to the confirmation. The
 * link for editing rides in the confirmation's address, which no other site gets to see (Referrer-Policy).
 */
export function nextAddress(
  { live, address }: Visit,
  { submission, editToken }: { submission: Submitted; editToken?: string },
): string {
  const receipt = submission.id;
  if (live.settings.redirect_url !== undefined) {
    const url = new URL(live.settings.redirect_url);
    url.searchParams.set('receipt', receipt);
    return url.href;
  }
  const query = new URLSearchParams({ receipt, ...(editToken !== undefined && { edit: editToken }) });
  for (const [name, value] of address.own) {
    // The link of an invitation has done its part.
    if (name !== invitationParameter) query.append(name, value);
  }
  return `/f/${live.id}/submitted?${query.toString()}`;
}
