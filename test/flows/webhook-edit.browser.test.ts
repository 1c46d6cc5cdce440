import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { isSlice } from '#test/cases.ts';
import { signIn } from '#test/console.ts';
import { findBarriers, openConsoleBrowser } from '#test/console-browser.ts';
import { openReceiver, type Receiver } from '#test/receiver.ts';
import { openService } from '#test/service.ts';
import { openVisitor } from '#test/visitor.ts';
import { verifySignature } from '#webhooks/signature.ts';
import { element, structure } from '../ast/forms.ts';

// The operator turned off pausing of webhooks.
const service = await openService({ WEBHOOK_PAUSE_DAYS: '0' });
const tenant = await service.makeTenant();
const visitor = openVisitor(service);
const editor = await signIn(service, { role: 'editor', workspaceId: tenant.workspaceId });
const browser = await openConsoleBrowser(service, { goesWithin: true });
const old = 'the secret of before';

type Scene = { form: string; receiver: Receiver; page: Page };
/** Opens the page of a signed webhook. */
async function setScene(width = 1280): Promise<Scene> {
  const form = structure(element('text', 'name', { label: 'Your name' }));
  const { id } = (await tenant.call('POST', '/forms', { structure: form, publish: true })).body;
  const receiver = await openReceiver();
  const sent = { url: receiver.url, events: ['submission.created'], secret: old };
  const { body } = await editor.api<{ id: string }>('POST', `/forms/${id}/webhooks`, sent);
  const page = await browser.open(`/app/forms/${id}/webhooks/${body.id}`, editor, {
    viewport: { width, height: 800 },
  });
  return { form: id, receiver, page };
}

async function openEdit(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: /^Actions for/ }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog', { name: 'Edit webhook' });
  await dialog.waitFor();
  return dialog;
}

async function save(dialog: Locator): Promise<void> {
  await dialog.getByRole('button', { name: 'Save changes' }).click();
  await dialog.waitFor({ state: 'detached' });
}

test('if the server never pauses webhooks, the dialog says so and has no switch', {
  skip: isSlice,
}, async () => {
  const { page } = await setScene();
  const dialog = await openEdit(page);
  await dialog.getByText('This server never pauses a failing webhook').waitFor();
  assert.equal(await dialog.getByRole('checkbox', { name: /Pause after/ }).count(), 0);
  assert.deepEqual(await findBarriers(page), []);
  await browser.leave(page);
});

test('a header is refused under a reserved name, sent with every delivery, and its value is never shown again', {
  skip: isSlice,
}, async () => {
  const { form, receiver, page } = await setScene();
  const value = 'Bearer 0123456789';
  const dialog = await openEdit(page);
  await dialog.getByRole('button', { name: 'Add header' }).click();
  await dialog.getByLabel('Header 1 name').fill('X-Service-Event');
  await dialog.getByLabel('Header 1 value').fill('submission.deleted');
  await dialog.getByRole('button', { name: 'Save changes' }).click();
  await dialog.getByText('The header "X-Service-Event" is reserved. Remove it.').waitFor();
  assert.deepEqual(await findBarriers(page), []);

  await dialog.getByLabel('Header 1 name').fill('Authorization');
  await dialog.getByLabel('Header 1 value').fill(value);
  await save(dialog);
  await page.getByRole('definition').getByText('Authorization').waitFor();
  await visitor.submit(form, { name: 'Ada' });
  const [first] = await receiver.waitFor(1);
  assert.equal(first!.headers['authorization'], value);

  await page.reload();
  const again = await openEdit(page);
  assert.equal(await again.getByLabel('Header 1 name').inputValue(), 'Authorization');
  assert.equal(await again.getByLabel('Header 1 value').inputValue(), '');
  assert.ok(!(await page.content()).includes(value));
  // Changing another setting keeps the header.
  await again.getByRole('checkbox', { name: 'Submission updated' }).check({ force: true });
  await save(again);
  await visitor.submit(form, { name: 'Grace' });
  const [, second] = await receiver.waitFor(2);
  assert.equal(second!.headers['authorization'], value);

  const last = await openEdit(page);
  await last.getByRole('button', { name: 'Remove header Authorization' }).click();
  await save(last);
  await visitor.submit(form, { name: 'Alan' });
  const [, , third] = await receiver.waitFor(3);
  assert.equal(third!.headers['authorization'], undefined);
  await browser.leave(page);
});

test('a secret is replaced: the new one is shown once, and for a day both sign', {
  skip: isSlice,
}, async () => {
  const { form, receiver, page } = await setScene(375);
  const dialog = await openEdit(page);
  await dialog.getByRole('radio', { name: 'Generate a new secret' }).check({ force: true });
  assert.ok(await dialog.getByRole('checkbox', { name: /Also sign with the old secret/ }).isChecked());
  await dialog.getByRole('button', { name: 'Save changes' }).click();
  const shown = page.getByRole('dialog', { name: 'Your webhook secret' });
  const secret = (await shown.getByRole('textbox', { name: 'Secret', exact: true }).textContent())!;
  assert.match(secret, /^whsec_/);
  await shown.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByText('and with the previous secret until').waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await page.reload();
  await page.getByText('and with the previous secret until').waitFor();
  assert.ok(!(await page.content()).includes(secret));

  await visitor.submit(form, { name: 'Ada' });
  const [request] = await receiver.waitFor(1);
  const { headers, body } = request!;
  assert.ok(verifySignature(secret, body, headers['x-service-signature'] as string));
  assert.ok(verifySignature(old, body, headers['x-service-signature-previous'] as string));
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body.toString()}`;
  const signatures = [Buffer.from(secret.replace('whsec_', ''), 'base64'), Buffer.from(old)].map(
    (key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`,
  );
  assert.equal(headers['webhook-signature'], signatures.join(' '));
  await browser.leave(page);
});

test('a leaked secret is replaced immediately', { skip: isSlice }, async () => {
  const { form, receiver, page } = await setScene();
  const dialog = await openEdit(page);
  await dialog.getByRole('radio', { name: 'Enter a new secret' }).check({ force: true });
  const entered = 'a secret of my own making';
  await dialog.getByLabel('Your secret').fill(entered);
  await dialog.getByRole('checkbox', { name: /Also sign with the old secret/ }).uncheck({ force: true });
  await save(dialog);
  await visitor.submit(form, { name: 'Ada' });
  const [request] = await receiver.waitFor(1);
  assert.ok(verifySignature(entered, request!.body, request!.headers['x-service-signature'] as string));
  assert.equal(request!.headers['x-service-signature-previous'], undefined);
  assert.equal(String(request!.headers['webhook-signature']).split(' ').length, 1);
  assert.equal(await page.getByText('and with the previous secret until').count(), 0);
  await browser.leave(page);
});

test('pausing a webhook that another member changed meanwhile shows the change and asks again', {
  skip: isSlice,
}, async () => {
  const { form, receiver, page } = await setScene();
  const { body: list } = await editor.api<{ data: { id: string }[] }>('GET', `/forms/${form}/webhooks`);
  const place = `/webhooks/${list.data[0]!.id}`;
  const theirs = `${receiver.url}/theirs`;
  // The screen polls every few seconds. The other change arrives in between, just before the request.
  let isFirst = true;
  await page.route(`**/api/v1${place}`, async (route) => {
    if (route.request().method() === 'PATCH' && isFirst) {
      isFirst = false;
      assert.equal((await editor.api('PATCH', place, { url: theirs })).status, 200);
    }
    await route.continue();
  });
  await page.getByRole('button', { name: /^Actions for/ }).click();
  await page.getByRole('menuitem', { name: /^Pause/ }).click();
  const question = page.getByRole('alertdialog', { name: 'Pause this webhook anyway?' });
  await question.getByText('Someone else changed this webhook').waitFor();
  await question.getByText(`Url: ${receiver.url} → ${theirs}`).waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await question.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('The webhook was paused.').waitFor();
  browser.assertQuiet();
  await browser.leave(page);
});

test('two members edit one webhook: the later one is warned, overwrites nothing and keeps the typed values', async () => {
  const { form, receiver, page } = await setScene(375);
  const dialog = await openEdit(page);
  const typed = `${receiver.url}/mine`;
  await dialog.getByLabel('URL', { exact: true }).fill(typed);
  const { body: list } = await editor.api<{ data: { id: string }[] }>('GET', `/forms/${form}/webhooks`);
  const place = `/webhooks/${list.data[0]!.id}`;
  const theirs = `${receiver.url}/theirs`;
  const isTheirs = async (text: Promise<string>) => (await text).includes(theirs);
  const readAnew = page.waitForResponse(
    (response) => response.url().endsWith(place) && isTheirs(response.text()),
  );
  assert.equal((await editor.api('PATCH', place, { url: theirs })).status, 200);
  // The page behind the dialog has reloaded the webhook since, which does not update the edit.
  await readAnew;
  for (const _ of ['once', 'and again']) {
    await dialog.getByRole('button', { name: 'Save changes' }).click();
    await dialog.getByText('Someone else changed this webhook').waitFor();
  }
  assert.equal(await dialog.getByLabel('URL', { exact: true }).inputValue(), typed);
  assert.deepEqual(await findBarriers(page), []);
  const kept = await editor.api<{ webhook: { url: string } }>('GET', place);
  assert.equal(kept.body.webhook.url, theirs);

  await dialog.getByRole('button', { name: 'Discard changes' }).click();
  const again = await openEdit(page);
  assert.equal(await again.getByLabel('URL', { exact: true }).inputValue(), theirs);
  await again.getByLabel('URL', { exact: true }).fill(typed);
  await save(again);
  const after = await editor.api<{ webhook: { url: string } }>('GET', place);
  assert.equal(after.body.webhook.url, typed);
  await browser.leave(page);
});

test('a webhook for all forms: choose Slack, preview the message, save it, and change it to a template', async () => {
  const form = { ...structure(element('text', 'name')), attrs: { name: 'Feedback' } };
  const { id } = (await tenant.call('POST', '/forms', { structure: form, publish: true })).body;
  assert.equal((await visitor.submit(id, { name: 'Ada' })).status, 201);
  const receiver = await openReceiver();
  const page = await browser.open(`/app/w/${tenant.workspaceId}/settings/webhooks`, editor, {
    viewport: { width: 1280, height: 900 },
  });
  await page.getByRole('button', { name: 'Add webhook' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Add webhook' });
  await dialog.getByRole('textbox', { name: 'URL' }).fill(receiver.url);
  await dialog.getByRole('button', { name: /Format/ }).click();
  await page.getByRole('option', { name: 'Slack' }).click();
  await dialog.getByRole('button', { name: 'Preview' }).click();
  await dialog.getByText('New submission: Feedback').waitFor();
  assert.equal(await dialog.getByText('Filter', { exact: true }).count(), 0);
  assert.deepEqual(await findBarriers(page), []);
  await dialog.getByRole('button', { name: 'Add webhook' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('Slack', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Send test' }).click();
  const [request] = await receiver.waitFor(1);
  assert.equal(JSON.parse(request!.body.toString()).text, 'Test: New submission: Feedback');
  await page.getByRole('dialog', { name: 'Delivery' }).getByRole('button', { name: 'Close' }).click();

  const edit = await openEdit(page);
  await edit.getByRole('button', { name: /Format/ }).click();
  await page.getByRole('option', { name: 'Custom JSON' }).click();
  const template = edit.getByRole('textbox', { name: 'Template' });
  await template.fill('{ "text": "{{nam}}" }');
  await edit.getByRole('button', { name: 'Save changes' }).click();
  await edit.getByText('“{{nam}}” is not a known placeholder.').waitFor();
  await template.fill('{ "text": "{{form_name}}" }');
  await save(edit);
  await page.getByRole('link', { name: 'All webhooks' }).click();
  await page.getByText('All forms', { exact: true }).waitFor();
  assert.deepEqual(await findBarriers(page), []);
  const { body } = await editor.api<{ data: object[] }>('GET', `/forms/${id}/webhooks`);
  assert.deepEqual(body.data, []);
  await browser.leave(page);
});
