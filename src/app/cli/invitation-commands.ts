import { startImport } from '#invitations/import/start-import.ts';
import { defaultMessage } from '#invitations/message/message.ts';
import { command, flag, optional, required } from './command.ts';
import { findWorkspace } from './find-place.ts';
import { date, id, readTextFile, text } from './values.ts';

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
    async run(
      { config, database, vault },
      { form, file, subject, expires, 'message-file': messageFile, 'no-mail': noMail },
    ) {
      const workspaceId = await findWorkspace(database, 'forms', form);
      const source = { kind: 'csv', text: readTextFile(file) } as const;
      const message = messageFile === undefined ? defaultMessage.message : readTextFile(messageFile);
      const invitation = {
        ...defaultMessage,
        subject: subject ?? defaultMessage.subject,
        message,
        expiresAt: expires ?? null,
        isMailed: !noMail,
        createdBy: null,
      };
      // A running server does what is put into its queue.
      const context = { config, database, vault, wakeQueue: () => undefined };
      const started = await startImport(context, { workspaceId, formId: form }, source, invitation);
      return { batch_id: started.batchId, total: started.total, left_out: started.problems };
    },
  }),
];
