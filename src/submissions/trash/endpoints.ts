import { Type } from 'typebox';
import type { Answers } from '#ast/answers.ts';
import { reachForm } from '#forms/require-form.ts';
import { ApiError } from '#kit/errors.ts';
import { type Cut, endCutBy, lastId, listOf, listParameters, readCutBy } from '#kit/cursor.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { closed, orNull, timestamp, uuid } from '#kit/schemas.ts';
import { wired } from '#kit/wire.ts';
import { daysThatHold } from '#workspaces/retention/rules.ts';
import { findRetention } from '../retention/queries.ts';
import { bulkLimit, requireExpected, startBulk } from '../bulk/bulk.ts';
import { BulkChange } from '../bulk/shapes.ts';
import type { ChangeContext } from '../changes/edit.ts';
import { submissionStatuses } from '../queries.ts';
import { countTrashed, listTrashed, listTrashedIds } from './queries.ts';
import { restoreMany } from './trash.ts';

const dayMs = 86_400_000;

const TrashedSubmission = Type.Object({
  id: uuid,
  status: Type.Enum([...submissionStatuses]),
  answers: Type.Unsafe<Answers>(Type.Object({}, { additionalProperties: true })),
  created_at: timestamp,
  completed_at: orNull(timestamp),
  trashed_at: timestamp,
  trashed_by: Type.Union([Type.String(), Type.Null()], {
    description: 'The name of the member or the key; null for somebody who is gone.',
  }),
  removed_at: Type.String({ format: 'date-time', description: 'When it is removed for good.' }),
});

const TrashPage = Type.Object({
  ...listOf(TrashedSubmission).properties,
  at_once: Type.Integer({ description: 'How many one deletion takes at most: of more, those deleted last.' }),
});

/** The place behind a row: what was deleted at one moment is in the order of its ids. */
const placeOf = (row: { trashed_at: Date; id: string }): string => `${row.trashed_at.getTime()}/${row.id}`;
const placePattern = /^\d{1,14}\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function below({ after }: Cut): { below_at: Date; below_id: string } {
  const [moment, id = lastId] = after?.split('/') ?? [];
  return { below_at: moment === undefined ? new Date('9999-12-31') : new Date(Number(moment)), below_id: id };
}

const idList = Type.Array(uuid, { minItems: 1, maxItems: 1_000 });
const some = '01a1fde4-6fce-7e1a-a75a-2f8f8cc3c4b1';

/** What was deleted within 30 days: seen, taken back, or let go for good. */
export function trashEndpoints(context: ChangeContext) {
  const { database } = context;

  return {
    listTrash: operation({
      summary: 'List trash',
      description:
        'What was deleted, the latest first. After 30 days, or as many as the retention of the form says, it is erased for good.',
      permission: 'submissions:read',
      params: idParameter,
      query: Type.Object(listParameters, closed),
      reply: { status: 200, description: 'A page of the trash.', schema: TrashPage },
      async run({ params, query, ...scope }) {
        const { workspaceId, formId } = await reachForm(database, scope, params.id);
        const key = { workspace_id: workspaceId, form_id: formId };
        const cut = readCutBy(placePattern, query, 'trash', formId);
        const [[said], found, total] = await Promise.all([
          findRetention(database, key),
          listTrashed(database, { ...key, ...below(cut), limit: cut.limit, offset: cut.offset }),
          cut.total ?? countTrashed(database, key).then(([counted]) => counted!.total),
        ]);
        const { rows, ends } = endCutBy(cut, found, total, placeOf);
        const days = Number(daysThatHold('trash', 0, said!.form ?? undefined, said!.workspace));
        const data = rows.map((row) =>
          wired({ ...row, removed_at: new Date(row.trashed_at.getTime() + days * dayMs) }),
        );
        return { body: { data, ...ends, at_once: bulkLimit } };
      },
    }),

    restoreSubmissions: operation({
      summary: 'Restore submissions',
      command: 'trash restore',
      description: 'Takes these out of the trash. 404: none of them is there any more.',
      permission: 'submissions:write',
      params: idParameter,
      body: Type.Object({ ids: idList }, closed),
      example: { body: { ids: [some] } },
      reply: {
        status: 200,
        description: 'How many are back.',
        schema: Type.Object({ restored: Type.Integer() }),
      },
      async run({ params, body, ...scope }) {
        const form = await reachForm(database, scope, params.id);
        const restored = await restoreMany(database, form, { ids: body.ids, by: scope.actor });
        if (restored === 0) throw new ApiError('not_found', 'They are not in the trash any more.');
        return { body: { restored } };
      },
    }),

    emptyTrash: operation({
      summary: 'Empty trash',
      description:
        'Deletes for good what lies in the trash, in the background, and webhooks hear of each that had been completed: these, or `everything`, the last deleted first where one deletion does not take them all. 409: they are not as many as `expected`.',
      permission: 'submissions:write',
      params: idParameter,
      body: Type.Object(
        {
          ids: Type.Optional(idList),
          everything: Type.Optional(Type.Literal(true)),
          expected: Type.Optional(Type.Integer({ minimum: 1 })),
        },
        closed,
      ),
      example: { body: { everything: true } },
      errors: ['conflict'],
      isDestructive: true,
      reply: { status: 202, description: 'The deletion, on its way.', schema: BulkChange },
      async run({ params, body: { ids, everything, expected }, ...scope }) {
        if ((ids === undefined) === (everything === undefined))
          throw new ApiError('validation_error', 'Send either "ids" or "everything".');
        const form = await reachForm(database, scope, params.id);
        const [found] = await listTrashedIds(database, {
          workspace_id: form.workspaceId,
          form_id: form.formId,
          ids: ids ? [...ids] : null,
          limit: bulkLimit,
        });
        requireExpected(found!.ids.length, expected);
        const bulk = await startBulk(context, form, { kind: 'empty', ids: found!.ids, by: scope.actor });
        return { body: wired(bulk) };
      },
    }),
  };
}
