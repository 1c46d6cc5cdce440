import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { isSlice } from '../cases.ts';
import { payloads } from '../console-browser.ts';
import { until } from '../service.ts';
import { loadPage } from '../visitor.ts';
import { audit, leave, makeForm, service, show, submit, tenant } from './submissions-stage.ts';

/** Submits like a bot, which fills in every field, including the hidden one. */
async function spam(form: string, name: string): Promise<void> {
  const answer = await fetch(`${service.url}/f/${form}`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ name, note: `from ${name}`, _website: 'https://spam.test' }),
  });
  assert.equal(answer.status, 303, 'it is answered like a success');
}

const rowOf = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });
const stored = async (form: string): Promise<unknown[]> =>
  (await tenant.call('GET', `/forms/${form}/submissions`)).body.data.map(({ answers }) => answers['name']);

test('the submissions link to the spam box, and an empty one explains what it is', {
  skip: isSlice,
}, async () => {
  const form = await makeForm();
  const page = await show(`/forms/${form}/submissions`);
  await page.getByRole('link', { name: 'Spam' }).click();
  await page.getByRole('heading', { name: 'No spam' }).waitFor();
  await audit(page, 'the empty spam box');
  await page.getByRole('link', { name: 'Back to submissions' }).click();
  await page.getByRole('heading', { name: 'Submissions', exact: false }).first().waitFor();
  await leave(page);
});

test('spam can be read, released as submissions or deleted, one by one and in bulk', async () => {
  const form = await makeForm();
  await submit(form, { name: 'Taken' });
  for (const name of ['Wrongly', 'Also wrongly', 'Spam one', 'Spam two', 'Spam three'])
    await spam(form, name);
  assert.deepEqual(await stored(form), ['Taken']);
  const page = await show(`/forms/${form}/spam`);
  await rowOf(page, 'Spam three').waitFor();
  await rowOf(page, 'Wrongly').getByText('Honeypot').first().waitFor();

  const all = page.getByRole('checkbox', { name: 'Select all on this page' });
  await all.press('Space');
  await audit(page, 'a selection of the spam box');
  await all.press('Space');

  await rowOf(page, 'from Wrongly').getByRole('button').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('A field that people cannot see was filled in.').waitFor();
  await dialog.getByText('4 other spam submissions came from the same IP address.').waitFor();
  await dialog.getByText('from Wrongly').waitFor();
  // A test below checks it on a phone in dark mode.
  if (!isSlice) await audit(page, 'one of the spam box');
  await dialog.getByRole('button', { name: 'Not spam' }).click();
  await page.getByText('1 submission released from spam.').waitFor();
  await rowOf(page, 'from Wrongly').waitFor({ state: 'detached' });

  await rowOf(page, 'from Also wrongly').getByRole('checkbox').press('Space');
  await page.getByRole('button', { name: 'Not spam' }).press('Enter');
  await rowOf(page, 'from Also wrongly').waitFor({ state: 'detached' });
  await until('both are submissions', async () => (await stored(form)).length === 3);

  await all.press('Space');
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'No spam' }).waitFor();
  assert.deepEqual((await stored(form)).toSorted(), ['Also wrongly', 'Taken', 'Wrongly']);
  await leave(page);
});

test('the empty table of submissions reports spam and links to it', {
  skip: isSlice,
}, async () => {
  const form = await makeForm();
  const page = await show(`/forms/${form}/submissions`);
  await page.getByText('No submissions yet').waitFor();
  await spam(form, 'Too quick');
  await page.getByText('1 submission is held as spam.').waitFor();
  await audit(page, 'nothing but what is held');
  await page.getByRole('link', { name: 'Review it' }).click();
  await rowOf(page, 'from Too quick').waitFor();
  await leave(page);
});

test('the link to the spam box shows its count, and one press allows the site that the spam came from', {
  skip: isSlice,
}, async () => {
  const form = await makeForm(undefined, { embed_origins: ['https://old.example'] });
  for (const name of ['Ada', 'Grace']) {
    const headers = { Origin: 'https://shop.example' };
    assert.equal(await loadPage(service, form, { headers, body: { name } }), 303);
  }
  const page = await show(`/forms/${form}/submissions`);
  await page.getByRole('link', { name: 'Spam (2)' }).click();
  await page.getByText('2 submissions came from https://shop.example').waitFor();
  await audit(page, 'a site in the spam box');
  await page.getByRole('button', { name: 'Allow https://shop.example and release' }).click();
  await page.getByText('2 submissions released from spam.').waitFor();
  await page.getByRole('heading', { name: 'No spam' }).waitFor();
  assert.deepEqual((await stored(form)).toSorted(), ['Ada', 'Grace']);
  await leave(page);
});

test('spam texts are shown as text and fit a phone in dark mode', async () => {
  const form = await makeForm();
  for (const payload of payloads) await spam(form, payload);
  const page = await show(`/forms/${form}/spam`, { dark: true, width: 375 });
  await rowOf(page, 'onerror').first().waitFor();
  if (!isSlice) await audit(page, 'the spam box on a phone in the dark');
  const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  assert.ok(overflow <= 0, `${overflow} px too wide`);
  await rowOf(page, 'onerror').first().getByRole('button').click();
  await page.getByRole('dialog').getByText('onerror').first().waitFor();
  await audit(page, 'one of the spam box on a phone in the dark');
  assert.equal(await page.evaluate(() => 'pwned' in globalThis), false);
  await leave(page);
});
