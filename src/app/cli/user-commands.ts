import { cellOfWorkspace } from '#cells/across-cells.ts';
import { transaction } from '#kit/database.ts';
import { noteInWorkspace, notePerson } from '#workspaces/audit/note-person.ts';
import { accountOf, beginEndOfAccount, bringBackAccount } from '#workspaces/endings.ts';
import { inviteByHand } from '#workspaces/member-invitations/invite.ts';
import { addMember } from '#workspaces/members.ts';
import { forgetFactors } from '#workspaces/second-factor/second-factor.ts';
import { createUser, resetUserPassword } from '#workspaces/users.ts';
import { command, optional, required } from './command.ts';
import { role, id, text, UsageError } from './values.ts';

export const userCommands = [
  command({
    name: 'user create',
    summary: 'Makes an account, and a member of a workspace where one is named.',
    options: {
      email: required(text('<address>')),
      password: required(text('<text>')),
      workspace: optional(id),
      role: optional(role),
    },
    async run({ database }, { email, password, workspace, role }) {
      if ((workspace === undefined) !== (role === undefined))
        throw new UsageError('--workspace and --role go together.');
      const cell = workspace === undefined ? database : await cellOfWorkspace(database, workspace);
      return transaction(cell, async (client) => {
        const user = await createUser(client, { email, password, isConfirmed: true });
        if (workspace && role) await addMember(client, { workspaceId: workspace, userId: user.id, role });
        await notePerson(client, { who: { userId: user.id }, operation: 'createUser', by: undefined });
        return user;
      });
    },
  }),
  command({
    name: 'user invite',
    summary: 'Makes a link by which whoever you hand it to joins a workspace, with a new account or theirs.',
    options: { email: required(text('<address>')), workspace: required(id), role: required(role) },
    note: 'The link works once, for 7 days. Give it to nobody but the person who has the address.',
    async run({ database: instance, vault, config }, { email, workspace, role }) {
      const database = await cellOfWorkspace(instance, workspace);
      const link = await inviteByHand({ database, vault, config }, { workspaceId: workspace, email, role });
      const changes = { email: { to: email }, role: { to: role } };
      await noteInWorkspace(database, {
        workspaceId: workspace,
        operation: 'inviteMember',
        by: undefined,
        changes,
      });
      return link;
    },
  }),
  command({
    name: 'user password',
    summary:
      'Gives a person who lost theirs a temporary password, to be changed at the next sign-in, within a day.',
    options: { email: required(text('<address>')) },
    note: 'The password is shown only this once. Every session of the person has ended.',
    async run({ database }, { email }) {
      return transaction(database, async (client) => {
        const { id, temporaryPassword } = await resetUserPassword(client, email);
        await notePerson(client, { who: { userId: id }, operation: 'replacePassword', by: undefined });
        return { id, temporary_password: temporaryPassword };
      });
    },
  }),
  command({
    name: 'user second-factor',
    summary:
      'Takes the second factors from a person who lost them all: the app, passkeys and recovery codes. The password stays.',
    options: { email: required(text('<address>')) },
    note: 'Make sure that it is them who ask. Every session of the person has ended, and they are told by mail.',
    async run({ database }, { email }) {
      const { id, hadAny } = await forgetFactors(database, email);
      return { id, had_any: hadAny };
    },
  }),
  command({
    name: 'user delete',
    summary: 'Signs a person out everywhere, and deletes their account after 7 days.',
    options: { email: required(text('<address>')) },
    note: 'Who signs in until then can come back. What they made in workspaces stays; their API keys end with the account.',
    async run({ database }, { email }) {
      const id = await accountOf(database, email);
      return { id, ends_at: await beginEndOfAccount(database, id, undefined) };
    },
  }),
  command({
    name: 'user restore',
    summary: 'Brings an account back that is being deleted.',
    options: { email: required(text('<address>')) },
    async run({ database }, { email }) {
      const id = await accountOf(database, email);
      await bringBackAccount(database, id, undefined);
      return { id };
    },
  }),
];
