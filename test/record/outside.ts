import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { type ConsolePerson, callConsole, password } from '#test/console.ts';
import { testDatabase } from '#test/database.ts';
import { type MailServer, openMailServer } from '#test/mail-server.ts';
import { openProvider, providerSettings } from '#test/provider.ts';
import { openReceiver, type Receiver } from '#test/receiver.ts';
import { callApi, freePort, type Tenant, until } from '#test/service.ts';
import { openVisitor, type Visitor } from '#test/visitor.ts';

export type OutsideTenant = Pick<Tenant, 'workspaceId' | 'key' | 'call'>;

/** The service of a source tree, used only as operators and visitors can: processes, HTTP, SMTP and SQL. */
export type Outside = {
  url: string;
  /** The path of the setup page, which exists until the first account is created. */
  setupPath: string;
  inbox: MailServer;
  receiver: Receiver;
  visitor: Visitor;
  /** Runs a command. */
  run: (...words: string[]) => Promise<{ code: number; printed: string; complaint: string }>;
  /** Runs a command with `--json` and returns its document. */
  command: <Document>(...words: string[]) => Promise<Document>;
  query: <Row extends object>(sql: string, values?: unknown[]) => Promise<Row[]>;
  makeTenant: (name?: string) => Promise<OutsideTenant>;
  /** Creates an account with a role in a workspace (a new one if none is given), and signs in. */
  signIn: (options: {
    name: string;
    role?: string;
    workspaceId?: string;
    email?: string;
  }) => Promise<ConsolePerson>;
  /** Starts another session of a person. */
  signInAgain: (person: ConsolePerson) => Promise<ConsolePerson>;
};

/** The permissions of a key that may do everything. */
const allPermissions =
  'forms submissions invitations webhooks members keys workspace mail people'
    .split(' ')
    .map((each) => `${each}:read,${each}:write`)
    .join() + ',files:write,events:read,audit:read';

/** The source tree whose service is recorded. Default: this one. */
export const recordedTree = process.env['RECORDED_TREE'] ?? fileURLToPath(new URL('../..', import.meta.url));

/**
 * Starts the service of `tree`. `close` stops it, and the calling process ends the rest.
 * @param options.hasMail false: it cannot send email and shows the links instead.
 */
export async function openOutside(
  tree: string,
  { hasMail = true } = {},
): Promise<Outside & { close: () => Promise<void> }> {
  const { url: databaseUrl } = await testDatabase({ isEmpty: true });
  const [port, providerPort] = [await freePort(), await freePort()];
  // Passkeys need a host name, not an IP address.
  const url = `http://localhost:${port}`;
  const inbox = await openMailServer();
  const receiver = await openReceiver();
  await openProvider(providerPort, () => url);
  const dataDir = await mkdtemp(join(tmpdir(), 'formloom-record-'));
  const environment: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '',
    PORT: String(port),
    PUBLIC_URL: url,
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    SECRET_KEY: '0f'.repeat(32),
    ...(hasMail && { SMTP_URL: inbox.url, MAIL_FROM: 'Weaving Mill <forms@formloom.test>' }),
    LOG_LEVEL: 'warn',
    SUBMITS_PER_ADDRESS: '1000000000',
    SUBMITS_PER_FORM: '1000000000',
    SUBMITS_PER_WORKSPACE: '1000000000',
    CONSOLE_PER_MINUTE: '1000000000',
    UPLOAD_FREE_MB: '16',
    NODE_EXTRA_CA_CERTS: fileURLToPath(new URL('../certs/ca.pem', import.meta.url)),
    WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
    WEBHOOK_RETRY_DELAYS: '0.1,0.1,0.1,0.1,0.1',
    ...providerSettings(providerPort),
  };
  const { scripts } = JSON.parse(readFileSync(join(tree, 'package.json'), 'utf8')) as {
    scripts: Record<'start' | 'formloom', string>;
  };
  const server = spawn('sh', ['-c', scripts.start], { cwd: tree, env: environment });
  // A failed record ends without `close`.
  process.once('exit', () => server.kill('SIGKILL'));
  const output = await waitForStart(server, `${url}/readyz`);

  const run = await commandLine(tree, { script: scripts.formloom, environment });
  const command: Outside['command'] = async (...words) => {
    const { code, printed, complaint } = await run(...words, '--json');
    assert.equal(code, 0, `${words.join(' ')}: ${complaint}`);
    return JSON.parse(printed) as never;
  };
  const client = new Client({ connectionString: databaseUrl });
  client.on('error', () => undefined);
  await client.connect();

  let tenants = 0;
  let people = 0;
  const makeTenant: Outside['makeTenant'] = async (name = `Test ${(tenants += 1)}`) => {
    const { id } = await command<{ id: string }>('workspace', 'create', name, '--plan', 'enterprise');
    const words = ['--workspace', id, '--name', 'Test', '--permissions', allPermissions];
    const { key } = await command<{ key: string }>('key', 'create', ...words);
    const call: Tenant['call'] = (method, path, body, headers) =>
      callApi(url, key, method, path, body, headers);
    return { workspaceId: id, key, call };
  };
  const begin = async (
    given: Pick<ConsolePerson, 'userId' | 'email' | 'workspaceId'>,
  ): Promise<ConsolePerson> => {
    const { email, workspaceId } = given;
    const { status, headers } = await callConsole(url, '', 'POST', '/session', { email, password });
    assert.equal(status, 204, `sign-in of ${email}`);
    const cookie = headers.getSetCookie()[0]!.split(';', 1)[0]!;
    const [name, value] = cookie.split('=', 2) as [string, string];
    return {
      ...given,
      password,
      cookie,
      cookies: [{ name, value, url, httpOnly: true, sameSite: 'Lax' }],
      call: (method, path, body, extra) => callConsole(url, cookie, method, path, body, extra),
      api: (method, path, body, extra) =>
        callConsole(url, cookie, method, path, body, { 'X-Workspace-ID': workspaceId, ...extra }),
    };
  };
  return {
    url,
    setupPath: /\/app\/setup\?token=\S+/.exec(output)![0],
    inbox,
    receiver,
    visitor: openVisitor({ url }),
    run,
    command,
    query: async <Row extends object>(sql: string, values?: unknown[]) =>
      (await client.query<Row>(sql, values)).rows,
    makeTenant,
    async signIn({ name, role = 'owner', ...given }) {
      people += 1;
      const email = given.email ?? `person-${people}@example.org`;
      const workspaceId = given.workspaceId ?? (await makeTenant()).workspaceId;
      const words = ['--email', email, '--password', password, '--workspace', workspaceId, '--role', role];
      const { id } = await command<{ id: string }>('user', 'create', ...words);
      const person = await begin({ userId: id, email, workspaceId });
      await person.call('PATCH', '/person', { name });
      return person;
    },
    signInAgain: begin,
    async close() {
      await client.end();
      const ended = new Promise((resolve) => server.once('close', resolve));
      server.kill('SIGTERM');
      await ended;
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * Waits until a server has started.
 * @returns its output.
 */
async function waitForStart(server: ChildProcess, readyUrl: string): Promise<string> {
  let output = '';
  for (const stream of [server.stdout!, server.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  await until(
    'the server to start',
    async () => {
      if (server.exitCode !== null) throw new Error(`The server ended before it was ready:\n${output}`);
      const response = await fetch(readyUrl).catch(() => undefined);
      return response?.status === 200 && output.includes('Stop with Ctrl-C.');
    },
    300,
  );
  return output;
}

type RunCommandLine = (
  words: readonly string[],
  around: Record<'print' | 'complain', (text: string) => void> & { environment: Record<string, string> },
) => Promise<number>;

/** Modules with the function that runs a command. In this process a command takes a tenth of the CPU. */
const commandLineModules = ['src/app/cli/run-command-line.ts'];

/**
 * Returns a function that runs commands of a tree: in this process if the tree has a known module, otherwise
 * as a process.
 */
async function commandLine(
  tree: string,
  { script, environment }: { script: string; environment: Record<string, string> },
): Promise<Outside['run']> {
  const path = commandLineModules.map((each) => join(tree, each)).find((each) => existsSync(each));
  if (path !== undefined) {
    const { runCommandLine } = (await import(path)) as { runCommandLine: RunCommandLine };
    return async (...words) => {
      const ended = { code: 0, printed: '', complaint: '' };
      ended.code = await runCommandLine(words, {
        environment,
        print: (text) => (ended.printed += text),
        complain: (text) => (ended.complaint += text),
      });
      return ended;
    };
  }
  return (...words) =>
    new Promise((resolve) => {
      const child = execFile(
        'sh',
        ['-c', `${script} "$@"`, 'sh', ...words],
        { cwd: tree, env: environment, maxBuffer: 2 ** 26 },
        (_error, printed, complaint) => resolve({ code: child.exitCode ?? 1, printed, complaint }),
      );
    });
}
