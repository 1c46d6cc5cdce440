import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { commandNameOf } from '#app/operations/call-operation.ts';
import { type ApiRoute, apiRoutes } from '#app/operations/operations.ts';
import { newId } from '#kit/clock.ts';
import { errorCodes } from '#kit/errors.ts';
import { createDeliveryHeaders } from '#webhooks/signature.ts';
import { buildClient } from '../clients/build-client.ts';
import { element, structure } from './ast/forms.ts';
import { isSlice } from './cases.ts';
import { openMailServer } from './mail-server.ts';
import { callsOf, inOrder, makeOneOfEach } from './one-of-each.ts';
import { certificate } from './receiver.ts';
import { type Body, freePort, openService } from './service.ts';

/* Tests clients/typescript as built from the current operations and as installed. */

type Read = Body & { change: string };
type Answered = Promise<Read> & AsyncIterable<Body> & { pages(): AsyncIterable<Body> };
type AnyClient = Record<string, Record<string, (...args: unknown[]) => Answered>>;

const size = buildClient();
const from = new URL('../clients/typescript/dist/index.js', import.meta.url).href;
const client = (await import(from)) as {
  createClient: (
    options: object,
  ) => AnyClient & { form(definition: object): Record<string, (...args: unknown[]) => Answered> };
  defineForm: (form: object) => object;
  verifyWebhook: (...args: unknown[]) => Promise<{ submission: Body }>;
} & Record<string, new () => Error>;
const { createClient, verifyWebhook } = client;

const mail = await openMailServer();
const service = await openService({ SMTP_URL: mail.url, MAIL_FROM: 'forms@formloom.test' });
const tenant = await service.makeTenant();
const made = await makeOneOfEach(service, tenant);
const api = createClient({ url: service.url, key: made.key });
const routes = apiRoutes(service.services);

test('the client’s script is less than 12 KB, gzipped', () => {
  assert.ok(size < 12_000, `${size} bytes`);
});

// Every operation ------------------------------------------------------------------------------------------------

const form = { structure: structure(element('text', 'a')) };
const makeOne = (status: string) => api['forms']!['create']!({ ...form, publish: status === 'published' });
const callOf = callsOf(service, tenant, made);

/** Returns the arguments of an operation: the IDs in its path, the upload, and its query and body. */
async function argumentsOf(route: ApiRoute): Promise<unknown[]> {
  const { params, query, body } = await callOf(route);
  const { bodyContent, ...operation } = route.operation;
  const takes = { ...operation.query.properties, ...operation.body?.properties };
  const [type] = bodyContent ?? [];
  const bytes = type === undefined ? undefined : new Blob([body as Buffer<ArrayBuffer>], { type });
  return [
    ...Object.values(params),
    ...(bytes ? [route.name === 'createFile' ? bytes.stream() : bytes] : []),
    ...(Object.keys(takes).length > 0 ? [{ ...query, ...(!bodyContent && body) }] : []),
  ];
}

const called = new Set<string>();
for (const route of inOrder(routes)) {
  const [group, method] = commandNameOf(route)
    .split(' ')
    .map((word) => word.replaceAll(/-(\w)/g, (_match, letter: string) => letter.toUpperCase()));
  test(`client.${group}.${method} calls ${route.method} ${route.path}`, async () => {
    const answered = await api[group!]![method!]!(...(await argumentsOf(route)));
    const { schema, content } = route.operation.reply;
    if (content) assert.ok((answered as unknown as Response).body instanceof ReadableStream);
    else assert.equal(answered !== undefined, schema !== undefined);
    called.add(`${group}.${method}`);
  });
}

test('the client has these operations, the ones without a key, and nothing else', async () => {
  const asked = await makeOne('published');
  const anybody = createClient({ url: service.url });
  const { status } = await anybody['forms']!['submit']!(asked, { answers: { a: 'word' } });
  assert.equal(status, 'completed');
  const has = Object.entries(api).flatMap(([group, methods]) =>
    Object.keys(methods).map((name) => `${group}.${name}`),
  );
  assert.deepEqual(has.sort(), [...called, 'forms.submit', 'forms.verifyEmail'].sort());
});

// Lists ------------------------------------------------------------------------------------------------------------

const collect = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
};

test('awaiting a list returns its first page, and iterating it returns all items, by cursor, page or feed', async () => {
  const asked = await makeOne('published');
  for (let count = 0; count < 5; count += 1)
    await api['submissions']!['create']!(asked, {
      answers: { a: `needle${asked.id.slice(0, 8)} nr${count}` },
    });
  const { submissions } = api['forms']!;
  const page = await submissions!(asked, { per_page: 2 });
  assert.deepEqual([page.data.length, page.pagination.total_count], [2, 5]);
  const all = await collect(submissions!(asked, { per_page: 2, status: 'completed' }));
  assert.equal(new Set(all.map(({ id }) => id)).size, 5);
  assert.deepEqual(
    (await collect(submissions!(asked, { per_page: 2 }).pages())).map(({ data }) => data.length),
    [2, 2, 1],
  );
  assert.equal((await collect(submissions!(asked, { per_page: 2, page: 2 }))).length, 3);
  const q = `needle${asked.id.slice(0, 8)}`;
  assert.equal((await collect(api['submissions']!['search']!({ q, per_page: 2 }))).length, 5);
  const where = { element: 'a', is: 'contains', value: 'nr3' };
  assert.equal((await collect(submissions!(asked, { where }))).length, 1);
  assert.ok((await collect(api['forms']!['activity']!())).length > 3);
  assert.deepEqual(await collect(api['webhooks']!['list']!(asked)), []);
  const feed = { form_id: asked.id, limit: 2 };
  await collect(api['events']!['list']!(feed));
  for (let count = 0; count < 3; count += 1)
    await api['submissions']!['create']!(asked, { answers: { a: 'later' } });
  const events: Body[] = [];
  for await (const event of api['events']!['list']!({ ...feed, wait: 5 }))
    if (events.push(event) === 3) break;
  assert.equal(events.length, 3);
});

// Preconditions
// ----------------------------------------------------------------------------------------------------

test('a change to an object that was read requires its version, and a change by ID alone does not', async () => {
  const { get, change, publish, update } = api['forms']!;
  const first = await get!(await makeOne('draft'));
  const second = await change!(first, { settings: { language: 'german' } });
  const stale = change!(first, { settings: { language: 'french' } });
  await assert.rejects(stale, (error) => error instanceof client['PreconditionFailedError']!);
  await change!(second, { settings: { language: 'french' } });
  await change!(first.id, { settings: { language: 'english' } });
  const draft = await api['draft']!['get']!(first);
  await api['draft']!['save']!(draft, form);
  await assert.rejects(publish!(draft), (error) => error instanceof client['PreconditionFailedError']!);
  const live = await publish!(await api['draft']!['get']!(first));
  assert.equal((await update!(live, { ...form, dry_run: true })).status, 'published');
  await assert.rejects(update!(first.id, form, { ifMatch: '"0"' }), { status: 412 });
  await assert.rejects(update!(first.id, form, { ifMatch: draft }), TypeError);
  const hook = await api['webhooks']!['create']!(first, {
    url: 'https://hooks.example.org/',
    events: ['submission.created'],
  });
  const reading = await api['webhooks']!['get']!(hook);
  assert.equal((await api['webhooks']!['change']!(reading, { active: false })).id, hook.id);
  await assert.rejects(api['webhooks']!['delete']!(reading), { status: 412 });
  const workspace = await api['workspace']!['get']!();
  await api['workspace']!['change']!({ name: 'Ours' }, { ifMatch: workspace });
});

// Errors and retries
// ------------------------------------------------------------------------------------------------

type Told = { method: string; key: string | undefined };
type Reply = [status: number, headers?: Record<string, string>, body?: string];
/**
 * Starts a service that sends these replies in order, then an empty object. Status 0 closes the connection.
 */
async function openOther(...replies: Reply[]) {
  const told: Told[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    told.push({ method: request.method!, key: request.headers['idempotency-key'] as string | undefined });
    const [status, headers, body = '{}'] = replies.shift() ?? [200];
    if (status === 0) response.socket?.destroy();
    else response.writeHead(status, headers).end(body);
  };
  const server = createServer(
    (request, response) => void request.resume().on('end', () => answer(request, response)),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { told, open: (options = {}) => createClient({ url, key: 'key', ...options }) };
}
const soon = { 'Retry-After': '0' };

test('429 and 503 are retried after Retry-After, with one Idempotency-Key', async () => {
  const { told, open } = await openOther([429, soon], [503, soon], [201], [503]);
  const other = open();
  await other['forms']!['create']!(form);
  assert.deepEqual(new Set(told.map(({ key }) => key)), new Set([told[0]!.key]));
  assert.match(told[0]!.key!, /^[0-9a-f]{32}$/);
  await other['forms']!['list']!();
  assert.equal(told.length, 5);
  await other['forms']!['create']!(form, { idempotencyKey: 'mine' });
  assert.equal(told.at(-1)!.key, 'mine');
  assert.notEqual(told[3]!.key, told[0]!.key);
});

test('the client gives up after its retries, or if Retry-After is too long', async () => {
  const often: Reply = [429, soon, '{"error":"rate_limit_exceeded","message":"Wait."}'];
  const { told, open } = await openOther(often, often, often, [429, { 'Retry-After': '61' }]);
  await assert.rejects(async () => await open({ retries: 2 })['forms']!['list']!(), {
    name: 'RateLimitError',
    code: 'rate_limit_exceeded',
    message: 'Wait.',
    retryAfter: 0,
  });
  await assert.rejects(async () => await open()['forms']!['list']!(), { retryAfter: 61 });
  assert.equal(told.length, 4);
});

test('if the response is lost, only a request that cannot take effect twice is sent again', async () => {
  const { told, open } = await openOther(
    [0],
    [201],
    [0],
    [200],
    [200, {}, '<h1>A portal</h1>'],
    [200],
    [0],
    [409],
    [201],
    [0],
  );
  const other = open();
  await other['forms']!['create']!(form);
  await other['forms']!['list']!();
  await other['forms']!['list']!();
  await other['forms']!['create']!(form);
  await assert.rejects(other['forms']!['update']!('id', form), { name: 'ConnectionError' });
  assert.deepEqual(
    told.map(({ method }) => method),
    ['POST', 'POST', 'GET', 'GET', 'GET', 'GET', 'POST', 'POST', 'POST', 'PUT'],
  );
});

test('every error status has its own error class, with the problems found', async () => {
  for (const [code, { status, message }] of Object.entries(errorCodes)) {
    const errors = [{ field: 'a', message: 'No.' }];
    const { open } = await openOther([
      status,
      { 'X-Request-Id': 'r' },
      JSON.stringify({ error: code, message, errors }),
    ]);
    await assert.rejects(open({ retries: 0 })['forms']!['update']!('id', form), (error: Error) => {
      assert.deepEqual(Object.assign({}, error, { name: '', retryAfter: 0 }), {
        name: '',
        status,
        code,
        errors,
        retryAfter: 0,
        requestId: 'r',
      });
      assert.notEqual(error.name, 'FormloomError', code);
      return error.message === message;
    });
  }
});

test('aborting a request throws only the abort error, also during a wait', async () => {
  const { open } = await openOther([503, { 'Retry-After': '50' }]);
  await assert.rejects(
    async () => await open()['forms']!['list']!({}, { signal: AbortSignal.timeout(300) }),
    {
      name: 'TimeoutError',
    },
  );
  await assert.rejects(async () => await open()['forms']!['list']!({}, { signal: AbortSignal.abort() }), {
    name: 'AbortError',
  });
});

// Webhooks -----------------------------------------------------------------------------------------------------------

test('`verifyWebhook` accepts only what the service signs, in both schemes', async () => {
  const text = JSON.stringify({ submission: { id: 'grüß' } });
  const sign = (secrets: string[], at = Date.now(), body = text): Record<string, string> =>
    createDeliveryHeaders({
      kind: 'submission.created',
      deliveryId: newId(),
      timestamp: Math.floor(at / 1_000),
      body: Buffer.from(body),
      secrets,
      custom: {},
      isTest: false,
    });
  const whole = `whsec_${Buffer.from('thirty-two bytes of a secret key').toString('base64')}`;
  for (const secret of [whole, 'a text with ünïcode']) {
    const headers = sign([secret]);
    for (const [raw, seen] of [
      [text, headers],
      [Buffer.from(text), new Headers(headers)],
      [
        new Uint8Array(Buffer.from(text)).buffer,
        Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]])),
      ],
    ])
      assert.equal((await verifyWebhook(raw, seen, secret)).submission.id, 'grüß');
    await verifyWebhook(text, sign(['the new one', secret]), secret);
    await verifyWebhook(text, headers, ['another', secret]);
    const old = sign([secret], Date.now() - 600_000);
    await verifyWebhook(text, old, secret, { scheme: 'service' });
    await verifyWebhook(text, old, secret, { tolerance: 900 });
    const without = (name: string) =>
      Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
    await verifyWebhook(text, without('X-Service-Signature'), secret, { scheme: 'standard' });
    const wrong: [what: string, ...Parameters<typeof verifyWebhook>][] = [
      ['another body', `${text} `, headers, secret],
      ['another secret', text, headers, 'another'],
      ['a recording', text, old, secret],
      ['a time that is none', text, { ...headers, 'webhook-timestamp': '1e9' }, secret],
      ['another id', text, { ...headers, 'webhook-id': newId() }, secret],
      ['no signature', text, without('X-Service-Signature'), secret],
      ['no signature of the standard', text, without('webhook-signature'), secret],
      [
        'capitals',
        text,
        { ...headers, 'X-Service-Signature': headers['X-Service-Signature']!.toUpperCase() },
        secret,
      ],
      ['what is no base64', text, { ...headers, 'webhook-signature': 'v1,=== v1,a' }, secret],
      ['no header', text, {}, secret],
    ];
    for (const [what, ...args] of wrong)
      await assert.rejects(verifyWebhook(...args), { name: 'WebhookVerificationError' }, what);
  }
  await assert.rejects(verifyWebhook(text, sign(['']), ''), TypeError);
});

// Forms as code ------------------------------------------------------------------------------------------------------

test('applying a form definition creates it once, updates it if it differs, and never overwrites another change', async () => {
  const definition = {
    name: `Contact ${newId()}`,
    status: 'published',
    settings: { confirmation_message: 'Thank you.', closes_at: null },
    steps: [
      {
        elements: [
          { type: 'text', id: 'subject', label: 'Subject', required: true },
          {
            type: 'composite',
            id: 'row',
            label: 'Row',
            children: [{ type: 'number', id: 'age', label: 'Age' }],
          },
          { type: 'divider' },
        ],
      },
    ],
  };
  const handle = api.form(client.defineForm(definition));
  await assert.rejects(handle['id']!(), /The form "Contact .*" does not exist yet/);
  const applied = async (written: object) => {
    const { id, change, status } = await api.form(client.defineForm(written))['apply']!();
    return [id, change, status];
  };
  const [id] = await applied(definition);
  assert.deepEqual(await applied(definition), [id, 'none', 'published']);
  const { settings: _, status: __, ...bare } = definition;
  assert.deepEqual(await applied(bare), [id, 'none', 'published']);
  assert.deepEqual(await applied({ ...definition, description: 'Ask us.' }), [id, 'updated', 'published']);
  assert.deepEqual(await applied({ ...bare, id, name: 'Renamed', status: 'archived' }), [
    id,
    'updated',
    'archived',
  ]);
  assert.deepEqual(await applied({ ...bare, id, name: 'Renamed', status: 'published' }), [
    id,
    'updated',
    'published',
  ]);
  const named = api.form({ ...client.defineForm(definition), id });
  await named['submit']!({ subject: 'One', age: 3 });
  const [one] = await collect(named['submissions']!({ status: 'completed' }));
  assert.deepEqual(one!.answers, { subject: 'One', age: 3 });
  await assert.rejects(named['submit']!({}), { name: 'ValidationError' });
});

// Installation into an empty folder
// ---------------------------------------------------------------------------------

const home = fileURLToPath(new URL('..', import.meta.url));
/** Returns what a program printed. If the program fails, throws an error with its output. */
const run = (
  command: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(command, args, { cwd, env: { ...process.env, ...env } }, (error, stdout, stderr) =>
      error
        ? reject(new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`, { cause: error }))
        : resolve(stdout),
    );
  });

/** Terminates TLS in front of a port of this machine, like a proxy. */
async function openRelay(port: number): Promise<string> {
  const relay = createTlsServer(certificate('receiver'), (request, response) => {
    const onward = httpRequest({ port, host: '127.0.0.1', method: request.method, headers: request.headers });
    onward.on('response', (answer) => void answer.pipe(response.writeHead(answer.statusCode!)));
    onward.on('error', () => response.writeHead(502).end());
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  after(() => relay.close());
  return `https://127.0.0.1:${(relay.address() as AddressInfo).port}/`;
}

test('the README’s program, installed with only the package, applies, fills in, verifies and reads a form', {
  skip: isSlice,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'formloom-client-'));
  after(() => rm(folder, { recursive: true }));
  const readme = await readFile(join(home, 'clients/typescript/README.md'), 'utf8');
  const program = /<!-- whole -->\n```ts\n([^]*?)```/.exec(readme)![1]!;
  assert.ok(program.trimEnd().split('\n').length <= 40);
  const npm = process.env['npm_execpath'];
  const runNpm = (args: string[], cwd: string) =>
    npm ? run(process.execPath, [npm, ...args], cwd) : run('npm', args, cwd);
  const [packed] = JSON.parse(
    await runNpm(['pack', '--json', '--pack-destination', folder], join(home, 'clients/typescript')),
  );
  const paths = packed.files.map(({ path }: { path: string }) => path);
  assert.deepEqual(
    paths.filter((path: string) => !/^dist\/([\w-]+\/)?[\w-]+\.(d\.ts|js)$/.test(path)).sort(),
    ['LICENSE', 'README.md', 'package.json'],
  );
  const tarball = await readFile(join(folder, packed.filename));
  const said = await publint({ pack: { tarball: new Uint8Array(tarball).buffer }, strict: true });
  assert.deepEqual(said.messages, []);
  const checked = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)));
  assert.ok(checked.types);
  // The package is an ES module only. Tools without `exports` and require() before Node 20 are not supported.
  const notMeant: readonly unknown[] = ['node10', 'node16-cjs'];
  assert.deepEqual(
    checked.problems.filter(
      (problem) => !('resolutionKind' in problem && notMeant.includes(problem.resolutionKind)),
    ),
    [],
  );
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await runNpm(['install', '--offline', '--no-audit', '--no-fund', join(folder, packed.filename)], folder);
  const wrong = program
    .replace('answers.subject.', 'answers.object.')
    .replace("product: 'Shuttle'", "product: 'Loo'");
  await writeFile(join(folder, 'form.ts'), program);
  await writeFile(join(folder, 'wrong.ts'), wrong);
  await copyFile(join(home, 'clients/typescript/test/types.ts'), join(folder, 'types.ts'));
  const options =
    '--ignoreConfig --noEmit --strict --exactOptionalPropertyTypes --target es2022 --module nodenext --types node';
  const compiler = [
    join(home, 'node_modules/typescript/bin/tsc'),
    '--typeRoots',
    join(home, 'node_modules/@types'),
  ];
  const problems = await run(
    process.execPath,
    [...compiler, ...options.split(' '), 'form.ts', 'types.ts', 'wrong.ts'],
    folder,
  ).then(
    () => '',
    ({ message }: Error) => message,
  );
  assert.match(problems, /^[^:]*: wrong.ts[^]*'"Loo"'[^]*wrong.ts[^]*'object' does not exist/);
  assert.equal(problems.split('error TS').length, 3, problems);
  const port = await freePort();
  const printed = await run(process.execPath, ['--disable-warning=ExperimentalWarning', 'form.ts'], folder, {
    FORMLOOM_URL: service.url,
    FORMLOOM_API_KEY: await (await service.makeTenant()).makeKey([
      'forms:read',
      'forms:write',
      'submissions:read',
      'submissions:write',
      'webhooks:read',
      'webhooks:write',
    ]),
    RECEIVER_URL: await openRelay(port),
    PORT: String(port),
  });
  const [, id] = /^sent (\S+)$/m.exec(printed) ?? [];
  assert.deepEqual(printed.trim().split('\n').toSorted(), [
    `THE SHUTTLE IS STUCK 14 days`,
    `heard of ${id}`,
    `sent ${id}`,
  ]);
});
