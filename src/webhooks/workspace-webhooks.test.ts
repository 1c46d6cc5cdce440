import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { element, structure } from '#test/ast/forms.ts';
import { signIn } from '#test/console.ts';
import { openReceiver } from '#test/receiver.ts';
import { callApi, openService, until } from '#test/service.ts';
import { createKey } from '#workspaces/keys.ts';
import type {
  DeliveryDetail,
  DeliveryList,
  Webhook,
  WebhookWithSecret,
  WorkspaceWebhookList,
} from './shapes.ts';

const service = await openService({ WEBHOOK_RETRY_DELAYS: '0.05' });
const url = 'https://93.184.215.14/hook';
const events = ['submission.created'];

async function setScene() {
  const tenant = await service.makeTenant();
  const editor = await signIn(service, { role: 'editor', workspaceId: tenant.workspaceId });
  const makeForm = async (): Promise<string> => {
    const form = structure(element('text', 'subject', { label: 'Subject' }));
    return (await tenant.call('POST', '/forms', { structure: form, publish: true })).body.id;
  };
  const submit = async (form: string, subject: string): Promise<string> => {
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json' };
    const body = JSON.stringify({ answers: { subject } });
    const sent = await fetch(`${service.url}/f/${form}`, { method: 'POST', headers, body });
    assert.equal(sent.status, 201);
    return ((await sent.json()) as { id: string }).id;
  };
  const fields = async (method: string, path: string, body: object): Promise<string[]> => {
    const { status, body: refused } = await editor.api(method, path, body);
    assert.equal(status, 422, JSON.stringify(refused));
    return refused.errors.map(({ field, code }: { field?: string; code?: string }) => `${field} ${code}`);
  };
  const receiver = await openReceiver();
  return { ...tenant, editor, makeForm, submit, fields, receiver };
}

test('a webhook of the workspace gets the events of all forms, also of later ones, and stays when a form goes', async () => {
  const { editor, makeForm, submit, receiver } = await setScene();
  const first = await makeForm();
  const sent = {
    url: receiver.url,
    events: ['submission.created', 'submission.deleted'],
    secret: 'generate',
  };
  const { status, body } = await editor.api<WebhookWithSecret>('POST', '/webhooks', sent);
  assert.deepEqual([status, body.form_id, body.form_name, body.format], [201, null, null, 'standard']);
  const later = await makeForm();
  for (const form of [first, later]) await submit(form, 'Hello');
  const requests = await receiver.waitFor(2);
  const forms = requests.map((request) => JSON.parse(request.body.toString()).form.id);
  assert.deepEqual(forms.toSorted(), [first, later].toSorted());
  const own = await editor.api<Webhook>('POST', `/forms/${first}/webhooks`, { url, events });
  const list = async () => (await editor.api<WorkspaceWebhookList>('GET', '/webhooks')).body;
  assert.deepEqual(
    (await list()).data.map(({ id, form_id }) => [id, form_id]),
    [
      [own.body.id, first],
      [body.id, null],
    ],
  );
  assert.equal((await list()).pagination.total_count, 2);
  assert.equal((await editor.api('DELETE', `/forms/${first}`)).status, 204);
  await receiver.waitFor(3);
  await until('the webhook of the form to go', async () => (await list()).data.length === 1);
  assert.equal((await editor.api('GET', `/webhooks/${body.id}`)).status, 200);
  assert.equal((await editor.api('DELETE', `/webhooks/${body.id}`)).status, 204);
});

test('a key limited to some forms cannot create, list, read or change a webhook of the workspace', async () => {
  const { editor, makeForm, workspaceId } = await setScene();
  const form = await makeForm();
  const { body: wide } = await editor.api<Webhook>('POST', '/webhooks', { url, events });
  const { body: own } = await editor.api<Webhook>('POST', `/forms/${form}/webhooks`, { url, events });
  const permissions = ['webhooks:read', 'webhooks:write'] as const;
  const named = { workspaceId, name: 'Test', permissions: [...permissions], formIds: [form] };
  const { key } = await createKey(service.services.database, named);
  const limited = (method: string, path: string, body?: object) =>
    callApi(service.url, key, method, path, body);
  assert.equal((await limited('POST', '/webhooks', { url, events })).status, 403);
  const { data } = (await limited('GET', '/webhooks')).body as unknown as WorkspaceWebhookList;
  assert.deepEqual(
    data.map(({ id }) => id),
    [own.id],
  );
  for (const [method, path] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['GET', '/deliveries'],
    ['POST', '/test'],
  ] as const) {
    const body = { PATCH: { active: false }, POST: { event: 'submission.created' } }[method as string];
    assert.equal((await limited(method, `/webhooks/${wide.id}${path}`, body)).status, 404, method);
  }
  assert.equal((await limited('POST', '/webhooks/preview', { format: 'slack' })).status, 403);
  assert.equal((await limited('POST', '/webhooks/preview', { format: 'slack', form_id: form })).status, 200);
});

test('a filter or the id of a question needs a form, and the messages say so', async () => {
  const { makeForm, fields } = await setScene();
  const form = await makeForm();
  const filter = { element: 'subject', is: 'answered' };
  assert.deepEqual(await fields('POST', '/webhooks', { url, events, filter }), ['filter not_allowed']);
  const template = { text: '{{subject}}' };
  const wide = await fields('POST', '/webhooks', { url, events, format: 'template', template });
  assert.deepEqual(wide, ['template.text invalid_reference']);
  const at = `/forms/${form}/webhooks`;
  const unknown = { url, events, format: 'template', template: '{"a":[{"b":"{{nope}}"}]}' };
  assert.deepEqual(await fields('POST', at, unknown), ['template.a.0.b invalid_reference']);
  assert.deepEqual(await fields('POST', at, { ...unknown, template: '{' }), ['template invalid_format']);
  assert.deepEqual(await fields('POST', at, { ...unknown, template: { a: 'x'.repeat(20_000) } }), [
    'template too_long',
  ]);
  assert.deepEqual(await fields('POST', at, { url, events, format: 'template' }), ['template required']);
  assert.deepEqual(await fields('POST', at, { url, events, template: {} }), ['template not_allowed']);
  assert.deepEqual(await fields('POST', at, { url, events, format: 'telegram' }), ['url required']);
});

test('a change keeps the template, checks it again with the format, and another format removes it', async () => {
  const { editor, makeForm, fields } = await setScene();
  const form = await makeForm();
  const template = { text: '{{subject}}' };
  const sent = { url, events, format: 'template', template };
  const { body } = await editor.api<Webhook>('POST', `/forms/${form}/webhooks`, sent);
  assert.deepEqual([body.format, body.template], ['template', template]);
  const at = `/webhooks/${body.id}`;
  const change = async (to: object) => (await editor.api<Webhook>('PATCH', at, to)).body;
  assert.deepEqual((await change({ events: ['submission.updated'] })).template, template);
  assert.deepEqual(await fields('PATCH', at, { template: null }), ['template required']);
  assert.deepEqual(await fields('PATCH', at, { format: 'telegram' }), ['url required']);
  assert.deepEqual(await fields('PATCH', at, { format: 'slack', template: {} }), ['template not_allowed']);
  const written = '{ "text": "{{form_name}}" }';
  assert.equal((await change({ template: written })).template, written);
  const { format, template: left } = await change({ format: 'slack' });
  assert.deepEqual([format, left], ['slack', null]);
});

test('the formatted bytes are signed and sent, and the log, a retry, a replay and a test have the format', async () => {
  const { editor, makeForm, submit, receiver } = await setScene();
  const form = await makeForm();
  receiver.replyWith(404, 200);
  const secret = 'a secret of some length';
  const template = { who: '{{subject}}', event: '{{event}}' };
  const sent = { url: receiver.url, events, secret, format: 'template', template };
  const { body: webhook } = await editor.api<Webhook>('POST', `/forms/${form}/webhooks`, sent);
  await submit(form, 'Ada');
  const [request] = await receiver.waitFor(1);
  assert.equal(request!.body.toString(), '{"who":"Ada","event":"submission.created"}');
  const hmac = createHmac('sha256', secret).update(request!.body).digest('hex');
  assert.equal(request!.headers['x-service-signature'], `sha256=${hmac}`);
  const failed = await until('the failed delivery', async () => {
    const { data } = (await editor.api<DeliveryList>('GET', `/webhooks/${webhook.id}/deliveries`)).body;
    return data[0]?.status === 'Failed' ? data[0] : undefined;
  });
  assert.equal(failed.form_id, form);
  await editor.api('POST', `/deliveries/${failed.id}/retry`);
  await receiver.waitFor(2);
  const { body: detail } = await editor.api<DeliveryDetail>('GET', `/deliveries/${failed.id}`);
  assert.equal(detail.request_body, request!.body.toString());
  assert.equal(detail.history[0]!.is_body_exact, true);
  await editor.api('POST', `/webhooks/${webhook.id}/test`, { event: 'submission.created' });
  const [, again, tested] = await receiver.waitFor(3);
  assert.deepEqual(again!.body, request!.body);
  assert.match(tested!.body.toString(), /^\{"who":".+","event":"submission.created"\}$/);
});

test('a preview uses the last submission, a given one or a sample, and sends nothing', async () => {
  const { editor, makeForm, submit, fields } = await setScene();
  const preview = async (body: object) =>
    (await editor.api<{ body: string; submission_id: string | null }>('POST', '/webhooks/preview', body))
      .body;
  assert.equal((await editor.api('POST', '/webhooks/preview', { format: 'slack' })).status, 409);
  const form = await makeForm();
  const template = { text: '{{subject}}' };
  const draft = { format: 'template', template, form_id: form };
  assert.equal((await preview(draft)).submission_id, null);
  const [first, last] = [await submit(form, 'One'), await submit(form, 'Two')];
  assert.deepEqual(await preview(draft), { body: '{"text":"Two"}', submission_id: last });
  assert.equal((await preview({ ...draft, submission_id: first })).body, '{"text":"One"}');
  await makeForm();
  assert.match((await preview({ format: 'slack', submission_id: first })).body, /New submission: Contact/);
  assert.deepEqual(await fields('POST', '/webhooks/preview', { ...draft, template: ['{{nope}}'] }), [
    'template.0 invalid_reference',
  ]);
});

test('a test of a webhook of the workspace uses the given form, or else the newest', async () => {
  const { editor, makeForm, receiver } = await setScene();
  const [first, newest] = [await makeForm(), await makeForm()];
  const { body: wide } = await editor.api<Webhook>('POST', '/webhooks', { url: receiver.url, events });
  const send = (more: object) =>
    editor.api('POST', `/webhooks/${wide.id}/test`, { event: 'submission.created', ...more });
  assert.equal((await send({})).status, 202);
  assert.equal((await send({ form_id: first })).status, 202);
  const requests = await receiver.waitFor(2);
  const forms = requests.map((request) => JSON.parse(request.body.toString()).form.id);
  assert.deepEqual(forms.toSorted(), [first, newest].toSorted());
  const { body: own } = await editor.api<Webhook>('POST', `/forms/${first}/webhooks`, { url, events });
  const other = { event: 'submission.created', form_id: newest };
  assert.equal((await editor.api('POST', `/webhooks/${own.id}/test`, other)).status, 404);
});

test('a workspace can have 20 webhooks of its own', async () => {
  const { editor } = await setScene();
  const create = () => editor.api('POST', '/webhooks', { url, events });
  for (let count = 0; count < 20; count += 1) assert.equal((await create()).status, 201);
  assert.equal((await create()).status, 409);
});

test('a webhook of the workspace is deleted with its workspace', async () => {
  const { editor, workspaceId, database } = await setScene();
  const { body } = await editor.api<Webhook>('POST', '/webhooks', { url, events });
  await database.query('delete from workspaces where id = $1', [workspaceId]);
  const { rowCount } = await database.query('select from webhooks where id = $1', [body.id]);
  assert.equal(rowCount, 0);
});
