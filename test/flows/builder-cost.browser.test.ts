import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { isSlice } from '#test/cases.ts';
import { element, structure } from '../ast/forms.ts';
import { ada, draftOf, leave, make, openBuilder, service, tenant, workspaceId } from './builder-page.ts';

/* What the tasks of a form maker cost in clicks and keys. */

/** A job application of 3 steps, as a person would write it. */
const application = `# About you
Full name *
Email *
Phone
# Experience
How many years?
Why this job?
Skills (several)
- Design
- Code
# Documents
Upload your CV *
When can you start?`;

/** Counts the presses of a real pointer and keyboard. A letter is one key. */
async function count(page: Page, act: () => Promise<void>): Promise<{ clicks: number; keys: number }> {
  await page.evaluate(`(() => {
    window.cost = { clicks: 0, keys: 0 };
    addEventListener('pointerdown', (event) => { if (event.isTrusted) window.cost.clicks += 1; }, true);
    addEventListener('keydown', (event) => { if (event.isTrusted) window.cost.keys += 1; }, true);
  })()`);
  await act();
  return page.evaluate('window.cost');
}

test('a job application of 3 steps costs at most 4 clicks and 200 keys', { skip: isSlice }, async () => {
  const page = await openBuilder(await make(structure(element('text', 'a', { label: 'A' }))));
  page.setDefaultTimeout(15_000);
  await page.goto(`${service.url}/app/w/${workspaceId}/forms`);
  const cost = await count(page, async () => {
    await page.getByRole('button', { name: 'Create form' }).click();
    await page.getByRole('tab', { name: 'Import' }).click();
    await page.getByLabel('Questions, CSV or JSON').click();
    await page.keyboard.type(application);
    await page.getByText('This is plain text.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Create form' }).click();
    await page.waitForURL(/\/app\/forms\//);
  });
  process.stdout.write(`job application: ${cost.clicks} clicks, ${cost.keys} keys\n`);
  assert.ok(cost.clicks <= 4 && cost.keys <= 200, JSON.stringify(cost));
  const made = await draftOf(new URL(page.url()).pathname.split('/').at(-1)!);
  assert.deepEqual(
    made.children!.map(({ children }) => children!.map(({ type }) => type)),
    [
      ['text', 'email', 'phone'],
      ['number', 'textarea', 'multiple_choice'],
      ['file_upload', 'date'],
    ],
  );
  await leave(page);
});

test('a filter by an answer costs at most 4 actions', { skip: isSlice }, async () => {
  const form = await make(structure(element('radio', 'size', { label: 'Size', options: ['S', 'M'] })), true);
  await tenant.call('POST', `/forms/${form}/submissions`, { answers: { size: 'M' } });
  const page = await openBuilder(form, ada);
  page.setDefaultTimeout(15_000);
  await page.goto(`${service.url}/app/forms/${form}/submissions`);
  const cost = await count(page, async () => {
    await page.getByRole('button', { name: 'Add filter' }).click();
    await page.getByRole('menuitem', { name: 'Size' }).click();
    await page.getByRole('checkbox', { name: 'M', exact: true }).click({ force: true });
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /Edit filter: Size is/ }).waitFor();
  });
  process.stdout.write(`filter: ${cost.clicks} clicks, ${cost.keys} keys\n`);
  assert.ok(cost.clicks + cost.keys <= 4, JSON.stringify(cost));
  await leave(page);
});
