import assert from 'node:assert/strict';
import { test } from 'node:test';
import { elementDefinitions } from '#ast/form/elements.ts';
import { newId } from '#kit/clock.ts';
import { mostNotes } from '#submissions/changes/notes.ts';
import { element, structure } from '#test/ast/forms.ts';
import { isSlice } from '#test/cases.ts';
import { type ConsolePerson, signIn } from '#test/console.ts';
import { holdAgainst } from '#test/documented.ts';
import { openInvitations, queryOf } from '#test/invitations/open-invitations.ts';
import { openMailServer } from '#test/mail-server.ts';
import { fillPath, holdOne, makeOneOfEach } from '#test/one-of-each.ts';
import { requestText, sendRaw } from '#test/raw.ts';
import { openReceiver } from '#test/receiver.ts';
import { type Answer, type Body, callApi, openService } from '#test/service.ts';
import { loadPage, makeForm, openVisitor } from '#test/visitor.ts';
import { makeWebhook } from '#test/webhooks/make-webhook.ts';
import { mostWebhooks } from '#webhooks/webhooks.ts';
import { apiRoutes } from '../operations/operations.ts';
import { serviceVersion } from '../operations/services.ts';
import { writeOpenApi } from '../server/server.ts';
import { hasFormId } from './operations.ts';
import type { OpenApi, OpenApiOperation } from './schemas.ts';

const mail = await openMailServer();
const service = await openService({ SMTP_URL: mail.url, MAIL_FROM: 'forms@formloom.test' });
/** A second service, which sends no email. */
const mute = await openService();
const tenant = await service.makeTenant();
const visitor = openVisitor(service);
const routes = apiRoutes(service.services);
const served = (await (await fetch(`${service.url}/api/v1/openapi.json`)).json()) as OpenApi;
const documented = holdAgainst(served);
/** Operations of the route table. Those of the public page need no key. */
const operations = Object.entries(served.paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([, { security }]) => security?.length !== 0)
    .map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);

/** npm test checks one in three operations. `npm run test:long -- document` checks all of them. */
const isLeftOut = (turn: number): boolean => isSlice && turn % 3 !== 0;

const valid = { structure: structure(element('text', 'a')) };
const absent = '01a1fde4-6fce-7e1a-a75a-2f8f8cc3c4b1';
// The feed records events from its first request on, so no later request has to wait for one.
await tenant.call('GET', '/events');
const ids = await makeOneOfEach(service, tenant);
const form = { id: ids['forms']! };
await visitor.post(
  form.id,
  [
    ['a', 'word'],
    ['file', new File(['x'], 'x.txt')],
  ],
  { query: '?ref=1', headers: { Accept: 'application/json' } },
);

const inviting = openInvitations(service, tenant, form.id);
const invitation = await inviting.inviteOne('ada@example.org');
let people = 0;

/** An answered invitation on the service that sends no email. */
const muteTenant = await mute.makeTenant();
const muteForm = await makeForm(muteTenant, [element('text', 'a')]);
const answered = await openInvitations(mute, muteTenant, muteForm.id).inviteOne('ada@example.org');
await openVisitor(mute).submit(muteForm.id, { a: 'word' }, queryOf(answered));

const over = await service.makeTenant({ rateLimit: 1, burst: 0 });
await over.call('GET', '/forms');
const powerless = await tenant.makeKey(['forms:read']);
const reader = await tenant.makeKey(['submissions:read']);

/** Returns the path of an operation, filled with existing ids. */
const fill = (path: string): string => fillPath(path, { ...ids, invitation: invitation.id, version: '1' });
/** Required query parameters that name something existing: the form, and its file upload. */
const places: Readonly<Record<string, string>> = { form_id: ids['forms']!, element: 'file' };
const required = (operation: OpenApiOperation): Record<string, string> =>
  Object.fromEntries(
    operation.parameters
      .filter((parameter) => parameter.in === 'query' && parameter.required)
      .map(({ name }) => [name, places[name] ?? 'word']),
  );
const withQuery = (path: string, query: Record<string, string>): string =>
  Object.keys(query).length === 0 ? path : `${path}?${new URLSearchParams(query).toString()}`;

test('the served document equals the one written from the routes, and needs no key', () => {
  const written = writeOpenApi(routes, { publicUrl: service.url, version: serviceVersion });
  assert.deepEqual(served, JSON.parse(JSON.stringify(written)));
  assert.equal(served.openapi, '3.1.0');
  assert.equal(served.servers[0]!.url, `${service.url}/api/v1`);
});

test('every route is in the document, and nothing else', () => {
  assert.deepEqual(
    operations.map(({ method, path }) => `${method} ${path}`).sort(),
    routes.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`).sort(),
  );
});

test('each operation has the name in the route table', () => {
  assert.deepEqual(
    operations.map(({ operation }) => operation.operationId).sort(),
    routes.map(({ name }) => name).sort(),
  );
});

test('each operation describes its purpose, its permission and its input', () => {
  for (const { path, operation } of operations) {
    assert.ok(operation.summary.length > 5);
    const { permission } = routes.find(({ name }) => name === operation.operationId)!.operation;
    assert.ok(operation.description.includes(`Requires the permission \`${permission}\`.`));
    assert.equal(operation['x-permission'], permission);
    assert.deepEqual(
      operation.tags.map((tag) => served.tags.find(({ name }) => name === tag)?.name),
      [permission.split(':')[0]],
    );
    assert.deepEqual(
      operation.parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name),
      [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
    );
    for (const parameter of operation.parameters)
      assert.ok('type' in parameter.schema, `${path} ${parameter.name}`);
  }
});

/** A body that is a file has no example, because the document is text. */
const isFile = ({ content }: NonNullable<OpenApiOperation['requestBody']>): boolean =>
  Object.values(content).every(({ schema }) => 'format' in schema && schema.format === 'binary');

test('each operation with a body shows an example', () => {
  const without = operations.filter(
    ({ operation: { requestBody } }) =>
      requestBody && !isFile(requestBody) && !requestBody.content['application/json']?.example,
  );
  assert.deepEqual(
    without.map(({ operation }) => operation.operationId),
    [],
  );
});

test('the document suits code generators: records by additionalProperties, enums with a type, defaults only for parameters', () => {
  const text = JSON.stringify({ ...served, paths: {} });
  assert.doesNotMatch(text, /patternProperties|"default":/);
  const bodies = operations.map(({ operation }) => operation.requestBody);
  assert.doesNotMatch(JSON.stringify(bodies), /patternProperties|"default":/);
  const untyped: object[] = [];
  JSON.parse(text, (_key, value: unknown) => {
    if (
      typeof value === 'object' &&
      value !== null &&
      Array.isArray((value as { enum?: unknown }).enum) &&
      !('type' in value)
    )
      untyped.push(value);
    return value;
  });
  assert.deepEqual(
    untyped.filter((schema) => Object.keys(schema).length > 1),
    [],
  );
});

test('code generators get a type with each constant, and no enum named like a type', () => {
  const types = [
    'any',
    'boolean',
    'enum',
    'never',
    'null',
    'number',
    'object',
    'string',
    'symbol',
    'unknown',
    'void',
  ];
  const wrong: string[] = [];
  JSON.parse(JSON.stringify(served), (key, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value;
    if (typeof (value as { const?: unknown }).const === 'string' && !('type' in value))
      wrong.push(JSON.stringify(value));
    if (Array.isArray((value as { enum?: unknown }).enum) && types.includes(key)) wrong.push(key);
    return value;
  });
  assert.deepEqual(wrong, []);
});

test('a named schema is defined once and referenced everywhere else', () => {
  const names = Object.keys(served.components.schemas);
  for (const name of [
    'Submission',
    'Answers',
    'FileUpload',
    'Form',
    'FormSummary',
    'Structure',
    'Settings',
    'SettingsChange',
    'Theme',
    'Event',
    'Pagination',
    'Invitation',
    'Webhook',
    'Error',
  ])
    assert.ok(names.includes(name), name);
  const [list, search] = ['listFormSubmissions', 'searchSubmissions'].map(
    (id) => operations.find(({ operation }) => operation.operationId === id)!.operation.responses[200],
  );
  const text = JSON.stringify(list);
  assert.match(text, /"data":\{"type":"array","items":\{"\$ref":"#\/components\/schemas\/Submission"\}/);
  assert.match(text, /"pagination":\{"\$ref":"#\/components\/schemas\/Pagination"\}/);
  const [ofList, ofSearch] = [list, search].map(
    (reply) => JSON.parse(JSON.stringify(reply)).content['application/json'].schema.properties,
  );
  assert.deepEqual({ ...ofSearch, search: undefined }, { ...ofList, search: undefined });
});

test('each operation that returns JSON shows an example that matches its schema', () => {
  for (const { name, operation } of routes) {
    const { status, schema } = operation.reply;
    const shown = operations.find((each) => each.operation.operationId === name)!.operation.responses[status];
    const content = shown && 'content' in shown ? shown.content?.['application/json'] : undefined;
    assert.equal(content !== undefined, schema !== undefined, name);
    if (content) assert.doesNotThrow(() => operation.holdReply({ status, body: content.example }), name);
  }
});

test('the document needs at most 12 KB per ten operations, compressed', async () => {
  const packed = await fetch(`${service.url}/api/v1/openapi.json`, {
    headers: { 'Accept-Encoding': 'br' },
    // Content-Length is the compressed length.
  });
  const length = Number(packed.headers.get('content-length'));
  assert.equal(packed.headers.get('content-encoding'), 'br');
  assert.ok(
    length > 0 && length <= (12_000 * operations.length) / 10,
    `${length} bytes, ${operations.length} operations`,
  );
});

test('every reference resolves', () => {
  const references = [...JSON.stringify(served).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(
    ([, name]) => name!,
  );
  assert.ok(references.length > 20);
  assert.deepEqual(
    references.filter((name) => !served.components.schemas[name]),
    [],
  );
  assert.doesNotMatch(JSON.stringify(served), /x-component/);
});

// Observed responses are documented, and documented responses are observed
// ------------------------------------

/** Returns the component that a schema refers to, or the schema itself. */
const resolve = (schema: object): object =>
  '$ref' in schema
    ? served.components.schemas[String(schema.$ref).replace('#/components/schemas/', '')]!
    : schema;

const exampleOf = ({ requestBody }: OpenApiOperation): object | undefined =>
  requestBody?.content['application/json']!.example as object | undefined;

/** Returns a valid body for an operation: its example, but with new recipients for invitations. */
const bodyFor = (operation: OpenApiOperation): object => {
  if (operation.operationId === 'createInvitations')
    return { invitations: [{ email: `person-${(people += 1)}@example.org` }] };
  if (isFile(operation.requestBody!)) return fileFor(operation.operationId);
  return exampleOf(operation)!;
};

const fileFor = (operationId: string): Buffer =>
  routes.find(({ name }) => name === operationId)!.operation.example.body as Buffer;

const setMail = (state: string) =>
  service.services.database.query('update mails set state = $2 where id = $1', [ids['mails'], state]);

/** Requests that conflict with the current state. */
const conflicts: Readonly<
  Record<string, () => Promise<[path: string, body?: object | undefined, asks?: ConsolePerson]>>
> = {
  async inviteMember() {
    const member = await signIn(service, { workspaceId: tenant.workspaceId, role: 'viewer' });
    return ['/members', { email: member.email, role: 'viewer' }];
  },
  // A key cannot change owners, so the only owner makes the request.
  async changeMember() {
    const owner = await signIn(service);
    return [`/members/${owner.userId}`, { role: 'viewer' }, owner];
  },
  async removeMember() {
    const owner = await signIn(service);
    return [`/members/${owner.userId}`, undefined, owner];
  },
  async retryMail() {
    await setMail('sent');
    return [`/mails/${ids['mails']}/retry`];
  },
  async createWebhook() {
    const full = await makeForm(tenant, [element('text', 'a')]);
    const place = { workspaceId: tenant.workspaceId, formId: full.id };
    for (let count = 0; count < mostWebhooks; count += 1)
      await makeWebhook(service.services.database, place, { url: 'https://93.184.215.14/' });
    return [`/forms/${full.id}/webhooks`];
  },
  async createWorkspaceWebhook() {
    const { workspaceId } = await service.makeTenant();
    const place = { workspaceId, formId: null };
    for (let count = 0; count < mostWebhooks; count += 1)
      await makeWebhook(service.services.database, place, { url: 'https://93.184.215.14/' });
    return ['/webhooks', undefined, await signIn(service, { role: 'editor', workspaceId })];
  },
  async previewWebhook() {
    const { workspaceId } = await service.makeTenant();
    return ['/webhooks/preview', undefined, await signIn(service, { role: 'editor', workspaceId })];
  },
  async testWebhook() {
    const empty = await makeForm(tenant, [element('text', 'a')]);
    const place = { workspaceId: tenant.workspaceId, formId: empty.id };
    const id = await makeWebhook(service.services.database, place, { url: 'https://93.184.215.14/' });
    return [`/webhooks/${id}/test`, { event: 'submission.created', submissions: 1 }];
  },
  async startReplay() {
    const place = { workspaceId: tenant.workspaceId, formId: form.id };
    const paused = await makeWebhook(service.services.database, place, { url: 'https://93.184.215.14/' });
    await callApi(service.url, ids.key, 'PATCH', `/webhooks/${paused}`, { active: false });
    return [`/webhooks/${paused}/replays`];
  },
  cancelReplay: async () => [`/replays/${ids['replays']}/cancel`],
  publishForm: async () => [`/forms/${await formThatIs('archived')}/publish`],
  unpublishForm: async () => [`/forms/${await formThatIs('archived')}/unpublish`],
  restoreForm: async () => [`/forms/${await formThatIs('published')}/restore`],
  async retryDelivery() {
    const webhook = await callApi(service.url, ids.key, 'GET', `/deliveries/${ids['deliveries']}`);
    const test = { event: 'submission.created' };
    const { webhook_id } = webhook.body as unknown as { webhook_id: string };
    const sent = await callApi(service.url, ids.key, 'POST', `/webhooks/${webhook_id}/test`, test);
    return [`/deliveries/${sent.body.id}/retry`];
  },
  async createSubmission() {
    const draft = await makeForm(tenant, [element('text', 'a')], { publish: false });
    return [`/forms/${draft.id}/submissions`];
  },
  async addNote() {
    const { id } = await submitOne();
    await service.services.database.query(
      `insert into submission_notes (workspace_id, submission_id, id, text, created_at, updated_at)
       select $1, $2, gen_random_uuid(), 'x', now(), now() from generate_series(1, $3)`,
      [tenant.workspaceId, id, mostNotes],
    );
    return [`/submissions/${id}/notes`];
  },
  saveView: async () => [`/forms/${form.id}/views`, { name: await viewOf(form.id), query: {} }],
  async changeView() {
    const name = await viewOf(form.id);
    const other = await tenant.call('POST', `/forms/${form.id}/views`, { name: `${name}!`, query: {} });
    return [`/views/${other.body.id}`, { name }];
  },
  startDeletion: async () => [`/forms/${form.id}/submissions/deletions`, { filter: {}, expected: 999 }],
  startTagging: async () => [
    `/forms/${form.id}/submissions/taggings`,
    { filter: {}, add: ['x'], expected: 999 },
  ],
  startBulkChange: async () => [
    `/forms/${form.id}/submissions/changes`,
    { filter: {}, status: 'completed', expected: 999 },
  ],
  async undoBulkChange() {
    const request = { filter: { status: 'incomplete' }, permanent: true };
    const { body } = await tenant.call('POST', `/forms/${form.id}/submissions/deletions`, request);
    return [`/forms/${form.id}/submissions/changes/${body.id}/undo`];
  },
  erasePerson: async () => [
    '/people/erasures',
    { q: 'unknown@example.org', what: 'submissions', expected: 999 },
  ],
  emptyTrash: async () => [`/forms/${form.id}/trash/deletions`, { everything: true, expected: 999 }],
  async releaseSpam() {
    const full = await makeForm(tenant, [element('text', 'a')], { settings: { max_submissions: 1 } });
    await holdOne(service, full.id);
    await visitor.submit(full.id, { a: 'word' });
    const { data } = (await tenant.call('GET', `/forms/${full.id}/spam`)).body;
    return [`/forms/${full.id}/spam/releases`, { ids: [data[0]!.id] }];
  },
  async allowSite() {
    const settings = { max_submissions: 1, embed_origins: ['https://ours.example'] };
    const full = await makeForm(tenant, [element('text', 'a')], { settings });
    const origin = 'https://other.example';
    await loadPage(service, full.id, { headers: { Origin: origin }, body: { a: 'x' } });
    await visitor.submit(full.id, { a: 'word' });
    return [`/forms/${full.id}/spam/sites`, { origin }];
  },
};
/** Creates a saved view of a form, and returns its name. */
async function viewOf(formId: string): Promise<string> {
  const { body } = await tenant.call('POST', `/forms/${formId}/views`, { name: newId(), query: {} });
  return body.name;
}
/** Creates a form with a submission. */
async function submitOne(): Promise<{ id: string; formId: string }> {
  const { id: formId } = await makeForm(tenant, [element('text', 'a')]);
  return { id: (await visitor.submit(formId, { a: 'word' })).body.id, formId };
}

/** Requests for resources that are gone. */
const gone: Readonly<Record<string, () => Promise<string>>> = {
  listEvents: async () => '/events?after=999999999',
  async createSubmission() {
    const closed = await makeForm(tenant, [element('text', 'a')], { settings: { access: 'closed' } });
    return `/forms/${closed.id}/submissions`;
  },
};
/** Operations that conflict with an answered invitation if no email is sent. */
const mutes: Readonly<Record<string, true>> = {
  remindInvitations: true,
  resendInvitation: true,
  revokeInvitation: true,
};

async function formThatIs(status: string): Promise<string> {
  const { id } = await makeForm(tenant, [element('text', 'a')]);
  await tenant.call('PATCH', `/forms/${id}`, { status });
  return id;
}
/** Requests that succeed only once, conflict with what other requests made, or remove what they need. */
const successes: Readonly<Record<string, () => Promise<[path: string, body?: object]>>> = {
  async retryMail() {
    await setMail('failed');
    return [`/mails/${ids['mails']}/retry`];
  },
  unpublishForm: async () => [`/forms/${await formThatIs('published')}/unpublish`],
  archiveForm: async () => [`/forms/${await formThatIs('published')}/archive`],
  restoreForm: async () => [`/forms/${await formThatIs('archived')}/restore`],
  async startReplay() {
    await callApi(service.url, ids.key, 'PATCH', `/webhooks/${ids['webhooks']}`, { active: true });
    return [`/webhooks/${ids['webhooks']}/replays`];
  },
  async cancelReplay() {
    const { database } = service.services;
    await database.query('update tasks set finished_at = null, cancelled_at = null where id = $1', [
      ids['replays'],
    ]);
    return [`/replays/${ids['replays']}/cancel`];
  },
  async createFile() {
    const { id } = await makeForm(tenant, [element('file_upload', 'file')]);
    return [`/files?form_id=${id}&element=file&filename=notes.txt`];
  },
  async createSubmission() {
    const { id } = await makeForm(tenant, [element('textarea', 'message')]);
    return [`/forms/${id}/submissions`];
  },
  async restoreSubmission() {
    const { id } = await submitOne();
    await tenant.call('DELETE', `/submissions/${id}`);
    return [`/submissions/${id}/restore`];
  },
  async restoreSubmissions() {
    const { id, formId } = await submitOne();
    await tenant.call('DELETE', `/submissions/${id}`);
    return [`/forms/${formId}/trash/restorations`, { ids: [id] }];
  },
};

/** Operations that accept invalid forms, to validate or repair them. */
const takesAnyForm = new Set(['validateForm', 'importForm', 'duplicateForm', 'saveDraft']);

function requiredOf({ requestBody }: OpenApiOperation): string[] {
  const schema: { required?: string[] } | undefined =
    requestBody && resolve(requestBody.content['application/json']!.schema);
  return schema?.required ?? [];
}

let nobodies = 0;
/**
 * Calls from a new address each time. Requests without a key are limited by address, and the tests send more
 * than the limit.
 */
async function callAsNobody(method: string, path: string): Promise<Answer> {
  nobodies += 1;
  const request = requestText(method, `/api/v1${path}`);
  const { status, headers, body } = await sendRaw(service.url, request, { from: `127.0.2.${nobodies}` });
  return { status, headers: new Headers(headers), body: JSON.parse(body) as Answer['body'] };
}

/** Creates a form whose image exceeds the size limit of a form package. */
async function makeHeavy(): Promise<string> {
  const { example } = routes.find(({ name }) => name === 'createImage')!.operation;
  const { body: image } = await callApi(service.url, ids.key, 'POST', '/images', example.body);
  await service.services.database.query('update form_images set size = 17000000 where id = $1', [image.id]);
  const settings = { theme: { logo: image.id } };
  return (await makeForm(tenant, [element('text', 'a')], { settings })).id;
}

/** Yields a request for each documented status of an operation. */
async function* scenarios(
  method: string,
  path: string,
  operation: OpenApiOperation,
): AsyncGenerator<[status: number, request: () => Promise<Answer>, path: string]> {
  const address = withQuery(fill(path), required(operation));
  const body = operation.requestBody && bodyFor(operation);
  const call = (key: string, where: string, sent: unknown = body, headers?: Record<string, string>) =>
    callApi(service.url, key, method, where, sent, headers);
  const ask = (
    status: number,
    where: string,
    key = ids.key,
    sent: unknown = body,
    headers?: Record<string, string>,
  ) => [status, () => call(key, where, sent, headers), where] as [number, () => Promise<Answer>, string];
  yield [401, () => callAsNobody(method, address), address];
  // One of two parallel requests exceeds the limit, even if a new minute has just started.
  const overtaken = async () =>
    (await Promise.all([call(over.key, address), call(over.key, address)])).find(
      ({ status }) => status === 429,
    )!;
  yield [429, overtaken, address];
  yield ask(403, address, operation.description.includes('`forms:read`') ? reader : powerless);
  const other = ['PUT', 'PATCH', 'DELETE', 'POST'].find(
    (name) => !(name.toLowerCase() in served.paths[path]!),
  )!;
  yield [405, () => callApi(service.url, ids.key, other, fill(path)), fill(path)];
  if ('304' in operation.responses) {
    const { headers } = await call(ids.key, address);
    yield ask(304, address, ids.key, undefined, { 'If-None-Match': headers.get('etag')! });
  }
  if ('412' in operation.responses) yield ask(412, address, ids.key, body, { 'If-Match': '"0"' });
  yield ask(400, withQuery(fill(path), { ...required(operation), unknown: '1' }));
  if (path.includes('{id}')) {
    yield ask(400, fill(path.replace('{id}', '42')));
    yield ask(404, fill(path.replace('{id}', absent)));
  }
  if ('form_id' in Object.fromEntries(operation.parameters.map(({ name }) => [name, 1])))
    yield ask(404, withQuery(path, { ...required(operation), form_id: absent }));
  if (operation.operationId === 'packForm') yield ask(413, `/forms/${await makeHeavy()}/package`);
  if ('410' in operation.responses) yield ask(410, await gone[operation.operationId]!());
  const { bodyLimit = 1_000_000, body: shape } = routes.find(
    ({ name }) => name === operation.operationId,
  )!.operation;
  if (hasFormId(shape)) yield ask(404, address, ids.key, { ...(body as object), form_id: absent });
  if (method !== 'GET') {
    yield ask(400, address, ids.key, '{');
    yield ask(422, address, ids.key, '"\\u0000"');
    yield ask(413, address, ids.key, `"${'x'.repeat(bodyLimit + 50_000)}"`);
    yield ask(415, address, ids.key, '{}', { 'Content-Type': 'text/plain' });
  }
  if (Buffer.isBuffer(body)) {
    yield ask(413, address, ids.key, Buffer.concat([body, Buffer.alloc(bodyLimit)]));
    yield ask(415, address, ids.key, { image: 'x' });
  } else if (body) {
    if (requiredOf(operation).length > 0) yield ask(422, address, ids.key, {});
    yield ask(422, address, ids.key, { ...body, nonsense: 1 });
    if (!takesAnyForm.has(operation.operationId)) {
      yield ask(422, address, ids.key, { structure: structure({ type: 'text' }, element('nonsense', '1')) });
      yield ask(422, address, ids.key, { ...valid, settings: { colour: 1 } });
    }
  }
  const named = method === 'POST' ? { 'Idempotency-Key': operation.operationId } : undefined;
  const conflict = conflicts[operation.operationId];
  if (conflict) {
    const [where, sent = body, person] = await conflict();
    if (person)
      yield [409, async () => (await person.api<Body>(method, where, sent)) satisfies Answer, where];
    else yield ask(409, where, ids.key, sent);
  } else if (operation.operationId in mutes) {
    const where = path.replace('{id}', muteForm.id).replace('{invitation}', answered.id);
    yield [409, () => callApi(mute.url, muteTenant.key, method, where, body), where];
  }
  // Comes last, because it may delete.
  const status = Object.keys(operation.responses)
    .map(Number)
    .find((code) => code < 300)!;
  const [there, taken = body] = (await successes[operation.operationId]?.()) ?? [address];
  yield ask(status, there, ids.key, taken, named);
  if (method !== 'POST' || conflict || operation.operationId in mutes) return;
  const again = await call(ids.key, there, taken, named);
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  // While the first request runs, there is no response to repeat.
  await service.services.database.query('update repeatable_requests set status = null, answer = null');
  yield ask(409, there, ids.key, taken, named);
}

/**
 * Deletions come last, nested resources before their parents, and forms at the very end, because the others
 * need them.
 */
const lateness = (method: string, path: string): number =>
  method === 'DELETE' ? (path === '/forms/{id}' ? 99 : 10 - path.split('/').length) : 0;
const late = operations.toSorted((a, b) => lateness(a.method, a.path) - lateness(b.method, b.path));
for (const [turn, { method, path, operation }] of late.entries()) {
  test(`${method} ${path}: every observed status is documented with its headers and shape, and every documented one is observed`, {
    skip: isLeftOut(turn),
  }, async () => {
    const observed = new Set<number>();
    for await (const [status, request, where] of scenarios(method, path, operation)) {
      const answer = await request();
      assert.equal(answer.status, status, `${where}: ${JSON.stringify(answer.body)}`);
      assert.deepEqual(documented.problems(method, where, answer), []);
      observed.add(status);
    }
    // Not tested here: 431 (honest-clients.test.ts), 500 and 503 (test/hostile and the tests of the
    // supervisor).
    const promised = Object.keys(operation.responses)
      .map(Number)
      .filter((status) => status !== 431 && status !== 500 && status !== 503);
    assert.deepEqual([...observed].sort(), promised);
  });
}

test('the check of this file detects a response that differs from the document', () => {
  const headers = new Headers({
    'X-Request-Id': 'an id',
    'WWW-Authenticate': 'Bearer',
    'X-RateLimit-Limit': '1',
    'X-RateLimit-Remaining': '1',
    'X-RateLimit-Reset': '1',
  });
  const problem = (status: number, body: unknown, given = headers) =>
    documented.problems('GET', '/forms', { status, headers: given, body }).length;
  const pagination = { page: 1, per_page: 20, total_count: 0, total_pages: 0 };
  assert.equal(problem(200, { data: [], pagination }), 0);
  assert.deepEqual(
    [
      problem(200, { data: [] }),
      problem(200, { data: [{ id: 1 }], pagination }),
      problem(418, {}),
      problem(404, {}),
      problem(401, { error: 'nope', message: '' }),
      problem(200, { data: [], pagination }, new Headers()),
    ],
    [1, 1, 1, 1, 1, 4],
  );
});

// Without a key, and in the other direction
// --------------------------------------------------------------------

const example = (name: string): object =>
  exampleOf(operations.find(({ operation }) => operation.operationId === name)!.operation)!;

test('the public submit: the example form accepts its examples, and every response matches the document', async () => {
  const { body: shown } = await tenant.call('POST', '/forms', example('createForm'));
  const { post } = served.paths['/f/{id}']!;
  const { content } = post!.requestBody!;
  const json = { 'Content-Type': 'application/json' };
  const send = async (request: RequestInit, id = shown.id, query = '') => {
    const path = `/f/${id}`;
    const answer = await visitor.fetch(`/api/v1${path}${query}`, {
      method: 'POST',
      headers: json,
      ...request,
    });
    assert.deepEqual(documented.problems('POST', path, answer), []);
    return answer.status;
  };
  const form = new FormData();
  for (const [name, value] of Object.entries(
    content['multipart/form-data']!.example as Record<string, string>,
  ))
    form.append(name, value);
  const sent = JSON.stringify(content['application/json']!.example);
  assert.equal(await send({ body: form, headers: { Accept: 'application/json' } }), 201);
  assert.equal(await send({ body: sent }, shown.id, '?campaign=spring'), 201);
  assert.equal(await send({ body: sent, headers: { ...json, 'Idempotency-Key': 'mine' } }), 201);
  assert.equal(await send({ body: '{}' }), 422);
  assert.equal(await send({ body: '{' }), 400);
  assert.equal(
    await send({ body: 'x', headers: { 'Content-Type': 'text/plain', Accept: 'application/json' } }),
    415,
  );
  assert.equal(await send({ body: sent }, absent), 404);
  await tenant.call('PUT', `/forms/${shown.id}`, { ...example('updateForm'), status: 'archived' });
  assert.equal(await send({ body: sent }), 410);
});

test('the public verification: every response matches the document', async () => {
  const { body: shown } = await tenant.call('POST', '/forms', {
    structure: structure(element('email', 'email', { verify: true })),
    publish: true,
  });
  const path = `/f/${shown.id}/verifications`;
  const { post } = served.paths['/f/{id}/verifications']!;
  const example = post!.requestBody!.content['application/json']!.example as object;
  const request = { ...example, email: 'verified@example.org' };
  const send = async (body: object) => {
    const answer = await visitor.fetch(`/api/v1${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    assert.deepEqual(documented.problems('POST', path, answer), []);
    return answer;
  };
  const sent = await send(request);
  assert.equal(sent.status, 201);
  const { mail: received } = await mail.waitForOne(request.email);
  const [code] = /^\d{6}/.exec(received.subject!)!;
  const verified = await send({ ...request, id: sent.body.id, code });
  assert.equal(verified.status, 200);
  assert.equal((await send({ ...request, id: sent.body.id, code: 'x' })).status, 422);
  const { token } = verified.body as unknown as { token: string };
  const body = { answers: { email: request.email }, verifications: { email: token } };
  const submitted = served.paths['/f/{id}']!.post!.requestBody!.content['application/json']!.schema;
  assert.ok(documented.takes(submitted, body));
});

test('webhook bodies and event feed entries match the document', async () => {
  const receiver = await openReceiver();
  const { id } = await makeForm(tenant, [element('text', 'a'), element('file_upload', 'photo')]);
  await callApi(service.url, ids.key, 'POST', `/forms/${id}/webhooks`, {
    url: receiver.url,
    events: Object.keys(served.webhooks),
    secret: 'generate',
  });
  const photo = new File(['x'], 'x.txt');
  await visitor.post(
    id,
    [
      ['a', 'word'],
      ['photo', photo],
    ],
    { headers: { Accept: 'application/json' } },
  );
  const [received] = await receiver.waitFor(1);
  const { parameters, requestBody } = served.webhooks['submission.created']!.post;
  assert.ok(
    documented.takes(requestBody!.content['application/json']!.schema, JSON.parse(received!.body.toString())),
  );
  assert.ok(
    !documented.takes(requestBody!.content['application/json']!.schema, { event: 'submission.created' }),
  );
  const optional = ['X-Service-Test', 'X-Service-Signature-Previous'];
  for (const { name, schema, required: isRequired } of parameters) {
    const value = received!.headers[name.toLowerCase()];
    assert.equal(value === undefined, optional.includes(name), name);
    assert.ok(
      value === undefined ? !isRequired : documented.takes(schema, value),
      `${name}: ${String(value)}`,
    );
  }
  const { body } = await tenant.call('GET', `/events?form_id=${id}`);
  assert.deepEqual(
    [
      body.data.length,
      body.data.every((event: unknown) => documented.takes({ $ref: '#/components/schemas/Event' }, event)),
    ],
    [1, true],
  );
});

// Parameters and bodies ---------------------------------------------------------------------------------------

/** Resources that no test above deletes. */
const lasting = await makeOneOfEach(service, tenant);

type Bounded = {
  minimum?: number;
  maximum?: number;
  enum?: string[];
  default?: string | number;
  format?: string;
};

const reads = operations.filter(({ method }) => method === 'GET');
for (const [turn, { method, path, operation }] of reads.entries()) {
  test(`${method} ${path}: every documented parameter value is accepted, and the next value beyond the range is a 400`, {
    skip: isLeftOut(turn),
  }, async () => {
    const list = await makeForm(tenant, [element('text', 'a')]);
    await visitor.submit(list.id, { a: 'word' });
    const where = fillPath(path, { ...lasting, version: '1' });
    const webhook = await makeWebhook(
      service.services.database,
      { workspaceId: tenant.workspaceId, formId: list.id },
      { url: 'https://93.184.215.14/' },
    );
    const ask = async (query: Record<string, string>): Promise<number> =>
      (await callApi(service.url, ids.key, 'GET', withQuery(where, { ...required(operation), ...query })))
        .status;
    for (const { name, schema } of operation.parameters.filter((parameter) => parameter.in === 'query')) {
      const { minimum, maximum, enum: words = [], default: preset, format } = schema as Bounded;
      const taken = [
        minimum,
        maximum,
        preset,
        ...words,
        format === 'uuid' ? (name === 'webhook_id' ? webhook : list.id) : undefined,
      ].filter((value) => value !== undefined);
      for (const value of taken)
        assert.equal(await ask({ [name]: String(value) }), 200, `${name}=${String(value)}`);
      const refused = [
        minimum === undefined ? undefined : minimum - 1,
        maximum === undefined ? undefined : maximum + 1,
        words.length > 0 ? 'other' : undefined,
        format === 'uuid' ? '42' : undefined,
      ].filter((value) => value !== undefined);
      for (const value of refused)
        assert.equal(await ask({ [name]: String(value) }), 400, `${name}=${String(value)}`);
    }
    assert.equal(await ask({ unknown: 'x' }), 400);
    const empty = operation.parameters.filter((each) => each.in === 'query' && !each.required);
    // An empty cursor has a meaning: it starts the list.
    const names = empty.map(({ name }) => name).filter((name) => name !== 'cursor');
    if (names.length > 0) assert.equal(await ask(Object.fromEntries(names.map((name) => [name, '']))), 200);
  });
}

type AttributeSchema = {
  $ref?: string;
  enum?: unknown[];
  examples?: unknown[];
  minimum?: number;
  type?: string | string[];
};
/** The smallest PNG. */
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

type NodeSchema = {
  properties?: {
    type?: { const?: string };
    attrs?: {
      properties?: Record<string, AttributeSchema>;
      required?: string[];
    };
  };
};
const elementSchemas = Object.entries(served.components.schemas as Record<string, NodeSchema>).filter(
  ([name]) => name.endsWith('Element') && name !== 'Element',
);

test('each element type, built from its schema alone, is accepted with its required attributes and with every attribute', async () => {
  assert.equal(elementSchemas.length, Object.keys(elementDefinitions).length);
  const { body: image } = await tenant.call('POST', '/images', pixel);
  const example = (
    name: string,
    { enum: words, examples, minimum, type: types }: AttributeSchema,
  ): unknown => {
    const [type] = [types].flat();
    return (
      words?.[0] ??
      examples?.[0] ??
      (type === 'array'
        ? ['One', 'Two'].slice(0, name === 'correct' ? 1 : 2)
        : type === 'boolean'
          ? true
          : type === 'integer'
            ? (minimum ?? 1)
            : name === 'id'
              ? 'an_id'
              : name === 'image'
                ? image.id
                : name === 'translations'
                  ? { de: {} }
                  : 'Text')
    );
  };
  const find = (schema: AttributeSchema): AttributeSchema =>
    schema.$ref === '#/components/schemas/RatingSymbol'
      ? (served.components.schemas['RatingSymbol'] as AttributeSchema)
      : schema;
  for (const [name, { properties }] of elementSchemas) {
    const type = properties!.type!.const!;
    const known = properties!.attrs?.properties ?? {};
    const attributes = (names: string[]): object =>
      Object.fromEntries(names.map((key) => [key, example(key, find(known[key]!))]));
    for (const names of [properties!.attrs?.required ?? [], Object.keys(known)]) {
      const node = {
        type,
        attrs: attributes(names),
        ...(type === 'composite' && { children: [element('text', 'inner')] }),
      };
      // An element has texts in the languages that its form declares.
      const { attrs, ...form } = structure(node);
      const spoken = { ...form, attrs: { ...attrs, languages: ['en', 'de'] } };
      const { status, body } = await tenant.call('POST', '/forms', { structure: spoken });
      assert.equal(status, 201, `${name}: ${JSON.stringify(body)}`);
    }
    for (const missing of properties!.attrs?.required ?? []) {
      const rest = (properties!.attrs?.required ?? []).filter((key) => key !== missing);
      const node = { type, attrs: attributes(rest), ...(type === 'composite' && { children: [] }) };
      assert.equal(
        (await tenant.call('POST', '/forms', { structure: structure(node) })).status,
        422,
        `${name} without ${missing}`,
      );
    }
  }
});

test('a body that its schema rejects is rejected: each property in turn with a value of another type', async () => {
  for (const [turn, { method, path, operation }] of operations.entries()) {
    if (isLeftOut(turn) || !operation.requestBody || isFile(operation.requestBody)) continue;
    const schema = resolve(operation.requestBody.content['application/json']!.schema) as {
      properties: Record<string, object>;
      additionalProperties: boolean;
    };
    const target = fillPath(path, { ...lasting, invitation: absent, version: '1' });
    const example = exampleOf(operation);
    assert.equal(schema.additionalProperties, false);
    for (const name of Object.keys(schema.properties)) {
      for (const value of [7, [], 'text', null]) {
        if (documented.takes(schema.properties[name]!, value)) continue;
        const { status, body } = await callApi(service.url, ids.key, method, target, {
          ...example,
          [name]: value,
        });
        assert.equal(status, 422, `${method} ${name} ${JSON.stringify(value)} ${JSON.stringify(body)}`);
      }
    }
    for (const name of requiredOf(operation))
      assert.equal(
        (await callApi(service.url, ids.key, method, target, { ...example, [name]: undefined })).status,
        422,
      );
  }
});
