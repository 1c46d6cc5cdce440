import { Type } from 'typebox';
import { reachForm } from '#forms/form-rows.ts';
import type { Database } from '#kit/database.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { wired } from '#kit/http.ts';
import { readTask, readTasks, type TaskRow, unfinished } from '#tasks/read-tasks.ts';
import { requireReach } from '#workspaces/authenticate.ts';
import type { FormKey } from '../changes/event.ts';
import { BulkChange, bulkKinds } from './shapes.ts';
import type { BulkKind } from './works.ts';

const prefix = 'submissions.';

/** Which tasks are bulk changes of these kinds of a form. */
export const tasksOf = ({ workspaceId, formId }: FormKey, kinds: readonly BulkKind[]) => ({
  workspace_id: workspaceId,
  form_id: formId,
  kinds: kinds.map((kind) => `${prefix}${kind}` as const),
});

/** A task as the bulk change that it is. */
export const presentBulk = ({ id, kind, total, done, created_at, finished_at, failed_reason }: TaskRow) => ({
  id,
  kind: kind.slice(prefix.length) as BulkKind,
  total,
  done,
  created_at,
  finished_at,
  failed_reason,
});

const uuid = Type.String({ format: 'uuid' });

const kindsOf = {
  deletions: ['trash', 'empty', 'remove'],
  taggings: ['tag'],
  changes: bulkKinds,
} as const satisfies Readonly<Record<string, readonly BulkKind[]>>;

/** How far deletions are, taggings, or changes of any kind: those that are under way, and each by its id. */
export function progressEndpoints(database: Database) {
  const list = (word: keyof typeof kindsOf) =>
    operation({
      summary: word === 'changes' ? 'List changes of many' : `List ${word}`,
      description: `The ${word} of a form's submissions that are under way, newest first.`,
      permission: 'submissions:read',
      params: idParameter,
      reply: {
        status: 200,
        description: 'Those that are not finished.',
        schema: Type.Object({ data: Type.Array(BulkChange) }),
      },
      async run({ params, ...scope }) {
        const form = await reachForm(database, scope, params.id);
        const tasks = await readTasks(database, { ...tasksOf(form, kindsOf[word]), states: unfinished });
        return { body: { data: tasks.map((task) => wired(presentBulk(task))) } };
      },
    });

  const find = async (
    { workspaceId, formIds }: { workspaceId: string; formIds: readonly string[] | null },
    formId: string,
    { id, of }: { id: string; of: keyof typeof kindsOf },
  ) => {
    requireReach(formIds, formId);
    const tasks = tasksOf({ workspaceId, formId }, kindsOf[of]);
    return { body: wired(presentBulk(await readTask(database, { ...tasks, id }))) };
  };
  const reply = { status: 200, description: 'How far it is.', schema: BulkChange } as const;

  return {
    listDeletions: list('deletions'),
    listTaggings: list('taggings'),
    listBulkChanges: list('changes'),

    getDeletion: operation({
      summary: 'Get deletion',
      permission: 'submissions:read',
      params: Type.Object({ id: uuid, deletion: uuid }),
      reply,
      run: ({ params, ...scope }) => find(scope, params.id, { id: params.deletion, of: 'deletions' }),
    }),

    getTagging: operation({
      summary: 'Get tagging',
      permission: 'submissions:read',
      params: Type.Object({ id: uuid, tagging: uuid }),
      reply,
      run: ({ params, ...scope }) => find(scope, params.id, { id: params.tagging, of: 'taggings' }),
    }),

    getBulkChange: operation({
      summary: 'Get change of many',
      permission: 'submissions:read',
      params: Type.Object({ id: uuid, change: uuid }),
      reply,
      run: ({ params, ...scope }) => find(scope, params.id, { id: params.change, of: 'changes' }),
    }),
  };
}
