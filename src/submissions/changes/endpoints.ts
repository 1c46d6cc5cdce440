import { Type } from 'typebox';
import { formLimits } from '#ast/basics/limits.ts';
import type { FileLinks } from '#files/stored-files.ts';
import { Labels } from '#forms/labels.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { asWireValue } from '#kit/http.ts';
import { idParameter, operation, type RequestScope } from '#kit/operation.ts';
import { onlyRow, requireRow, statement } from '#kit/statement.ts';
import { orNull, strictObject, timestampSchema, uuidSchema } from '#kit/validation.ts';
import { requireFormAccess } from '#workspaces/authenticate.ts';
import { stageIdSchema } from '#workspaces/stages.ts';
import type { FormKey } from '../change-event.ts';
import {
  assignmentProperties,
  Submission,
  submissionEtag,
  submissionJson,
  submissionStatuses,
} from '../present.ts';
import { findSubmission } from '../submission-rows.ts';
import type { SubmitServices } from '../submit-request.ts';
import { describeWait } from '../waiting-list.ts';
import { changeSubmission } from './edit.ts';
import { removeSubmission } from './remove.ts';
import { restoreMany, trashSubmission } from './trash.ts';

/** Selects the form of a submission, and whether it is in the trash. */
const findSubmissionForm = statement('workspace_id id', 'form_id is_trashed')`
  select s.form_id, s.trashed_at is not null as is_trashed from submissions s
  join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id
  where s.workspace_id = $workspace_id and s.id = $id and f.deleted_at is null`;

/**
 * Returns the form of a submission if the caller can access it.
 * @param where whether the submission must be in the trash, must not be there, or may be.
 * @throws ApiError not_found.
 */
export async function requireFormOfSubmission(
  database: Database,
  { workspaceId, formIds }: Pick<RequestScope, 'workspaceId' | 'formIds'>,
  id: string,
  where: 'live' | 'trash' | 'anywhere' = 'live',
): Promise<FormKey & { id: string }> {
  const found = onlyRow(await findSubmissionForm(database, { workspace_id: workspaceId, id }));
  if (!found || (where !== 'anywhere' && found.is_trashed !== (where === 'trash')))
    throw new ApiError('not_found');
  requireFormAccess(formIds, found.form_id);
  return { workspaceId, formId: found.form_id, id };
}

/** Properties that move a submission to a stage or assign it. */
export const assignmentPatch = {
  stage_id: Type.Optional(stageIdSchema),
  assignee_id: Type.Optional(
    Type.Union([uuidSchema, Type.Null()], { description: 'A member of the workspace; null for no one.' }),
  ),
};

/** A merge patch: omitted properties stay unchanged. */
const SubmissionPatch = strictObject({
  answers: Type.Optional(
    Type.Unsafe<Record<string, unknown>>(
      Type.Object(
        {},
        {
          additionalProperties: true,
          // No form has more elements, and rejecting thousands of unknown ids takes time.
          maxProperties: formLimits.elements,
          description:
            'Answers by element id; null removes an answer. They are validated against the version that was answered. Specify files by id: existing files to keep, and new files from Create file.',
        },
      ),
    ),
  ),
  reference: Type.Optional(
    Type.Record(Type.String(), orNull(Type.String({ maxLength: 8_192 })), {
      maxProperties: 200,
      description: 'Values by name; null removes a value.',
    }),
  ),
  status: Type.Optional(Type.Enum([...submissionStatuses])),
  tags: Type.Optional(Labels),
  ...assignmentPatch,
});

/** A submission after a change. */
const ChangedSubmission = Type.Object({
  ...Submission.properties,
  ...assignmentProperties,
  tags: Type.Array(Type.String()),
  updated_at: timestampSchema,
  unasked: Type.Array(Type.String(), {
    description: 'Questions whose answers are kept even though other answers hide the questions.',
  }),
});

export function submissionChangeEndpoints(context: SubmitServices & { links: FileLinks }) {
  const { database, links } = context;
  return {
    changeSubmission: operation({
      summary: 'Change submission',
      description:
        'Applies a merge patch. Webhooks receive `submission.updated`, unless only the tags, the stage or the assignee change, because events do not contain them. The history records every change. To give a waiting submission a place, even beyond the response limit, set its status to `completed`.',
      permission: 'submissions:write',
      audit: { none: 'Submissions have their own history.' },
      params: idParameter,
      body: SubmissionPatch,
      example: { body: { reference: { campaign: 'spring' }, tags: ['urgent'] } },
      isConditional: true,
      reply: { status: 200, description: 'The updated submission.', schema: ChangedSubmission },
      async run({ params, body, unchanged, ...scope }) {
        const place = await requireFormOfSubmission(database, scope, params.id);
        const { unasked } = await changeSubmission(context, { ...place, by: scope.actor, unchanged }, body);
        const row = requireRow(
          await findSubmission(database, { workspace_id: place.workspaceId, id: place.id }),
        );
        const { tags, updated_at, stage_id, assignee_id } = row;
        const wait = await describeWait(database, place, row.status);
        const more = { tags, updated_at, unasked, stage_id, assignee_id, ...wait };
        return {
          json: submissionJson(row, links, asWireValue(more)),
          tag: submissionEtag({ ...row, ...wait }),
        };
      },
    }),

    deleteSubmission: operation({
      summary: 'Delete submission',
      description:
        'Moves the submission to the trash, where it can be restored for 30 days. With `permanent`, immediately deletes the submission and its files, and webhooks receive `submission.deleted`.',
      permission: 'submissions:write',
      audit: 'entry',
      params: idParameter,
      query: strictObject({
        permanent: Type.Optional(
          Type.Boolean({ description: 'Deletes the submission permanently, even from the trash.' }),
        ),
      }),
      isConditional: true,
      isDestructive: true,
      reply: { status: 204, description: 'The submission is deleted.' },
      async run({ params, query: { permanent = false }, unchanged, ...scope }) {
        const place = await requireFormOfSubmission(
          database,
          scope,
          params.id,
          permanent ? 'anywhere' : 'live',
        );
        if (permanent) await removeSubmission(context, { ...place, unchanged });
        else await trashSubmission(database, { ...place, by: scope.actor, unchanged });
      },
    }),

    restoreSubmission: operation({
      summary: 'Restore submission',
      description:
        'Restores a submission and its files from the trash. The submission is counted and searched again.',
      permission: 'submissions:write',
      audit: { none: 'Submissions have their own history.' },
      params: idParameter,
      reply: { status: 200, description: 'The submission.', schema: Submission },
      async run({ params, ...scope }) {
        const { id, ...form } = await requireFormOfSubmission(database, scope, params.id, 'trash');
        await restoreMany(database, form, { ids: [id], by: scope.actor });
        const row = requireRow(await findSubmission(database, { workspace_id: form.workspaceId, id }));
        const wait = await describeWait(database, { ...form, id }, row.status);
        return { json: submissionJson(row, links, wait), tag: submissionEtag({ ...row, ...wait }) };
      },
    }),
  };
}
