import { Type } from 'typebox';
import { listOf, listParameters, readCut } from '#kit/cursor.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { wired } from '#kit/wire.ts';
import { personOf } from '#workspaces/actor.ts';
import { requireReach } from '#workspaces/reach.ts';
import type { InvitingContext } from './context.ts';
import { invite, mostInvited } from './invite.ts';
import { InvitationShape } from './invitation-shape.ts';
import { readInvitation, readInvitations, readNamed } from './read-invitations.ts';
import { closed, InviteBody, one, oneParameters, readInvitationBody, uuid } from './request.ts';
import { remindUnanswered } from './sending/remind.ts';
import { resendInvitation, revokeOne } from './sending/resend.ts';
import { invitationStatuses } from './status.ts';

/** Invitations to a form (docs/decisions/0020-invitations.md). */
export function invitationEndpoints(context: InvitingContext) {
  /** Does something with one invitation and answers with what it has become. */
  const change = (summary: string, description: string, act: typeof resendInvitation) =>
    operation({
      summary,
      description,
      errors: ['conflict'],
      permission: 'invitations:write',
      params: oneParameters,
      reply: one,
      async run({ workspaceId, formIds, params }) {
        requireReach(formIds, params.id);
        const form = { workspaceId, formId: params.id };
        await act(context, form, params.invitation);
        return { body: wired(await readInvitation(context, form, params.invitation)) };
      },
    });

  return {
    list: operation({
      summary: 'List invitations of a form',
      description: 'Newest first.',
      permission: 'invitations:read',
      params: idParameter,
      query: Type.Object(
        {
          ...listParameters,
          status: Type.Optional(Type.Enum([...invitationStatuses])),
          q: Type.Optional(
            Type.String({ minLength: 1, maxLength: 254, description: 'A part of the address or the name.' }),
          ),
        },
        closed,
      ),
      reply: {
        status: 200,
        description: 'A page of invitations.',
        schema: listOf(InvitationShape),
      },
      async run({ workspaceId, formIds, params, query }) {
        requireReach(formIds, params.id);
        const filter = { status: query.status, words: query.q };
        const cut = readCut(query, 'invitations', params.id);
        const form = { workspaceId, formId: params.id };
        return { body: wired(await readInvitations(context, form, filter, cut)) };
      },
    }),

    create: operation({
      summary: 'Create invitations of a form',
      description: `Up to ${mostInvited.toLocaleString('en')} at once, all or none. An address that has an invitation already is left out, and named in \`skipped\`.`,
      permission: 'invitations:write',
      params: idParameter,
      body: InviteBody,
      example: {
        body: { invitations: [{ email: 'ada@example.org', name: 'Ada', reference: { customer: '17' } }] },
      },
      reply: {
        status: 201,
        description: 'The new invitations, in the order of the request.',
        schema: Type.Object({
          data: Type.Array(InvitationShape),
          skipped: Type.Array(Type.Object({ index: Type.Integer(), email: Type.String() })),
        }),
      },
      async run({ workspaceId, formIds, params, body, actor }) {
        requireReach(formIds, params.id);
        const form = { workspaceId, formId: params.id };
        const drafts = body.invitations.map(({ email, name = '', reference = {}, prefill = {} }) => ({
          email: email.trim(),
          name: name.trim(),
          reference,
          prefill,
        }));
        const ids = await invite(context, form, drafts, readInvitationBody(body, personOf(actor)));
        const made = ids.filter((id) => id !== undefined);
        const data = await readNamed(context, form, made);
        const skipped = ids.flatMap((id, index) =>
          id === undefined ? [{ index, email: drafts[index]!.email }] : [],
        );
        return { body: wired({ data, skipped }) };
      },
    }),

    get: operation({
      summary: 'Get invitation',
      permission: 'invitations:read',
      params: oneParameters,
      reply: one,
      async run({ workspaceId, formIds, params }) {
        requireReach(formIds, params.id);
        const form = { workspaceId, formId: params.id };
        return { body: wired(await readInvitation(context, form, params.invitation)) };
      },
    }),

    resend: change(
      'Resend invitation',
      'Mails it again, with the same link. 409: it was answered or revoked, its time is over, its address asked for no mails, or the service sends none.',
      resendInvitation,
    ),

    revoke: change(
      'Revoke invitation',
      'Its link leads nowhere from now on. The address can be invited anew. 409: it was answered.',
      revokeOne,
    ),

    remind: operation({
      summary: 'Remind of invitations',
      description:
        'Mails those who got an invitation and did not answer: the named, or all of the form. Whoever got a mail within the hour is let alone. 409: the service sends no mails.',
      errors: ['conflict'],
      permission: 'invitations:write',
      params: idParameter,
      example: { body: {} },
      body: Type.Object(
        { ids: Type.Optional(Type.Array(uuid, { minItems: 1, maxItems: mostInvited, uniqueItems: true })) },
        closed,
      ),
      reply: { status: 200, description: 'How many.', schema: Type.Object({ count: Type.Integer() }) },
      async run({ workspaceId, formIds, params, body }) {
        requireReach(formIds, params.id);
        const form = { workspaceId, formId: params.id };
        return { body: { count: await remindUnanswered(context, form, body.ids ?? null) } };
      },
    }),
  };
}
