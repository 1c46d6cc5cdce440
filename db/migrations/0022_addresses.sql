-- Short addresses of forms (settings.slug), current and former ones: a form keeps them until it is deleted.
create table slug_lookup (
  slug text not null primary key,
  workspace_id uuid not null,
  form_id uuid not null,
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
);
create index slugs_of_form on slug_lookup (workspace_id, form_id);
-- The domains of a workspace. Several workspaces can add the same one, but only one can verify it.
create table domains (
  workspace_id uuid not null references workspaces (id) on delete cascade,
  id uuid not null,
  domain text not null,
  created_at timestamptz not null,
  primary key (workspace_id, id),
  unique (workspace_id, domain)
);
create table domain_lookup (
  domain text not null primary key,
  workspace_id uuid not null,
  domain_id uuid not null,
  verified_at timestamptz not null,
  foreign key (workspace_id, domain_id) references domains (workspace_id, id) on delete cascade
);
create index verified_domains_of_workspace on domain_lookup (workspace_id, domain_id);
