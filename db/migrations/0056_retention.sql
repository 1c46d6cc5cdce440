-- For how long a workspace keeps what, and each of its forms where it says otherwise: days, or "forever", by the kinds of
-- src/workspaces/retention/rules.ts. What is left out is the default.
alter table workspaces add column retention jsonb not null default '{}';
alter table forms add column retention jsonb not null default '{}';
