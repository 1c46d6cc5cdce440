import { draftJoin, shownName } from '#forms/overview/queries.ts';
import { type FormStatus, submissionCount } from '#forms/queries.ts';
import { statement, word } from '#kit/statement.ts';
import type { Role } from '#rules/permissions.ts';

/** A form by its id alone, for whoever is a member of its workspace; nothing for everybody else. */
export const locateForm = statement(
  'locate_form',
  'id user_id',
  [
    'workspace_id id name submission_count published_at? second_factor_required',
    { status: word<FormStatus>(), role: word<Role>() },
  ],
  `/* lookup: across workspaces */
   select f.workspace_id, f.id, ${shownName} as name, f.status, ${submissionCount} as submission_count, f.published_at, m.role,
          w.second_factor_required
   from form_lookup l
   join forms f on f.workspace_id = l.workspace_id and f.id = l.form_id
   join workspaces w on w.id = f.workspace_id
   join members m on m.workspace_id = f.workspace_id and m.user_id = $user_id
   ${draftJoin}
   where l.form_id = $id and f.deleted_at is null`,
);
