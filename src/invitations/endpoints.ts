import { Type } from 'typebox';
import { sayNumber } from '#ast/say-number.ts';
import { attachment } from '#kit/attachment.ts';
import { now } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import { wired } from '#kit/http.ts';
import { idParameter, operation, type Scope } from '#kit/operation.ts';
import { listOf, listParameters, readCut } from '#kit/pagination.ts';
import { requireRow } from '#kit/statement.ts';
import { personBehind, requireReach } from '#workspaces/authenticate.ts';
import type { InvitingContext } from './context.ts';
import { findFormNames, invitationStatuses } from './draft.ts';
import { importEndpoints } from './import/endpoints.ts';
import { invite, mostInvited } from './invite.ts';
import { linksFile } from './links-file.ts';
import { previewLetter } from './message/preview-letter.ts';
import { forReader } from './present.ts';
import { readInvitation, readInvitations, readNamed } from './read-invitations.ts';
import { readOverview } from './read-overview.ts';
import { remindUnanswered, resendInvitation, revokeOne } from './sending/remind.ts';
import {
  closed,
  InvitationShape,
  InvitationsOverview,
  InviteBody,
  LetterBody,
  LetterPreview,
  one,
  oneParameters,
  readInvitationBody,
  uuid,
} from './shapes.ts';

/** Invitations to a form (docs/decisions/0020-invitations.md). */
export function invitationEndpoints(
  context: InvitingContext & { readonly config: Pick<Config, 'mailPerMinute'> },
) {
  /** The account whose limits count what a caller sends: what a key sends counts for who made the key. */
  const accountOf = async (caller: Pick<Scope, 'workspaceId' | 'actor'>): Promise<string | null> =>
    (await personBehind(context.database, caller))?.id ?? null;

  /** Does something with one invitation and answers with what it has become. */
  const change = (summary: string, description: string, act: typeof resendInvitation) =>
    operation({
      summary,
      description,
      errors: ['conflict'],
      permission: 'invitations:write',
      audit: 'entry',
      params: oneParameters,
      reply: one,
      async run({ workspaceId, formIds, params, actor }) {
        requireReach(formIds, params.id);
        const form = { workspaceId, formId: params.id, accountId: await accountOf({ workspaceId, actor }) };
        await act(context, form, params.invitation);
        return { body: wired(await readInvitation(context, form, params.invitation)) };
      },
    });

  return {
    listInvitations: operation({
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
      async run({ workspaceId, formIds, params, query, ...scope }) {
        requireReach(formIds, params.id);
        const filter = { status: query.status, words: query.q };
        const cut = readCut(query, 'invitations', params.id);
        const form = { workspaceId, formId: params.id };
        const { data, ...ends } = await readInvitations(context, form, filter, cut);
        return { body: wired({ data: data.map((row) => forReader(scope, row)), ...ends }) };
      },
    }),

    createInvitations: operation({
      summary: 'Create invitations of a form',
      description: `Up to ${sayNumber(mostInvited)} at once, all or none. An address that has an invitation already is left out, and named in \`skipped\`.`,
      permission: 'invitations:write',
      audit: 'entry',
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
        const ids = await invite(
          context,
          form,
          drafts,
          readInvitationBody(body, await accountOf({ workspaceId, actor })),
          actor,
        );
        const made = ids.filter((id) => id !== undefined);
        const data = await readNamed(context, form, made);
        const skipped = ids.flatMap((id, index) =>
          id === undefined ? [{ index, email: drafts[index]!.email }] : [],
        );
        return { body: wired({ data, skipped }) };
      },
    }),

    getInvitation: operation({
      summary: 'Get invitation',
      permission: 'invitations:read',
      params: oneParameters,
      reply: one,
      async run({ workspaceId, formIds, params, ...scope }) {
        requireReach(formIds, params.id);
        const form = { workspaceId, formId: params.id };
        return { body: wired(forReader(scope, await readInvitation(context, form, params.invitation))) };
      },
    }),

    getInvitationsOverview: operation({
      summary: 'Get overview of invitations',
      description:
        'How many there are in each status, how far the last imports are, and what inviting begins with: what was said last, and the questions that an import can fill in.',
      permission: 'invitations:read',
      command: 'invitations overview',
      params: idParameter,
      reply: { status: 200, description: 'The overview.', schema: InvitationsOverview },
      async run({ workspaceId, formIds, params }) {
        requireReach(formIds, params.id);
        return { body: await readOverview(context, { workspaceId, formId: params.id }) };
      },
    }),

    exportInvitations: operation({
      summary: 'Export invitations of a form',
      description:
        'As CSV with the personal links, newest first, for whoever mails with another program. Links that lead nowhere any more are left out.',
      // The links let their holder answer in a person's name.
      permission: 'invitations:write',
      audit: 'entry',
      params: idParameter,
      reply: { status: 200, description: 'The file.', content: ['text/csv; charset=utf-8'] },
      async run({ workspaceId, formIds, params }) {
        requireReach(formIds, params.id);
        const key = { workspace_id: workspaceId, form_id: params.id };
        const names = requireRow(await findFormNames(context.database, key));
        const day = now().toISOString().slice(0, 10);
        return {
          headers: {
            'Content-Type': 'text/csv; charset=utf-8',
            ...attachment(names.form_name, ` links ${day}.csv`),
          },
          stream: linksFile(context, { workspaceId, formId: params.id }),
        };
      },
    }),

    previewInvitationMail: operation({
      summary: 'Preview mail of an invitation',
      description: 'What the mail to one person would say. Invites nobody.',
      permission: 'invitations:read',
      audit: { none: 'It changes nothing.' },
      command: 'invitations preview-mail',
      params: idParameter,
      body: LetterBody,
      example: {
        body: { email: 'ada@example.org', name: 'Ada', reference: {}, subject: 'For {{name|you}}' },
      },
      reply: { status: 200, description: 'The mail.', schema: LetterPreview },
      async run({ workspaceId, formIds, params, body: { email, name, reference, ...message } }) {
        requireReach(formIds, params.id);
        const person = { email, name, reference, prefill: {} };
        const form = { workspaceId, formId: params.id };
        return { body: await previewLetter(context, form, readInvitationBody(message, null), person) };
      },
    }),

    ...importEndpoints(context),

    resendInvitation: change(
      'Resend invitation',
      'Mails it again, with the same link. 409: it was answered or revoked, its time is over, its address asked for no mails, or the service sends none.',
      resendInvitation,
    ),

    revokeInvitation: change(
      'Revoke invitation',
      'Its link leads nowhere from now on. The address can be invited anew. 409: it was answered.',
      revokeOne,
    ),

    remindInvitations: operation({
      summary: 'Remind of invitations',
      description:
        'Mails those who got an invitation and did not answer: the named, or all of the form. People who got a mail within the hour are left out. 409 if the service sends no mail; 429 if the reminders would exceed the limit of a day: then nobody is reminded.',
      errors: ['conflict'],
      permission: 'invitations:write',
      audit: 'entry',
      params: idParameter,
      example: { body: {} },
      body: Type.Object(
        { ids: Type.Optional(Type.Array(uuid, { minItems: 1, maxItems: mostInvited, uniqueItems: true })) },
        closed,
      ),
      reply: { status: 200, description: 'How many.', schema: Type.Object({ count: Type.Integer() }) },
      async run({ workspaceId, formIds, params, body, actor }) {
        requireReach(formIds, params.id);
        const form = { workspaceId, formId: params.id, accountId: await accountOf({ workspaceId, actor }) };
        return { body: { count: await remindUnanswered(context, form, body.ids ?? null) } };
      },
    }),
  };
}
