-- Pictures on the public pages of a workspace's forms: logos and covers (settings.theme). They belong to the workspace,
-- so that a copy of a form keeps them.
create table form_images (
  workspace_id  uuid not null references workspaces (id) on delete cascade,
  id            uuid not null,
  content_type  text not null check (content_type in ('image/png', 'image/jpeg', 'image/webp')),
  size          integer not null,
  created_at    timestamptz not null,
  -- When a form's settings last named it, and its upload before that. A day later the sweep may look whether any
  -- still does; naming it again takes the same row lock, so the two cannot miss each other.
  named_at      timestamptz not null,
  -- Set by the sweep: from then on it cannot be named or seen, while its bytes are removed.
  removed_at    timestamptz,
  primary key (workspace_id, id)
);
create index form_images_by_naming on form_images (named_at);
