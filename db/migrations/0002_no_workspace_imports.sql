-- Importing a workspace from a file is removed: an untrusted file could stop the service.
-- Forms of an import that has not ended are hidden. This removes them as deleted forms are removed.
insert into jobs (workspace_id, id, kind, lane, payload, run_at, created_at)
select workspace_id, gen_random_uuid(), 'form.remove', 'form.remove', jsonb_build_object('form_id', form_id), now(), now()
  from workspace_imports, unnest(form_ids) form_id
 where state = 'running';
-- The version before: its import and export of workspaces answer 500, and its other operations do not use these tables.
drop table workspace_import_parts;
-- The version before: as above.
drop table workspace_imports;
-- The version before: has nothing left to do for these jobs.
delete from jobs where kind = 'workspace.import';
-- The version before: a key that lost these permissions can no longer import or export workspaces there.
update api_keys set permissions = array_remove(array_remove(permissions, 'everything:read'), 'everything:write')
 where permissions && '{everything:read,everything:write}';
