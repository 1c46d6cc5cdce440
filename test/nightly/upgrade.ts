import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { submitEntry } from '#test/crowd.ts';
import { testDatabase } from '#test/database.ts';
import { type Instance, makeInstance, type ServerProcess } from '#test/process.ts';
import { openReceiver, type Receiver } from '#test/receiver.ts';
import { openS3Server } from '#test/s3-server.ts';
import { callApi, freePort, until } from '#test/service.ts';
import { missingValkey, openValkey } from '#test/valkey.ts';

/*
 * npm run test:long -- upgrade
 *
 * A server of the previous version and one of this version serve one database under load. This one migrates
 * it, and the other keeps working until it is stopped. Then two nodes with a Valkey and an S3 store are
 * upgraded one by one. UPGRADE_FROM=<commit> sets the previous version. Default: the last version with only
 * the first of today's migrations, or those that 0001_init.sql replaced. It is installed and built in
 * .local/versions/, which takes a minute the first time.
 */
const home = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
const git = async (...words: string[]): Promise<string> =>
  (await run('git', ['-C', home, ...words])).stdout.trim();

/**
 * Returns the hashes of the migrations at a commit. The hash of the current first migration stands for those
 * that it replaced.
 */
async function migrationsOf(commit: string): Promise<string[]> {
  const lines = (await git('ls-tree', commit, 'db/migrations/')).split('\n');
  const hashes = lines.map((line) => line.split(/\s/)[2]!);
  const replaced = lines.findIndex((line) => line.endsWith('/0084_cells_begun_as.sql'));
  if (replaced < 0) return hashes;
  return [await git('rev-parse', 'HEAD:db/migrations/0001_init.sql'), ...hashes.slice(replaced + 1)];
}

/**
 * Finds the last version whose migrations are the first of today's. Commits between parallel changes do not
 * count.
 */
async function findBefore(): Promise<string> {
  const given = process.env['UPGRADE_FROM'];
  if (given) return git('rev-parse', given);
  const now = await migrationsOf('HEAD');
  const additions = await git('log', '--no-renames', '--diff-filter=A', '--format=%H', '--', 'db/migrations');
  for (const addition of additions.split('\n')) {
    const former = await migrationsOf(`${addition}^`);
    if (former.every((hash, index) => hash === now[index])) return git('rev-parse', `${addition}^`);
  }
  throw new Error('no commit has the beginning of these migrations');
}

/** Returns the folder of a commit's code, with its packages installed and its pages built. */
async function prepare(commit: string): Promise<string> {
  const folder = join(home, '.local', 'versions', commit);
  const isThere = await access(join(folder, 'setup.mjs')).then(
    () => true,
    () => false,
  );
  if (!isThere) {
    await mkdir(folder, { recursive: true });
    await run('sh', ['-c', `git -C "${home}" archive ${commit} | tar -x -C "${folder}"`]);
  }
  await run('node', ['setup.mjs'], { cwd: folder });
  return folder;
}

const before = await findBefore();
const { url: databaseUrl } = await testDatabase({ isEmpty: true });
const shared = { DATABASE_URL: databaseUrl, SECRET_KEY: '0f'.repeat(32) };
const next = await makeInstance(shared);

const structure = {
  type: 'form',
  attrs: { name: 'Guest book' },
  children: [
    {
      type: 'step',
      attrs: { layout: 'stack' },
      children: [
        { type: 'text', attrs: { id: 'entry', label: 'Entry', required: true }, children: [] },
        { type: 'file_upload', attrs: { id: 'file', label: 'File' }, children: [] },
      ],
    },
  ],
};

type Form = { id: string; key: string; receiver: Receiver };
type Said = { what: string; status: number; ms: number; at: number; text: string };

/**
 * Repeats one of each action of visitors, members and programs at one server until it accepts no more
 * connections.
 */
async function useAll(server: ServerProcess, form: Form, who: string, over: AbortSignal) {
  const said: Said[] = [];
  const acknowledged = new Map<string, string>();
  const ask = async (what: string, method: string, path: string, body?: unknown) => {
    const at = performance.now();
    const answer = await callApi(server.url, form.key, method, path, body);
    const text = answer.status < 400 ? '' : JSON.stringify(answer.body);
    said.push({ what: `${who}: ${what}`, status: answer.status, ms: performance.now() - at, at, text });
    return answer;
  };
  for (let round = 0; !over.aborted; round += 1) {
    try {
      const entry = `${who} ${round}`;
      const sent = await submitEntry(`${server.url}/f/${form.id}`, entry);
      said.push({
        what: `${who}: submit`,
        status: 'id' in sent ? 201 : Number(sent.failure),
        ms: 0,
        at: performance.now(),
        text: '',
      });
      if (!('id' in sent)) {
        if (sent.failure === 'ECONNREFUSED') break;
        continue;
      }
      acknowledged.set(entry, sent.id);
      const one = `/submissions/${sent.id}`;
      await ask('read', 'GET', one);
      await ask('list', 'GET', `/forms/${form.id}/submissions?per_page=20`);
      await ask('search', 'GET', `/submissions/search?q=${who}`);
      await ask('tag', 'PATCH', one, { tags: ['seen'] });
      await ask('note', 'POST', `${one}/notes`, { text: 'A note' });
      await ask('timeline', 'GET', `${one}/timeline`);
      await ask('events', 'GET', `/events?form_id=${form.id}`);
      await ask('delete', 'DELETE', one);
      await ask('restore', 'POST', `${one}/restore`);
      const { body: made } = await ask('make a form', 'POST', '/forms', { structure, publish: true });
      await ask('change a form', 'PATCH', `/forms/${made.id}`, { settings: {} });
      await ask('draft', 'PUT', `/forms/${made.id}/draft`, { structure });
      await ask('publish', 'POST', `/forms/${made.id}/publish`);
      await ask('answers counted', 'GET', `/forms/${form.id}/summary`);
      await ask('webhooks', 'GET', `/forms/${form.id}/webhooks`);
      await ask('members', 'GET', '/members');
      await ask('keys', 'GET', '/keys');
      await ask('audit', 'GET', '/audit');
      await ask('workspace', 'GET', '/workspace');
      await ask('delete a form', 'DELETE', `/forms/${made.id}`);
      const page = await fetch(`${server.url}/f/${form.id}`);
      said.push({ what: `${who}: page`, status: page.status, ms: 0, at: performance.now(), text: '' });
      await page.arrayBuffer();
    } catch (error) {
      // The server stopped between two requests.
      if (error instanceof TypeError && /fetch failed/.test(error.message)) break;
      throw error;
    }
  }
  return { said, acknowledged };
}

/** Creates a workspace on the previous version and a form in it, with a webhook to the receiver. */
async function makeForm(former: Instance, url: string): Promise<Form> {
  const receiver = await openReceiver();
  const workspace = await former.cli<{ id: string }>('workspace create', 'Load', '--plan', 'enterprise');
  const full = [
    ...['forms', 'submissions', 'webhooks', 'members', 'keys', 'workspace'].flatMap((each) => [
      `${each}:read`,
      `${each}:write`,
    ]),
    'events:read',
    'audit:read',
  ];
  const { key } = await former.cli<{ key: string }>(
    'key create',
    '--workspace',
    workspace.id,
    '--name',
    'Load',
    '--permissions',
    full.join(','),
  );
  const { body: made } = await callApi(url, key, 'POST', '/forms', { structure, publish: true });
  const hooked = await callApi(url, key, 'POST', `/forms/${made.id}/webhooks`, {
    url: receiver.url,
    events: ['submission.created'],
  });
  assert.equal(hooked.status, 201, JSON.stringify(hooked.body));
  return { id: made.id, key, receiver };
}

type Used = Awaited<ReturnType<typeof useAll>>;

/**
 * Asserts that no acknowledged submission is lost, each is delivered once, and requests failed only briefly.
 * @returns the responses to all requests.
 */
async function holdTogether(
  context: TestContext,
  { url, form: { key, receiver }, used }: { url: string; form: Form; used: readonly Used[] },
): Promise<Said[]> {
  const said = used.flatMap((each) => each.said);
  const wrong = said.filter(({ status }) => status >= 400);
  const counts = Object.groupBy(wrong, ({ what, status, text }) => `${what} ${status} ${text.slice(0, 200)}`);
  for (const [what, each] of Object.entries(counts)) context.diagnostic(`${each!.length} times ${what}`);
  assert.deepEqual(
    Object.keys(counts).filter((what) => !/ 503 /.test(what)),
    [],
  );
  for (const { acknowledged } of used)
    for (const id of acknowledged.values())
      assert.equal((await callApi(url, key, 'GET', `/submissions/${id}`)).status, 200);
  const sent = used.flatMap(({ acknowledged }) => [...acknowledged.values()]).toSorted();
  await until(
    'everything to be delivered',
    async () =>
      new Set(receiver.requests.map(({ headers }) => headers['x-service-delivery-id'])).size >= sent.length,
    60,
  );
  const delivered = receiver.requests.map(
    ({ body }) => (JSON.parse(String(body)) as { submission: { id: string } }).submission.id,
  );
  assert.deepEqual(delivered.toSorted(), sent, 'each is delivered once');
  return said;
}

test(`a server of ${before.slice(0, 7)} and one of this version serve one database: nothing is lost, and requests fail only briefly`, {
  timeout: 900_000,
}, async (context) => {
  const former = await makeInstance({
    ...shared,
    FORMLOOM_HOME: await prepare(before),
    // Two servers of one instance share the directory and the public URL.
    DATA_DIR: next.dataDir,
    PORT: String(await freePort()),
    PUBLIC_URL: next.url,
  });
  const one = await former.start();
  const form = await makeForm(former, one.url);
  const over = new AbortController();
  const atFormer = useAll(one, form, 'former', over.signal);
  await pause(3_000);
  const other = await next.start();
  const migratedAt = performance.now();
  const atNext = useAll(other, form, 'next', over.signal);
  await pause(6_000);
  const stopped = await one.terminate();
  assert.equal(stopped.code, 0);
  await pause(2_000);
  over.abort();
  const used = [await atFormer, await atNext];

  const said = await holdTogether(context, { url: other.url, form, used });
  const after = said.filter(({ at, what }) => at > migratedAt && what.startsWith('former')).length;
  context.diagnostic(
    `${said.length} requests, ${after} of them at the former server after the migration; the slowest took ` +
      `${Math.round(Math.max(...said.map(({ ms }) => ms)))} ms`,
  );
  const lines = one
    .output()
    .split('\n')
    .filter((line) => /"level":"(error|fatal)"/.test(line));
  for (const line of new Set(lines.map((each) => /"msg":"([^"]*)"/.exec(each)?.[1] ?? each)))
    context.diagnostic(`the former server says: ${line}`);
  assert.ok(after > 20);
  // Stops the new version first. Otherwise the previous one would be refused because of it.
  assert.equal((await other.terminate()).code, 0);
  const { code, output } = await former.failToStart();
  assert.equal(code, 1);
  // The second message appears if the new version renumbered the migrations.
  assert.match(output, /newer than this version|with different content/);
});

test(`two nodes of ${before.slice(0, 7)} with separate directories are upgraded in turn: nothing is lost, and both read all files`, {
  timeout: 900_000,
}, async (context) => {
  const valkey = await openValkey();
  assert.ok(valkey, missingValkey);
  context.after(() => valkey.close());
  const { environment } = await openS3Server();
  const common = {
    ...shared,
    DATABASE_URL: (await testDatabase({ isEmpty: true })).url,
    VALKEY_URL: valkey.url,
    ...environment,
    FORMLOOM_HOME: await prepare(before),
  };
  const first = await makeInstance(common);
  const second = await makeInstance({ ...common, PUBLIC_URL: first.url, PORT: String(await freePort()) });
  const formers = [await first.start(), await second.start()];
  const form = await makeForm(first, formers[0]!.url);
  const body = new FormData();
  body.append('entry', 'with a file');
  body.append('file', new File(['what it says'], 'a.txt', { type: 'text/plain' }));
  const sent = await fetch(`${formers[0]!.url}/f/${form.id}`, {
    method: 'POST',
    body,
    headers: { Accept: 'application/json' },
  });
  assert.equal(sent.status, 201);
  const { id } = (await sent.json()) as { id: string };

  const over = new AbortController();
  const using = formers.map((server, index) => useAll(server, form, `former${index}`, over.signal));
  await pause(2_000);
  for (const [index, instance] of [first, second].entries()) {
    assert.equal((await formers[index]!.terminate()).code, 0);
    const renewed = await instance.start({ FORMLOOM_HOME: home });
    using.push(useAll(renewed, form, `next${index}`, over.signal));
    await pause(3_000);
  }
  over.abort();
  const used = await Promise.all(using);
  for (const { acknowledged } of used) assert.ok(acknowledged.size > 0);
  used.push({ said: [], acknowledged: new Map([['with a file', id]]) });
  await holdTogether(context, { url: first.url, form, used });
  for (const { url } of [first, { url: `http://127.0.0.1:${second.environment['PORT']}` }]) {
    const { answers } = (await callApi(url, form.key, 'GET', `/submissions/${id}`)).body;
    const [file] = answers['file'] as { url: string }[];
    assert.equal(await (await fetch(file!.url.replace(first.url, url))).text(), 'what it says');
  }
});
