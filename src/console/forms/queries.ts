import { draftJoin, shownName } from '#forms/overview/queries.ts';
import { type FormStatus, submissionCount } from '#forms/queries.ts';
import { bigint, boolean, nullable, statement, text, timestamp, uuid, word } from '#kit/statement.ts';
import type { Role } from '#rules/permissions.ts';

/** A form by its id alone, for whoever is a member of its workspace; nothing for everybody else. */
export const locateForm = statement(
  'locate_form',
  { id: uuid, user_id: text },
  {
    workspace_id: uuid,
    id: uuid,
    name: text,
    status: word<FormStatus>(),
    submission_count: bigint,
    published_at: nullable(timestamp),
    role: word<Role>(),
    second_factor_required: boolean,
  },
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
