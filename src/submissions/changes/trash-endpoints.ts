import { Type } from 'typebox';
import type { Answers } from '#ast/answers/check-answers.ts';
import { requireReachableForm } from '#forms/form-rows.ts';
import { ApiError } from '#kit/errors.ts';
import { asWireValue } from '#kit/http.ts';
import { idParameter, operation } from '#kit/operation.ts';
import {
  finishPageByPosition,
  listParameters,
  listSchemaOf,
  maximumId,
  type PageRequest,
  readPageRequestByPosition,
} from '#kit/pagination.ts';
import { json, statement, textEnum } from '#kit/statement.ts';
import { orNull, strictObject, timestampSchema, uuidSchema } from '#kit/validation.ts';
import { effectiveRetentionDays } from '#workspaces/retention.ts';
import { submissionStatuses } from '../present.ts';
import { findRetention } from '../retention/endpoints.ts';
import type { SubmissionStatus } from '../submission-rows.ts';
import { BulkChange, bulkLimit, requireExpectedCount, startBulk } from './bulk.ts';
import type { ChangeServices } from './edit.ts';
import { restoreMany } from './trash.ts';

/** Selects the submissions in a form's trash, most recently deleted first. */
const listTrashed = statement('workspace_id form_id below_at:timestamp below_id limit offset', [
  'id created_at completed_at? trashed_at:timestamp trashed_by:text?',
  { status: textEnum<SubmissionStatus>(), answers: json<Answers>() },
])`
  select s.id, s.status, s.answers, s.created_at, s.completed_at, s.trashed_at, coalesce(u.name, trasher.name) as trashed_by
  from submissions s
  left join users u on u.id = s.trashed_by
  left join lateral (
    select k.name from submission_changes c
    join api_keys k on k.workspace_id = c.workspace_id and k.id = c.api_key_id
    where s.trashed_by is null and c.workspace_id = s.workspace_id and c.submission_id = s.id and c.kind = 'trashed'
    order by c.id desc limit 1) trasher on true
  where s.workspace_id = $workspace_id and s.form_id = $form_id and s.trashed_at is not null
    and (s.trashed_at, s.id) < ($below_at, $below_id)
  order by s.trashed_at desc, s.id desc limit $limit offset $offset`;

/** Counts the submissions in a form's trash. */
const countTrashed = statement('workspace_id form_id', 'total')`
  select count(*) as total from submissions
  where workspace_id = $workspace_id and form_id = $form_id and trashed_at is not null`;

/** Selects those of `ids`, or all without `ids`, that are in the form's trash, up to `limit`. */
const listTrashedIds = statement('workspace_id form_id ids? limit', 'ids')`
  select coalesce(array_agg(id), '{}') as ids from (
    select id from submissions
    where workspace_id = $workspace_id and form_id = $form_id and trashed_at is not null
      and ($ids is null or id = any ($ids))
    order by trashed_at desc, id desc limit $limit) page`;

const dayMs = 86_400_000;

const TrashedSubmission = Type.Object({
  id: uuidSchema,
  status: Type.Enum([...submissionStatuses]),
  answers: Type.Unsafe<Answers>(Type.Object({}, { additionalProperties: true })),
  created_at: timestampSchema,
  completed_at: orNull(timestampSchema),
  trashed_at: timestampSchema,
  trashed_by: Type.Union([Type.String(), Type.Null()], {
    description: 'The name of the member or API key; null if it was deleted.',
  }),
  removed_at: Type.String({
    format: 'date-time',
    description: 'When the submission will be deleted permanently.',
  }),
});

const TrashPage = Type.Object({
  ...listSchemaOf(TrashedSubmission).properties,
  at_once: Type.Integer({
    description:
      'The maximum number of submissions per deletion. If there are more, the most recently deleted ones are selected.',
  }),
});

/** Returns the position of a row; submissions deleted at one moment are sorted by id. */
const trashPositionOf = (row: { trashed_at: Date; id: string }): string =>
  `${row.trashed_at.getTime()}/${row.id}`;
const trashPositionPattern = /^\d{1,14}\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function below({ after }: PageRequest): { below_at: Date; below_id: string } {
  const [moment, id = maximumId] = after?.split('/') ?? [];
  return { below_at: moment === undefined ? new Date('9999-12-31') : new Date(Number(moment)), below_id: id };
}

const idList = Type.Array(uuidSchema, { minItems: 1, maxItems: 1_000 });
const some = '01a1fde4-6fce-7e1a-a75a-2f8f8cc3c4b1';

/** Operations that list the trash, restore submissions from it, and empty it. */
export function trashEndpoints(context: ChangeServices) {
  const { database } = context;

  return {
    listTrash: operation({
      summary: 'List trash',
      description:
        "Returns the submissions in the trash, most recently deleted first. They are deleted permanently after the form's retention period, which is 30 days by default.",
      permission: 'submissions:read',
      params: idParameter,
      query: strictObject(listParameters),
      reply: { status: 200, description: 'A page of the trash.', schema: TrashPage },
      async run({ params, query, ...scope }) {
        const { workspaceId, formId } = await requireReachableForm(database, scope, params.id);
        const key = { workspace_id: workspaceId, form_id: formId };
        const cut = readPageRequestByPosition(trashPositionPattern, query, 'trash', formId);
        const [[rules], found, total] = await Promise.all([
          findRetention(database, key),
          listTrashed(database, { ...key, ...below(cut), limit: cut.limit, offset: cut.offset }),
          cut.total ?? countTrashed(database, key).then(([counted]) => counted!.total),
        ]);
        const { rows, ends } = finishPageByPosition(cut, found, total, trashPositionOf);
        const days = Number(effectiveRetentionDays('trash', 0, rules!.form ?? undefined, rules!.workspace));
        const data = rows.map((row) =>
          asWireValue({ ...row, removed_at: new Date(row.trashed_at.getTime() + days * dayMs) }),
        );
        return { body: { data, ...ends, at_once: bulkLimit } };
      },
    }),

    restoreSubmissions: operation({
      summary: 'Restore submissions',
      command: 'trash restore',
      description: 'Restores submissions from the trash. 404 if none of them is in the trash.',
      permission: 'submissions:write',
      audit: { none: 'Submissions have their own history.' },
      params: idParameter,
      body: strictObject({ ids: idList }),
      example: { body: { ids: [some] } },
      reply: {
        status: 200,
        description: 'The number of restored submissions.',
        schema: Type.Object({ restored: Type.Integer() }),
      },
      async run({ params, body, ...scope }) {
        const form = await requireReachableForm(database, scope, params.id);
        const restored = await restoreMany(database, form, { ids: body.ids, by: scope.actor });
        if (restored === 0) throw new ApiError('not_found', 'These submissions are no longer in the trash.');
        return { body: { restored } };
      },
    }),

    emptyTrash: operation({
      summary: 'Empty trash',
      description:
        'Permanently deletes submissions in the trash, in the background. Send `ids`, or `everything` for all submissions up to the limit per deletion, most recently deleted first. Webhooks are notified of the deletion of each completed submission. 409 if the number of submissions differs from `expected`.',
      permission: 'submissions:write',
      audit: 'entry',
      params: idParameter,
      body: strictObject({
        ids: Type.Optional(idList),
        everything: Type.Optional(Type.Literal(true)),
        expected: Type.Optional(Type.Integer({ minimum: 1 })),
      }),
      example: { body: { everything: true } },
      errors: ['conflict'],
      isDestructive: true,
      reply: { status: 202, description: 'The deletion has started.', schema: BulkChange },
      async run({ params, body: { ids, everything, expected }, ...scope }) {
        if ((ids === undefined) === (everything === undefined))
          throw new ApiError('validation_error', 'Send either "ids" or "everything".');
        const form = await requireReachableForm(database, scope, params.id);
        const [found] = await listTrashedIds(database, {
          workspace_id: form.workspaceId,
          form_id: form.formId,
          ids: ids ? [...ids] : null,
          limit: bulkLimit,
        });
        requireExpectedCount(found!.ids.length, expected);
        const bulk = await startBulk(context, form, { kind: 'empty', ids: found!.ids, by: scope.actor });
        return { body: asWireValue(bulk) };
      },
    }),
  };
}
