import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { bytesOfId, cellWith } from '#cells/across-cells.ts';
import { type Cell, cellsOf, onCell } from '#cells/cells.ts';
import { uuidPattern } from '#kit/clock.ts';
import { closeInOrder } from '#kit/concurrency.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { refuseRequest, type Server } from '#kit/http.ts';
import { hashOfHeader } from '#workspaces/api-key.ts';
import { type Ground, openServices } from '../operations/services.ts';
import { type Background, startBackground } from './background.ts';
import { startBesideBackground } from './processes.ts';
import { buildServer } from './server.ts';

/** Where a path itself names a form or a workspace: pages and what belongs to them, files, and a person's own matters. */
const named =
  /^\/(?:(?:api\/v1\/)?f|files|app\/api\/(?:forms|workspaces|memberships))\/([0-9a-f-]{36})(?=[/?#]|$)/i;
/** Where the caller is of a workspace. */
const called = /^\/(?:api\/v1\/|mcp(?:[?#]|$))/;

/**
 * What of a request the directory knows: the hash of its API key, or the id, as a text, of the workspace or form that it names; undefined
 * for what concerns none, and is answered by the first cell. It reads what findCaller and the routes read.
 */
export function placeOfRequest(request: IncomingMessage): Buffer | string | undefined {
  const { url = '' } = request;
  const inPath = named.exec(url)?.[1];
  if (inPath !== undefined) return ofUuid(inPath);
  if (!called.test(url)) return undefined;
  const { headersDistinct } = request;
  const authorization = headersDistinct['authorization'];
  if (authorization !== undefined) return hashOfHeader(authorization);
  const [inHeader] = headersDistinct['x-workspace-id'] ?? [];
  return ofUuid(inHeader ?? new URLSearchParams(url.split('?', 2)[1]).get('workspace_id') ?? '');
}

function ofUuid(text: string): string | undefined {
  const id = text.toLowerCase();
  return uuidPattern.test(id) ? id : undefined;
}

/** What a process has of a cell beside the first one: its own server, which listens nowhere, and its own background work. */
type Part = { server: Server; stop: Background['stop']; close(): Promise<void> };

/** A cell that could not be opened is tried again so much later. */
const againMs = 1_000;
/** What was found is good for so long; of so many things at most. */
const rememberMs = 1_000;
const remembered = 10_000;

/**
 * Has a server answer for all cells of its instance, those of now and those that come. Each cell is a whole service of its own,
 * so that nothing of one can reach another; what a request names says which of them answers it, and all that names nothing is
 * answered by the first. While there is one cell, requests go where they went.
 * @returns `stop`: nothing is waited for or worked on in the others any more; `close`: nor answered.
 */
export function serveCells(
  first: Server,
  ground: Ground,
  { background, isBackgroundElsewhere }: { background: Background; isBackgroundElsewhere: boolean },
): { stop: Background['stop']; close(): Promise<void> } {
  const { database, log } = ground;
  const parts = new Map<Database, Promise<Part>>();
  const open = async (cell: Cell): Promise<Part> => {
    const services = openServices({ ...ground, database: cell.database });
    // The process that does the work does that of every cell, and hears of all of them on one channel.
    const own = (isBackgroundElsewhere ? startBesideBackground : startBackground)(services, background);
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
  const openAgain = (cell: Cell, said?: string): void => {
    const opened = open(cell);
    parts.set(cell.database, opened);
    opened.catch(async (error: Error) => {
      const { message } = error;
      if (message !== said)
        log.error({ err: error, cell: cell.name }, 'a cell could not be opened, which is tried again');
      await sleep(againMs, undefined, { signal: ending.signal, ref: false }).catch(() => undefined);
      if (!ending.signal.aborted) openAgain(cell, message);
    });
  };
  dispatch(first, ground, parts);
  const unhear = onCell(database, openAgain);
  const ofEach = async (work: (part: Part) => Promise<unknown>): Promise<void> => {
    const opened = await Promise.allSettled(parts.values());
    await Promise.all(
      opened.map((each) => (each.status === 'fulfilled' ? work(each.value) : Promise.resolve())),
    );
  };
  const stop: Background['stop'] = (graceMs) => {
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
 * Puts itself before the framework of the first cell, which answers what is not another's.
 * @returns what has it look anew where things are.
 */
function dispatch(
  first: Server,
  { database }: Pick<Ground, 'database'>,
  parts: ReadonlyMap<Database, Promise<Part>>,
): { forget: () => void } {
  const [own] = first.server.listeners('request') as [Answer];
  first.server.off('request', own);
  const find = async (place: Buffer | string): Promise<Answer> => {
    const id = typeof place === 'string' ? bytesOfId(place) : place;
    const cell = await cellWith(database, id);
    if (cell === database) return own;
    const part = await parts.get(cell)?.catch(() => undefined);
    // It is being opened again, or was let go of, or this process ends. The first one would say that what is asked for is nowhere.
    if (!part || !parts.has(cell)) throw new ApiError('service_unavailable', undefined, { retryAfter: 1 });
    return (request, response) => part.server.routing(request, response);
  };
  const { known, forget } = remember(find);
  first.server.on('request', (request, response) => {
    const place = cellsOf(database).length > 1 ? placeOfRequest(request) : undefined;
    const answer = place === undefined ? own : known(place);
    if (!(answer instanceof Promise)) return answer(request, response);
    void answer
      .catch((error: unknown) => {
        // Where a thing is cannot be told now: the first cell would say that it is nowhere.
        refuseRequest(request, error);
        return own;
      })
      .then((found) => found(request, response));
  });
  return { forget };
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Who answers for a thing, asked once in a while for each: keys and ids of what is made later are others. What is known is there at
 * once, as a promise would cost a request more than all else here.
 */
function remember(find: (place: Buffer | string) => Promise<Answer>): {
  known: (place: Buffer | string) => Answer | Promise<Answer>;
  forget: () => void;
} {
  const known = new Map<string, { at: number; answer: Answer | Promise<Answer> }>();
  const look = (place: Buffer | string): Answer | Promise<Answer> => {
    const name = typeof place === 'string' ? place : place.toString('latin1');
    const at = performance.now();
    const asked = known.get(name);
    if (asked && at - asked.at < rememberMs) return asked.answer;
    const answer = find(place);
    known.delete(name);
    if (known.size >= remembered) known.delete(known.keys().next().value!);
    const kept: { at: number; answer: Answer | Promise<Answer> } = { at, answer };
    known.set(name, kept);
    answer.then(
      (found) => (kept.answer = found),
      () => known.delete(name),
    );
    return answer;
  };
  return { known: look, forget: () => known.clear() };
}

/** What a process is made of, from its configuration to the order in which it ends. */
export type Run = { config: Config; parts: AsyncDisposableStack; state: { isStopping: boolean } };

/** What has begun at a stop has so long to finish. */
const drainMs = 7_000;

/**
 * The services of this process, its server, which does not listen yet, and its work without requests; their end is put
 * on the run's parts. main.ts loads this only where it is needed: the primary of several processes stays small.
 */
export async function assemble(
  { config, parts, state }: Run,
  {
    isBackgroundElsewhere,
    ...ground
  }: Omit<Ground, 'config'> & {
    /** Whether another process of the instance does the background work. */
    isBackgroundElsewhere: boolean;
  },
): Promise<Server> {
  const services = openServices({ config, ...ground });
  const background = isBackgroundElsewhere ? startBesideBackground(services) : startBackground(services);
  parts.defer(() => background.stop(drainMs));
  parts.defer(() => services.feedBell.close());
  const server = await buildServer(
    { ...services, wakeQueue: background.wakeQueue },
    { isStopping: () => state.isStopping },
  );
  const cells = serveCells(server, { config, ...ground }, { background, isBackgroundElsewhere });
  parts.defer(() => cells.close());
  const close = closeInOrder(server);
  parts.defer(async () => {
    services.feedBell.close();
    await Promise.all([close(drainMs), background.stop(drainMs), cells.stop(drainMs)]);
  });
  return server;
}
