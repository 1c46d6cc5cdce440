import type { Database } from '#kit/database.ts';
import type { Server } from '#kit/http.ts';
import type { Storage } from '#kit/storage.ts';

/** `/healthz`: the process serves. `/readyz`: it can take what is sent, and is not about to stop; else the body says why. */
export function healthRoutes(
  server: Server,
  state: { database: Database; storage: Storage; isStopping: () => boolean },
): void {
  server.get('/healthz', async () => ({ status: 'ok' }));
  server.get('/readyz', async (_request, reply) => {
    const obstacle = await findObstacle();
    return obstacle === undefined ? { status: 'ready' } : reply.code(503).send({ status: obstacle });
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
