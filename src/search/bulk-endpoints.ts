import { Type } from 'typebox';
import { reachForm } from '#forms/form-rows.ts';
import { ApiError } from '#kit/errors.ts';
import { wired } from '#kit/http.ts';
import { idParameter, operation, type Scope } from '#kit/operation.ts';
import { closed, uuid } from '#kit/validation.ts';
import {
  BulkChange,
  progressEndpoints,
  requireExpected,
  startBulk,
  undoBulk,
} from '#submissions/changes/bulk.ts';
import type { ChangeContext } from '#submissions/changes/edit.ts';
import { submissionStatuses } from '#submissions/present.ts';
import { readTags, Tags } from '#submissions/tags.ts';
import { readIds } from './read-submissions.ts';
import { readView, ViewQuery } from './view.ts';

/** Either `ids` or a `filter`. */
const selection = {
  ids: Type.Optional(Type.Array(uuid, { minItems: 1, maxItems: 1_000, uniqueItems: true })),
  filter: Type.Optional(
    Type.Object(Type.Omit(ViewQuery, ['sort']).properties, {
      additionalProperties: false,
      description: 'As the list of submissions takes it; without anything in it, all of the form.',
    }),
  ),
  expected: Type.Optional(
    Type.Integer({ minimum: 1, description: '409, and nothing is done, when there are not as many.' }),
  ),
};

/** Changing submissions by the thousand: those of a list, or all that a filter finds when it begins. */
export function bulkEndpoints(context: ChangeContext) {
  const { database } = context;

  type Selection = { ids?: string[]; filter?: Omit<ViewQuery, 'sort'>; expected?: number };
  const select = async (scope: Scope, formId: string, given: Selection) => {
    const form = await reachForm(database, scope, formId);
    if ((given.ids === undefined) === (given.filter === undefined))
      throw new ApiError('validation_error', 'Send either "ids" or "filter".');
    const ids = given.ids ?? (await readIds(database, await readView(database, form, given.filter!)));
    requireExpected(ids.length, given.expected);
    return { form, ids };
  };

  return {
    ...progressEndpoints(database),

    startDeletion: operation({
      summary: 'Delete submissions',
      description:
        'Into the trash, or with `permanent` for good, in the background: those of a list, or all that a filter finds now. 409: they are not as many as `expected`.',
      permission: 'submissions:write',
      params: idParameter,
      body: Type.Object({ ...selection, permanent: Type.Optional(Type.Boolean()) }, closed),
      example: { body: { filter: { status: 'incomplete', created_to: '2026-01-01T00:00:00Z' } } },
      errors: ['conflict'],
      isDestructive: true,
      reply: { status: 202, description: 'The deletion, on its way.', schema: BulkChange },
      async run({ params, body: { permanent = false, ...given }, ...scope }) {
        const { form, ids } = await select(scope, params.id, given);
        const kind = permanent ? 'remove' : 'trash';
        return { body: wired(await startBulk(context, form, { kind, ids, by: scope.actor })) };
      },
    }),

    startTagging: operation({
      summary: 'Tag submissions',
      description:
        'Adds tags and takes others away, in the background: on those of a list, or all that a filter finds now. One that would have more than 20 tags stays as it is. 409: they are not as many as `expected`.',
      permission: 'submissions:write',
      params: idParameter,
      body: Type.Object({ ...selection, add: Type.Optional(Tags), remove: Type.Optional(Tags) }, closed),
      example: { body: { filter: { q: 'refund' }, add: ['billing'] } },
      errors: ['conflict'],
      reply: { status: 202, description: 'The tagging, on its way.', schema: BulkChange },
      async run({ params, body: { add = [], remove = [], ...given }, ...scope }) {
        const tags = { added: readTags(add), removed: readTags(remove) };
        if (tags.added.length + tags.removed.length === 0)
          throw new ApiError('validation_error', 'Send tags to "add" or to "remove".');
        const { form, ids } = await select(scope, params.id, given);
        return { body: wired(await startBulk(context, form, { kind: 'tag', ids, by: scope.actor, tags })) };
      },
    }),

    startBulkChange: operation({
      summary: 'Give submissions a status',
      description:
        'In the background, with what each change by itself does: webhooks and mails go out. One that cannot be completed before its answers are valid stays as it is. 409: they are not as many as `expected`.',
      permission: 'submissions:write',
      params: idParameter,
      body: Type.Object({ ...selection, status: Type.Enum([...submissionStatuses]) }, closed),
      example: { body: { filter: { tag: 'paid' }, status: 'completed' } },
      errors: ['conflict'],
      reply: { status: 202, description: 'The change, on its way.', schema: BulkChange },
      async run({ params, body: { status, ...given }, ...scope }) {
        const { form, ids } = await select(scope, params.id, given);
        const request = { kind: 'status', ids, by: scope.actor, status } as const;
        return { body: wired(await startBulk(context, form, request)) };
      },
    }),

    undoBulkChange: operation({
      summary: 'Undo change of many',
      description:
        'In the background, of a deletion into the trash, a tagging or a status: each submission is as it was before, but for what was done to it since. 409: it is not finished, was undone, or was for good.',
      permission: 'submissions:write',
      params: Type.Object({ id: uuid, change: uuid }),
      errors: ['conflict'],
      reply: { status: 202, description: 'What undoes it, on its way.', schema: BulkChange },
      async run({ params, ...scope }) {
        const form = await reachForm(database, scope, params.id);
        return { body: wired(await undoBulk(context, form, { undoes: params.change, by: scope.actor })) };
      },
    }),
  };
}
