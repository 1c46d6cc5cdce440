import { type Static, Type } from 'typebox';
import { namedObject } from '#kit/pagination.ts';
import { failedReasonSchema, orNull, timestampSchema, uuidSchema } from '#kit/validation.ts';

/**
 * Every kind of task. The part before the dot names the permission needed to read it, such as
 * `submissions:read`.
 */
export const taskKinds = [
  'submissions.trash',
  'submissions.empty',
  'submissions.remove',
  'submissions.tag',
  'submissions.status',
  'submissions.stage',
  'submissions.assign',
  'submissions.undo',
  'submissions.import',
  'submissions.reindex',
  'invitations.send',
  'webhooks.replay',
  'people.erase',
  'forms.delete',
] as const;
export type TaskKind = (typeof taskKinds)[number];

export const taskStates = ['running', 'finished', 'cancelled', 'failed'] as const;
export type TaskState = (typeof taskStates)[number];

/** Background work. */
export const Task = namedObject('Task', {
  id: uuidSchema,
  kind: Type.Enum([...taskKinds]),
  state: Type.Enum([...taskStates]),
  form_id: orNull(uuidSchema),
  subject_id: orNull(
    Type.String({
      format: 'uuid',
      description: 'The bulk change that an undo reverts, the webhook of a replay, or the deleted form.',
    }),
  ),
  requested_by: orNull(Type.String({ description: 'The name of the member or the API key.' })),
  total: Type.Integer({ description: 'The number of items.' }),
  done: Type.Integer(),
  refused: Type.Integer({ description: 'The number of skipped items.' }),
  problems: Type.Array(Type.Object({ line: Type.Integer(), message: Type.String() }), {
    description: 'Why lines of an import were skipped. The first 100 problems.',
  }),
  created_at: timestampSchema,
  ended_at: orNull(timestampSchema),
  failed_reason: failedReasonSchema,
});
export type Task = Static<typeof Task>;
