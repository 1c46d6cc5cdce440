import { Type } from 'typebox';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { pageParameters, paginate, readPage } from '#kit/pagination.ts';
import { removalLimit, startRemoval } from '#submissions/changes/remove-many.ts';
import { countTrashed, listTrashed, listTrashedIds } from '#submissions/trash/queries.ts';
import { restoreMany, trashDays } from '#submissions/trash/trash.ts';
import { consoleEndpoint, type ConsoleRoute } from '../../endpoint.ts';
import type { ConsoleServices } from '../../services.ts';
import { readViewedForm } from '#submissions/columns/read-columns.ts';
import { FormPath, RestoreRequest, TrashRemovalRequest } from '../shapes.ts';

const dayMs = 86_400_000;

/** What was deleted in the console within 30 days: see it, take it back, or let it go for good. */
export function trashRoutes(services: ConsoleServices): readonly ConsoleRoute[] {
  const trash = '/workspaces/:workspace/forms/:form/trash';
  return [
    ['GET', trash, listEndpoint(services)],
    ['POST', `${trash}/restorations`, restoreEndpoint(services)],
    ['POST', `${trash}/removals`, removeEndpoint(services)],
  ];
}

const listEndpoint = ({ database }: ConsoleServices) =>
  consoleEndpoint({
    role: 'viewer',
    params: FormPath,
    query: Type.Object(pageParameters, { additionalProperties: false }),
    async run({ workspaceId, params, query }) {
      await readViewedForm(database, { workspaceId, formId: params.form });
      const key = { workspace_id: workspaceId, form_id: params.form };
      const page = readPage(query);
      const [rows, [counted]] = await Promise.all([
        listTrashed(database, { ...key, limit: page.perPage, offset: page.offset }),
        countTrashed(database, key),
      ]);
      const data = rows.map((row) => ({
        ...row,
        removed_at: new Date(row.trashed_at.getTime() + trashDays * dayMs),
      }));
      return {
        status: 200,
        body: { data, pagination: paginate(page, counted!.total), at_once: removalLimit },
      };
    },
  });

const restoreEndpoint = ({ database }: ConsoleServices) =>
  consoleEndpoint({
    role: 'editor',
    params: FormPath,
    body: RestoreRequest,
    async run({ workspaceId, user, params, body }) {
      const key = { workspaceId, formId: params.form };
      await readViewedForm(database, key);
      const restored = await restoreMany(database, key, { ids: body.ids, userId: user.id });
      if (restored === 0) throw new ApiError('not_found', 'They are not in the trash any more.');
      return { status: 200, body: { restored } };
    },
  });

/**
 * For good, as a job, the last that were laid in where there are more than one takes. The number that the person typed
 * must be the number that would go.
 */
const removeEndpoint = (services: ConsoleServices) =>
  consoleEndpoint({
    role: 'editor',
    params: FormPath,
    body: TrashRemovalRequest,
    async run({ workspaceId, user, params, body }) {
      const key = { workspaceId, formId: params.form };
      const ids = await listIds(services.database, key, body.ids);
      if (ids.length !== body.expected) {
        const isMore = ids.length === removalLimit;
        const found = isMore ? `${removalLimit} go at a time` : `now there are ${ids.length}`;
        throw new ApiError('conflict', `You confirmed ${body.expected}, but ${found}. Nothing was deleted.`);
      }
      const removal = await startRemoval(services, key, { userId: user.id, ids, toTrash: false });
      return { status: 202, body: removal };
    },
  });

async function listIds(
  database: Database,
  key: { workspaceId: string; formId: string },
  ids: readonly string[] | undefined,
): Promise<string[]> {
  await readViewedForm(database, key);
  const [found] = await listTrashedIds(database, {
    workspace_id: key.workspaceId,
    form_id: key.formId,
    ids: ids ? [...ids] : null,
    limit: removalLimit,
  });
  return found!.ids;
}
