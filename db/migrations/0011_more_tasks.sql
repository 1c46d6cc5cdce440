-- Inviting and replays as tasks (docs/decisions/0108-tasks.md). A batch of invitations has a task of the same id, which counts its people.
insert into tasks (workspace_id, id, kind, form_id, requested_by, through, total, done, refused, created_at, finished_at)
select b.workspace_id, b.id, 'invitations.send', b.form_id, b.created_by, case when b.created_by is null then 'api' else 'console' end,
       b.total, b.created, b.skipped, b.created_at,
       case when not exists (select from jobs j
                              where j.workspace_id = b.workspace_id and j.kind = 'invitations.import'
                                and j.payload ->> 'batch' = b.id::text)
            then b.created_at end
  from invitation_batches b;
insert into task_items (workspace_id, task_id, position, item)
select workspace_id, batch_id, line + 1, jsonb_build_object('entry', draft) from invitation_drafts;
-- The version before: loses its lease, and fails at what it claims again until it is renewed.
update jobs set id = (payload ->> 'batch')::uuid, payload = payload - 'batch', lease_token = null
 where kind = 'invitations.import';
-- The version before: invites nobody until it is renewed.
drop table invitation_drafts;
-- The version before: see above.
alter table invitation_batches drop column total, drop column created, drop column skipped;

insert into tasks (workspace_id, id, kind, form_id, subject_id, requested_by, through, input, total, done, result,
                   created_at, cancelled_at, finished_at)
select workspace_id, id, 'webhooks.replay', form_id, webhook_id, requested_by,
       case when requested_by is null then 'api' else 'console' end, filter::jsonb, total, done,
       jsonb_strip_nulls(jsonb_build_object('reached', reached)), created_at, cancelled_at, finished_at
  from replays;
-- The version before: loses its lease, and fails at what it claims again until it is renewed.
update jobs set id = (payload ->> 'replay_id')::uuid, payload = payload - 'replay_id', lease_token = null
 where kind = 'webhook.replay';
-- The version before: replays nothing until it is renewed.
drop table replays;
create index tasks_of_subject on tasks (workspace_id, subject_id, id desc) where subject_id is not null;
