import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { heading, motion, openConsoleBrowser } from '#test/console-browser.ts';
import { openReceiver } from '#test/receiver.ts';
import { callApi, openService, until } from '#test/service.ts';
import { createSetupToken } from '#workspaces/workspaces.ts';

/* The whole story in one browser: from the setup link to the API that returns a visitor's answers. */

const service = await openService();
const console = await openConsoleBrowser(service);
const receiver = await openReceiver();

test('from an empty service to an answer that the webhook and the API deliver', async (t) => {
  const token = (await createSetupToken(service.services.database))!;
  const page = await console.open(`/app/setup?token=${token}`, undefined, motion);
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const goWithin = (path: string) => page.evaluate(`history.pushState(null, '', '${path}')`);
  let form = '';
  let workspace = '';
  let webhook = '';
  let watching: Page;

  await t.test('the setup link creates the first account and its workspace', async () => {
    await page.getByLabel('Email address').fill('first@example.org');
    await page.getByLabel('Password').fill('correct horse battery');
    await page.getByLabel('Workspace name').fill('Acme');
    await button('Create account').click();
    await page.getByRole('button', { name: 'Create your first form' }).click();
    await heading(page, 'Forms');
    await page.waitForURL(/\/app\/w\/[0-9a-f-]{36}\/forms/);
    workspace = new URL(page.url()).pathname.split('/')[3]!;
    await page.getByRole('button', { name: /Workspace: Acme/ }).waitFor();
  });

  await t.test('a form is built with one element by mouse and one by keyboard', async () => {
    await page.getByRole('button', { name: /^Blank form/ }).click();
    await page.waitForURL(/\/app\/forms\/[0-9a-f-]{36}$/);
    form = page.url().split('/').at(-1)!;
    const part = (label: string) => page.locator(`.canvas-body [aria-label^="“${label}”"]`);
    await button('Short text').click();
    await page.locator('.canvas-body .written').waitFor();
    await page.keyboard.insertText('Your name');
    await page.keyboard.press('Enter');
    await part('Your name').waitFor();
    await page.keyboard.press('/');
    await page.getByRole('dialog', { name: 'Add element' }).waitFor();
    await page.keyboard.type('email');
    await page.locator('.insert-list [data-focused]').waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.canvas-body .written').waitFor();
    await page.keyboard.type('Your email');
    await page.keyboard.press('Enter');
    await part('Your email').waitFor();
    await page.locator('[data-save-state="saved"]', { hasText: 'Saved' }).waitFor();
    assert.equal(await page.locator('.canvas-body [aria-label^="“Your "]').count(), 2);
  });

  await t.test('the form is published', async () => {
    await page.getByRole('banner').getByRole('button', { name: 'Publish' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
    await page.getByRole('dialog', { name: 'Your form is live' }).waitFor();
    assert.equal((await fetch(`${service.url}/f/${form}`)).status, 200);
  });

  await t.test('a webhook is added', async () => {
    receiver.replyWith({ status: 400, body: 'Not today' }, 200);
    await goWithin(`/app/forms/${form}/webhooks`);
    await button('Add webhook').first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL', { exact: true }).fill(receiver.url);
    await dialog.getByRole('button', { name: 'Add webhook' }).click();
    await button('I have saved it').click();
    await page.getByText('No deliveries yet').waitFor();
    webhook = page.url();
    assert.match(webhook, /\/webhooks\/[0-9a-f-]{36}$/);
  });

  await t.test('a visitor fills in the form and is thanked', async () => {
    watching = await page.context().newPage();
    await watching.goto(`${service.url}/app/forms/${form}/submissions`);
    await watching.getByText('No submissions yet').waitFor();
    await page.goto(`${service.url}/f/${form}?campaign=spring`);
    const arrived = Date.now();
    await page.getByLabel('Your name').fill('Ada');
    await page.getByLabel('Your email').fill('ada@example.org');
    // Forms made in the console treat faster submissions as spam.
    await until('a person to be done', async () => Date.now() - arrived > 2_500);
    await button('Submit').click();
    await page.getByText('Thank you', { exact: true }).waitFor();
    const [request] = await receiver.waitFor(1);
    assert.match(request!.body.toString(), /ada@example\.org/);
  });

  await t.test('a member who waits for the first submission sees it appear in the table', async () => {
    const row = watching.locator('.sheet-row');
    await row.getByText('ada@example.org').waitFor();
    assert.equal(await row.count(), 1);
    await watching.close();
  });

  await t.test('a failed delivery succeeds after a manual retry', async () => {
    await page.goto(webhook);
    await page.getByRole('row').getByText('Failed').waitFor();
    await page.locator('tbody').getByRole('button').first().click();
    const panel = page.getByRole('dialog', { name: 'Delivery' });
    await panel
      .getByText('The receiver returned 400. The delivery will not be retried automatically.')
      .waitFor();
    await panel.getByRole('button', { name: 'Retry now' }).click();
    await panel.getByText('Response 200', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('row').getByText('Success').waitFor();
    assert.equal(receiver.requests.length, 2);
    assert.deepEqual(receiver.requests[1]!.body, receiver.requests[0]!.body);
  });

  await t.test('an API key is created and the API returns the submission', async () => {
    await goWithin(`/app/w/${workspace}/settings/keys`);
    await button('Create key').first().click();
    await page.keyboard.insertText('Export');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Your key “Export”' }).waitFor();
    await button('Copy API key').click();
    await button('Copied API key').waitFor();
    const key = await page.evaluate<string>('navigator.clipboard.readText()');
    const { status, body } = await callApi(service.url, key, 'GET', `/forms/${form}/submissions`);
    assert.equal(status, 200);
    assert.deepEqual(
      body.data.map(({ answers, metadata }) => [answers, metadata.reference]),
      [[{ your_name: 'Ada', your_email: 'ada@example.org' }, { campaign: 'spring' }]],
    );
  });

  await t.test('the browser reported no errors', () => console.assertQuiet());
  await page.context().close();
});
