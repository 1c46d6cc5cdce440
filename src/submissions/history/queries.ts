import { json, jsonText, nullable, statement, text, timestamp, uuid, word } from '#kit/statement.ts';
import type { Difference } from './differences.ts';

/** What a change of a submission was. */
export type ChangeKind = 'edited' | 'trashed' | 'restored' | 'note_added' | 'note_deleted';
/** By which way it was changed: by a member, by a key, by the operator, or by whoever has the submission's own link. */
export type ChangeThrough = 'console' | 'api' | 'cli' | 'link';

/** Writes down a change, in its transaction. */
export const insertChange = statement(
  'history.insert_change',
  {
    workspace_id: uuid,
    submission_id: uuid,
    id: uuid,
    kind: word<ChangeKind>(),
    changed_by: nullable(text),
    api_key_id: nullable(uuid),
    through: word<ChangeThrough>(),
    changed_at: timestamp,
    changes: jsonText,
  },
  {},
  `insert into submission_changes (workspace_id, submission_id, id, kind, changed_by, api_key_id, through, changed_at, changes)
   values ($workspace_id, $submission_id, $id, $kind, $changed_by, $api_key_id, $through, $changed_at, $changes)`,
);

/** The latest changes of a submission, newest first; a submission of another form has none here. */
export const listChanges = statement(
  'history.list_changes',
  { workspace_id: uuid, form_id: uuid, submission_id: uuid },
  {
    id: uuid,
    kind: word<ChangeKind>(),
    changed_by: nullable(text),
    through: word<ChangeThrough>(),
    changed_at: timestamp,
    changes: json<Difference[]>(),
  },
  `select c.id, c.kind, coalesce(u.name, k.name) as changed_by, c.through, c.changed_at, c.changes
   from submissions s
   join submission_changes c on c.workspace_id = s.workspace_id and c.submission_id = s.id
   left join users u on u.id = c.changed_by
   left join api_keys k on k.workspace_id = c.workspace_id and k.id = c.api_key_id
   where s.workspace_id = $workspace_id and s.form_id = $form_id and s.id = $submission_id and s.trashed_at is null
   order by c.id desc limit 200`,
);
