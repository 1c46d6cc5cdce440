import { statement } from '#kit/statement.ts';
import { changedByColumns } from '../history/queries.ts';

/**
 * Writes a note and that it was written into the history of the submission.
 * @returns whether it was there to be noted on, and not yet full of notes.
 */
export const insertNote = statement(
  'notes.insert_note',
  ['workspace_id submission_id id text change_id now most:bigint', changedByColumns],
  'is_there is_written:boolean',
  `with submission as (
     select workspace_id, id from submissions
     where workspace_id = $workspace_id and id = $submission_id and trashed_at is null
     for update),
   note as (
     insert into submission_notes (workspace_id, submission_id, id, text, written_by, api_key_id, created_at, updated_at)
     select workspace_id, id, $id, $text, $changed_by, $api_key_id, $now, $now from submission
     where $most > (select count(*) from submission_notes n
                    where n.workspace_id = $workspace_id and n.submission_id = $submission_id)
     returning workspace_id, submission_id),
   change as (
     insert into submission_changes (workspace_id, submission_id, id, kind, changed_by, api_key_id, through, changed_at, changes)
     select workspace_id, submission_id, $change_id, 'note_added', $changed_by, $api_key_id, $through, $now, '[]' from note)
   select exists (select from submission) as is_there, exists (select from note) as is_written`,
);

/** The notes of a submission, newest first, with the name of the member or the key that wrote each. */
export const listNotes = statement(
  'notes.list_notes',
  'workspace_id submission_id id? limit',
  'id text author:text? created_at',
  `select n.id, n.text, coalesce(u.name, k.name) as author, n.created_at
   from submission_notes n
   left join users u on u.id = n.written_by
   left join api_keys k on k.workspace_id = n.workspace_id and k.id = n.api_key_id
   where n.workspace_id = $workspace_id and n.submission_id = $submission_id and ($id is null or n.id = $id)
   order by n.id desc limit $limit`,
);

/**
 * Takes a note away, which the history says. The submission is locked first, as whoever deletes it does: each would wait for
 * the other else, as the history refers to it.
 */
export const deleteNote = statement(
  'notes.delete_note',
  ['workspace_id submission_id id change_id now', changedByColumns],
  'id',
  `with submission as (
     select workspace_id, id from submissions
     where workspace_id = $workspace_id and id = $submission_id and trashed_at is null
     for key share),
   note as (
     delete from submission_notes n using submission s
     where n.workspace_id = s.workspace_id and n.submission_id = s.id and n.id = $id
     returning n.workspace_id, n.submission_id, n.id),
   change as (
     insert into submission_changes (workspace_id, submission_id, id, kind, changed_by, api_key_id, through, changed_at, changes)
     select workspace_id, submission_id, $change_id, 'note_deleted', $changed_by, $api_key_id, $through, $now, '[]' from note)
   select id from note`,
);
