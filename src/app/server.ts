import { fileURLToPath } from 'node:url';
import { serveConsole } from '#console/serve.ts';
import { staticRoutes } from '#console/static.ts';
import { fileRoutes } from '#files/routes.ts';
import { jsonType, openServer, refuseOtherMethods, type Server } from '#kit/http.ts';
import { ownHosts } from '#kit/own-hosts.ts';
import { packFile, sendPacked, whenAsked } from '#kit/packing.ts';
import { pageRoutes } from '#page/routes.ts';
import { openVisitCounter } from '#submissions/analytics/visit-counter.ts';
import { embedRoute } from '#page/theme/embed-route.ts';
import { openAccounts } from '#workspaces/accounts.ts';
import { openAuditLog } from '#workspaces/audit/audit-log.ts';
import { openRequestLog } from '#workspaces/request-log/request-log.ts';
import { servedPath } from './api-path.ts';
import { serveApi } from './api.ts';
import { healthRoutes } from './health.ts';
import { brokenHeaders, limitAddresses } from './limit-addresses.ts';
import { serveMcp } from './mcp/mcp-route.ts';
import { writeOpenApi } from './openapi.ts';
import { apiRoutes, consoleRoutes } from './operations.ts';
import type { Services } from './services.ts';
import { securityRoute } from './security-txt.ts';
import { setupRoutes } from './setup-page.ts';
import { version } from './version.ts';

/** What setup.mjs builds for browsers. */
const built = (part: string): string => fileURLToPath(new URL(`../../dist/${part}`, import.meta.url));

/** Everything that this process answers, each part in a scope of its own (its body parsers and its error pages). */
export async function buildServer(services: Services, state: { isStopping: () => boolean }): Promise<Server> {
  const { config, log } = services;
  const server = openServer({
    log,
    trustProxy: config.trustProxy,
    isSecure: config.publicUrl.startsWith('https:'),
    isOurs: ownHosts(config),
    pathOf: servedPath,
    brokenHeaders,
    onAnswered: services.metrics?.meter.answered,
  });
  limitAddresses(server, services.requestCounter);
  const routes = apiRoutes(services);

  const requestLog = openRequestLog(services);
  const auditLog = openAuditLog(services);
  const visitCounter = openVisitCounter(services, config.limits.submitsPerAddress);
  const written = [requestLog, auditLog, visitCounter];
  server.addHook('onClose', async () => void (await Promise.all(written.map((each) => each.stop()))));
  healthRoutes(server, { ...services, isStopping: state.isStopping });
  if (config.securityContact !== undefined)
    securityRoute(server, { publicUrl: config.publicUrl, contact: config.securityContact });
  if (config.metrics?.token !== undefined && services.metrics)
    (await import('./metrics/open-metrics.ts')).metricsRoute(
      server,
      config.metrics.token,
      services.metrics.read,
    );
  fileRoutes(server, services);
  server.get('/', async (_request, reply) => reply.redirect('/app/', 302));
  refuseOtherMethods(server, '/', ['GET']);
  await embedRoute(server);
  // When it is first asked for: it is a fifth of what a start makes, and most processes never are.
  const openApi = whenAsked(async () =>
    packFile(Buffer.from(JSON.stringify(writeOpenApi(routes, { publicUrl: config.publicUrl, version })))),
  );
  server.get('/api/v1/openapi.json', async (request, reply) =>
    sendPacked(request, reply.type(jsonType), await openApi()),
  );
  const console = {
    ...services,
    auditLog,
    accounts: openAccounts({ ...services, publicUrl: config.publicUrl }),
  };
  await server.register(async (scope) => serveApi(scope, console, routes, { requestLog, auditLog }), {
    prefix: '/api/v1',
  });
  await server.register(async (scope) => serveMcp(scope, console, routes, { requestLog, auditLog }));
  await server.register(async (scope) => pageRoutes(scope, { ...services, visitCounter }));
  await server.register(async (scope) => serveConsole(scope, console, consoleRoutes(console)), {
    prefix: '/app/api',
  });
  const browsers = [
    { directory: built('web'), base: '/app', name: 'The console' },
    { directory: built('docs'), base: '/api/v1/docs', name: 'The reference', hasInlineStyles: true },
  ];
  for (const part of browsers) await server.register(async (scope) => staticRoutes(scope, part));
  await server.register(async (scope) => setupRoutes(scope, console));
  await server.ready();
  return server;
}
