-- Erasures as tasks (docs/decisions/0108-tasks.md): the last.
insert into tasks (workspace_id, id, kind, requested_by, api_key_id, through, input, secret, total, done, result, created_at, finished_at)
select workspace_id, id, 'people.erase', requested_by, api_key_id, through, jsonb_build_object('what', what), asked, total, done,
       jsonb_strip_nulls(jsonb_build_object('gone', gone, 'list_hash', list_hash, 'hash', hash)), created_at, finished_at
  from erasures;
insert into task_items (workspace_id, task_id, position, item)
select workspace_id, erasure_id, row_number() over (partition by workspace_id, erasure_id order by kind desc, form_id, batch),
       jsonb_build_object('kind', kind, 'form_id', form_id, 'ids', jsonb_agg(id order by id))
  from (select workspace_id, erasure_id, kind, form_id, id,
               (row_number() over (partition by workspace_id, erasure_id, kind, form_id order by id) - 1) / 100 as batch
          from erasure_items) item
 group by workspace_id, erasure_id, kind, form_id, batch;
-- The version before: loses its lease, and fails at what it claims again until it is renewed.
update jobs set id = (payload ->> 'erasure_id')::uuid, payload = payload - 'erasure_id', lease_token = null
 where kind = 'people.erase';
-- The version before: erases nobody until it is renewed.
drop table erasure_items;
-- The version before: see above.
drop table erasures;

insert into tasks (workspace_id, id, kind, subject_id, through, total, created_at)
select workspace_id, id, 'forms.delete', (payload ->> 'form_id')::uuid, 'api', 0, created_at from jobs where kind = 'form.remove';
-- The version before: loses its lease, and fails at what it claims again until it is renewed.
update jobs set payload = payload - 'form_id', lease_token = null where kind = 'form.remove';
