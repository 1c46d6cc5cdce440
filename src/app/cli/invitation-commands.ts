import { readFile } from 'node:fs/promises';
import type { InvitationContext, InvitedForm } from '#invitations/context.ts';
import { startImport } from '#invitations/import/start-import.ts';
import { defaultMessage } from '#invitations/message/message.ts';
import { readInvitation, readInvitations } from '#invitations/read-invitations.ts';
import { resendInvitation, revokeOne } from '#invitations/sending/resend.ts';
import { type InvitationStatus, invitationStatuses } from '#invitations/status.ts';
import { readCut } from '#kit/cursor.ts';
import { command, type CommandContext, flag, optional, required } from './command.ts';
import { findPlace, findWorkspace } from './find-place.ts';
import { date, id, text, UsageError, type Value, wholeNumber } from './values.ts';

const status: Value<InvitationStatus> = {
  shows: invitationStatuses.join('|'),
  mustBe: `one of ${invitationStatuses.join(', ')}`,
  read: (given) => invitationStatuses.find((known) => known === given),
};

/** A running server does what is put into its queue. */
const openContext = ({ config, database, vault }: CommandContext): InvitationContext => ({
  database,
  config,
  vault,
  wakeQueue: () => undefined,
});

async function findInvited({ database }: CommandContext, invitation: string): Promise<InvitedForm> {
  const found = await findPlace(database, 'invitation', invitation);
  return { workspaceId: found.workspace_id, formId: found.form_id };
}

export const invitationCommands = [
  command({
    name: 'invitation import',
    summary: 'Invites the people of a CSV file to a form; a running server makes and mails the invitations.',
    options: {
      form: required(id),
      file: required(text('<csv file>')),
      subject: optional(text('<text>')),
      'message-file': optional(text('<text file>')),
      expires: optional(date),
      'no-mail': flag,
    },
    note: 'Columns are used by their headings: the address, "name", ids and labels of questions; all others become reference data.',
    async run(cli, { form, file, subject, expires, 'message-file': messageFile, 'no-mail': noMail }) {
      const workspaceId = await findWorkspace(cli.database, 'form', form);
      const source = { kind: 'csv', text: await readText(file) } as const;
      const message = messageFile === undefined ? defaultMessage.message : await readText(messageFile);
      const invitation = {
        ...defaultMessage,
        subject: subject ?? defaultMessage.subject,
        message,
        expiresAt: expires ?? null,
        isMailed: !noMail,
        createdBy: null,
      };
      const context = openContext(cli);
      const started = await startImport(context, { workspaceId, formId: form }, source, invitation);
      return { batch_id: started.batchId, total: started.total, left_out: started.problems };
    },
  }),
  command({
    name: 'invitation list',
    summary: 'Lists the invitations of a form with their links, newest first, a hundred on a page.',
    options: { form: required(id), status: optional(status), page: optional(wholeNumber) },
    async run(cli, { form, status, page = 1 }) {
      if (page < 1) throw new UsageError('--page must be 1 or more.');
      const workspaceId = await findWorkspace(cli.database, 'form', form);
      const cut = readCut({ page, per_page: 100 });
      const context = openContext(cli);
      const { data } = await readInvitations(context, { workspaceId, formId: form }, { status }, cut);
      return {
        data: data.map(({ id, email, name, status, url, expires_at, submission_id }) => ({
          id,
          email,
          name,
          status,
          url,
          expires_at,
          submission_id,
        })),
      };
    },
  }),
  command({
    name: 'invitation resend',
    summary: 'Mails an invitation again, with the same link; a running server does it.',
    parameters: { id },
    async run(cli, { id }) {
      const place = await findInvited(cli, id);
      await resendInvitation(openContext(cli), place, id);
      return { id };
    },
  }),
  command({
    name: 'invitation revoke',
    summary: 'Makes the link of an invitation lead nowhere.',
    parameters: { id },
    async run(cli, { id }) {
      const place = await findInvited(cli, id);
      const context = openContext(cli);
      await revokeOne(context, place, id);
      const { status } = await readInvitation(context, place, id);
      return { id, status };
    },
  }),
];

/** @throws UsageError for a file that is not there, or is not text in UTF-8. */
async function readText(path: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
  } catch (cause) {
    throw new UsageError(`${path} cannot be read as text in UTF-8.`, { cause });
  }
}
