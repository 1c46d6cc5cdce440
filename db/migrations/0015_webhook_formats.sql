-- A webhook without a form receives the events of every form of its workspace. A format renders the body: the standard one, the message
-- of a chat service, or a template. A server of the previous version finds no webhook without a form, and sends the standard body.
alter table webhooks
  alter column form_id drop not null,
  add column format text not null default 'standard' check (format in ('standard', 'slack', 'discord', 'teams', 'telegram', 'template')),
  add column template json;

-- The version before: every webhook has a form, whose workspace exists. A webhook without a form goes with its workspace.
alter table webhooks add constraint webhooks_workspace_id_fkey foreign key (workspace_id) references workspaces (id) on delete cascade;
