import { hash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { bareHeaders, refuseOtherMethods, type Server } from '#kit/http.ts';
import { openInstanceReport } from './instance-report.ts';
import { metricsType, type Report, writeReports } from './report.ts';

/** The metrics of the instance, over all of its processes, as text. */
export type ReadMetrics = () => Promise<string>;

/** @param reports what each process has counted. */
export function openMetrics(
  context: { config: Config; database: Database },
  reports: () => Promise<readonly Report[]>,
): ReadMetrics {
  const ofInstance = openInstanceReport(context);
  return async () =>
    writeReports((await Promise.all([reports(), ofInstance().then((report) => [report])])).flat());
}

/** Answers on METRICS_LISTEN, to whoever can reach that. @throws the system's error when it cannot listen there. */
export async function listenForMetrics(
  { host, port }: { host: string; port: number },
  read: ReadMetrics,
): Promise<{ close(): Promise<void> }> {
  // Not imported, as in kit/http.ts.
  const server = process.getBuiltinModule('node:http').createServer((request, response) => {
    request.resume();
    const answer = (status: number, type: string, text: string) =>
      response
        .writeHead(status, { ...bareHeaders, 'Content-Type': type })
        .end(request.method === 'HEAD' ? undefined : text);
    if (request.url?.split('?', 1)[0] !== '/metrics')
      answer(404, 'text/plain', 'There is only /metrics here.\n');
    else
      read().then(
        (text) => answer(200, metricsType, text),
        (error: unknown) => answer(503, 'text/plain', `${String(error)}\n`),
      );
  });
  server.listen({ host, port });
  await once(server, 'listening');
  return {
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** `/metrics` on the port of the service, for whoever has METRICS_TOKEN. */
export function metricsRoute(server: Server, token: string, read: ReadMetrics): void {
  const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
  const expected = digest(token);
  server.get('/metrics', async (request, reply) => {
    const [, given = ''] = /^Bearer[ \t]+(.*)$/i.exec(request.headers.authorization ?? '') ?? [];
    if (!timingSafeEqual(digest(given), expected)) throw new ApiError('unauthorized');
    return reply
      .header('Cache-Control', 'no-store')
      .type(metricsType)
      .send(await read());
  });
  refuseOtherMethods(server, '/metrics', ['GET']);
}
