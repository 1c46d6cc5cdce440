import { only, type Queryable, statement } from '#kit/statement.ts';
import type { NewsContext } from '../news-context.ts';
import { reasonOfKeepers, tellKeepers } from './security-notices.ts';

const findWorkspaceName = statement(
  'mail.find_workspace_name',
  'workspace_id',
  'name',
  `select name from workspaces where id = $workspace_id`,
);

/** A workspace that is being deleted: to its owners and admins, with the way back. */
export async function tellWorkspaceEnding(
  context: NewsContext,
  client: Queryable,
  workspaceId: string,
  { endsAt }: { endsAt: string },
): Promise<void> {
  const workspace = only(await findWorkspaceName(client, { workspace_id: workspaceId }));
  if (!workspace || !context.config.smtp) return;
  await tellKeepers(context, client, workspaceId, {
    subject: `${workspace.name} is being deleted`,
    letter: {
      heading: `The workspace “${workspace.name}” is being deleted`,
      blocks: [
        {
          kind: 'text',
          text: `Its forms, submissions and API keys are closed already. On ${endsAt.slice(0, 10)} all of it is gone, with its files. Until then an owner can sign in and bring it back.`,
        },
        { kind: 'button', label: 'Bring it back', url: `${context.config.publicUrl}/app/account` },
      ],
      reason: reasonOfKeepers(workspace.name),
    },
  });
}

/** A workspace that was to be deleted, and stays: to the same. */
export async function tellWorkspaceKept(
  context: NewsContext,
  client: Queryable,
  workspaceId: string,
): Promise<void> {
  const workspace = only(await findWorkspaceName(client, { workspace_id: workspaceId }));
  if (!workspace || !context.config.smtp) return;
  await tellKeepers(context, client, workspaceId, {
    subject: `${workspace.name} stays`,
    letter: {
      heading: `The workspace “${workspace.name}” stays`,
      blocks: [{ kind: 'text', text: 'It is open again, with all that was in it.' }],
      reason: reasonOfKeepers(workspace.name),
    },
  });
}
