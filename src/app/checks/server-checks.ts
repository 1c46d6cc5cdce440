import { cellsElsewhere, otherCells } from '#kit/cells/other-cells.ts';
import { findRoom, findRoomElsewhere, onServerOf } from '#kit/cells/room.ts';
import { findCell, OtherCellError } from '#kit/cells/servers/identity.ts';
import { reachServers } from '#kit/cells/servers/reach-server.ts';
import { refuseTwins } from '#kit/cells/servers/refuse-twins.ts';
import { findHalfMade } from '#kit/cells/servers/half-made.ts';
import { isLost, type Reach } from '#kit/cells/servers/server.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import { findPending, readMigrations } from '#kit/migrate.ts';
import { findInstanceKey, openVault } from '#kit/vault.ts';
import { keyChannel } from '#workspaces/keys/queries.ts';
import { explain } from '../explain.ts';
import { type Finding, ok, problem, warning } from './check.ts';
import { databaseChecks } from './database-checks.ts';

/** A cell on another server than the first, and the way to it. */
type Reached = Awaited<ReturnType<typeof cellsElsewhere>>[number] & Reach;
type Named = readonly [check: string, finding: Finding];

const summary = 'servers of cells';

/** Looks at the cells on other servers, and at each of these servers as the first one is looked at. Nothing is changed there. */
export async function lookAtServers({
  database,
  config,
}: {
  database: Database;
  config: Config;
}): Promise<Named[]> {
  const halfMade = await lookAtHalfMade(database);
  const known = await cellsElsewhere(database);
  if (known.length === 0) return [[summary, ok('There is none.')], ...halfMade];
  const key = await findInstanceKey(config.dataDir, config.secretKey);
  if (key === undefined)
    return [
      [summary, problem('Their addresses are sealed with a key that is gone.', 'See `key`.')],
      ...halfMade,
    ];
  const reach = reachServers(database, openVault(key), { log: openLog('silent') });
  const cells = known.map((cell) => ({ ...cell, ...reach({ ...cell, server: cell.server! }) }));
  const others = cells.map(({ id, name, open }) => ({
    id,
    name,
    ask: <Result>(question: (there: Database) => Promise<Result>) => withPool(open(1), question),
  }));
  const looks = cells.map((cell) =>
    lookAtCell(cell, (there) => refuseTwins(database, cell, there, cell.place, others)),
  );
  const problems = (await Promise.all(looks)).flatMap((each) => each ?? []);
  const finding =
    problems.length === 0
      ? ok(`Each answers and is of this version: ${namesOf(cells)}.`)
      : problem(
          problems.join(' '),
          'Bring the server back: its workspaces answer 503 until then. `cell forget` lets go of one that is lost for good, and ends a `cell forget` that was broken off. A running service migrates the cell.',
        );
  return [[summary, finding], ...(await lookAtEach(database, config, cells)), ...halfMade];
}

/** What a `cell create` has left that was killed between its commits: nobody asks for it, and nobody else takes it away. */
const lookAtHalfMade = async (database: Database): Promise<Named[]> =>
  (await findHalfMade(database)).map(({ name, place, begun_at: at, remedy }) => [
    'cells half made',
    warning(
      `The cell ${name} at ${place} was begun at ${at.toISOString()}, and is not made yet.`,
      `Where no command is making it, ${remedy}; \`cell forget ${name}\` takes it away then.`,
    ),
  ]);

const namesOf = (cells: readonly Reached[]): string => cells.map(({ name }) => name).join(', ');

async function withPool<Result>(
  there: Database,
  work: (there: Database) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(there);
  } finally {
    await there.end();
  }
}

/** What is wrong with a cell. */
async function lookAtCell(
  cell: Reached,
  refuse: (there: Database) => Promise<void>,
): Promise<string | undefined> {
  const { name, place } = cell;
  const there = cell.open(1);
  try {
    await findCell(there, cell, place);
    const pending = await findPending(there, await readMigrations());
    if (pending.length > 0) return `The cell ${name} at ${place} is of an earlier version.`;
    await refuse(there);
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof OtherCellError) return message;
    return `The cell ${name} at ${place} ${isLost(error) ? 'does not answer' : 'cannot be used'}: ${message}`;
  } finally {
    await there.end();
  }
}

/** What is to be said of each database that answers: it has to be what the first one has to be, and its server to have room for all that is there. */
async function lookAtEach(
  database: Database,
  { databasePool: pool, webProcesses }: Config,
  cells: readonly Reached[],
): Promise<Named[]> {
  const load = { pool, processes: webProcesses, channel: keyChannel };
  const first = await findRoom(database, (await otherCells(database)).length + 1, load);
  const { processes } = first;
  const groups = [...Map.groupBy(cells, ({ place }) => place).values()];
  const found = await Promise.all(groups.map((group) => lookAtServer(group, { pool, processes })));
  const rooms = [first, ...found.flatMap(({ room }) => room ?? [])];
  return found.flatMap(({ group, room, finding }): Named[] => {
    if (!finding) return [];
    const all = room && onServerOf(room, rooms);
    const load = all ? ` Up to ${all.needed} connections of ${all.allowed} (max_connections).` : '';
    const what = `At ${group[0]!.place}: ${finding.what}${load}`;
    const isFull = all !== undefined && all.needed > all.allowed;
    const said = isFull ? warning(what, 'Allow more, or make DATABASE_POOL smaller.') : { ...finding, what };
    return [[`server of ${namesOf(group)}`, said]];
  });
}

/** The first thing that is wrong with a server, or its version and the room on it; nothing where it is away, which was said. */
async function lookAtServer(group: readonly Reached[], load: { pool: number; processes: number }) {
  const there = group[0]!.open(2);
  try {
    let version = ok('');
    for (const { name, look } of databaseChecks) {
      const finding = await look({ database: there });
      if (finding.state !== 'ok') return { group, finding };
      if (name === 'database version') version = finding;
    }
    return { group, finding: version, room: await findRoomElsewhere(there, group.length, load) };
  } catch (error) {
    return isLost(error) ? { group } : { group, finding: problem(explain(error), '') };
  } finally {
    await there.end();
  }
}
