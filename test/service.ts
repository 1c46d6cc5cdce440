import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { openServices, type Services } from '#app/operations/services.ts';
import { serveCells } from '#app/server/assemble.ts';
import { type Background, startBackground } from '#app/server/background.ts';
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

/** An answer of the API: status, headers, and the body as JSON (undefined when it has none). */
export type Answer = { status: number; headers: Headers; body: Body };

/** The whole service in this process, on a database and a port of its own, as a test file uses it. */
export type TestService = {
  services: Services;
  /** `http://127.0.0.1:<port>` */
  url: string;
  /** Where uploads lie. */
  dataDir: string;
  /** For a command beside it: its database, its key and its directory. */
  environment: Record<string, string>;
  /** A fresh workspace with a key. */
  makeTenant(options?: { plan?: Plan; rateLimit?: number; burst?: number }): Promise<Tenant>;
};

export type Tenant = {
  workspaceId: string;
  /** That of its cell. */
  database: Database;
  key: string;
  makeKey(permissions?: Permission[]): Promise<string>;
  /** A key that may do everything, administration included. */
  makeFullKey(): Promise<string>;
  /** Calls the API as this tenant. A body that is a string is sent as it is. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
};

/**
 * Every field that an answer of the API may have. An answer has only some of them: which ones is what tests assert.
 */
export type Body = {
  id: string;
  form_id: string;
  workspace_id: string;
  name: string;
  description: string;
  status: string;
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
    fields: Record<string, { label: string; type: string; required: boolean }>;
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
 * A port on which nothing listens. It is below those that the system gives out, so no other test can get it meanwhile, as
 * it can get one from `freePort`. Webhooks may use it: it is not below 1024.
 */
export const closedPort = 1026;

/**
 * Returns a port that is free now. It is below those that the system gives out, so no other server gets it while the caller
 * restarts its own.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(10_000, 32_000);
  const probe = createServer().listen(port, '127.0.0.1');
  const isFree = await once(probe, 'listening').then(
    () => true,
    () => false,
  );
  probe.close();
  return isFree ? port : freePort();
}

const secretKey = '0f'.repeat(32);
/** Stands for the first of several cells, which does what an instance needs once. */
const nobody: Background = { wakeQueue() {}, mail: { problem: undefined }, async stop() {} };

/**
 * Starts the service for the calling test file, and stops it when the file is done.
 * @param options as testDatabase has them.
 */
export async function openService(
  environment: Record<string, string> = {},
  {
    publicHost,
    cells: cellCount = cellsOfRun,
    isWatched = true,
    ...options
  }: Parameters<typeof testDatabase>[0] & {
    /** The name that people reach it by, on its port; 127.0.0.1 unless said. */
    publicHost?: string;
    /** How many cells it has; tenants are made in each in turn. */
    cells?: number;
    /** False: what the instance needs once, such as the look at what is wrong twice a minute, is done by the test itself. */
    isWatched?: boolean;
  } = {},
): Promise<TestService> {
  const { onEnd = after } = options;
  let end = async (): Promise<void> => {};
  // Before its database, which ends in its turn: hooks run in the order in which they are made.
  onEnd(() => end());
  const { database, url: databaseUrl } = await testDatabase(options);
  const vault = notingVault(openVault(secretKey));
  const cells = await makeCells(database, { connectionString: databaseUrl }, cellCount);
  const dataDir = await mkdtemp(join(tmpdir(), 'formloom-test-'));
  const port = await freePort();
  const settings = {
    PORT: String(port),
    ...(publicHost !== undefined && { PUBLIC_URL: `http://${publicHost}:${port}` }),
    // Load comes from one address; what is about limits sets its own.
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
  const background = startBackground(base, isWatched ? undefined : nobody);
  const services: Services = { ...base, wakeQueue: background.wakeQueue };
  const server = await buildServer(services, { isStopping: () => false });
  const others = serveCells(
    server,
    { config, log, database, vault, requestCounter },
    { background, isBackgroundElsewhere: false },
  );
  noteRequests(server.server);
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
 * A service for all test files of this process that look at nothing but what they made themselves, in workspaces of their own: to
 * open one takes 0.25 s of CPU. Where there are several cells each file has its own: its first tenant is in the first of them, in whose
 * database some of these files look.
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

/** A service whose database is at the other end of a relay. */
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

/** What the bytes are that some operations take. */
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
 * Waits until `look` finds something; fails after 30 s, saying what was waited for. It looks every 20 ms, and less often the
 * longer it takes, for a tenth more of it: a look may cost a request and a session of the database, and a lease lasts 16 s.
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
