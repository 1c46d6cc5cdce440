import { normalizeBody } from '#ast/normalize-json.ts';
import { cellOfWorkspace } from '#cells/across-cells.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Scope } from '#kit/operation.ts';
import { announceJobs } from '#kit/queue.ts';
import { openAuditLog } from '#workspaces/audit/audit-log.ts';
import { openRequestCounter } from '#workspaces/request-counter.ts';
import { listWorkspaces } from '#workspaces/workspaces.ts';
import { openServices } from '../open-services.ts';
import { apiRoutes } from '../operations.ts';
import { routeOf } from '../routes.ts';
import { runnerOf, sentOf } from '../run-operation.ts';
import type { Services } from '../services.ts';
import type { Api, ApiRequest } from '../call-operation.ts';
import type { CommandContext } from './command.ts';
import { findWorkspaceOf } from './find-place.ts';
import { UsageError } from './values.ts';

/**
 * The operations of this process on the database, as the operator, who may do everything. What they put into the queue a
 * running server does.
 * @param workspace where it acts; undefined: where the thing lies that the path names, or the only one there is.
 */
export async function openLocalApi(
  { config, database, vault, log }: Omit<CommandContext, 'confirm' | 'tell' | 'signal'>,
  workspace: string | undefined,
): Promise<{ api: Api; close: () => Promise<void> }> {
  let isWoken = false;
  const requestCounter = await openRequestCounter({ valkeyUrl: config.valkeyUrl, log });
  const open = (cell: Database) => {
    const services: Services = {
      ...openServices({ config, database: cell, vault, log, requestCounter }),
      wakeQueue: () => (isWoken = true),
    };
    const routes = new Map(apiRoutes(services).map((route) => [route.name, route]));
    return { services, routes, auditLog: openAuditLog(services) };
  };
  const cells = new Map<Database, ReturnType<typeof open>>();
  const api: Api = async (request) => {
    const { name, params = {}, query = {}, body, ifMatch, idempotencyKey: key } = request;
    const workspaceId = await findWorkspace(database, workspace, request);
    const cell = await cellOfWorkspace(database, workspaceId);
    const { services, routes, auditLog } = cells.get(cell) ?? open(cell);
    cells.set(cell, { services, routes, auditLog });
    const route = routes.get(name)!;
    const scope: Scope = {
      workspaceId,
      formIds: null,
      actor: { kind: 'operator', id: '' },
      may: () => true,
    };
    const run = runnerOf(services, auditLog, route);
    const once =
      key === undefined ? undefined : { key, url: `${route.path} ${JSON.stringify({ params, query })}` };
    // No HTTP request was read, so JSON is normalized here.
    const given = Buffer.isBuffer(body) ? body : normalizeBody(body);
    const answer = await run(scope, { params, query, body: given, ifMatch, once });
    if (isWoken) await announceJobs(cell);
    return sentOf(answer);
  };
  const close = async (): Promise<void> => {
    for (const { services, auditLog } of cells.values()) {
      services.feedBell.close();
      await auditLog.stop();
    }
    await requestCounter.close();
  };
  return { api, close };
}

async function findWorkspace(
  database: Database,
  named: string | undefined,
  { name, params = {} }: ApiRequest,
): Promise<string> {
  if (named === undefined) {
    const found = await findWorkspaceOf(database, routeOf(name).path, params['id']);
    if (found !== undefined) return found;
  }
  const list = async (isPartial: boolean): Promise<string[]> =>
    (await listWorkspaces(database, { isPartial })).map(({ id }) => id);
  // One that is named and there waits for no other cell.
  if (named !== undefined && (await list(true)).includes(named)) return named;
  const workspaces = await list(false);
  if (named !== undefined && !workspaces.includes(named))
    throw new ApiError('not_found', 'There is no such workspace.');
  if (named === undefined && workspaces.length > 1)
    throw new UsageError(`There are ${workspaces.length} workspaces: --workspace <id> says which one.`);
  const found = named ?? workspaces[0];
  if (found === undefined)
    throw new ApiError('not_found', 'There is no workspace yet: `workspace create <name>` makes one.');
  return found;
}
