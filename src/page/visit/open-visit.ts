import type { FastifyRequest } from 'fastify';
import type { LiveForm, LiveForms } from '#forms/live-form.ts';
import { uuidPattern } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import type { Vault } from '#kit/vault.ts';
import { findPlaces } from '#submissions/taken/take.ts';
import { entryParameter, findRefusal, type Refusal } from '../admission.ts';
import { Refused } from './refused.ts';
import { readVisit, type Visit } from './visit.ts';
import { type Arrival, receiveGuest } from '#invitations/admission.ts';
import { invitationParameter } from '#invitations/token.ts';

/** Who came with an invitation's link; undefined when the address carries none. */
async function findArrival(
  { database }: { database: Database },
  live: LiveForm,
  request: FastifyRequest,
): Promise<Arrival | undefined> {
  // Most visitors come without: their address is not taken apart for this.
  if (!request.url.includes(invitationParameter)) return undefined;
  const token = new URL(request.url, 'http://form').searchParams.get(invitationParameter);
  return token === null ? undefined : receiveGuest(database, { formId: live.id, token });
}

export type OpenContext = {
  readonly liveForms: LiveForms;
  readonly database: Database;
  readonly vault: Vault;
};

/** A request below a form's address. */
export type FormRoute = { Params: { id: string } };
export type FormRequest = FastifyRequest<FormRoute>;

/** A request for the address of a link, below a form's. */
export type LinkRequest = FastifyRequest<{ Params: { id: string; token: string } }>;

/**
 * The visit of somebody who may fill in the form now.
 * @param passes reasons to refuse that the caller deals with itself.
 * @throws Refused; ApiError bad_request.
 */
export async function openVisit(
  context: OpenContext,
  request: FormRequest | LinkRequest,
  passes: readonly Refusal['reason'][] = [],
): Promise<Visit> {
  const live = await findLive(context, request.params.id);
  const arrival = live && (await findArrival(context, live, request));
  const refusal = await findRefusal(context, live, request.headers.cookie, {
    arrival,
    entry: entryOf(request),
  });
  const guest = arrival?.kind === 'void' ? undefined : arrival?.guest;
  if (live && (!refusal || passes.includes(refusal.reason)))
    return {
      ...readVisit(live, request, { guest }),
      refusal,
      places: await findPlaces(context.database, live),
    };
  // Of a form that was never published nobody learns that it is there, by its language or its look.
  throw new Refused(refusal!, refusal!.reason === 'absent' ? undefined : live);
}

/** The visit of a form that may be closed by now: to be thanked, or to change what was sent. @throws Refused. */
export async function openKnownForm(
  context: OpenContext,
  request: FormRequest | LinkRequest,
): Promise<Visit> {
  return openVisit(context, request, ['closed', 'early', 'full', 'invited', 'password', 'link', 'used']);
}

/** An id has one spelling from here on: limits, signatures and caches are kept under it. */
function findLive({ liveForms }: OpenContext, id: string): Promise<LiveForm | undefined> {
  return uuidPattern.test(id) ? liveForms.find(id.toLowerCase()) : Promise.resolve(undefined);
}

const entryOf = ({ url }: FormRequest | LinkRequest): string | undefined =>
  url.includes(entryParameter)
    ? (new URL(url, 'http://form').searchParams.get(entryParameter) ?? undefined)
    : undefined;
