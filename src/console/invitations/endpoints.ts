import { create as contentDisposition } from 'content-disposition';
import { now } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import { readCut } from '#kit/cursor.ts';
import { findFormNames } from '#invitations/queries.ts';
import { linksFile } from '#invitations/links-file.ts';
import { previewLetter } from '#invitations/message/preview-letter.ts';
import { readInvitation, readInvitations } from '#invitations/read-invitations.ts';
import { readInvitationBody } from '#invitations/request.ts';
import { remindUnanswered } from '#invitations/sending/remind.ts';
import { resendInvitation, revokeOne } from '#invitations/sending/resend.ts';
import { isAtLeast, type Role } from '#workspaces/roles.ts';
import { consoleEndpoint, type ConsoleRoute } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import { importConsoleRoutes } from './import-endpoints.ts';
import { overviewEndpoint } from './overview-endpoint.ts';
import {
  InvitationPath,
  type InvitationRow,
  InvitationsPath,
  InvitationsQuery,
  LetterBody,
  ReminderBody,
} from './shapes.ts';

/** Invitations to a form. Viewers may look, without the links; editors invite, remind and revoke. */
export function invitationConsoleRoutes(services: ConsoleServices): readonly ConsoleRoute[] {
  const base = '/workspaces/:workspace/forms/:form/invitations';
  return [
    ['GET', base, listEndpoint(services)],
    ['GET', `${base}/overview`, overviewEndpoint(services)],
    ['GET', `${base}/links`, linksEndpoint(services)],
    ...importConsoleRoutes(services, base),
    ['POST', `${base}/letter`, letterEndpoint(services)],
    ['POST', `${base}/reminders`, remindEndpoint(services)],
    ['POST', `${base}/:invitation/resend`, resendEndpoint(services)],
    ['POST', `${base}/:invitation/revoke`, revokeEndpoint(services)],
  ];
}

const listEndpoint = (services: ConsoleServices) =>
  consoleEndpoint({
    role: 'viewer',
    params: InvitationsPath,
    query: InvitationsQuery,
    async run({ workspaceId, role, params, query }) {
      const form = { workspaceId, formId: params.form };
      const filter = { status: query.status, words: query.q };
      const { data, pagination } = await readInvitations(services, form, filter, readCut(query));
      return { status: 200, body: { data: data.map((row) => forRole(role, row)), pagination } };
    },
  });

/** Whoever has a link can answer in the name of the person: that is not for viewers. */
const forRole = <Row extends { url: string }>(
  role: Role,
  row: Row,
): Omit<Row, 'url'> & Pick<InvitationRow, 'url'> => ({
  ...row,
  url: isAtLeast(role, 'editor') ? row.url : null,
});

const linksEndpoint = (services: ConsoleServices) =>
  consoleEndpoint({
    role: 'editor',
    params: InvitationsPath,
    async run({ workspaceId, params }) {
      const key = { workspace_id: workspaceId, form_id: params.form };
      const [names] = await findFormNames(services.database, key);
      if (!names) throw new ApiError('not_found');
      const day = now().toISOString().slice(0, 10);
      const name = `${names.form_name.slice(0, 80).toWellFormed()} links ${day}.csv`;
      return {
        status: 200,
        headers: {
          'Content-Type': 'text/csv; charset=utf-8',
          'Content-Disposition': contentDisposition(name),
        },
        stream: linksFile(services, { workspaceId, formId: params.form }),
      };
    },
  });

/** What the mail to one person would say. */
const letterEndpoint = (services: ConsoleServices) =>
  consoleEndpoint({
    role: 'editor',
    params: InvitationsPath,
    body: LetterBody,
    async run({ workspaceId, params, body: { email, name, reference, ...message } }) {
      const form = { workspaceId, formId: params.form };
      const person = { email, name, reference, prefill: {} };
      const body = await previewLetter(services, form, readInvitationBody(message, null), person);
      return { status: 200, body };
    },
  });

const remindEndpoint = (services: ConsoleServices) =>
  consoleEndpoint({
    role: 'editor',
    params: InvitationsPath,
    body: ReminderBody,
    async run({ workspaceId, params, body }) {
      const form = { workspaceId, formId: params.form };
      return { status: 200, body: { count: await remindUnanswered(services, form, body.ids ?? null) } };
    },
  });

const resendEndpoint = (services: ConsoleServices) =>
  consoleEndpoint({
    role: 'editor',
    params: InvitationPath,
    async run({ workspaceId, params }) {
      const form = { workspaceId, formId: params.form };
      await resendInvitation(services, form, params.invitation);
      return { status: 200, body: await readInvitation(services, form, params.invitation) };
    },
  });

const revokeEndpoint = (services: ConsoleServices) =>
  consoleEndpoint({
    role: 'editor',
    params: InvitationPath,
    async run({ workspaceId, params }) {
      const form = { workspaceId, formId: params.form };
      await revokeOne(services, form, params.invitation);
      return { status: 200, body: await readInvitation(services, form, params.invitation) };
    },
  });
