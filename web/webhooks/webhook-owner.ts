import type { Role } from '#workspaces/shapes.ts';
import { useWorkspace } from '../settings/workspace.ts';

/** What webhooks belong to: a form, or the whole workspace if `id` is null. */
export type WebhookOwner = { workspace_id: string; id: string | null; role: Role };

export function useWorkspaceOwner(): WebhookOwner {
  const { id, role } = useWorkspace();
  return { workspace_id: id, id: null, role };
}

/** Returns the address of a webhook's page. */
export const webhookAddress = ({ workspace_id, id }: WebhookOwner, webhook: string) =>
  id === null
    ? ({
        to: '/w/$workspace/settings/webhooks/$webhook',
        params: { workspace: workspace_id, webhook },
      } as const)
    : ({ to: '/forms/$form/webhooks/$webhook', params: { form: id, webhook } } as const);

/** Returns the address of the list of webhooks. */
export const webhooksAddress = ({ workspace_id, id }: WebhookOwner) =>
  id === null
    ? ({ to: '/w/$workspace/settings/webhooks', params: { workspace: workspace_id } } as const)
    : ({ to: '/forms/$form/webhooks', params: { form: id } } as const);
