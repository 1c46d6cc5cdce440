import { Type } from 'typebox';
import { requireReachableForm } from '#forms/form-rows.ts';
import { Labels, normalizeLabels } from '#forms/labels.ts';
import { ApiError } from '#kit/errors.ts';
import { asWireValue } from '#kit/http.ts';
import { idParameter, operation, type RequestScope } from '#kit/operation.ts';
import { strictObject, uuidSchema } from '#kit/validation.ts';
import { requireAssignable } from '#submissions/changes/assign.ts';
import {
  BulkChange,
  bulkProgressEndpoints,
  requireExpectedCount,
  startBulk,
  undoBulk,
} from '#submissions/changes/bulk.ts';
import type { ChangeServices } from '#submissions/changes/edit.ts';
import { assignmentPatch } from '#submissions/changes/endpoints.ts';
import { submissionStatuses } from '#submissions/present.ts';
import { readViewIds } from './read-submissions.ts';
import { readTableView, ViewQuery } from './view.ts';

/** Either `ids` or a `filter`. */
const selection = {
  ids: Type.Optional(Type.Array(uuidSchema, { minItems: 1, maxItems: 1_000, uniqueItems: true })),
  filter: Type.Optional(
    Type.Object(Type.Omit(ViewQuery, ['sort']).properties, {
      additionalProperties: false,
      description:
        'The same filter as for listing submissions. An empty filter selects all submissions of the form.',
    }),
  ),
  expected: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'The expected number of submissions. If it differs, the response is 409 and nothing changes.',
    }),
  ),
};

/**
 * Operations that change thousands of submissions: those in a list, or all that match a filter when the
 * change starts.
 */
export function bulkEndpoints(context: ChangeServices) {
  const { database } = context;

  type Selection = { ids?: string[]; filter?: Omit<ViewQuery, 'sort'>; expected?: number };
  const select = async (scope: RequestScope, formId: string, given: Selection) => {
    const form = await requireReachableForm(database, scope, formId);
    if ((given.ids === undefined) === (given.filter === undefined))
      throw new ApiError('validation_error', 'Send either "ids" or "filter".');
    const ids =
      given.ids ?? (await readViewIds(database, await readTableView(database, form, given.filter!)));
    requireExpectedCount(ids.length, given.expected);
    return { form, ids };
  };

  return {
    ...bulkProgressEndpoints(database),

    startDeletion: operation({
      summary: 'Delete submissions',
      description:
        'Moves submissions to the trash in the background, or deletes them permanently with `permanent`. Select the submissions by `ids`, or by a `filter`, which is evaluated immediately. 409 if their number differs from `expected`.',
      permission: 'submissions:write',
      audit: 'entry',
      params: idParameter,
      body: strictObject({ ...selection, permanent: Type.Optional(Type.Boolean()) }),
      example: { body: { filter: { status: 'incomplete', created_to: '2026-01-01T00:00:00Z' } } },
      errors: ['conflict'],
      isDestructive: true,
      reply: { status: 202, description: 'The deletion has started.', schema: BulkChange },
      async run({ params, body: { permanent = false, ...given }, ...scope }) {
        const { form, ids } = await select(scope, params.id, given);
        const kind = permanent ? 'remove' : 'trash';
        return { body: asWireValue(await startBulk(context, form, { kind, ids, by: scope.actor })) };
      },
    }),

    startTagging: operation({
      summary: 'Tag submissions',
      description:
        'Adds and removes tags in the background. Select the submissions by `ids`, or by a `filter`, which is evaluated immediately. A submission that would have more than 20 tags stays unchanged. 409 if their number differs from `expected`.',
      permission: 'submissions:write',
      audit: { none: 'Submissions have their own history.' },
      params: idParameter,
      body: strictObject({ ...selection, add: Type.Optional(Labels), remove: Type.Optional(Labels) }),
      example: { body: { filter: { q: 'refund' }, add: ['billing'] } },
      errors: ['conflict'],
      reply: { status: 202, description: 'The tagging has started.', schema: BulkChange },
      async run({ params, body: { add = [], remove = [], ...given }, ...scope }) {
        const tags = { added: normalizeLabels(add, 'tag'), removed: normalizeLabels(remove, 'tag') };
        if (tags.added.length + tags.removed.length === 0)
          throw new ApiError('validation_error', 'Send tags in "add" or "remove".');
        const { form, ids } = await select(scope, params.id, given);
        return {
          body: asWireValue(await startBulk(context, form, { kind: 'tag', ids, by: scope.actor, tags })),
        };
      },
    }),

    startBulkChange: operation({
      summary: 'Set status, stage or assignee of submissions',
      description:
        'Sets one of them in the background. Changes of the status send webhooks and emails. A submission whose answers are not valid cannot be completed and stays unchanged. 409 if their number differs from `expected`.',
      permission: 'submissions:write',
      audit: { none: 'Submissions have their own history.' },
      params: idParameter,
      body: strictObject({
        ...selection,
        status: Type.Optional(Type.Enum([...submissionStatuses])),
        ...assignmentPatch,
      }),
      example: { body: { filter: { tag: 'paid' }, status: 'completed' } },
      errors: ['conflict'],
      reply: { status: 202, description: 'The change has started.', schema: BulkChange },
      async run({ params, body: { status, stage_id, assignee_id, ...given }, ...scope }) {
        const request = [
          ...(status === undefined ? [] : [{ kind: 'status', status } as const]),
          ...(stage_id === undefined ? [] : [{ kind: 'stage', assignment: { stage_id } } as const]),
          ...(assignee_id === undefined ? [] : [{ kind: 'assign', assignment: { assignee_id } } as const]),
        ];
        if (request.length !== 1)
          throw new ApiError('validation_error', 'Send one of "status", "stage_id" and "assignee_id".');
        await requireAssignable(database, scope.workspaceId, {
          ...(stage_id !== undefined && { stage_id }),
          ...(assignee_id !== undefined && { assignee_id }),
        });
        const { form, ids } = await select(scope, params.id, given);
        const bulk = await startBulk(context, form, { ...request[0]!, ids, by: scope.actor });
        return { body: asWireValue(bulk) };
      },
    }),

    undoBulkChange: operation({
      summary: 'Undo bulk change',
      description:
        'Undoes a move to the trash, a tagging, or a change of the status, stage or assignee in the background. Later changes to the submissions are kept. 409 if the bulk change is not finished, was already undone, or was a permanent deletion.',
      permission: 'submissions:write',
      audit: { none: 'Submissions have their own history.' },
      params: Type.Object({ id: uuidSchema, change: uuidSchema }),
      errors: ['conflict'],
      reply: { status: 202, description: 'The undo has started.', schema: BulkChange },
      async run({ params, ...scope }) {
        const form = await requireReachableForm(database, scope, params.id);
        return {
          body: asWireValue(await undoBulk(context, form, { undoes: params.change, by: scope.actor })),
        };
      },
    }),
  };
}
