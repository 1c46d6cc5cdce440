-- Results of a form that everyone with a link can read (src/search/shares.ts). The link itself is not stored: it is signed.
create table shares (
  workspace_id uuid not null,
  id uuid not null,
  form_id uuid not null,
  title text not null,
  kind text not null check (kind in ('summary', 'table')),
  -- The ids of the questions.
  elements text[] not null,
  expires_at timestamptz,
  password_hash text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
);
create index shares_of_form on shares (workspace_id, form_id);
