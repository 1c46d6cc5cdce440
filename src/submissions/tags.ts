import { Type } from 'typebox';
import { isCleanText, trimText } from '#ast/basics/text.ts';
import { requireReachableForm } from '#forms/form-rows.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { statement } from '#kit/statement.ts';

/** The maximum number of tags per submission, and the maximum length of a tag. */
export const mostTags = 20;
export const longestTag = 50;

/** Tags in a request. */
export const Tags = Type.Array(Type.String({ minLength: 1, maxLength: longestTag }), { maxItems: mostTags });

/**
 * Normalizes tags for storage: removes invisible characters at their ends, and duplicates that differ only in
 * case. The order stays unchanged.
 * @throws ApiError validation_error, with the index of each invalid tag.
 */
export function normalizeTags(given: readonly string[]): string[] {
  const tags = given.map((tag) => trimText(tag.replaceAll(/\s+/g, ' ')));
  const errors = tags.flatMap((tag, index) =>
    tag === '' || !isCleanText(tag) || /\p{Cc}/u.test(tag)
      ? [{ field: `tags[${index}]`, message: 'A tag must be one line of text that is not blank.' }]
      : [],
  );
  if (errors.length > 0) throw new ApiError('validation_error', undefined, { errors });
  const byName = Map.groupBy(tags, (tag) => tag.toLowerCase());
  return [...byName.values()].map(([first]) => first!);
}

/** Selects the tags of a form's submissions, most used first. */
const listTags = statement('tags.list_tags', 'workspace_id form_id limit', 'tag count')`
  select tag, count(*) as count from submissions s cross join unnest(s.tags) as tag
  where s.workspace_id = $workspace_id and s.form_id = $form_id and s.tags <> '{}' and s.trashed_at is null
  group by tag order by count desc, tag limit $limit`;

/** The maximum number of tags that are listed. */
const shownTags = 200;

/** Operation that lists the tags of a form's submissions. Tags are set by changing submissions. */
export function tagEndpoints({ database }: { database: Database }) {
  return {
    listTags: operation({
      summary: 'List tags',
      description: "Returns the tags of the form's submissions, most used first.",
      permission: 'submissions:read',
      params: idParameter,
      reply: {
        status: 200,
        description: 'The tags, each with its number of submissions.',
        schema: Type.Object({ data: Type.Array(Type.Object({ tag: Type.String(), count: Type.Integer() })) }),
      },
      async run({ params, ...scope }) {
        const { workspaceId, formId } = await requireReachableForm(database, scope, params.id);
        const key = { workspace_id: workspaceId, form_id: formId, limit: shownTags };
        return { body: { data: await listTags(database, key) } };
      },
    }),
  };
}
