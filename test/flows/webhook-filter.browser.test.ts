import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { isSlice } from '#test/cases.ts';
import { signIn } from '#test/console.ts';
import { findBarriers, openConsoleBrowser } from '#test/console-browser.ts';
import { openReceiver } from '#test/receiver.ts';
import { shareService } from '#test/service.ts';
import { openVisitor } from '#test/visitor.ts';
import { element, structure } from '../ast/forms.ts';

const service = await shareService();
const tenant = await service.makeTenant();
const visitor = openVisitor(service);
const editor = await signIn(service, { role: 'editor', workspaceId: tenant.workspaceId });
const viewer = await signIn(service, { role: 'viewer', workspaceId: tenant.workspaceId });
const browser = await openConsoleBrowser(service, { goesWithin: true });

const questions = [
  element('radio', 'country', { label: 'Country', options: ['France', 'Germany'] }),
  element('number', 'people', { label: 'How many?' }),
];

async function makeForm(): Promise<string> {
  const sent = { structure: structure(...questions), publish: true };
  return (await tenant.call('POST', '/forms', sent)).body.id;
}

async function open(form: string, more = '', person = editor, width = 1280): Promise<Page> {
  const page = await browser.open(`/app/forms/${form}/webhooks${more}`, person, {
    viewport: { width, height: 900 },
  });
  return page;
}

/** Chooses an option in the last list with this name. */
async function choose(page: Page, dialog: Locator, name: RegExp, option: string): Promise<void> {
  await dialog.getByRole('button', { name }).last().click();
  await page.getByRole('option', { name: option }).first().click();
}

test('a webhook gets a filter, shows it as a sentence, and receives only matching submissions', async () => {
  const form = await makeForm();
  const receiver = await openReceiver();
  receiver.replyWith(200);
  const page = await open(form);
  await page.getByRole('button', { name: 'Add webhook' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add webhook' });
  await dialog.getByLabel('URL', { exact: true }).fill(receiver.url);
  await dialog.getByRole('button', { name: 'Add condition' }).click();
  await dialog.getByText('Only if Country is France').waitFor();
  await choose(page, dialog, /Value/, 'Germany');
  await dialog.getByText('Only if Country is Germany').waitFor();
  await dialog.getByRole('button', { name: 'Add condition', exact: true }).click();
  await choose(page, dialog, /Answer to/, 'How many?');
  await dialog.getByRole('button', { name: 'Add webhook' }).click();
  await dialog.getByText('A condition is incomplete.').waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await dialog.getByRole('button', { name: 'Remove condition 2' }).click();
  await dialog
    .getByRole('checkbox', { name: /Pause after several days of failures/ })
    .uncheck({ force: true });
  await dialog.getByRole('button', { name: 'Add webhook' }).click();
  await page.getByRole('button', { name: 'I have saved it' }).click();

  // Saving opens the page of the new webhook.
  await page.getByRole('definition').getByText('Only if Country is Germany').waitFor();
  await page.getByText('After days of failures').waitFor();
  assert.deepEqual(await findBarriers(page), []);

  await visitor.submit(form, { country: 'France', people: 1 });
  await visitor.submit(form, { country: 'Germany', people: 2 });
  const [heard] = await receiver.waitFor(1);
  assert.equal(JSON.parse(heard!.body.toString()).submission.responses.country, 'Germany');
  const log = `/webhooks/${page.url().split('/').at(-1)}/deliveries`;
  const { data } = (await editor.api<{ data: unknown[] }>('GET', log)).body;
  assert.equal(data.length, 1, 'what does not meet the filter makes no delivery');
  assert.equal(receiver.requests.length, 1);
  await browser.leave(page);
});

test('a filter is changed on a phone, shown in the list, and removed', { skip: isSlice }, async () => {
  const form = await makeForm();
  const receiver = await openReceiver();
  receiver.replyWith(200);
  const filter = { not: { element: 'country', is: 'equals', value: 'Germany' } };
  await editor.api('POST', `/forms/${form}/webhooks`, {
    url: receiver.url,
    events: ['submission.created'],
    filter,
  });
  const looking = await open(form, '', viewer);
  await looking.getByText('Unless Country is Germany').waitFor();
  await browser.leave(looking);

  const page = await open(form, '', editor, 375);
  await page.getByText('Unless Country is Germany').waitFor();
  const edit = async (): Promise<Locator> => {
    await page.getByRole('button', { name: /^Actions for/ }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit webhook' });
    await dialog.getByText('Unless Country is Germany').waitFor();
    return dialog;
  };
  const dialog = await edit();
  assert.deepEqual(await findBarriers(page), []);
  await choose(page, dialog, /Answer to/, 'URL parameter');
  await dialog.getByLabel('Parameter name').fill('campaign');
  await dialog.getByLabel('Value', { exact: true }).fill('spring');
  await dialog.getByRole('button', { name: 'Save changes' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('Unless the URL parameter campaign is spring').waitFor();

  await page.getByRole('button', { name: /^Actions for/ }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  const again = page.getByRole('dialog', { name: 'Edit webhook' });
  await again.getByRole('button', { name: 'Remove filter' }).click();
  await again.getByRole('button', { name: 'Save changes' }).click();
  await again.waitFor({ state: 'detached' });
  await page.getByText('Unless the URL parameter').waitFor({ state: 'detached' });
  await visitor.submit(form, { country: 'Germany', people: 2 });
  await receiver.waitFor(1);
  await browser.leave(page);
});

test("publishing a form without a question that a webhook's filter uses names the webhook and links to it", {
  skip: isSlice,
}, async () => {
  const form = await makeForm();
  const receiver = await openReceiver();
  for (const [name, value] of [
    ['country', 'Germany'],
    ['people', 2],
  ] as const) {
    const filter = { element: name, is: 'equals', value };
    const sent = { url: `${receiver.url}/${name}`, events: ['submission.created'], filter };
    assert.equal((await editor.api('POST', `/forms/${form}/webhooks`, sent)).status, 201);
  }
  const page = await open(form);
  await page.goto(`${service.url}/app/forms/${form}`);
  const publish = page.getByRole('banner').getByRole('button', { name: 'Publish' });
  await publish.waitFor();
  const saved = await editor.api('PUT', `/forms/${form}/draft`, { structure: structure(questions[1]!) });
  assert.equal(saved.status, 200, JSON.stringify(saved.body));
  await page.reload();
  await publish.click();
  const dialog = page.getByRole('dialog', { name: 'Publish changes' });
  await dialog.getByText('names "country", which is not an element of the form').waitFor();
  const links = dialog.getByRole('link');
  assert.equal(await links.count(), 1, 'the filter that fits is not spoken of');
  assert.deepEqual(await findBarriers(page), []);
  await links.click();
  await page.getByRole('definition').getByText('Only if Country is Germany').waitFor();
  assert.match(page.url(), /\/webhooks\/[0-9a-f-]{36}$/);
  await browser.leave(page);
});
