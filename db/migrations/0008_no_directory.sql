-- Each cell is asked whether it has a workspace, a form or a key, in place of a directory that triggers write.

-- The version before: finds nothing of several cells. With one cell it does not ask.
drop trigger if exists note_in_directory on workspaces;
-- The version before: as above.
drop trigger if exists note_in_directory on forms;
-- The version before: as above.
drop trigger if exists note_in_directory on api_key_lookup;
-- The version before: as above.
drop function note_in_directory();
