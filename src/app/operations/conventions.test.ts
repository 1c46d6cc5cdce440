import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { request } from 'undici';
import { openVault } from '#kit/vault.ts';
import { element, structure } from '#test/ast/forms.ts';
import { isSlice } from '#test/cases.ts';
import { signIn } from '#test/console.ts';
import { holdOne, idIn, makeOneOfEach } from '#test/one-of-each.ts';
import { readWhileOthersWrite } from '#test/read-all.ts';
import { openService } from '#test/service.ts';
import { makeForm, openVisitor } from '#test/visitor.ts';
import { clearStoredResponses } from '#workspaces/idempotency.ts';
import { addMember } from '#workspaces/members.ts';
import { deleteExpired } from '../server/delete-expired.ts';
import { apiRoutes } from './operations.ts';

/* Rules for all operations of a kind, by the table (docs/decisions/0034-operations-table.md). */
// 0: no limit for people.
const service = await openService({ CONSOLE_PER_MINUTE: '0' });
const tenant = await service.makeTenant();
const visitor = openVisitor(service);
const valid = { structure: structure(element('text', 'a')) };
const changed = { structure: structure(element('text', 'b')) };

// ETags -------------------------------------------------------------------------------------------------------

test('a changeable resource has an ETag; a request with the current one gets 304 and no body', async () => {
  const form = await makeForm(tenant, [element('text', 'a')]);
  const first = await tenant.call('GET', `/forms/${form.id}`);
  const tag = first.headers.get('etag')!;
  assert.match(tag, /^"[^"]+"$/);
  for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
    const again = await tenant.call('GET', `/forms/${form.id}`, undefined, { 'If-None-Match': known });
    assert.deepEqual([again.status, again.body, again.headers.get('etag')], [304, undefined, tag], known);
  }
  const head = await tenant.call('HEAD', `/forms/${form.id}`, undefined, { 'If-None-Match': tag });
  assert.equal(head.status, 304);
  const unread = await tenant.call('GET', `/forms/${form.id}`, undefined, { 'If-None-Match': 'x' });
  assert.deepEqual([unread.status, unread.headers.get('etag')], [400, null], 'a refusal is no reading');
  await visitor.submit(form.id, { a: 'counts' });
  const counted = await tenant.call('GET', `/forms/${form.id}`, undefined, { 'If-None-Match': tag });
  assert.deepEqual([counted.status, counted.body.submission_count], [200, 1]);
});

test('two editors of one form: the second gets 412, and no change of the first is lost', async () => {
  const form = await makeForm(tenant, [element('text', 'a')]);
  const tag = (await tenant.call('GET', `/forms/${form.id}`)).headers.get('etag')!;
  const put = (body: object, match: string) =>
    tenant.call('PUT', `/forms/${form.id}`, body, { 'If-Match': match });
  // A submission in the meantime does not change the form.
  await visitor.submit(form.id, { a: 'word' });
  const [first, second] = await Promise.all([put(changed, tag), put(valid, tag)]);
  assert.deepEqual([first.status, second.status].sort(), [200, 412]);
  const refused = first.status === 412 ? first : second;
  assert.equal(refused.body.error, 'precondition_failed');
  const winner = first.status === 200 ? first : second;
  assert.deepEqual((await tenant.call('GET', `/forms/${form.id}`)).body.structure, winner.body.structure);
  const remove = (match: string) =>
    tenant.call('DELETE', `/forms/${form.id}`, undefined, { 'If-Match': match });
  assert.equal((await remove(tag)).status, 412);
  // The response to a change carries the next ETag.
  assert.equal((await put(valid, winner.headers.get('etag')!)).status, 200);
  assert.equal((await remove('"nonsense"')).status, 412);
  assert.equal((await remove('*')).status, 204);
});

test('If-Match is a 400 if the resource has no ETag, or if it is not a list of ETags', async () => {
  const form = await makeForm(tenant, [element('text', 'a')]);
  for (const [method, path, body] of [
    ['GET', '/forms', undefined],
    ['POST', '/forms', valid],
  ] as const)
    assert.equal((await tenant.call(method, path, body, { 'If-Match': '"a"' })).status, 400);
  const answer = await tenant.call('PUT', `/forms/${form.id}`, valid, { 'If-Match': 'bare' });
  assert.deepEqual([answer.status, answer.body.error], [400, 'bad_request']);
});

// Lists -------------------------------------------------------------------------------------------------------

/** Removes what deliveries change between two requests. */
const withoutState = (item: object): object =>
  Object.fromEntries(
    Object.entries(item).filter(([name]) => !['day', 'last_delivery', 'failing_since'].includes(name)),
  );

test('every list with a cursor returns equal items by cursor and by page, and rejects a cursor of another list', async () => {
  const own = await service.makeTenant();
  const { key, ...ids } = await makeOneOfEach(service, own);
  const call = (path: string, body?: object) =>
    own.call(body ? 'POST' : 'GET', path, body, { Authorization: `Bearer ${key}` });
  const form = ids['forms'];
  const submit = async (word: string) => (await openVisitor(service).submit(form!, { a: word })).body.id;
  for (const count of [1, 2, 3]) {
    await makeForm(own, [element('text', 'a')]);
    await submit(`word ${count}`);
    await own.call('DELETE', `/submissions/${await submit('trash')}`);
    await holdOne(service, form!);
    const next = structure(element('text', 'a', { label: `Version ${count}` }));
    assert.equal((await own.call('PUT', `/forms/${form}`, { structure: next })).status, 200);
    await call(`/webhooks/${ids['webhooks']}/test`, { event: 'submission.created' });
    await call('/webhooks', { url: 'https://93.184.215.14/', events: ['submission.created'] });
    await call('/people/erasures', { q: `unknown ${count}`, what: 'submissions' });
  }
  const invitations = ['a', 'b', 'c'].map((name) => ({ email: `${name}@example.org` }));
  assert.equal((await call(`/forms/${form}/invitations`, { invitations })).status, 201);

  const routes = apiRoutes(service.services);
  const takers = (name: string) => routes.filter(({ operation }) => name in operation.query.properties);
  const lists = takers('cursor');
  assert.ok(lists.length >= 4);
  // A search orders by relevance, which later submissions change.
  const byPageAlone = takers('page').filter((list) => !lists.includes(list));
  assert.deepEqual(
    byPageAlone.map(({ name }) => name),
    ['searchSubmissions'],
  );
  let foreign = '*';
  for (const { name, path } of lists) {
    // The order by latest activity is not stable.
    const needs: Readonly<Record<string, string>> = {
      listFormActivity: 'sort=created',
      findPerson: 'q=word&match=words',
    };
    const at = `${path.replace(':id', idIn(path, { ...ids, key }))}?${needs[name] ?? ''}`;
    const list = async (query: string) => call(`${at}&per_page=2&${query}`);
    const { body: whole } = await call(at);
    assert.ok(whole.data.length >= 3 && !('next_cursor' in whole), name);
    const first = (await list('cursor=*')).body;
    const next = (await list(`cursor=${first.next_cursor}`)).body;
    assert.deepEqual(
      [...first.data, ...next.data].map(withoutState),
      whole.data.slice(0, 4).map(withoutState),
      name,
    );
    assert.equal(next.pagination.total_count, whole.pagination.total_count, name);
    assert.equal(next.pagination.page, 2, name);
    for (const query of [`cursor=${first.next_cursor}&page=1`, 'cursor=nonsense']) {
      const { status, body } = await list(query);
      assert.deepEqual(
        [status, body.error, body.errors[0]!.field],
        [400, 'bad_request', 'cursor'],
        name + query,
      );
    }
    if (foreign !== '*') assert.equal((await list(`cursor=${foreign}`)).status, 400, name);
    foreign = first.next_cursor!;
  }
});

test(
  'submissions read by cursor while others submit and delete have no gaps and no repeats',
  { skip: isSlice },
  () => readWhileOthersWrite(service, 5_000),
);

// Lengths -----------------------------------------------------------------------------------------------------

test('lengths are counted in characters, as in JSON Schema: a character beyond 16 bits counts once', async () => {
  const own = await service.makeTenant();
  const { key, ...ids } = await makeOneOfEach(service, own);
  const call = async (method: string, path: string, body: object) =>
    (await own.call(method, path, body, { Authorization: `Bearer ${key}` })).status;
  const settings = (password: string) => call('PATCH', `/forms/${ids['forms']}`, { settings: { password } });
  const invite = (more: object) =>
    call('POST', `/forms/${ids['forms']}/invitations`, {
      invitations: [{ email: 'ada@example.org', ...more }],
    });
  const submission = `/submissions/${ids['submissions']}`;
  const webhook = `/webhooks/${ids['webhooks']}`;
  const header = (more: object) =>
    call('PATCH', webhook, { headers: [{ name: 'X-One', value: '1', ...more }] });
  const letter = (more: object) =>
    call('POST', `/forms/${ids['forms']}/invitations/letter`, {
      email: 'ada@example.org',
      name: 'Ada',
      reference: {},
      ...more,
    });
  /** Sends a text of `length` characters in an otherwise valid request. */
  const wide = (send: (text: string) => Promise<number>) => (length: number) => send('𝒳'.repeat(length));
  const plain = (send: (text: string) => Promise<number>) => (length: number) => send('x'.repeat(length));
  const senders: Readonly<Record<string, (length: number) => Promise<number>>> = {
    'changeWorkspace.name': wide((name) => call('PATCH', '/workspace', { name })),
    'changeStages.data.name': wide((name) => call('PUT', '/stages', { data: [{ name, color: 'gray' }] })),
    'createKey.name': wide((name) => call('POST', '/keys', { name })),
    'changeKey.name': wide((name) => call('PATCH', `/keys/${ids['keys']}`, { name })),
    'changeWebhook.url': plain((path) =>
      call('PATCH', webhook, { url: `https://example.com/${path.slice(20)}` }),
    ),
    'changeWebhook.secret': wide((secret) => call('PATCH', webhook, { secret })),
    'changeWebhook.headers.name': plain((name) => header({ name })),
    'changeWebhook.headers.value': plain((value) => header({ value })),
    'setWebhookSecret.secret': wide((secret) => call('POST', `${webhook}/secret`, { secret })),
    'erasePerson.q': wide((q) => call('POST', '/people/erasures', { q, what: 'submissions' })),
    'addNote.text': wide((text) => call('POST', `${submission}/notes`, { text })),
    'saveView.name': wide((name) => call('POST', `/forms/${ids['forms']}/views`, { name, query: {} })),
    // Names of views must be unique.
    'changeView.name': wide((name) =>
      call('PATCH', `/views/${ids['views']}`, { name: name.replace(/./u, 'y') }),
    ),
    'changeSubmission.tags': wide((tag) => call('PATCH', submission, { tags: [tag] })),
    'changeSubmission.reference': wide((x) => call('PATCH', submission, { reference: { x } })),
    'createSubmission.reference': wide((x) =>
      call('POST', `/forms/${ids['forms']}/submissions`, { answers: { a: 'word' }, reference: { x } }),
    ),
    'startTagging.add': wide((tag) =>
      call('POST', `/forms/${ids['forms']}/submissions/taggings`, {
        filter: { status: 'incomplete' },
        add: [tag],
      }),
    ),
    'changeForm.labels': wide((label) => call('PATCH', `/forms/${ids['forms']}`, { labels: [label] })),
    'createShare.title': wide((title) => call('POST', `/forms/${ids['forms']}/shares`, { title })),
    'createShare.password': wide((password) => call('POST', `/forms/${ids['forms']}/shares`, { password })),
    'createInvitations.invitations.name': wide((name) => invite({ name })),
    'createInvitations.invitations.reference': wide((customer) => invite({ reference: { customer } })),
    'previewInvitationMail.name': wide((name) => letter({ name })),
    'previewInvitationMail.reference': wide((customer) => letter({ reference: { customer } })),
    'previewInvitationMail.subject': wide((subject) => letter({ subject })),
    'previewInvitationMail.message': wide((message) => letter({ message })),
  };
  const walk = function* (schema: Nested, path: string): Generator<[path: string, most: number]> {
    if (schema.maxLength !== undefined) yield [path, schema.maxLength];
    for (const [name, child] of Object.entries(schema.properties ?? {}))
      yield* walk(child, `${path}.${name}`);
    for (const child of [
      schema.items,
      ...Object.values(schema.patternProperties ?? {}),
      ...(schema.anyOf ?? []),
    ])
      if (child) yield* walk(child, path);
  };
  const found = apiRoutes(service.services).flatMap(({ name, operation }) => [
    ...walk((operation.body ?? {}) as Nested, name),
  ]);
  // Similar to a tested field, part of a longer grammar, or an address.
  const others = [
    /^createSubmission\.language$|^(convert|import)Form\.text$|^create(Workspace)?Webhook\.|^previewWebhook\.|^testWebhook\.url$|^startTagging\.remove$|^(create|update)Form\.labels$|^changeShare\.|^createShare\.elements$/,
    /^(createInvitations|startInvitationImport|previewInvitationMail)\.(reminder_)?(subject|message)$/,
    /\.(email|to|origin|domain)$|\.(filter|query)\.(tag|where|counted|sort)$|View\.columns\.|Import\.(text|mapping\.(name|row|option))$/,
  ];
  for (const [path, most] of found) {
    const send = senders[path];
    if (!send) {
      assert.ok(
        others.some((other) => other.test(path)),
        `nothing is known of ${path}`,
      );
      continue;
    }
    const answers = [await send(most), await send(most + 1)];
    assert.ok(answers[0]! < 300 && answers[1] === 422, `${path}, ${most} characters: ${answers.join(', ')}`);
  }
  const most = 128;
  assert.equal(await settings('𝒳'.repeat(most)), 200);
  assert.equal(await settings('𝒳'.repeat(most + 1)), 422);
  assert.equal(await settings('𝒳𝒳𝒳'), 422);
});

type Nested = {
  maxLength?: number;
  properties?: Readonly<Record<string, Nested>>;
  patternProperties?: Readonly<Record<string, Nested>>;
  items?: Nested;
  anyOf?: readonly Nested[];
};

// Idempotency-Key ---------------------------------------------------------------------------------------------

const create = (key: string, body: object = valid, by = tenant) =>
  by.call('POST', '/forms', body, { 'Idempotency-Key': key });
const formsOf = async (by: typeof tenant) => (await by.call('GET', '/forms')).body.pagination.total_count;

test('200 parallel POSTs with one Idempotency-Key create one resource, and all get its response', async () => {
  const own = await service.makeTenant();
  const settle = async () => {
    for (;;) {
      const answer = await create('import-1', valid, own);
      if (answer.status !== 409) return answer;
      assert.match(answer.body.message, /still running/);
    }
  };
  const answers = await Promise.all(Array.from({ length: 200 }, settle));
  assert.equal(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size, 1);
  assert.equal(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true').length, 199);
  assert.equal(await formsOf(own), 1);
});

test('each key repeats its own response with its ETag, and a person has separate keys in each workspace', async () => {
  const [own, other] = await Promise.all([service.makeTenant(), service.makeTenant()]);
  const person = await signIn(service, { workspaceId: own.workspaceId, role: 'editor' });
  await addMember(service.services.database, {
    workspaceId: other.workspaceId,
    userId: person.userId,
    role: 'editor',
  });
  const places = [
    ['a', own],
    ['b', own],
    ['a', other],
  ] as const;
  const ask = ([key, { workspaceId }]: (typeof places)[number]) =>
    person.api<{ id: string }>('POST', '/forms', valid, {
      'Idempotency-Key': key,
      'X-Workspace-ID': workspaceId,
    });
  const first: Awaited<ReturnType<typeof ask>>[] = [];
  for (const place of places) first.push(await ask(place));
  const again = await Promise.all(places.map(ask));
  const pick = ({ status, body, headers }: (typeof first)[number]) => [status, body, headers.get('etag')];
  assert.deepEqual(again.map(pick), first.map(pick));
  assert.equal(new Set(first.map(({ body }) => body.id)).size, 3);
  assert.match(first[0]!.headers.get('etag')!, /^"[^"]+"$/);
});

test('a key only applies to POST: methods that may be repeated run again', async () => {
  const { body: form } = await tenant.call('POST', '/forms', valid);
  const remove = () =>
    tenant.call('DELETE', `/forms/${form.id}`, undefined, { 'Idempotency-Key': 'gone', 'If-Match': '*' });
  assert.deepEqual([(await remove()).status, (await remove()).status], [204, 404]);
});

test('another request with a used key is a 422; each caller has separate keys', async () => {
  const own = await service.makeTenant();
  const { body: form } = await create('k', valid, own);
  const other = await create('k', changed, own);
  assert.deepEqual([other.status, other.body.error], [422, 'validation_error']);
  const colleague = await own.makeKey();
  const answer = await fetch(`${service.url}/api/v1/forms`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${colleague}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': 'k',
    },
    body: JSON.stringify(valid),
  });
  assert.equal(answer.status, 201);
  assert.notEqual(((await answer.json()) as { id: string }).id, form.id);
});

test('a rejected request frees its key', async () => {
  const own = await service.makeTenant();
  assert.equal((await create('again', { structure: {} }, own)).status, 422);
  // Of parallel requests, one is rejected; the others find it running, or already deleted.
  const refused = await Promise.all(
    Array.from({ length: 100 }, () => create('again', { structure: {} }, own)),
  );
  for (const { status } of refused) assert.ok(status === 422 || status === 409, `${status}`);
  assert.equal((await create('again', valid, own)).status, 201);
});

test('a malformed key is a 400', async () => {
  for (const key of ['', 'a b', 'x'.repeat(256)]) assert.equal((await create(key)).status, 400, key);
});

test('a stored response that a replaced instance key sealed is a 409, and nothing runs again', async () => {
  const own = await service.makeTenant();
  await create('sealed', valid, own);
  await service.services.database.query(
    'update repeatable_requests set answer = $2 where workspace_id = $1',
    [own.workspaceId, openVault('1e'.repeat(32)).seal('answers', '{}')],
  );
  const { status, body } = await create('sealed', valid, own);
  assert.deepEqual([status, body.error], [409, 'conflict']);
  assert.match(body.message, /instance key was replaced/);
  assert.equal(await formsOf(own), 1);
});

test('a request whose process died midway never runs again under its key', async () => {
  const own = await service.makeTenant();
  await create('cut', valid, own);
  const { database } = service.services;
  await database.query(
    `update repeatable_requests set status = null, answer = null, begun_at = now() - interval '1 hour' where workspace_id = $1`,
    [own.workspaceId],
  );
  const answer = await create('cut', valid, own);
  assert.deepEqual([answer.status, await formsOf(own)], [409, 1]);
  assert.match(answer.body.message, /was interrupted/);
  // A rejection frees only its own key, and the sweep only deletes keys older than a day.
  assert.equal((await create('another', { structure: {} }, own)).status, 422);
  assert.equal((await create('cut', { structure: {} })).status, 422);
  await deleteExpired(database, 'repeatable_requests');
  assert.deepEqual(
    await clearStoredResponses(database, { workspace_id: own.workspaceId }),
    [],
    'it has none',
  );
  assert.equal((await create('cut', valid, own)).status, 409);
  // After a day the key is deleted.
  await database.query(`update repeatable_requests set begun_at = now() - interval '25 hours'`);
  assert.equal((await create('cut', valid, own)).status, 201);
});

test('a change whose response could not be stored is not repeated under its key', async () => {
  const own = await service.makeTenant();
  await service.services.database.query(`
    create function refuse_answer() returns trigger language plpgsql as
      $$begin raise exception 'no answer is noted'; end$$;
    create trigger refuse_answer before update on repeatable_requests for each row
      when (new.workspace_id = '${own.workspaceId}') execute function refuse_answer()`);
  const statuses = [(await create('k', valid, own)).status, (await create('k', valid, own)).status];
  assert.deepEqual([...statuses, await formsOf(own)], [500, 409, 1]);
});

// Compression
// -------------------------------------------------------------------------------------------------

test('a response over 1 KB is compressed as the caller accepts it, a shorter one never', async () => {
  const form = await makeForm(
    tenant,
    Array.from({ length: 30 }, (_, at) => element('text', `question_${at}`)),
  );
  const unpack = { br: brotliDecompressSync, gzip: gunzipSync, zstd: zstdDecompressSync } as const;
  const get = async (path: string, accepted?: string) => {
    const { headers, body } = await request(`${service.url}/api/v1${path}`, {
      headers: {
        Authorization: `Bearer ${tenant.key}`,
        ...(accepted !== undefined && { 'Accept-Encoding': accepted }),
      },
    });
    return { headers, bytes: Buffer.from(await body.arrayBuffer()) };
  };
  const plain = await get(`/forms/${form.id}`);
  assert.equal(plain.headers['content-encoding'], undefined);
  for (const coding of ['br', 'gzip', 'zstd'] as const) {
    const { headers, bytes } = await get(`/forms/${form.id}`, `${coding}, other;q=0.5`);
    assert.deepEqual([headers['content-encoding'], headers['vary']], [coding, 'Accept-Encoding']);
    assert.deepEqual(unpack[coding](bytes), plain.bytes);
    assert.ok(bytes.length < plain.bytes.length / 3);
  }
  const refusing = await get(`/forms/${form.id}`, 'br;q=0, identity');
  assert.deepEqual(refusing.bytes, plain.bytes);
  assert.equal((await get('/forms?status=archived', 'br')).headers['content-encoding'], undefined);
});

// Two kinds of caller -----------------------------------------------------------------------------------------

test('a person calls the API with their console session, in the workspace that the request names', async () => {
  const form = await makeForm(tenant, [element('text', 'a')]);
  const viewer = await signIn(service, { workspaceId: tenant.workspaceId, role: 'viewer' });
  const call = (method: string, path: string, more: Record<string, string> = {}, body?: object) =>
    fetch(`${service.url}/api/v1${path}`, {
      method,
      headers: {
        Cookie: viewer.cookie,
        'X-Workspace-ID': tenant.workspaceId,
        'Sec-Fetch-Site': 'same-origin',
        ...(body && { 'Content-Type': 'application/json' }),
        ...more,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  const read = await call('GET', '/forms');
  assert.equal(read.status, 200);
  assert.match(read.headers.get('x-ratelimit-limit') ?? '', /^\d+$/);
  const write = await call('POST', '/forms', {}, valid);
  assert.equal(write.status, 403);
  assert.match(
    ((await write.json()) as { message: string }).message,
    /role editor or higher; your role is viewer/,
  );
  assert.equal((await call('GET', '/forms', { Cookie: '' })).status, 401);
  const { workspaceId: foreign } = await service.makeTenant();
  assert.equal((await call('GET', '/forms', { 'X-Workspace-ID': foreign })).status, 404);
  assert.equal((await call('GET', '/forms', { 'X-Workspace-ID': 'none' })).status, 400);
  // A key always acts in its own workspace, even if a header names another.
  const asKey = { Authorization: `Bearer ${tenant.key}`, 'X-Workspace-ID': foreign };
  assert.equal((await call('GET', `/forms/${form.id}`, asKey)).status, 200);
});

test("links of the console name the workspace in the address, and fail on other sites' pages", async () => {
  const { id } = await makeForm(tenant, [element('text', 'a')]);
  const viewer = await signIn(service, { workspaceId: tenant.workspaceId, role: 'viewer' });
  const follow = (headers: Record<string, string>, { workspace = tenant.workspaceId, method = 'GET' } = {}) =>
    fetch(`${service.url}/api/v1/forms/${id}/submissions/export?format=ndjson&workspace_id=${workspace}`, {
      method,
      headers: { Cookie: viewer.cookie, ...headers },
    });
  const owner = await signIn(service, { workspaceId: tenant.workspaceId, role: 'owner' });
  const noted = async () => {
    const { body } = await owner.api<{ data: { operation: string; thing_id: string }[] }>('GET', '/audit');
    return body.data.filter((line) => line.operation === 'exportFormSubmissions' && line.thing_id === id)
      .length;
  };
  const ours = { 'Sec-Fetch-Site': 'same-origin' };
  assert.equal((await follow(ours, { method: 'HEAD' })).status, 200);
  assert.equal(await noted(), 0, 'whoever only asks whether it would be answered takes nothing out');
  assert.match((await follow(ours)).headers.get('content-disposition')!, /^attachment; .*\.ndjson/);
  assert.equal(await noted(), 1);
  assert.equal(
    (await follow({ Referer: `${service.url}/app/` })).status,
    200,
    'a browser that does not say it',
  );
  for (const elsewhere of [
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { 'Sec-Fetch-Site': 'none' },
    { 'Sec-Fetch-Site': 'cross-site', Referer: `${service.url}/app/` },
    { Referer: 'https://elsewhere.example/' },
    {},
  ]) {
    assert.equal((await follow(elsewhere)).status, 403, JSON.stringify(elsewhere));
  }
  assert.equal((await follow({ ...ours, Cookie: '' })).status, 401);
  const { workspaceId: foreign } = await service.makeTenant();
  assert.equal((await follow(ours, { workspace: foreign })).status, 404);
  assert.equal((await follow(ours, { workspace: 'none' })).status, 400);
  const asKey = { Authorization: `Bearer ${tenant.key}`, Cookie: '' };
  assert.equal((await follow(asKey)).status, 400, 'a key is of one workspace, and names none');
  const { status } = await fetch(`${service.url}/api/v1/forms?workspace_id=${tenant.workspaceId}`, {
    method: 'POST',
    headers: { Cookie: viewer.cookie, ...ours, 'Content-Type': 'application/json' },
    body: JSON.stringify(valid),
  });
  assert.equal(status, 401, 'what changes something takes the header');
});

test('the API and the console share one rate limit per person, set by CONSOLE_PER_MINUTE', async () => {
  const own = await openService({ CONSOLE_PER_MINUTE: '5' });
  const { workspaceId } = await own.makeTenant();
  const person = await signIn(own, { workspaceId, role: 'viewer' });
  const ask = async () => (await person.api('GET', '/forms')).status;
  const rename = async () => (await person.call('PATCH', '/person', { name: 'Ada' })).status;
  const statuses: number[] = [];
  for (const request of [ask, rename, ask, rename, ask, rename, ask]) statuses.push(await request());
  assert.deepEqual(statuses, [200, 204, 200, 204, 200, 429, 429]);
});

test('a request from another site is rejected, even with a session', async () => {
  const owner = await signIn(service, { workspaceId: tenant.workspaceId, role: 'owner' });
  for (const headers of [
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { Origin: 'https://elsewhere.example' },
    {},
  ]) {
    const { status } = await fetch(`${service.url}/api/v1/forms`, {
      method: 'POST',
      headers: {
        Cookie: owner.cookie,
        'X-Workspace-ID': tenant.workspaceId,
        'Content-Type': 'application/json',
        ...headers,
      },
      body: JSON.stringify(valid),
    });
    assert.equal(status, 403, JSON.stringify(headers));
  }
  // The cookie alone, which is all that another site's page can make a browser send, does not authenticate.
  const bare = await fetch(`${service.url}/api/v1/forms`, { headers: { Cookie: owner.cookie } });
  assert.equal(bare.status, 401);
});
