import { normalizeBody } from '#ast/form/normalize-json.ts';
import { cellOfWorkspace, findInAllCells } from '#cells/across-cells.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { RequestScope } from '#kit/operation.ts';
import { announceJobs } from '#kit/queue.ts';
import { statement, text, uuid } from '#kit/statement.ts';
import { openAuditLog } from '#workspaces/audit/audit-log.ts';
import { openRequestCounter } from '#workspaces/request-counter.ts';
import { listWorkspaces } from '#workspaces/workspaces.ts';
import type { Api, ApiRequest } from '../operations/call-operation.ts';
import { apiRoutes } from '../operations/operations.ts';
import { routeOf } from '../operations/routes.ts';
import { createOperationRunner, toApiResponse } from '../operations/run-operation.ts';
import { openServices, type Services } from '../operations/services.ts';
import type { CommandContext } from './command.ts';
import { UsageError } from './values.ts';

/**
 * Finds the workspace of an object by the object's id alone. The path does not name a workspace, and the
 * operator may see all of them.
 */
const finder = (table: string, named = 'id', type: typeof text = uuid) =>
  statement({ id: type }, 'workspace_id')`
    /* operator: across workspaces */
    select workspace_id from ${table} where ${named} = $id`;

const findTask = finder('tasks');

/** How to find the object that `:id` in a path refers to, by the words before `:id`. */
const finders: Readonly<Record<string, readonly [name: string, find: ReturnType<typeof finder>]>> = {
  forms: ['form', finder('form_lookup', 'form_id')],
  submissions: ['submission', finder('submissions')],
  webhooks: ['webhook', finder('webhooks')],
  deliveries: ['delivery', finder('deliveries')],
  replays: ['replay', findTask],
  tasks: ['task', findTask],
  keys: ['API key', finder('api_keys')],
  mails: ['mail', finder('mails')],
  // A person may be a member of several workspaces, in which case the result is ambiguous.
  members: ['member', finder('members', 'user_id', text)],
  'members/invitations': ['workspace invitation', finder('member_invitations')],
};

/**
 * Returns the workspace of the object that `:id` in a path refers to; undefined if the path has no id.
 * @throws ApiError not_found if no workspace has the object; UsageError for a person in several workspaces.
 */
async function findWorkspace(
  database: Database,
  path: string,
  id: string | undefined,
): Promise<string | undefined> {
  const kind = path.slice(1, path.indexOf('/:id'));
  const [name, find] = finders[kind] ?? [];
  if (id === undefined || !find) return undefined;
  const ask = (isPartial: boolean) => findInAllCells(database, (cells) => find(cells, { id }), { isPartial });
  // Only a person can be in several cells. Any other object is found in its cell, even if another cell is
  // down.
  const some = kind === 'members' ? [] : await ask(true);
  const [found, ...others] = some.length > 0 ? some : await ask(false);
  if (!found) throw new ApiError('not_found', `There is no ${name} ${id}.`);
  if (others.length > 0)
    throw new UsageError(
      `This person is a member of ${others.length + 1} workspaces. Choose one with --workspace <id>.`,
    );
  return found.workspace_id;
}

/**
 * Opens the operations of this process on the database. They run as the operator, who has every permission. A
 * running server runs the jobs that they enqueue.
 * @param workspace the workspace to act in. Without it, an operation acts in the workspace of the object in
 * its path, or in the only workspace.
 */
export async function openLocalApi(
  { config, database, vault, log }: Omit<CommandContext, 'confirm' | 'report' | 'signal'>,
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
    const workspaceId = await chooseWorkspace(database, workspace, request);
    const cell = await cellOfWorkspace(database, workspaceId);
    const { services, routes, auditLog } = cells.get(cell) ?? open(cell);
    cells.set(cell, { services, routes, auditLog });
    const route = routes.get(name)!;
    const scope: RequestScope = {
      workspaceId,
      formIds: null,
      actor: { kind: 'operator', id: '' },
      may: () => true,
    };
    const run = createOperationRunner(services, auditLog, route);
    const once =
      key === undefined ? undefined : { key, url: `${route.path} ${JSON.stringify({ params, query })}` };
    // JSON is normalized here, because no HTTP request was read.
    const given = Buffer.isBuffer(body) ? body : normalizeBody(body);
    const answer = await run(scope, { params, query, body: given, ifMatch, once });
    if (isWoken) await announceJobs(cell);
    return toApiResponse(answer);
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

async function chooseWorkspace(
  database: Database,
  named: string | undefined,
  { name, params = {} }: ApiRequest,
): Promise<string> {
  if (named === undefined) {
    const found = await findWorkspace(database, routeOf(name).path, params['id']);
    if (found !== undefined) return found;
  }
  const list = async (isPartial: boolean): Promise<string[]> =>
    (await listWorkspaces(database, { isPartial })).map(({ id }) => id);
  // A workspace found in one cell does not need the other cells.
  if (named !== undefined && (await list(true)).includes(named)) return named;
  const workspaces = await list(false);
  if (named !== undefined && !workspaces.includes(named))
    throw new ApiError('not_found', 'There is no workspace with this id.');
  if (named === undefined && workspaces.length > 1)
    throw new UsageError(`There are ${workspaces.length} workspaces. Choose one with --workspace <id>.`);
  const found = named ?? workspaces[0];
  if (found === undefined)
    throw new ApiError(
      'not_found',
      'There are no workspaces yet. Create one with `workspace create <name>`.',
    );
  return found;
}
