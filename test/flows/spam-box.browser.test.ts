import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { isSlice } from '../cases.ts';
import { payloads } from '../console-browser.ts';
import { until } from '../service.ts';
import { loadPage } from '../visitor.ts';
import { audit, leave, makeForm, service, show, submit, tenant } from './submissions-stage.ts';

/** What a machine does: it fills in every field, also the one that people do not see. */
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

test('the spam box is found from the submissions, and teaches what it is while it is empty', async () => {
  const form = await makeForm();
  const page = await show(`/forms/${form}/submissions`);
  await page.getByRole('link', { name: 'Spam' }).click();
  await page.getByRole('heading', { name: 'No spam' }).waitFor();
  await audit(page, 'the empty spam box');
  await page.getByRole('link', { name: 'Back to submissions' }).click();
  await page.getByRole('heading', { name: 'Submissions', exact: false }).first().waitFor();
  await leave(page);
});

test('what was held is read in it, released as a submission, or deleted, one by one and together', async () => {
  const form = await makeForm();
  await submit(form, { name: 'Taken' });
  for (const name of ['Wrongly', 'Also wrongly', 'Spam one', 'Spam two', 'Spam three'])
    await spam(form, name);
  assert.deepEqual(await stored(form), ['Taken']);
  const page = await show(`/forms/${form}/spam`);
  await rowOf(page, 'Spam three').waitFor();
  await rowOf(page, 'Wrongly').getByText('Hidden field').first().waitFor();

  const all = page.getByRole('checkbox', { name: 'Select all on this page' });
  await all.press('Space');
  await audit(page, 'a selection of the spam box');
  await all.press('Space');

  await rowOf(page, 'from Wrongly').getByRole('button').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('A hidden field was filled in.').waitFor();
  await dialog.getByText('4 other spam submissions came from the same address.').waitFor();
  await dialog.getByText('from Wrongly').waitFor();
  // Below, it is looked at on a phone in the dark.
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

test('who waits for a first answer is told of those that are held, and led to them', {
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

test('the way to the spam box says how much it holds, and a site whose pages sent it is let in with one press', async () => {
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

test('what a machine wrote is text in it, and fits a phone in the dark', async () => {
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
