import type { Config } from '#kit/config.ts';
import { findCellsAway } from '#cells/across-cells.ts';
import { type Database, isDiskFull } from '#kit/database.ts';
import { hasFullDisk } from '#kit/full-disk.ts';
import type { Server } from '#kit/http.ts';
import type { Storage } from '#kit/storage.ts';
import { readDatabaseDisk } from './disks.ts';

/** Who asks whether a process is ready waits for a second, as Kubernetes does: a cell that says nothing for so long is away. */
const patienceMs = 300;

/** Of its log PostgreSQL writes files of this size, and ends without. */
const leastRoom = 16 * 1024 * 1024;

const diskIsFull = 'the disk of the database is full';

/** `/healthz`: the process serves. `/readyz`: it can take what is sent, and is not about to stop; else the body says why. */
export function healthRoutes(
  server: Server,
  state: {
    config: Pick<Config, 'dataDir' | 'databaseUrl'>;
    database: Database;
    storage: Storage;
    isStopping: () => boolean;
  },
): void {
  server.get('/healthz', async () => ({ status: 'ok' }));
  server.get('/readyz', async (_request, reply) => {
    const obstacle = await findObstacle();
    if (obstacle !== undefined) return reply.code(503).send({ status: obstacle });
    // All others go on without a cell whose server is away, or the node that has it.
    const away = await findCellsAway(state.database, patienceMs);
    return { status: 'ready', ...(away.length > 0 && { cells_away: away.map(({ name }) => name) }) };
  });

  async function isDownForRoom(): Promise<boolean> {
    const disk = await readDatabaseDisk(state.config);
    return disk !== undefined && disk.free < leastRoom;
  }

  async function findObstacle(): Promise<string | undefined> {
    if (state.isStopping()) return 'stopping';
    const [answers, isFull, hasRoom] = await Promise.allSettled([
      state.database.query('select 1'),
      hasFullDisk(state.database),
      state.storage.hasRoom(),
    ]);
    if (answers.status === 'rejected')
      return isDiskFull(answers.reason) || (await isDownForRoom())
        ? diskIsFull
        : 'the database does not answer';
    if (isFull.status === 'fulfilled' && isFull.value) return diskIsFull;
    if (hasRoom.status === 'rejected') return 'the place of the uploads cannot be read';
    return hasRoom.value ? undefined : 'the disk of the uploads is full';
  }
}
