import type { Database } from '#kit/database.ts';
import type { Server } from '#kit/http.ts';

/** `/healthz`: the process serves. `/readyz`: the database answers and we are not about to stop (DESIGN section 5). */
export function healthRoutes(server: Server, state: { database: Database; isStopping: () => boolean }): void {
  server.get('/healthz', async () => ({ status: 'ok' }));
  server.get('/readyz', async (_request, reply) => {
    if (state.isStopping()) return reply.code(503).send({ status: 'stopping' });
    try {
      await state.database.query('select 1');
      return { status: 'ready' };
    } catch {
      return reply.code(503).send({ status: 'the database does not answer' });
    }
  });
}
