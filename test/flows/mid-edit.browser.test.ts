import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { openBrowser } from '#test/browser.ts';
import { stillness } from '#test/console-browser.ts';
import { publishForm, submitEntry } from '#test/crowd.ts';
import { makeInstance } from '#test/process.ts';
import { until } from '#test/service.ts';

/* The service is killed and started again while somebody edits: nothing is lost, and they are told. */

const instance = await makeInstance();
let server = await instance.start();
const form = await publishForm(instance);
await submitEntry(form.publicUrl, 'As it came');
const [found] = await instance.query<{ workspace_id: string }>(
  `select workspace_id from form_lookup where form_id = '${form.id}'`,
);
const password = 'a long test password';
await instance.cli(
  'user create',
  '--email=ada@example.org',
  `--password=${password}`,
  `--workspace=${found!.workspace_id}`,
  '--role=editor',
);
const browser = await openBrowser();
after(() => browser.close());
const context = await browser.newContext({
  viewport: { width: 1280, height: 800 },
  locale: 'en-US',
  ...stillness,
});

async function open(path: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(instance.url + path);
  return page;
}

test('the person signs in', async () => {
  const page = await open('/app/sign-in');
  await page.getByLabel('Email address').fill('ada@example.org');
  await page.getByLabel('Password').fill(password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Forms' }).waitFor();
  await page.close();
});

test('in the builder: what was written while the service was away is kept, said, and saved when it is back', async () => {
  const page = await open(`/app/forms/${form.id}`);
  await page.locator('.canvas-body [aria-label^="“Entry”"]').click();
  const label = page.getByRole('textbox', { name: 'Label' });
  await server.kill();
  await label.fill('Written while it was away');
  await page.getByText('Offline, kept in this browser').first().waitFor();
  server = await instance.start();
  await page.locator('[data-save-state="saved"]', { hasText: 'Saved' }).waitFor();
  await until('the working copy to hold it', async () => {
    const [draft] = await instance.query<{ structure: object }>(
      `select structure from form_drafts where form_id = '${form.id}'`,
    );
    return JSON.stringify(draft?.structure ?? {}).includes('Written while it was away');
  });
  await page.reload();
  await page.locator('.canvas-body [aria-label^="“Written while it was away”"]').waitFor();
  await page.close();
});

test('in a submission: saving says that the service cannot be reached, keeps the words, and works when it is back', async () => {
  const page = await open(`/app/forms/${form.id}/submissions`);
  await page.locator('.sheet-link').first().click();
  await page.getByRole('button', { name: 'Edit answers' }).click();
  const entry = page.getByLabel(/^(Entry|Written while it was away) \(required\)/);
  await entry.fill('As it was mended');
  await server.kill();
  await page.getByRole('button', { name: 'Save answers' }).click();
  await page.getByText('The service cannot be reached.').first().waitFor();
  assert.equal(await entry.inputValue(), 'As it was mended');
  server = await instance.start();
  await page.getByRole('button', { name: 'Save answers' }).click();
  await page.getByRole('region', { name: 'Answers' }).getByText('As it was mended').waitFor();
  const { idsByAnswer } = await form.listAll();
  assert.deepEqual([...idsByAnswer.keys()], ['As it was mended']);
  await page.close();
});
