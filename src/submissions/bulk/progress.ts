import { Type } from 'typebox';
import { reachForm } from '#forms/form-rows.ts';
import type { Database } from '#kit/database.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { columns, requireRow, statement, word } from '#kit/statement.ts';
import { wired } from '#kit/http.ts';
import { requireReach } from '#workspaces/authenticate.ts';
import { BulkChange, bulkKinds } from './shapes.ts';
import { failedReason } from '#kit/queue/park-job.ts';
import type { BulkKind } from './works.ts';

export const bulkColumns = columns('id total:integer done created_at finished_at? failed_reason?', {
  kind: word<BulkKind>(),
});

export const bulkSelection = (table: 'bulk' | 'bulk_changes'): string =>
  `select id, kind, total, done, created_at, finished_at, ${failedReason(table, 'bulk_id')} as failed_reason from ${table}`;

export const findBulk = statement(
  'bulk.find_bulk',
  'workspace_id form_id id kinds',
  bulkColumns,
  `${bulkSelection('bulk_changes')}
   where workspace_id = $workspace_id and form_id = $form_id and id = $id and kind = any ($kinds)`,
);

/** The bulk changes of a form that are under way, newest first. */
export const findUnfinishedBulks = statement(
  'bulk.find_unfinished_bulks',
  'workspace_id form_id kinds',
  bulkColumns,
  `${bulkSelection('bulk_changes')}
   where workspace_id = $workspace_id and form_id = $form_id and finished_at is null and kind = any ($kinds)
   order by id desc`,
);

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
        const { workspaceId, formId } = await reachForm(database, scope, params.id);
        const key = { workspace_id: workspaceId, form_id: formId };
        const found = await findUnfinishedBulks(database, { ...key, kinds: [...kindsOf[word]] });
        return { body: { data: found.map(wired) } };
      },
    });

  const find = async (
    { workspaceId, formIds }: { workspaceId: string; formIds: readonly string[] | null },
    formId: string,
    { id, of }: { id: string; of: keyof typeof kindsOf },
  ) => {
    requireReach(formIds, formId);
    const key = { workspace_id: workspaceId, form_id: formId };
    const bulk = requireRow(await findBulk(database, { ...key, id, kinds: [...kindsOf[of]] }));
    return { body: wired(bulk) };
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
