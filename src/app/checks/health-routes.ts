import { findCellsAway } from '#cells/across-cells.ts';
import type { Server } from '#kit/http.ts';
import { openFacts } from './facts.ts';
import { allChecks } from './instance-checks.ts';

/** How long `/readyz` waits for a cell: Kubernetes waits a second for the answer. */
const patienceMs = 300;

/** `/healthz`: the process serves. `/readyz`: it accepts requests and is not about to stop; otherwise 503 and the reason. */
export function healthRoutes(
  server: Server,
  context: Parameters<typeof openFacts>[0] & { isStopping: () => boolean },
): void {
  const checks = allChecks.filter(({ severity }) => severity === 'ready');
  server.get('/healthz', async () => ({ status: 'ok' }));
  server.get('/readyz', async (_request, reply) => {
    if (context.isStopping()) return reply.code(503).send({ status: 'stopping' });
    const facts = openFacts(context);
    const found = await Promise.all(checks.map(({ obstacle }) => obstacle?.(facts)));
    // A database that is away matters more than a full disk of the uploads.
    const status = found.findLast((each) => each !== undefined);
    if (status !== undefined) return reply.code(503).send({ status });
    // The other cells work without a cell whose node is away.
    const away = await findCellsAway(context.database, patienceMs);
    return { status: 'ready', ...(away.length > 0 && { cells_away: away.map(({ name }) => name) }) };
  });
}
