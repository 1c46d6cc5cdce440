-- Bulk changes beside removals: submissions are tagged by the thousand too (src/submissions/bulk). What was a removal
-- is one kind of them, and a key may ask for one.
alter table removals rename to bulk_changes;
alter table bulk_changes rename column removed to done;
alter table bulk_changes
  add column kind text,
  add column tags_added text[] not null default '{}',
  add column tags_removed text[] not null default '{}',
  add column api_key_id uuid,
  add column through text not null default 'console',
  add foreign key (workspace_id, api_key_id) references api_keys (workspace_id, id) on delete set null (api_key_id);
update bulk_changes set kind = case when to_trash then 'trash' else 'empty' end;
alter table bulk_changes
  alter column kind set not null,
  add check (kind in ('trash', 'empty', 'remove', 'tag')),
  add check (through in ('console', 'api', 'cli')),
  drop column to_trash;
alter index removals_of_form rename to bulk_changes_of_form;

alter table removal_items rename to bulk_items;
alter table bulk_items rename column removal_id to bulk_id;

-- Those that are under way go on.
update jobs set kind = 'submissions.bulk', lane = 'submissions.bulk ' || workspace_id,
  payload = jsonb_build_object('bulk_id', payload -> 'removal_id', 'form_id', payload -> 'form_id')
where kind = 'submissions.remove';
