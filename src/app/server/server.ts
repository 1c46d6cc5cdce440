import { fileURLToPath } from 'node:url';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { structureSchemas } from '#ast/schema.ts';
import { settingsSchemas } from '#ast/settings.ts';
import { findUnavailableCells } from '#cells/across-cells.ts';
import { serveConsole } from '#console/serve.ts';
import { staticRoutes } from '#console/static.ts';
import { fileRoutes } from '#files/endpoints.ts';
import { now } from '#kit/clock.ts';
import { rateLimitExceeded } from '#kit/errors.ts';
import { jsonType, refuseOtherMethods, type Server } from '#kit/http.ts';
import { openServer } from '#kit/open-server.ts';
import { createHostCheck } from '#kit/outbound/hosts.ts';
import { compressFile, computeOnce, sendCompressedFile } from '#kit/replies/compression.ts';
import { findPageScript, pageRoutes } from '#page/routes.ts';
import { embedRoute } from '#page/theme/routes.ts';
import { permissions } from '#rules/permissions.ts';
import { openVisitCounter } from '#submissions/visit-counter.ts';
import { ipRateLimitKey, openAccounts } from '#workspaces/accounts/users.ts';
import { openAuditLog } from '#workspaces/audit/audit-log.ts';
import { anonymousRate, countRequest } from '#workspaces/authenticate.ts';
import type { RequestCounter } from '#workspaces/request-counter.ts';
import { openRequestLog } from '#workspaces/request-log.ts';
import { respondentCallbackOf } from '#workspaces/sign-in/respondents.ts';
import { instanceFacts } from '../checks/facts.ts';
import { allChecks } from '../checks/instance-checks.ts';
import { serveMcp } from '../mcp/mcp-route.ts';
import { type OperationResource, writeOperation } from '../openapi/operations.ts';
import { writePageOperations, writeWebhooks } from '../openapi/page.ts';
import {
  createSchemaRegistry,
  ErrorSchema,
  type OpenApi,
  responseHeaders,
  sharedResponses,
} from '../openapi/schemas.ts';
import { serveApi } from '../operations/api.ts';
import { type ApiRoute, apiRoutes, consoleRoutes } from '../operations/operations.ts';
import { type Services, serviceVersion } from '../operations/services.ts';
import { createDomainCheck, tlsCheckRoute } from './own-domains.ts';
import { setupRoutes } from './setup-page.ts';

/** How long `/readyz` waits for a cell, in milliseconds. Kubernetes waits a second for the response. */
const patienceMs = 300;

/**
 * Serves `/healthz` (the process runs) and `/readyz` (it accepts requests and is not about to stop; otherwise
 * 503 with the reason).
 */
export function healthRoutes(
  server: Server,
  context: Parameters<typeof instanceFacts>[0] & { isStopping: () => boolean },
): void {
  const checks = allChecks.filter(({ severity }) => severity === 'ready');
  server.get('/healthz', async () => ({ status: 'ok' }));
  server.get('/readyz', async (_request, reply) => {
    if (context.isStopping()) return reply.code(503).send({ status: 'stopping' });
    const facts = instanceFacts(context);
    const found = await Promise.all(checks.map(async ({ obstacle }) => obstacle?.(facts)));
    // A database that is down matters more than a disk that is too full for uploads.
    const status = found.findLast((each) => each !== undefined);
    if (status !== undefined) return reply.code(503).send({ status });
    // If the node of a cell is down, the other cells still work.
    const away = await findUnavailableCells(context.database, patienceMs);
    return { status: 'ready', ...(away.length > 0 && { cells_away: away.map(({ name }) => name) }) };
  });
}

const base = '/api/v1';

/**
 * Returns the path at which a request to the API is served. One trailing slash is ignored, except below
 * `/docs`, where there are pages. The operations of the public page are served below `/api/v1` too, because
 * generated clients send every operation there.
 */
function servedPath(method: string, path: string): string {
  if (!/^\/(?:api\/v1|app\/api)\//.test(path) || path.startsWith(`${base}/docs`)) return path;
  const plain = path.replace(/(?<=[^/])\/$/, '');
  const isPublic =
    (method === 'POST' || method === 'OPTIONS') && /^\/api\/v1\/f\/[^/]+(?:\/verifications)?$/.test(plain);
  return isPublic ? plain.slice(base.length) : plain;
}

const isApiPath = (path: string): boolean => path === base || path.startsWith(`${base}/`);

/** The resources of the API, in the order in which a developer meets them. */
const resources: Readonly<Record<OperationResource, string>> = {
  forms: 'Forms: trees of steps and elements, with settings.',
  submissions: 'Answers from visitors.',
  files: 'Uploads and their download links.',
  invitations: 'Personal links that invite people to fill in a form.',
  events: 'Submission events that clients pull in order, with the bodies that webhooks send.',
  webhooks: 'Webhooks for submission events, and their delivery log.',
  members: 'The members of the workspace and their roles.',
  keys: 'API keys.',
  workspace: 'The workspace itself.',
  mail: 'Emails and their delivery status.',
  audit: 'The audit log: who did what, and when.',
  people: 'All data about one person, to find, export or erase.',
};

/** Writes the OpenAPI document from the schemas that check requests, so that the two cannot differ. */
export function writeOpenApi(
  routes: readonly ApiRoute[],
  options: { publicUrl: string; version: string },
): OpenApi {
  const schemas = createSchemaRegistry({ ...structureSchemas(), ...settingsSchemas() });
  schemas.write(ErrorSchema);
  const tagged = new Set(routes.filter(({ operation }) => operation.isConditional).map(({ path }) => path));
  const paths: OpenApi['paths'] = {};
  for (const route of routes) {
    const template = route.path.replaceAll(/:(\w+)/g, '{$1}');
    (paths[template] ??= {})[route.method.toLowerCase()] = writeOperation(route, schemas, (path) =>
      tagged.has(path),
    );
  }
  Object.assign(paths, writePageOperations(schemas));
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
      contact: { name: 'The operator of this service', url: options.publicUrl },
    },
    externalDocs: { url: `${options.publicUrl}/api/v1/docs/`, description: 'Guides and reference' },
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
          description: `An API key of the workspace. Its permissions can be ${Object.keys(permissions).join(', ')}.`,
        },
      },
      schemas: schemas.components(),
      responses: usedOf(sharedResponses, JSON.stringify(paths)),
      headers: responseHeaders,
    },
  };
}

/** Returns the shared responses that operations use. */
const usedOf = <T>(shared: Readonly<Record<string, T>>, text: string): Record<string, T> =>
  Object.fromEntries(
    Object.entries(shared).filter(([name]) => text.includes(`"#/components/responses/${name}"`)),
  );

const limitHeader = 'X-RateLimit-Limit';
/** Matches documents that require no API key. */
const documents = /^\/api\/v1\/(?:openapi\.json|docs)(?:\/|$)/;

const pathOf = ({ originalUrl }: FastifyRequest): string => originalUrl.split(/[?#]/, 1)[0]!;

/**
 * Adds rate limit headers to every API response for which no key or session was counted: the document, the
 * reference, forms submitted at the API's URL, and unknown hosts. These count against the IP address.
 */
function limitAddresses(server: Server, requestCounter: RequestCounter): void {
  const count = async (request: FastifyRequest, reply: FastifyReply): Promise<number | undefined> => {
    const taken = await countRequest(requestCounter, `address ${ipRateLimitKey(request.ip)}`, anonymousRate);
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

/**
 * Returns the headers for responding to bytes that are not HTTP. The caller is unknown, so nothing is
 * counted.
 */
function brokenHeaders(): Record<string, string> {
  const limit = String(anonymousRate.perMinute);
  const end = String(Math.ceil(now().getTime() / 1_000) + 60);
  return { [limitHeader]: limit, 'X-RateLimit-Remaining': limit, 'X-RateLimit-Reset': end };
}

const dayMs = 24 * 60 * 60 * 1_000;
/**
 * RFC 9116 (2.5.5) recommends less than a year. The file is generated for each request, so a month is enough.
 */
const keptMs = 30 * dayMs;

/** Serves `/.well-known/security.txt` (RFC 9116): where to report a vulnerability in this service. */
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

/** Returns a folder that setup.mjs builds for browsers. */
const built = (part: string): string => fileURLToPath(new URL(`../../../dist/${part}`, import.meta.url));

/** Builds the server of this process. Each part has its own scope, with its body parsers and error pages. */
export async function buildServer(services: Services, state: { isStopping: () => boolean }): Promise<Server> {
  const { config, log } = services;
  const server = openServer({
    log,
    trustProxy: config.trustProxy,
    isSecure: config.publicUrl.startsWith('https:'),
    isOurs: createHostCheck(config),
    admitsOther: createDomainCheck(services.database),
    pathOf: servedPath,
    brokenHeaders,
    largestBody: config.limits.fileBytes,
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
    (await import('../metrics/open-metrics.ts')).metricsRoute(
      server,
      config.metrics.token,
      services.metrics.read,
    );
  tlsCheckRoute(server, services);
  fileRoutes(server, services);
  server.get('/', async (_request, reply) => reply.redirect('/app/', 302));
  refuseOtherMethods(server, '/', ['GET']);
  await embedRoute(server);
  // Written at the first request, because it would be a fifth of the work of a start, and most processes
  // never need it.
  const openApi = computeOnce(async () =>
    compressFile(
      Buffer.from(
        JSON.stringify(writeOpenApi(routes, { publicUrl: config.publicUrl, version: serviceVersion })),
      ),
    ),
  );
  server.get('/api/v1/openapi.json', async (request, reply) =>
    sendCompressedFile(request, reply.type(jsonType), await openApi()),
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
  await server.register(async (scope) => pageRoutes(scope, { ...console, visitCounter }));
  await server.register(async (scope) => serveConsole(scope, console, consoleRoutes(console)), {
    prefix: '/app/api',
  });
  const browsers = [
    { directory: built('web'), base: '/app', name: 'The console', redirectOf: respondentCallbackOf },
    { directory: built('docs'), base: '/api/v1/docs', name: 'The reference', hasInlineStyles: true },
  ];
  for (const part of browsers) await server.register(async (scope) => staticRoutes(scope, part));
  const script = await findPageScript();
  await server.register(async (scope) => setupRoutes(scope, { ...console, script }));
  await server.ready();
  return server;
}
