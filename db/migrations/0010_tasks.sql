-- Tasks: long work with progress, of every kind (docs/decisions/0108-tasks.md). The kinds are in src/tasks/shapes.ts.
create table tasks (
  workspace_id  uuid not null references workspaces (id) on delete cascade,
  -- Also the id of its job.
  id            uuid not null,
  kind          text not null,
  -- The task is deleted with this form.
  form_id       uuid,
  -- What else it is about: the bulk change that an undo reverts.
  subject_id    uuid,
  requested_by  text references users (id) on delete set null,
  api_key_id    uuid,
  through       text not null check (through in ('console', 'api', 'cli')),
  input         jsonb not null default '{}',
  -- Sealed input. Null after the end.
  secret        bytea,
  total         integer not null,
  done          integer not null default 0,
  refused       integer not null default 0,
  -- The first lines that were left out: {"line", "message"}.
  problems      jsonb not null default '[]',
  result        jsonb not null default '{}',
  created_at    timestamptz not null,
  cancelled_at  timestamptz,
  finished_at   timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade,
  foreign key (workspace_id, api_key_id) references api_keys (workspace_id, id) on delete set null (api_key_id)
);
create index tasks_of_form on tasks (workspace_id, form_id, id desc) where form_id is not null;
-- A bulk change is undone once.
create unique index tasks_undone on tasks (workspace_id, subject_id) where kind = 'submissions.undo';

-- What is left to do. A step deletes the items that it does.
create table task_items (
  workspace_id  uuid not null,
  task_id       uuid not null,
  position      integer not null,
  item          jsonb not null,
  primary key (workspace_id, task_id, position),
  foreign key (workspace_id, task_id) references tasks (workspace_id, id) on delete cascade
);

insert into tasks (workspace_id, id, kind, form_id, subject_id, requested_by, api_key_id, through, input, total, done,
                   created_at, finished_at)
select b.workspace_id, b.id, 'submissions.' || b.kind, b.form_id, b.undoes, b.requested_by, b.api_key_id, b.through,
       jsonb_strip_nulls(jsonb_build_object('added', b.tags_added, 'removed', b.tags_removed, 'status', b.status,
                                            'undone', undone.kind)),
       b.total, b.done, b.created_at, b.finished_at
  from bulk_changes b
  left join bulk_changes undone on undone.workspace_id = b.workspace_id and undone.id = b.undoes;
-- Fifty in one item: no step of any kind takes fewer.
insert into task_items (workspace_id, task_id, position, item)
select workspace_id, bulk_id, batch, jsonb_build_object('ids', jsonb_agg(submission_id order by submission_id))
  from (select workspace_id, bulk_id, submission_id,
               (row_number() over (partition by workspace_id, bulk_id order by submission_id) - 1) / 50 as batch
          from bulk_items) item
 group by workspace_id, bulk_id, batch;
-- The version before: loses its lease, and fails at what it claims again until it is renewed.
update jobs set id = (payload ->> 'bulk_id')::uuid, payload = payload - 'bulk_id' - 'form_id' - 'at_once', lease_token = null
 where kind = 'submissions.bulk';
-- The version before: refuses bulk changes until it is renewed.
drop table bulk_items;
-- The version before: see above.
drop table bulk_changes;

insert into tasks (workspace_id, id, kind, form_id, requested_by, through, total, done, refused, problems, created_at, finished_at)
select workspace_id, id, 'submissions.import', form_id, requested_by, case when requested_by is null then 'api' else 'console' end,
       total, created, refused, problems, created_at, finished_at
  from submission_imports;
insert into task_items (workspace_id, task_id, position, item)
select workspace_id, import_id, line, jsonb_build_object('line', line, 'entry', entry) from submission_import_lines;
-- The version before: loses its lease, and fails at what it claims again until it is renewed.
update jobs set id = (payload ->> 'import')::uuid, payload = payload - 'import' - 'form', lease_token = null
 where kind = 'submissions.import';
-- The version before: refuses imports until it is renewed.
drop table submission_import_lines;
-- The version before: see above.
drop table submission_imports;
