import { Type } from 'typebox';
import { formatWholeNumber } from '#ast/basics/format-number.ts';
import { now } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import { asWireValue, attachmentHeader } from '#kit/http.ts';
import { idParameter, operation, type RequestScope } from '#kit/operation.ts';
import { listParameters, listSchemaOf, readPageRequest } from '#kit/pagination.ts';
import { requireRow } from '#kit/statement.ts';
import { strictObject, uuidSchema } from '#kit/validation.ts';
import { findResponsiblePerson } from '#workspaces/authenticate.ts';
import type { InvitingServices } from './context.ts';
import { findFormAndWorkspaceNames, invitationStatuses } from './draft.ts';
import { importEndpoints } from './import-endpoints.ts';
import { invitePeople, mostInvited } from './invite.ts';
import { linksFile } from './links-file.ts';
import { presentInvitationForCaller } from './present.ts';
import { previewInvitationEmail } from './preview-email.ts';
import { readInvitation, readInvitations, readInvitationsById } from './read-invitations.ts';
import { readInvitationsOverview } from './read-overview.ts';
import { remindUnanswered, resendInvitation, revokeFormInvitation } from './remind.ts';
import {
  EmailPreview,
  EmailPreviewBody,
  InvitationShape,
  InvitationsOverview,
  InviteBody,
  invitationParameters,
  invitationReply,
  readInvitationBody,
} from './shapes.ts';

/** Invitations to a form (docs/decisions/0020-invitations.md). */
export function invitationEndpoints(
  context: InvitingServices & { readonly config: Pick<Config, 'mailPerMinute'> },
) {
  /** Returns the account whose limits apply to a caller: for an API key, the account that created it. */
  const accountOf = async (caller: Pick<RequestScope, 'workspaceId' | 'actor'>): Promise<string | null> =>
    (await findResponsiblePerson(context.database, caller))?.id ?? null;

  /** Declares an operation that changes one invitation and returns it. */
  const change = (summary: string, description: string, act: typeof resendInvitation) =>
    operation({
      summary,
      description,
      errors: ['conflict'],
      permission: 'invitations:write',
      audit: 'entry',
      params: invitationParameters,
      reply: invitationReply,
      async run({ workspaceId, params, actor }) {
        const form = { workspaceId, formId: params.id, accountId: await accountOf({ workspaceId, actor }) };
        await act(context, form, params.invitation);
        return { body: asWireValue(await readInvitation(context, form, params.invitation)) };
      },
    });

  return {
    listInvitations: operation({
      summary: 'List invitations to a form',
      description: 'Newest first.',
      permission: 'invitations:read',
      params: idParameter,
      query: strictObject({
        ...listParameters,
        status: Type.Optional(Type.Enum([...invitationStatuses])),
        q: Type.Optional(
          Type.String({ minLength: 1, maxLength: 254, description: 'Part of the email address or name.' }),
        ),
      }),
      reply: { status: 200, description: 'A page of invitations.', schema: listSchemaOf(InvitationShape) },
      async run({ workspaceId, params, query, ...scope }) {
        const filter = { status: query.status, words: query.q };
        const cut = readPageRequest(query, 'invitations', params.id);
        const form = { workspaceId, formId: params.id };
        const { data, ...ends } = await readInvitations(context, form, filter, cut);
        return {
          body: asWireValue({ data: data.map((row) => presentInvitationForCaller(scope, row)), ...ends }),
        };
      },
    }),

    createInvitations: operation({
      summary: 'Create invitations to a form',
      description: `Invites up to ${formatWholeNumber(mostInvited)} people, all or none. Addresses that already have an invitation are omitted and listed in \`skipped\`.`,
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
      async run({ workspaceId, params, body, actor }) {
        const form = { workspaceId, formId: params.id };
        const drafts = body.invitations.map(({ email, name = '', reference = {}, prefill = {} }) => ({
          email: email.trim(),
          name: name.trim(),
          reference,
          prefill,
        }));
        const ids = await invitePeople(
          context,
          form,
          drafts,
          readInvitationBody(body, await accountOf({ workspaceId, actor })),
          actor,
        );
        const created = ids.filter((id) => id !== undefined);
        const data = await readInvitationsById(context, form, created);
        const skipped = ids.flatMap((id, index) =>
          id === undefined ? [{ index, email: drafts[index]!.email }] : [],
        );
        return { body: asWireValue({ data, skipped }) };
      },
    }),

    getInvitation: operation({
      summary: 'Get invitation',
      permission: 'invitations:read',
      params: invitationParameters,
      reply: invitationReply,
      async run({ workspaceId, params, ...scope }) {
        const form = { workspaceId, formId: params.id };
        return {
          body: asWireValue(
            presentInvitationForCaller(scope, await readInvitation(context, form, params.invitation)),
          ),
        };
      },
    }),

    getInvitationsOverview: operation({
      summary: 'Get invitation overview',
      description:
        'Returns the number of invitations in each status, the progress of the last imports, the last message, and the questions that an import can prefill.',
      permission: 'invitations:read',
      command: 'invitations overview',
      params: idParameter,
      reply: { status: 200, description: 'The overview.', schema: InvitationsOverview },
      async run({ workspaceId, params }) {
        return { body: await readInvitationsOverview(context, { workspaceId, formId: params.id }) };
      },
    }),

    exportInvitations: operation({
      summary: 'Export invitations to a form',
      description:
        'Returns a CSV file with the personal links, newest first, for sending with another program. Links that no longer work are omitted.',
      // A caller who has the link can answer in the invited person's name.
      permission: 'invitations:write',
      audit: 'entry',
      params: idParameter,
      reply: { status: 200, description: 'The file.', content: ['text/csv; charset=utf-8'] },
      async run({ workspaceId, params }) {
        const key = { workspace_id: workspaceId, form_id: params.id };
        const names = requireRow(await findFormAndWorkspaceNames(context.database, key));
        const day = now().toISOString().slice(0, 10);
        return {
          headers: {
            'Content-Type': 'text/csv; charset=utf-8',
            ...attachmentHeader(names.form_name, ` links ${day}.csv`),
          },
          stream: linksFile(context, { workspaceId, formId: params.id }),
        };
      },
    }),

    previewInvitationMail: operation({
      summary: 'Preview invitation email',
      description: 'Returns the email for one person. Sends nothing.',
      permission: 'invitations:read',
      audit: { none: 'It changes nothing.' },
      command: 'invitations preview-mail',
      params: idParameter,
      body: EmailPreviewBody,
      example: {
        body: { email: 'ada@example.org', name: 'Ada', reference: {}, subject: 'For {{name|you}}' },
      },
      reply: { status: 200, description: 'The email.', schema: EmailPreview },
      async run({ workspaceId, params, body: { email, name, reference, ...message } }) {
        const person = { email, name, reference, prefill: {} };
        const form = { workspaceId, formId: params.id };
        return {
          body: await previewInvitationEmail(context, form, readInvitationBody(message, null), person),
        };
      },
    }),

    ...importEndpoints(context),

    resendInvitation: change(
      'Resend invitation',
      'Sends the email again with the current link. 409 if the invitation was answered or revoked or has expired, if its address has unsubscribed, or if the server sends no email.',
      resendInvitation,
    ),

    revokeInvitation: change(
      'Revoke invitation',
      'Disables the link. The address can be invited again. 409 if the invitation was answered.',
      revokeFormInvitation,
    ),

    remindInvitations: operation({
      summary: 'Send invitation reminders',
      description:
        'Emails people who were invited and have not answered: those in `ids`, or all people invited to the form. People who got an email within the last hour are omitted. 409 if the server sends no email. 429 if the reminders would exceed the daily limit; in that case, none are sent.',
      errors: ['conflict'],
      permission: 'invitations:write',
      audit: 'entry',
      params: idParameter,
      example: { body: {} },
      body: strictObject({
        ids: Type.Optional(Type.Array(uuidSchema, { minItems: 1, maxItems: mostInvited, uniqueItems: true })),
      }),
      reply: {
        status: 200,
        description: 'The number of reminders.',
        schema: Type.Object({ count: Type.Integer() }),
      },
      async run({ workspaceId, params, body, actor }) {
        const form = { workspaceId, formId: params.id, accountId: await accountOf({ workspaceId, actor }) };
        return { body: { count: await remindUnanswered(context, form, body.ids ?? null) } };
      },
    }),
  };
}
