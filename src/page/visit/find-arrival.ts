import type { FastifyRequest } from 'fastify';
import type { LiveForm } from '#forms/live-form.ts';
import { type Arrival, receiveGuest } from '#invitations/admission/guest.ts';
import { invitationParameter } from '#invitations/token.ts';
import type { Database } from '#kit/database.ts';

/** Who came with an invitation's link; undefined when the address carries none. */
export async function findArrival(
  { database }: { database: Database },
  live: LiveForm,
  request: FastifyRequest,
): Promise<Arrival | undefined> {
  // Most visitors come without: their address is not taken apart for this.
  if (!request.url.includes(invitationParameter)) return undefined;
  const token = new URL(request.url, 'http://form').searchParams.get(invitationParameter);
  return token === null ? undefined : receiveGuest(database, { formId: live.id, token });
}
