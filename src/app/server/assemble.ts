import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { slugSetting } from '#ast/settings-kinds.ts';
import { bytesOfId, findCell, findInAllCells } from '#cells/across-cells.ts';
import { type Cell, cellsOf, watchOtherCells } from '#cells/cells.ts';
import { findFormByName } from '#forms/slugs.ts';
import { uuidPattern } from '#kit/clock.ts';
import { prepareGracefulShutdown } from '#kit/concurrency.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Server } from '#kit/http.ts';
import { markRequestRefused } from '#kit/open-server.ts';
import { hashKeyFromHeader } from '#workspaces/api-key.ts';
import { type BaseServices, openServices } from '../operations/services.ts';
import { type BackgroundWork, startBackgroundWork } from './background.ts';
import { delegateBackgroundWork } from './processes.ts';
import { buildServer } from './server.ts';

/** Paths that contain the id of a form or workspace: public pages, shared results, files, and the console's own API. */
const named =
  /^\/(?:(?:api\/v1\/)?f|r|files|app\/api\/(?:forms|workspaces|memberships))\/([0-9a-f-]{36})(?=[./?#]|$)/i;
/** Matches paths that can contain the short address of a form. */
const slugInPath = /^\/(?:api\/v1\/)?f\/([^/?#]+)/;
/** Matches paths whose caller belongs to a workspace. */
const called = /^\/(?:api\/v1\/|mcp(?:[?#]|$))/;

/**
 * Returns the key by which the directory finds the cell of a request. This is the hash of its API key, or the
 * id or short address (as text) of the workspace or form in the request. Returns undefined for a request
 * without any of these; the first cell responds to it. Reads the same fields as findCaller and the routes.
 */
export function cellKeyOfRequest(request: IncomingMessage): Buffer | string | undefined {
  const { url = '' } = request;
  const inPath = named.exec(url)?.[1];
  if (inPath !== undefined) return ofUuid(inPath);
  const slug = slugInPath.exec(url)?.[1]?.toLowerCase();
  if (slugSetting.accepts(slug)) return slug;
  if (!called.test(url)) return undefined;
  const { headersDistinct } = request;
  const authorization = headersDistinct['authorization'];
  if (authorization !== undefined) return hashKeyFromHeader(authorization);
  const [inHeader] = headersDistinct['x-workspace-id'] ?? [];
  return ofUuid(inHeader ?? new URLSearchParams(url.split('?', 2)[1]).get('workspace_id') ?? '');
}

function ofUuid(text: string): string | undefined {
  const id = text.toLowerCase();
  return uuidPattern.test(id) ? id : undefined;
}

/**
 * The service that a process runs for each cell except the first: a server that does not listen, and
 * background work.
 */
type Part = { server: Server; stop: BackgroundWork['stop']; close(): Promise<void> };

/** The time after which a cell that could not be opened is retried, in milliseconds. */
const againMs = 1_000;
/** How long it is cached which server serves a key or id, and for how many of them. */
const rememberMs = 1_000;
const remembered = 10_000;

/**
 * Serves all cells of an instance, including cells that are added later. Each cell is a separate service, so
 * nothing in one can reach another. The key or id in a request selects the cell; the first cell responds to
 * requests without one. While there is only one cell, requests are not dispatched.
 * @returns `stop` ends the background work of the other cells; `close` also closes their servers.
 */
export function serveCells(
  first: Server,
  ground: BaseServices,
  { background, isBackgroundElsewhere }: { background: BackgroundWork; isBackgroundElsewhere: boolean },
): { stop: BackgroundWork['stop']; close(): Promise<void> } {
  const { database, log } = ground;
  const parts = new Map<Database, Promise<Part>>();
  const open = async (cell: Cell): Promise<Part> => {
    const services = openServices({ ...ground, database: cell.database });
    // The process that runs background work runs it for every cell, and listens for all cells on a single
    // channel.
    const own = (isBackgroundElsewhere ? delegateBackgroundWork : startBackgroundWork)(services, background);
    const stop: Part['stop'] = async (graceMs) => {
      services.feedBell.close();
      await own.stop(graceMs);
    };
    try {
      const server = await buildServer(
        { ...services, wakeQueue: own.wakeQueue },
        { isStopping: () => false },
      );
      return { server, stop, close: () => server.close() };
    } catch (error) {
      await stop();
      throw error;
    }
  };
  const ending = new AbortController();
  const openAgain = (cell: Cell, logged?: string): void => {
    const opened = open(cell);
    parts.set(cell.database, opened);
    opened.catch(async (error: Error) => {
      const { message } = error;
      if (message !== logged) log.error({ err: error, cell: cell.name }, 'could not open a cell; retrying');
      await sleep(againMs, undefined, { signal: ending.signal, ref: false }).catch(() => undefined);
      if (!ending.signal.aborted) openAgain(cell, message);
    });
  };
  dispatch(first, ground, parts);
  const unhear = watchOtherCells(database, openAgain);
  const ofEach = async (work: (part: Part) => Promise<unknown>): Promise<void> => {
    const opened = await Promise.allSettled(parts.values());
    await Promise.all(
      opened.map((each) => (each.status === 'fulfilled' ? work(each.value) : Promise.resolve())),
    );
  };
  const stop: BackgroundWork['stop'] = (graceMs) => {
    unhear();
    ending.abort();
    return ofEach((part) => part.stop(graceMs));
  };
  return {
    stop,
    async close() {
      await stop();
      await ofEach((part) => part.close());
    },
  };
}

/**
 * Dispatches requests to the other cells. Runs before the framework of the first cell, which responds to
 * every request that belongs to no other cell.
 */
function dispatch(
  first: Server,
  { database }: Pick<BaseServices, 'database'>,
  parts: ReadonlyMap<Database, Promise<Part>>,
): void {
  const [own] = first.server.listeners('request') as [Answer];
  first.server.off('request', own);
  const findIdOf = async (place: string): Promise<Buffer | undefined> => {
    if (uuidPattern.test(place)) return bytesOfId(place);
    const [form] = await findInAllCells(database, (cell) => findFormByName(cell, { slug: place, id: null }));
    return form && bytesOfId(form.id);
  };
  const find = async (place: Buffer | string): Promise<Answer> => {
    const id = typeof place === 'string' ? await findIdOf(place) : place;
    if (id === undefined) return own;
    const cell = await findCell(database, id);
    if (cell === database) return own;
    const part = await parts.get(cell)?.catch(() => undefined);
    // The cell is being reopened or was removed, or this process is stopping. The first cell would wrongly
    // respond with 404.
    if (!part || !parts.has(cell)) throw new ApiError('service_unavailable', undefined, { retryAfter: 1 });
    return (request, response) => part.server.routing(request, response);
  };
  const known = remember(find);
  first.server.on('request', (request, response) => {
    const place = cellsOf(database).length > 1 ? cellKeyOfRequest(request) : undefined;
    const answer = place === undefined ? own : known(place);
    if (!(answer instanceof Promise)) return answer(request, response);
    void answer
      .catch((error: unknown) => {
        // The cell cannot be found now. Without this refusal, the first cell would answer 404.
        markRequestRefused(request, error);
        return own;
      })
      .then((found) => found(request, response));
  });
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Caches which server responds for each key, id and short address. New keys and ids never repeat old ones, so
 * caching a miss does no harm. A new short address works after a second if it was requested before. A known
 * server is returned without a promise, which would cost more than the rest of the dispatch.
 */
function remember(find: (place: Buffer | string) => Promise<Answer>) {
  const known = new Map<string, { at: number; answer: Answer | Promise<Answer> }>();
  return (place: Buffer | string): Answer | Promise<Answer> => {
    const name = typeof place === 'string' ? place : place.toString('latin1');
    const at = performance.now();
    const cached = known.get(name);
    if (cached && at - cached.at < rememberMs) return cached.answer;
    const answer = find(place);
    known.delete(name);
    if (known.size >= remembered) known.delete(known.keys().next().value!);
    const entry: { at: number; answer: Answer | Promise<Answer> } = { at, answer };
    known.set(name, entry);
    answer.then(
      (found) => (entry.answer = found),
      () => known.delete(name),
    );
    return answer;
  };
}

/** The configuration of a process, the parts to close when it stops, and its state. */
export type ProcessContext = { config: Config; parts: AsyncDisposableStack; state: { isStopping: boolean } };

/** How long running work may take to finish after a stop, in milliseconds. */
const drainMs = 7_000;

/**
 * Opens the services, the background work and the server of this process; the server does not listen yet.
 * Everything that must be closed is added to `parts`. main.ts loads this module only when a process needs it,
 * so that the primary of several processes stays small.
 */
export async function assembleProcess(
  { config, parts, state }: ProcessContext,
  {
    isBackgroundElsewhere,
    ...ground
  }: Omit<BaseServices, 'config'> & {
    /** Whether another process of the instance does the background work. */
    isBackgroundElsewhere: boolean;
  },
): Promise<Server> {
  const services = openServices({ config, ...ground });
  const background = isBackgroundElsewhere ? delegateBackgroundWork(services) : startBackgroundWork(services);
  parts.defer(() => background.stop(drainMs));
  parts.defer(() => services.feedBell.close());
  const server = await buildServer(
    { ...services, wakeQueue: background.wakeQueue },
    { isStopping: () => state.isStopping },
  );
  const cells = serveCells(server, { config, ...ground }, { background, isBackgroundElsewhere });
  parts.defer(() => cells.close());
  const close = prepareGracefulShutdown(server);
  parts.defer(async () => {
    services.feedBell.close();
    await Promise.all([close(drainMs), background.stop(drainMs), cells.stop(drainMs)]);
  });
  return server;
}
