import { Type } from 'typebox';
import { reachForm } from '#forms/require-form.ts';
import type { Database } from '#kit/database.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { listTags } from './queries.ts';

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
