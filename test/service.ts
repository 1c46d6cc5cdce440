import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { openServices, type Services } from '#app/operations/services.ts';
import { serveCells } from '#app/server/assemble.ts';
import { type BackgroundWork, startBackgroundWork } from '#app/server/background.ts';
import { buildServer } from '#app/server/server.ts';
import { cellsOf } from '#cells/cells.ts';
import { readConfig } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import { openVault } from '#kit/vault.ts';
import { type Permission, permissionNames } from '#rules/permissions.ts';
import type { Plan } from '#workspaces/authenticate.ts';
import { createKey } from '#workspaces/keys.ts';
import { openRequestCounter } from '#workspaces/request-counter.ts';
import { createWorkspace } from '#workspaces/workspaces.ts';
import { cellsOfRun, makeCells } from './cells/make-cells.ts';
import { testDatabase } from './database.ts';
import { closeAtEnd } from './group.ts';
import { type Relay, startRelay } from './relay.ts';
import { noteRequests, noteSecretsOf, notingVault, openTestLog } from './secrets.ts';

/** An API response: status, headers, and the body as JSON (undefined if there is none). */
export type Answer = { status: number; headers: Headers; body: Body };

/** The whole service in this process, for one test file, with its own database and port. */
export type TestService = {
  services: Services;
  /** `http://127.0.0.1:<port>` */
  url: string;
  /** The folder of uploads. */
  dataDir: string;
  /** Settings for a command beside it: its database, key and directory. */
  environment: Record<string, string>;
  /** Creates a workspace with a key. */
  makeTenant(options?: { plan?: Plan; rateLimit?: number; burst?: number }): Promise<Tenant>;
};

export type Tenant = {
  workspaceId: string;
  /** The database of its cell. */
  database: Database;
  key: string;
  makeKey(permissions?: Permission[]): Promise<string>;
  /** Creates a key with every permission, including administration. */
  makeFullKey(): Promise<string>;
  /** Calls the API as this tenant. A string body is sent unchanged. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
};

/** Every field that an API response may have. Each response has only some of them, and tests assert which. */
export type Body = {
  id: string;
  form_id: string;
  workspace_id: string;
  name: string;
  description: string;
  status: string;
  labels: string[];
  structure: { children: { children: { attrs: Record<string, unknown> }[] }[] };
  settings: Record<string, unknown>;
  submission_count: number;
  public_url: string;
  builder_url: string;
  created_at: string;
  updated_at: string;
  published_at: string | null;
  dry_run: object;
  completed_at: string | null;
  answers: Record<string, unknown>;
  metadata: {
    fields: Record<string, { label: string; type: string; required: boolean; verified_at?: string }>;
    form_name: string;
    language?: string;
    reference: Record<string, string>;
  };
  data: Body[];
  pagination: { page: number; per_page: number; total_count: number; total_pages: number };
  next_cursor?: string | null;
  error: string;
  message: string;
  errors: { message: string; field?: string; path?: number[]; code?: string }[];
  retry_after: number;
};

/**
 * A port on which nothing listens. It is below the system's ephemeral ports, so unlike a port of `freePort`,
 * no other test can get it meanwhile. Webhooks may use it because it is not below 1024.
 */
export const closedPort = 1026;

/**
 * Returns a free port. It is below the system's ephemeral ports, so no other server gets it while the caller
 * restarts its own. It is above 10080, the last port that `fetch` and browsers refuse as "bad port".
 */
export async function freePort(): Promise<number> {
  const port = randomInt(10_081, 32_000);
  const probe = createServer().listen(port);
  const isFree = await once(probe, 'listening').then(
    () => true,
    () => false,
  );
  probe.close();
  return isFree ? port : freePort();
}

const secretKey = '0f'.repeat(32);
/** Stands in for the background work of the first cell, which does what an instance needs only once. */
const noBackgroundWork: BackgroundWork = { wakeQueue() {}, mail: { problem: undefined }, async stop() {} };

/**
 * Starts the service for the calling test file and stops it after the file.
 * @param options as in testDatabase.
 */
export async function openService(
  environment: Record<string, string> = {},
  {
    publicHost,
    cells: cellCount = cellsOfRun,
    isWatched = true,
    ...options
  }: Parameters<typeof testDatabase>[0] & {
    /** The public host name, on its port. Default: 127.0.0.1. */
    publicHost?: string;
    /** The number of cells. Tenants are created in each in turn. */
    cells?: number;
    /**
     * If false, the test itself does the work that an instance needs once, such as the checks twice a minute.
     */
    isWatched?: boolean;
  } = {},
): Promise<TestService> {
  const { onEnd = after } = options;
  let end = async (): Promise<void> => {};
  // Registered before the hook of its database, because hooks run in order of registration.
  onEnd(() => end());
  const { database, url: databaseUrl } = await testDatabase(options);
  const vault = notingVault(openVault(secretKey));
  const cells = await makeCells(database, { connectionString: databaseUrl }, cellCount);
  const dataDir = await mkdtemp(join(tmpdir(), 'formloom-test-'));
  const port = await freePort();
  const settings = {
    PORT: String(port),
    ...(publicHost !== undefined && { PUBLIC_URL: `http://${publicHost}:${port}` }),
    // All load comes from one address. Tests of limits set their own.
    SUBMITS_PER_ADDRESS: '1000000000',
    SUBMITS_PER_FORM: '1000000000',
    SUBMITS_PER_WORKSPACE: '1000000000',
    CONSOLE_PER_MINUTE: '1000000000',
    UPLOAD_FREE_MB: '16',
    DATA_DIR: dataDir,
    CHECK_REPLIES: 'true',
    WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
    WEBHOOK_RETRY_DELAYS: '0.1,0.1,0.1,0.1,0.1',
    ...environment,
  };
  const config = readConfig(settings);
  const log = openLog('debug', openTestLog());
  const requestCounter = await openRequestCounter({ valkeyUrl: config.valkeyUrl, log });
  const base = openServices({ config, log, database, vault, requestCounter });
  const background = startBackgroundWork(base, isWatched ? undefined : noBackgroundWork);
  const services: Services = { ...base, wakeQueue: background.wakeQueue };
  const server = await buildServer(services, { isStopping: () => false });
  const others = serveCells(
    server,
    { config, log, database, vault, requestCounter },
    { background, isBackgroundElsewhere: false },
  );
  noteRequests(server.server);
  // Only the client closes idle connections. A busy test would otherwise send on one that the server closes.
  server.server.keepAliveTimeout = 0;
  await server.listen({ host: '127.0.0.1', port });
  const url = `http://127.0.0.1:${port}`;
  end = async () => {
    base.feedBell.close();
    server.server.closeAllConnections();
    await server.close();
    await Promise.all([background.stop(), others.close()]);
    await cells?.close();
    await base.requestCounter.close();
    await rm(dataDir, { recursive: true, force: true });
  };
  const databaseOfInstance = database;
  let tenants = 0;
  return {
    services,
    url,
    dataDir,
    environment: { ...settings, DATABASE_URL: databaseUrl, SECRET_KEY: secretKey },
    async makeTenant({ plan = 'enterprise', ...limits } = {}) {
      const all = cellsOf(databaseOfInstance);
      const { database } = all[tenants++ % all.length]!;
      const workspace = await createWorkspace(database, { name: 'Test', plan, ...limits });
      const makeKey = async (permissions?: Permission[]): Promise<string> =>
        (
          await createKey(database, {
            workspaceId: workspace.id,
            name: 'Test',
            ...(permissions && { permissions }),
          })
        ).key;
      const key = await makeKey();
      return {
        workspaceId: workspace.id,
        database,
        key,
        makeKey,
        makeFullKey: () => makeKey([...permissionNames]),
        call: (method, path, body, headers) => callApi(url, key, method, path, body, headers),
      };
    },
  };
}

let shared: Promise<TestService> | undefined;

/**
 * Returns a service for all test files of this process that look only at their own workspaces. Opening one
 * takes 0.25 s of CPU. With several cells each file gets its own service. Its first tenant is then in the
 * first cell, whose database some of these files read.
 */
export const shareService = (): Promise<TestService> =>
  cellsOfRun > 1
    ? openService()
    : (shared ??= openService(
        {},
        {
          onEnd(close) {
            if (closeAtEnd(close)) return;
            after(close);
            after(() => (shared = undefined));
          },
        },
      ));

/** Opens a service that reaches its database through a relay. */
export async function openRelayedService(): Promise<{ service: TestService; relay: Relay }> {
  const started = Promise.withResolvers<Relay>();
  const reach = async (url: string): Promise<string> => {
    const relay = await startRelay(url);
    started.resolve(relay);
    return relay.url;
  };
  const service = await openService({}, { reach });
  return { service, relay: await started.promise };
}

/** The operations that accept bytes, by media type. */
const byteTypes = { 'image/png': '/images', 'application/gzip': '/forms/package' } as const;

/** Calls the API of a service with a key. */
export async function callApi(
  url: string,
  key: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const isBytes = body instanceof Buffer;
  const [bytes] = Object.entries(byteTypes).find(([, place]) => path.startsWith(place)) ?? [];
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${key}`,
      ...(body !== undefined && {
        'Content-Type': isBytes ? (bytes ?? 'application/octet-stream') : 'application/json',
      }),
      ...headers,
    },
    ...(body !== undefined && { body: isBytes || typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isFile = response.ok && !response.headers.get('content-type')?.startsWith('application/json');
  const answer = (text === '' || isFile ? undefined : JSON.parse(text)) as Body;
  noteSecretsOf(answer);
  return { status: response.status, headers: response.headers, body: answer };
}

/**
 * Waits until `look` finds something, and fails after 30 s with a message. It looks every 20 ms at first,
 * then at intervals of a tenth of the elapsed time. A look may cost a request and a database session, and a
 * lease lasts 16 s.
 */
export async function until<Found>(
  what: string,
  look: () => Promise<Found | undefined | false>,
  seconds = 30,
): Promise<Found> {
  const begin = performance.now();
  const end = begin + seconds * 1000;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    const now = performance.now();
    if (now > end) throw new Error(`waited ${seconds} s in vain for ${what}`);
    const pauseMs = Math.min(Math.max(20, (now - begin) / 10), 250);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
