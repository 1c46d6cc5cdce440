import type { Settings } from '#ast/settings.ts';
import { invitationParameter } from '#invitations/token.ts';
import type { Submitted } from '#submissions/submit.ts';
import { type Told, toldParameter } from '../told-answers.ts';
import type { Visit } from '../visit/visit.ts';

/** A submission that was taken, and what its visitor may change it with. */
export type Taken = { readonly submission: Submitted; readonly editToken?: string };
type Next = Pick<Told, 'settings' | 'token'>;

/** Where a visitor goes after a submission: to the author's own page, told the receipt, or to the confirmation. */
export function nextAddress(visit: Visit, taken: Taken, next: Next): string {
  return redirectOf(next.settings, taken.submission.id) ?? confirmationAddress(visit, taken, next);
}

/**
 * Where the browser of a page goes after it posted. The author's own page is not meant for the frame of another one:
 * there the confirmation leads out of it.
 */
export function nextPage(visit: Visit, taken: Taken, next: Next): string {
  return visit.look.isEmbedded ? confirmationAddress(visit, taken, next) : nextAddress(visit, taken, next);
}

/** Every page of the author's own that a submission may lead to. */
export const redirectsOf = ({ redirect_url, confirmations = [] }: Settings): string[] =>
  [redirect_url, ...confirmations.map((each) => each.redirect_url)].filter(
    (address) => address !== undefined,
  );

/** The author's own page, told the receipt; undefined where the form has none. */
export function redirectOf({ redirect_url }: Settings, receipt: string): string | undefined {
  if (redirect_url === undefined) return undefined;
  const url = new URL(redirect_url);
  url.searchParams.set('receipt', receipt);
  return url.href;
}

/** Where the visitor may change the answers, below this service; undefined where the form does not allow it. */
export const editAddress = ({ live }: Visit, { editToken }: Taken): string | undefined =>
  editToken === undefined ? undefined : `/f/${live.id}/edit/${editToken}`;

/** The link for editing rides in the confirmation's address, which no other site gets to see (Referrer-Policy). */
function confirmationAddress(
  { live, address }: Visit,
  { submission, editToken }: Taken,
  { token }: Next,
): string {
  const receipt = submission.id;
  const query = new URLSearchParams({ receipt, ...(editToken !== undefined && { edit: editToken }) });
  for (const [name, value] of address.own) {
    // The link of an invitation has done its part.
    if (name !== invitationParameter) query.append(name, value);
  }
  if (token !== undefined) query.set(toldParameter, token);
  return `/f/${live.id}/submitted?${query.toString()}`;
}
