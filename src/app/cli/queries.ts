import { nullable, statement, text, texts, timestamp, uuid, uuids } from '#kit/statement.ts';

// An id on the command line comes without its workspace, and the operator may see all of them.

export const findWorkspaceOfKey = statement(
  'cli.find_workspace_of_key',
  { id: uuid },
  { workspace_id: uuid },
  `/* operator: across workspaces */
   select workspace_id from api_keys where id = $id`,
);

export const findWorkspaceOfForm = statement(
  'cli.find_workspace_of_form',
  { id: uuid },
  { workspace_id: uuid },
  `/* operator: across workspaces */
   select workspace_id from form_lookup where form_id = $id`,
);

export const findWorkspaceOfWebhook = statement(
  'cli.find_workspace_of_webhook',
  { id: uuid },
  { workspace_id: uuid },
  `/* operator: across workspaces */
   select workspace_id from webhooks where id = $id`,
);

export const findFormOfWebhook = statement(
  'cli.find_form_of_webhook',
  { id: uuid },
  { form_id: uuid },
  `/* operator: across workspaces */
   select form_id from webhooks where id = $id`,
);

export const findWorkspaceOfDelivery = statement(
  'cli.find_workspace_of_delivery',
  { id: uuid },
  { workspace_id: uuid },
  `/* operator: across workspaces */
   select workspace_id from deliveries where id = $id`,
);

export const findWebhookOfDelivery = statement(
  'cli.find_webhook_of_delivery',
  { id: uuid },
  { workspace_id: uuid, webhook_id: uuid },
  `/* operator: across workspaces */
   select workspace_id, webhook_id from deliveries where id = $id`,
);

export const findFormOfInvitation = statement(
  'cli.find_form_of_invitation',
  { id: uuid },
  { workspace_id: uuid, form_id: uuid },
  `/* operator: across workspaces */
   select workspace_id, form_id from invitations where id = $id`,
);

export const findWorkspaceOfReplay = statement(
  'cli.find_workspace_of_replay',
  { id: uuid },
  { workspace_id: uuid },
  `/* operator: across workspaces */
   select workspace_id from replays where id = $id`,
);

/** Newest first. */
export const selectAllKeys = statement(
  'cli.select_all_keys',
  {},
  {
    id: uuid,
    workspace_id: uuid,
    name: text,
    prefix: text,
    permissions: nullable(texts),
    form_ids: nullable(uuids),
    created_at: timestamp,
    expires_at: nullable(timestamp),
    revoked_at: nullable(timestamp),
    last_used_at: nullable(timestamp),
  },
  `/* operator: across workspaces */
   select id, workspace_id, name, prefix, permissions, form_ids, created_at, expires_at, revoked_at, last_used_at
     from api_keys
    order by id desc`,
);
