-- How a form's visits went, as sums and nothing else: no row is of a visit (docs/decisions/0050-visits.md). `kind` says what
-- is counted, `name` of which step, question or span of time; the day is that of the form's time zone.
create table visit_counts (
  workspace_id  uuid not null,
  form_id       uuid not null,
  day           date not null,
  kind          text not null,
  name          text not null,
  count         bigint not null,
  primary key (workspace_id, form_id, day, kind, name),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade
) with (fillfactor = 70);
-- What is too old is found over all workspaces.
create index visit_counts_by_day on visit_counts (day);
