import { Type } from 'typebox';
import { limits } from '#ast/limits.ts';
import type { FileLinks } from '#files/stored-files.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { wired } from '#kit/http.ts';
import { idParameter, operation, type Scope } from '#kit/operation.ts';
import { only, requireRow, statement } from '#kit/statement.ts';
import { requireReach } from '#workspaces/authenticate.ts';
import type { FormKey } from '../change-event.ts';
import { Submission, submissionJson, submissionStatuses, submissionTag } from '../present.ts';
import { findSubmission } from '../submission-rows.ts';
import type { SubmitContext } from '../submit-request.ts';
import { Tags } from '../tags.ts';
import { changeSubmission } from './edit.ts';
import { removeSubmission } from './remove.ts';
import { restoreMany, trashSubmission } from './trash.ts';

/** The form of a submission, and whether it lies in the trash. */
const findPlace = statement(
  'submissions.find_place',
  'workspace_id id',
  'form_id is_trashed',
  `select s.form_id, s.trashed_at is not null as is_trashed from submissions s
   join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id
   where s.workspace_id = $workspace_id and s.id = $id and f.deleted_at is null`,
);

/**
 * Where a submission lies, for a caller who reaches its form.
 * @param where whether it must lie in the trash, must not, or may.
 * @throws ApiError not_found.
 */
export async function reachSubmission(
  database: Database,
  { workspaceId, formIds }: Pick<Scope, 'workspaceId' | 'formIds'>,
  id: string,
  where: 'live' | 'trash' | 'anywhere' = 'live',
): Promise<FormKey & { id: string }> {
  const found = only(await findPlace(database, { workspace_id: workspaceId, id }));
  if (!found || (where !== 'anywhere' && found.is_trashed !== (where === 'trash')))
    throw new ApiError('not_found');
  requireReach(formIds, found.form_id);
  return { workspaceId, formId: found.form_id, id };
}

const closed = { additionalProperties: false } as const;

/** What is left out stays as it is. */
const SubmissionPatch = Type.Object(
  {
    answers: Type.Optional(
      Type.Unsafe<Record<string, unknown>>(
        Type.Object(
          {},
          {
            additionalProperties: true,
            // No form asks more, and to say of thousands that they are not asked takes its time.
            maxProperties: limits.elements,
            description:
              'By element id; null takes an answer away. Checked by the version that was answered. Files are named by their id: those that stay, and those of Create file that come along.',
          },
        ),
      ),
    ),
    reference: Type.Optional(
      Type.Record(Type.String(), Type.Union([Type.String({ maxLength: 8_192 }), Type.Null()]), {
        maxProperties: 200,
        description: 'By name; null takes a value away.',
      }),
    ),
    status: Type.Optional(Type.Enum([...submissionStatuses])),
    tags: Type.Optional(Tags),
  },
  closed,
);

/** A submission after it was changed. */
const ChangedSubmission = Type.Object({
  ...Submission.properties,
  tags: Type.Array(Type.String()),
  updated_at: Type.String({ format: 'date-time' }),
  unasked: Type.Array(Type.String(), {
    description: 'Questions whose answers are kept although the other answers hide them.',
  }),
});

export function submissionChangeEndpoints(context: SubmitContext & { links: FileLinks }) {
  const { database, links } = context;
  return {
    changeSubmission: operation({
      summary: 'Change submission',
      description:
        'A merge patch. Webhooks hear of it as `submission.updated`, but of tags, which its sender never sees. Every change is in its history.',
      permission: 'submissions:write',
      params: idParameter,
      body: SubmissionPatch,
      example: { body: { reference: { campaign: 'spring' }, tags: ['urgent'] } },
      isConditional: true,
      reply: { status: 200, description: 'The submission as it is now.', schema: ChangedSubmission },
      async run({ params, body, unchanged, ...scope }) {
        const place = await reachSubmission(database, scope, params.id);
        const { unasked } = await changeSubmission(context, { ...place, by: scope.actor, unchanged }, body);
        const row = requireRow(
          await findSubmission(database, { workspace_id: place.workspaceId, id: place.id }),
        );
        const { tags, updated_at } = row;
        return {
          json: submissionJson(row, links, wired({ tags, updated_at, unasked })),
          tag: submissionTag(row),
        };
      },
    }),

    deleteSubmission: operation({
      summary: 'Delete submission',
      description:
        'Into the trash, from which it can come back for 30 days; with `permanent` for good at once, with its files, and webhooks hear of it as `submission.deleted`.',
      permission: 'submissions:write',
      params: idParameter,
      query: Type.Object(
        {
          permanent: Type.Optional(
            Type.Boolean({ description: 'Also what lies in the trash is deleted, and cannot come back.' }),
          ),
        },
        closed,
      ),
      isConditional: true,
      isDestructive: true,
      reply: { status: 204, description: 'The submission is gone.' },
      async run({ params, query: { permanent = false }, unchanged, ...scope }) {
        const place = await reachSubmission(database, scope, params.id, permanent ? 'anywhere' : 'live');
        if (permanent) await removeSubmission(context, { ...place, unchanged });
        else await trashSubmission(database, { ...place, by: scope.actor, unchanged });
      },
    }),

    restoreSubmission: operation({
      summary: 'Restore submission',
      description: 'Takes it out of the trash: it is where it was, with its files, and counts again.',
      permission: 'submissions:write',
      params: idParameter,
      reply: { status: 200, description: 'The submission.', schema: Submission },
      async run({ params, ...scope }) {
        const { id, ...form } = await reachSubmission(database, scope, params.id, 'trash');
        await restoreMany(database, form, { ids: [id], by: scope.actor });
        const row = requireRow(await findSubmission(database, { workspace_id: form.workspaceId, id }));
        return { json: submissionJson(row, links), tag: submissionTag(row) };
      },
    }),
  };
}
