import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { isSlice } from '#test/cases.ts';
import { signIn } from '#test/console.ts';
import { lookAround, openConsoleBrowser } from '#test/console-browser.ts';
import { openReceiver, type Receiver, type Reply } from '#test/receiver.ts';
import { openService, until } from '#test/service.ts';
import { openVisitor } from '#test/visitor.ts';
import { element, structure } from '../ast/forms.ts';

const service = await openService({ WEBHOOK_RETRY_DELAYS: '' });
const { database } = service.services;
const tenant = await service.makeTenant();
const visitor = openVisitor(service);
const editor = await signIn(service, { role: 'editor', workspaceId: tenant.workspaceId });
const browser = await openConsoleBrowser(service, { goesWithin: true });

type Scene = { form: string; webhook: string; receiver: Receiver; api: string };
/** Creates a form whose submissions were sent to a receiver with these replies. */
async function setScene(submissions: number, ...replies: Reply[]): Promise<Scene> {
  const form = structure(
    element('text', 'name', { label: 'Your name', required: true }),
    element('number', 'age'),
  );
  const { id } = (await tenant.call('POST', '/forms', { structure: form, publish: true })).body;
  const receiver = await openReceiver();
  receiver.replyWith(...replies);
  const sent = { url: receiver.url, events: ['submission.created'], secret: 'generate' };
  const { body } = await editor.api<{ id: string }>('POST', `/forms/${id}/webhooks`, sent);
  for (let count = 0; count < submissions; count += 1) await visitor.submit(id, { name: `Number ${count}` });
  const scene = { form: id, webhook: body.id, receiver, api: `/webhooks/${body.id}` };
  await until('all to settle', async () => {
    const { data } = (await editor.api<{ data: { status: string }[] }>('GET', `${scene.api}/deliveries`))
      .body;
    return data.length === submissions && data.every(({ status }) => status !== 'Retrying');
  });
  return scene;
}

const openPage = ({ form, webhook }: Scene): Promise<Page> =>
  browser.open(`/app/forms/${form}/webhooks/${webhook}`, editor);
const act = async (page: Page, action: string): Promise<void> => {
  await page.getByRole('button', { name: /^Actions for/ }).click();
  await page.getByRole('menuitem', { name: action }).click();
};

test('a replay of failed deliveries shows their number first and its progress after', async () => {
  const scene = await setScene(3, 404, 404, 404, 200);
  const page = await openPage(scene);
  await page.getByRole('button', { name: /^Resend/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Resend deliveries' });
  await dialog.getByText('3 deliveries will be resent').waitFor();
  await dialog.getByLabel('To').fill('2026-01-01');
  await dialog.getByText('No matching deliveries').waitFor();
  assert.ok(await dialog.getByRole('button', { name: 'Resend' }).isDisabled());
  await dialog.getByLabel('To').fill('');
  await dialog.getByRole('button', { name: 'Resend 3 deliveries' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('Replay finished: 3 of 3 deliveries resent').waitFor();
  await until(
    'three rows that succeeded',
    async () => (await page.getByRole('row').getByText('Success').count()) === 3,
  );
  assert.equal(scene.receiver.requests.length, 6);
  await browser.leave(page);
});

test('a running replay can be canceled', { skip: isSlice }, async () => {
  const scene = await setScene(1, 404, 'hang');
  // Enough that they are not all sent immediately.
  await database.query(
    `with delivery as (select * from deliveries where form_id = $1)
     insert into deliveries (workspace_id, id, form_id, webhook_id, event_id, kind, status, attempts, created_at)
     select workspace_id, ('00000000' || substr(gen_random_uuid()::text, 9))::uuid, form_id, webhook_id, event_id, kind,
            'Failed', 1, created_at
       from delivery cross join generate_series(1, 200)`,
    [scene.form],
  );
  const page = await openPage(scene);
  const { body } = await editor.api<{ total: number }>('POST', `${scene.api}/replays`, {});
  assert.equal(body.total, 201);
  await page.getByText(/Replay: \d+ of 201/).waitFor();
  await page.getByRole('button', { name: 'Cancel replay' }).click();
  await page.getByText('Replay canceled:').waitFor();
  await browser.leave(page);
});

test('an automatically paused webhook offers to resend failed deliveries when it is resumed', {
  skip: isSlice,
}, async () => {
  const scene = await setScene(2, 404, 404, 200);
  await database.query(
    `update webhooks set active = false, paused_by = 'failure', paused_at = now(), failing_since = now() - interval '6 days'
      where id = $1`,
    [scene.webhook],
  );
  const page = await openPage(scene);
  await page.getByText('Paused automatically').waitFor();
  await act(page, 'Resume');
  const dialog = page.getByRole('dialog', { name: 'Resend deliveries' });
  await dialog.getByText('2 deliveries will be resent').waitFor();
  assert.notEqual(await dialog.getByLabel('From').inputValue(), '');
  await dialog.getByRole('button', { name: 'Resend 2 deliveries' }).click();
  await scene.receiver.waitFor(4);
  await browser.leave(page);
});

test('real submissions can be tested at another URL', { skip: isSlice }, async () => {
  const [scene, elsewhere] = [await setScene(2, 200), await openReceiver()];
  const page = await openPage(scene);
  await act(page, 'Test with real submissions');
  const dialog = page.getByRole('dialog', { name: 'Test with real submissions' });
  await dialog.getByLabel('URL', { exact: true }).fill(elsewhere.url);
  await dialog.getByRole('button', { name: 'Send tests' }).click();
  await page.getByText('2 tests are on the way').waitFor();
  await elsewhere.waitFor(2);
  assert.equal(scene.receiver.requests.length, 2);
  await browser.leave(page);
});

test('the webhook page offers receiver code, a sample, a schema and a type, fits the screen, and axe finds nothing', {
  skip: isSlice,
}, async () => {
  const scene = await setScene(1, 404);
  const page = await openPage(scene);
  const check = lookAround(page);
  await act(page, 'Write a receiver');
  const dialog = page.getByRole('dialog', { name: 'Write a receiver' });
  await dialog.getByRole('tab', { name: 'Python' }).click();
  await dialog.getByText(scene.receiver.url).waitFor();
  await check('receiver');
  const tabs: readonly (readonly [tab: string, text: RegExp])[] = [
    ['Sample', /"event": "submission.created"/],
    ['JSON Schema', /"\$defs"/],
    ['TypeScript', /export type ContactEvent/],
  ];
  for (const [tab, text] of tabs) {
    await dialog.getByRole('tab', { name: tab }).click();
    await dialog.getByText(text).first().waitFor();
    await check(tab);
  }
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: /^Resend/ }).click();
  await page.getByText('1 delivery will be resent').waitFor();
  await check('replay');
  await page.keyboard.press('Escape');
  await act(page, 'Test with real submissions');
  await page.getByRole('dialog').getByLabel('URL', { exact: true }).waitFor();
  await check('submissions');
  await browser.leave(page);
});

test('no page violated the content security policy or threw an error', () => browser.assertQuiet());
