import { fileURLToPath } from 'node:url';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { structureSchemas } from '#ast/schema.ts';
import { settingsSchemas } from '#ast/settings-schema.ts';
import { findCellsAway } from '#cells/across-cells.ts';
import { serveConsole } from '#console/serve.ts';
import { staticRoutes } from '#console/static.ts';
import { fileRoutes } from '#files/endpoints.ts';
import { now } from '#kit/clock.ts';
import { rateLimitExceeded } from '#kit/errors.ts';
import { ownHosts } from '#kit/hosts.ts';
import { jsonType, openServer, refuseOtherMethods, type Server } from '#kit/http.ts';
import { packFile, sendPacked, whenAsked } from '#kit/packing.ts';
import { pageRoutes } from '#page/routes.ts';
import { embedRoute } from '#page/theme/routes.ts';
import { permissions } from '#rules/permissions.ts';
import { openVisitCounter } from '#submissions/visit-counter.ts';
import { openAuditLog } from '#workspaces/audit/audit-log.ts';
import { anonymousRate, takeRequest } from '#workspaces/authenticate.ts';
import type { RequestCounter } from '#workspaces/request-counter.ts';
import { openRequestLog } from '#workspaces/request-log.ts';
import { addressKey, openAccounts } from '#workspaces/users.ts';
import { serveApi } from './api.ts';
import { openFacts } from './checks/facts.ts';
import { allChecks } from './checks/instance-checks.ts';
import { serveMcp } from './mcp/mcp-route.ts';
import { type Resource, writeOperation } from './openapi/operations.ts';
import { pageOperations, writeWebhooks } from './openapi/page.ts';
import { ErrorSchema, headers, type OpenApi, openSchemas, responses } from './openapi/schemas.ts';
import { type ApiRoute, apiRoutes, consoleRoutes } from './operations.ts';
import type { Services } from './services.ts';
import { setupRoutes } from './setup-page.ts';
import { version } from './version.ts';

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
    const found = await Promise.all(checks.map(async ({ obstacle }) => obstacle?.(facts)));
    // A database that is away matters more than a full disk of the uploads.
    const status = found.findLast((each) => each !== undefined);
    if (status !== undefined) return reply.code(503).send({ status });
    // The other cells work without a cell whose node is away.
    const away = await findCellsAway(context.database, patienceMs);
    return { status: 'ready', ...(away.length > 0 && { cells_away: away.map(({ name }) => name) }) };
  });
}

const base = '/api/v1';

/**
 * Returns the path at which a request to the API is served. One trailing slash is ignored, except below `/docs`, which has
 * pages. `/f/{form_id}` is served below `/api/v1` too, because generated clients send every operation there.
 */
function servedPath(method: string, path: string): string {
  if (!/^\/(?:api\/v1|app\/api)\//.test(path) || path.startsWith(`${base}/docs`)) return path;
  const plain = path.replace(/(?<=[^/])\/$/, '');
  const isSubmit = (method === 'POST' || method === 'OPTIONS') && /^\/api\/v1\/f\/[^/]+$/.test(plain);
  return isSubmit ? plain.slice(base.length) : plain;
}

/** Whether a request asks for something of the API, by the path that it was sent to. */
const isApiPath = (path: string): boolean => path === base || path.startsWith(`${base}/`);

/** What the operations are about, in the order in which one meets it. */
const resources: Readonly<Record<Resource, string>> = {
  forms: 'Templates of what is asked: a tree of steps and elements, with settings.',
  submissions: 'What people answered.',
  files: 'Uploads, and the links under which they are downloaded.',
  invitations: 'People who are asked to fill in a form, each by a link of their own.',
  events: 'What happened to submissions, to be pulled: the bodies of webhooks, in their order.',
  webhooks: 'Receivers that hear of submissions, and the log of what was delivered to them.',
  members: 'The people of the workspace and their roles.',
  keys: 'API keys.',
  workspace: 'The workspace itself.',
  mail: 'What was mailed.',
  audit: 'Who did what.',
  people: 'Everything that is kept of one person, to be found, given out and erased.',
};

/** Writes the document from the very schemas that check requests, so that it cannot say anything else. */
export function writeOpenApi(
  routes: readonly ApiRoute[],
  options: { publicUrl: string; version: string },
): OpenApi {
  const schemas = openSchemas({ ...structureSchemas(), ...settingsSchemas() });
  schemas.write(ErrorSchema);
  const tagged = new Set(routes.filter(({ operation }) => operation.isConditional).map(({ path }) => path));
  const paths: OpenApi['paths'] = {};
  for (const route of routes) {
    const template = route.path.replaceAll(/:(\w+)/g, '{$1}');
    (paths[template] ??= {})[route.method.toLowerCase()] = writeOperation(route, schemas, (path) =>
      tagged.has(path),
    );
  }
  Object.assign(paths, pageOperations(schemas));
  const webhooks = writeWebhooks(schemas);
  const used = new Set(
    Object.values(paths).flatMap((methods) => Object.values(methods).flatMap(({ tags }) => tags)),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Formloom API',
      version: options.version,
      description:
        'Forms, their submissions, and search over them. Every request acts within the workspace of its API key.',
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'Whoever runs this service', url: options.publicUrl },
    },
    externalDocs: {
      url: `${options.publicUrl}/api/v1/docs/`,
      description: 'Guides and reference, for people',
    },
    servers: [{ url: `${options.publicUrl}/api/v1`, description: 'This service' }],
    tags: Object.entries(resources)
      .filter(([name]) => used.has(name))
      .map(([name, description]) => ({ name, description })),
    security: [{ apiKey: [] }],
    paths,
    webhooks,
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: `A key of the workspace. What it may do: ${Object.keys(permissions).join(', ')}.`,
        },
      },
      schemas: schemas.components(),
      responses: usedOf(responses, JSON.stringify(paths)),
      headers,
    },
  };
}

/** The shared answers that some operation has. */
const usedOf = <T>(shared: Readonly<Record<string, T>>, text: string): Record<string, T> =>
  Object.fromEntries(
    Object.entries(shared).filter(([name]) => text.includes(`"#/components/responses/${name}"`)),
  );

const limitHeader = 'X-RateLimit-Limit';
/** What anybody reads without a key. */
const documents = /^\/api\/v1\/(?:openapi\.json|docs)(?:\/|$)/;

const pathOf = ({ originalUrl }: FastifyRequest): string => originalUrl.split(/[?#]/, 1)[0]!;

/**
 * Puts the headers of the rate limit on every answer of the API that no key or session was counted for: the document, the
 * reference, a form that is sent at the API's address, a host that is not ours. These count for the address.
 */
function limitAddresses(server: Server, requestCounter: RequestCounter): void {
  const count = async (request: FastifyRequest, reply: FastifyReply): Promise<number | undefined> => {
    const taken = await takeRequest(requestCounter, `address ${addressKey(request.ip)}`, anonymousRate);
    reply.headers(taken.headers);
    return taken.exceeded;
  };
  server.addHook('onRequest', async (request, reply) => {
    if (!documents.test(pathOf(request))) return;
    const exceeded = await count(request, reply);
    if (exceeded !== undefined) throw rateLimitExceeded(exceeded);
  });
  server.addHook('onSend', async (request, reply) => {
    if (isApiPath(pathOf(request)) && !reply.hasHeader(limitHeader)) await count(request, reply);
  });
}

/** The answer to bytes that are not HTTP: no caller is known, so nothing is counted. */
function brokenHeaders(): Record<string, string> {
  const limit = String(anonymousRate.perMinute);
  const end = String(Math.ceil(now().getTime() / 1_000) + 60);
  return { [limitHeader]: limit, 'X-RateLimit-Remaining': limit, 'X-RateLimit-Reset': end };
}

const dayMs = 24 * 60 * 60 * 1_000;
/** RFC 9116 (2.5.5) wants less than a year: it is as fresh as the service that answers, so a month of being kept is enough. */
const keptMs = 30 * dayMs;

/** `/.well-known/security.txt` (RFC 9116): where whoever finds a hole in this service reports it. */
function securityRoute(server: Server, of: { publicUrl: string; contact: string }): void {
  server.get('/.well-known/security.txt', async (_request, reply) =>
    reply
      .type('text/plain; charset=utf-8')
      .send(
        [
          `Contact: ${of.contact}`,
          `Expires: ${new Date(now().getTime() + keptMs).toISOString()}`,
          `Canonical: ${of.publicUrl}/.well-known/security.txt`,
          '',
        ].join('\n'),
      ),
  );
}

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
