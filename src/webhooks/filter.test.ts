import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, structure } from '#test/ast/forms.ts';
import { signIn } from '#test/console.ts';
import { openReceiver, type Receiver, type Reply } from '#test/receiver.ts';
import { openService, until } from '#test/service.ts';
import { openVisitor } from '#test/visitor.ts';
import type { DeliveryList, SentWebhookTest, WebhookDetail, WebhookWithSecret } from './shapes.ts';

const service = await openService({ WEBHOOK_RETRY_DELAYS: '0.05,0.05' });
const tenant = await service.makeTenant();
const { workspaceId } = tenant;
const editor = await signIn(service, { role: 'editor', workspaceId });
const viewer = await signIn(service, { role: 'viewer', workspaceId });
const visitor = openVisitor(service);
const url = 'https://93.184.215.14/hook';

const of = (form: string): string => `/forms/${form}/webhooks`;
const at = (webhook: string, more = ''): string => `/webhooks/${webhook}${more}`;

type Scene = { form: string; webhook: string; receiver: Receiver };
async function setScene(...replies: Reply[]): Promise<Scene> {
  const content = structure(element('text', 'subject'), element('file_upload', 'photo'));
  const form = (await tenant.call('POST', '/forms', { structure: content, publish: true })).body.id;
  const receiver = await openReceiver();
  receiver.replyWith(...replies);
  const sent = { url: receiver.url, events: ['submission.created'] };
  const { body } = await editor.api<WebhookWithSecret>('POST', of(form), sent);
  return { form, webhook: body.id, receiver };
}
const submit = async (form: string, subject: string): Promise<void> =>
  assert.equal((await visitor.submit(form, { subject })).status, 201);
const log = async ({ webhook }: Scene): Promise<DeliveryList['data']> =>
  (await viewer.api<DeliveryList>('GET', at(webhook, '/deliveries'))).body.data;

const aboutLooms = { element: 'subject', is: 'contains', value: 'loom' };

test('a filter can be set, shown, changed and removed, and matching events are delivered', async () => {
  const scene = await setScene(200, 200);
  const path = at(scene.webhook);
  const read = async () => (await viewer.api<WebhookDetail>('GET', path)).body.webhook;
  const sent = { filter: aboutLooms, pauses_on_failure: false };
  assert.equal((await editor.api('PATCH', path, sent)).status, 200);
  const { filter, pauses_on_failure } = await read();
  assert.deepEqual({ filter, pauses_on_failure }, sent);
  await submit(scene.form, 'A spindle');
  await submit(scene.form, 'A Loom');
  const [request] = await scene.receiver.waitFor(1);
  assert.equal(JSON.parse(request!.body.toString()).submission.responses.subject, 'A Loom');
  assert.equal((await log(scene)).length, 1);
  assert.equal((await editor.api('PATCH', path, { filter: null })).status, 200);
  assert.equal((await read()).filter, null);
  assert.equal((await read()).pauses_on_failure, false);
  await submit(scene.form, 'A spindle');
  await scene.receiver.waitFor(2);
});

test('a test and a manual retry are sent regardless of the filter', async () => {
  const scene = await setScene(404, 200, 200);
  const path = at(scene.webhook);
  await submit(scene.form, 'A spindle');
  const { id } = await until('the delivery to fail', async () =>
    (await log(scene)).find(({ status }) => status === 'Failed'),
  );
  await editor.api('PATCH', path, { filter: aboutLooms });
  assert.equal((await editor.api('POST', `/deliveries/${id}/retry`)).status, 202);
  await scene.receiver.waitFor(2);
  const test = { event: 'submission.created', submissions: 1 };
  assert.equal((await editor.api<SentWebhookTest>('POST', `${path}/test`, test)).status, 202);
  const [, , last] = await scene.receiver.waitFor(3);
  assert.equal(JSON.parse(last!.body.toString()).submission.responses.subject, 'A spindle');
});

test('a filter that does not fit the form returns 422 with the position of each problem', async () => {
  const { form, webhook } = await setScene();
  const filter = {
    any: [
      { element: 'gone', is: 'answered' },
      { element: 'photo', is: 'equals', value: 'x' },
    ],
  };
  const create = { url, events: ['submission.created'], filter };
  for (const answer of [
    await editor.api('PATCH', at(webhook), { filter }),
    await editor.api('POST', of(form), create),
  ]) {
    assert.equal(answer.status, 422);
    assert.deepEqual(answer.body.errors, [
      {
        field: 'filter',
        code: 'invalid',
        message: 'The filter names "gone", which is not an element of the form.',
        path: [0],
      },
      {
        field: 'filter',
        code: 'invalid',
        message: 'The filter cannot use the operator "equals" on "photo"; use one of answered, not_answered.',
        path: [1],
      },
    ]);
  }
  assert.equal((await viewer.api('PATCH', at(webhook), { filter: aboutLooms })).status, 403);
});
