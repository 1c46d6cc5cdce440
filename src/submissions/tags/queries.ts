import { statement } from '#kit/statement.ts';

/** The tags that submissions of a form have, the most used first. */
export const listTags = statement(
  'tags.list_tags',
  'workspace_id form_id limit',
  'tag count',
  `select tag, count(*) as count from submissions s cross join unnest(s.tags) as tag
   where s.workspace_id = $workspace_id and s.form_id = $form_id and s.tags <> '{}' and s.trashed_at is null
   group by tag order by count desc, tag limit $limit`,
);
