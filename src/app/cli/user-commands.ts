import { transaction } from '#kit/database.ts';
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
      // Loaded here: no other command hashes a password (40 ms).
      const { createUser } = await import('#workspaces/users.ts');
      const { addMember } = await import('#workspaces/members.ts');
      return transaction(database, async (client) => {
        const user = await createUser(client, { email, password });
        if (workspace && role) await addMember(client, { workspaceId: workspace, userId: user.id, role });
        return user;
      });
    },
  }),
];
