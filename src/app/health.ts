import { findCellsAway } from '#kit/cells/in-cells.ts';
import type { Database } from '#kit/database.ts';
import type { Server } from '#kit/http.ts';
import type { Storage } from '#kit/storage.ts';

/** Who asks whether a process is ready waits for a second, as Kubernetes does: a cell that says nothing for so long is away. */
const patienceMs = 300;

/** `/healthz`: the process serves. `/readyz`: it can take what is sent, and is not about to stop; else the body says why. */
export function healthRoutes(
  server: Server,
  state: { database: Database; storage: Storage; isStopping: () => boolean },
): void {
  server.get('/healthz', async () => ({ status: 'ok' }));
  server.get('/readyz', async (_request, reply) => {
    const obstacle = await findObstacle();
    if (obstacle !== undefined) return reply.code(503).send({ status: obstacle });
    // All others go on without a cell whose server is away, or the node that has it.
    const away = await findCellsAway(state.database, patienceMs);
    return { status: 'ready', ...(away.length > 0 && { cells_away: away.map(({ name }) => name) }) };
  });

  async function findObstacle(): Promise<string | undefined> {
    if (state.isStopping()) return 'stopping';
    const [answers, hasRoom] = await Promise.allSettled([
      state.database.query('select 1'),
      state.storage.hasRoom(),
    ]);
    if (answers.status === 'rejected') return 'the database does not answer';
    if (hasRoom.status === 'rejected') return 'the place of the uploads cannot be read';
    return hasRoom.value ? undefined : 'the disk of the uploads is full';
  }
}
