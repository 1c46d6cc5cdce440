import { Type } from 'typebox';
import { isCleanText, trimText } from '#ast/basics/text.ts';
import { reachForm } from '#forms/form-rows.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { statement } from '#kit/statement.ts';

/** So many tags a submission has at most, of so many characters. */
export const mostTags = 20;
export const longestTag = 50;

/** Tags as they are sent. */
export const Tags = Type.Array(Type.String({ minLength: 1, maxLength: longestTag }), { maxItems: mostTags });

/**
 * Tags as they are stored: without invisible characters around them, each once whatever its case, in the order that they came in.
 * @throws ApiError validation_error, by the index of each tag that is none.
 */
export function readTags(given: readonly string[]): string[] {
  const tags = given.map((tag) => trimText(tag.replaceAll(/\s+/g, ' ')));
  const errors = tags.flatMap((tag, index) =>
    tag === '' || !isCleanText(tag) || /\p{Cc}/u.test(tag)
      ? [{ field: `tags[${index}]`, message: 'A tag is a line of text.' }]
      : [],
  );
  if (errors.length > 0) throw new ApiError('validation_error', undefined, { errors });
  const byName = Map.groupBy(tags, (tag) => tag.toLowerCase());
  return [...byName.values()].map(([first]) => first!);
}

/** The tags that submissions of a form have, the most used first. */
const listTags = statement(
  'tags.list_tags',
  'workspace_id form_id limit',
  'tag count',
  `select tag, count(*) as count from submissions s cross join unnest(s.tags) as tag
   where s.workspace_id = $workspace_id and s.form_id = $form_id and s.tags <> '{}' and s.trashed_at is null
   group by tag order by count desc, tag limit $limit`,
);

/** More than anybody looks through. */
const shownTags = 200;

/** The tags of a form's submissions. They are set by changing submissions, one or many. */
export function tagEndpoints({ database }: { database: Database }) {
  return {
    listTags: operation({
      summary: 'List tags',
      description: 'The tags that submissions of the form have, the most used first.',
      permission: 'submissions:read',
      params: idParameter,
      reply: {
        status: 200,
        description: 'The tags, with how many submissions have each.',
        schema: Type.Object({
          data: Type.Array(Type.Object({ tag: Type.String(), count: Type.Integer() })),
        }),
      },
      async run({ params, ...scope }) {
        const { workspaceId, formId } = await reachForm(database, scope, params.id);
        const key = { workspace_id: workspaceId, form_id: formId, limit: shownTags };
        return { body: { data: await listTags(database, key) } };
      },
    }),
  };
}
