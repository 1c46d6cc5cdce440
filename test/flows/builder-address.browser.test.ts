import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { isSlice } from '#test/cases.ts';
import { element, structure } from '../ast/forms.ts';
import { focusIs, leave, make, openBuilder, part, problems, saved } from './builder-page.ts';

/* What the address of the builder names: reload, a shared link, and Back lead to the same place. */

const form = (): Promise<string> =>
  make(
    structure(
      element('text', 'name', { label: 'Name' }),
      element('email', 'email', { label: 'Email' }),
      element('number', 'age', { label: 'Age' }),
    ),
  );
const tab = (page: Page, label: string): Promise<void> =>
  page.getByRole('navigation', { name: 'Form views' }).getByRole('button', { name: label }).click();
const isTab = (page: Page, label: string): Promise<void> =>
  page.locator('.view-tab[aria-current]', { hasText: label }).waitFor();
const parameters = (page: Page): Record<string, string> =>
  Object.fromEntries(new URL(page.url()).searchParams);
const entries = (page: Page): Promise<number> => page.evaluate('history.length');

test('a selected element, a tab and a reload lead back; Back goes through the tabs only', {
  skip: isSlice,
}, async () => {
  const page = await openBuilder(await form());
  await part(page, '“Name”').click();
  await page.waitForURL(/selected=name/);
  await page.locator('a[aria-current]', { hasText: 'Build' }).waitFor();
  const before = await entries(page);
  await part(page, '“Email”').click();
  await page.waitForURL(/selected=email/);
  assert.equal(await entries(page), before);
  await tab(page, 'Theme');
  await page.waitForURL(/view=theme/);
  assert.equal(await entries(page), before + 1);
  await page.reload();
  await isTab(page, 'Theme');
  await page.goBack();
  await isTab(page, 'Design');
  await page.locator('.canvas-body [data-selected][aria-label^="“Email”"]').waitFor();
  await page.reload();
  await page.locator('.canvas-body [data-selected][aria-label^="“Email”"]').waitFor();
  await focusIs(page, /^“Email”/);
  assert.deepEqual(parameters(page), { selected: 'email' });
  await leave(page);
});

test('an address of an element, view or panel that does not exist shows the form', {
  skip: isSlice,
}, async () => {
  const id = await form();
  const page = await openBuilder(`${id}?view=nothing&selected=gone&panel=wrong`);
  await isTab(page, 'Design');
  await page.waitForURL((url) => !url.searchParams.has('selected'));
  await part(page, '“Name”').click();
  await page.waitForURL(/selected=name/);
  assert.deepEqual(parameters(page), { selected: 'name' });
  await leave(page);
});

test('the address follows the selection when the element is deleted and restored', {
  skip: isSlice,
}, async () => {
  const page = await openBuilder(await form());
  await part(page, '“Age”').click();
  await page.waitForURL(/selected=age/);
  await page.keyboard.press('Delete');
  await part(page, '“Age”').waitFor({ state: 'detached' });
  await page.waitForURL((url) => url.searchParams.get('selected') !== 'age');
  await saved(page);
  await page.keyboard.press('Control+z');
  await page.waitForURL(/selected=age/);
  await saved(page);
  await leave(page);
});

test('the map of the paths and a pane on a phone have addresses', { skip: isSlice }, async () => {
  const id = await make({
    type: 'form',
    attrs: { name: 'Steps' },
    children: ['One', 'Two'].map((title, index) => ({
      type: 'step',
      attrs: { title },
      children: [element('text', `e${index}`, { label: `Question ${index}` })],
    })),
  });
  const page = await openBuilder(id);
  await page.getByRole('button', { name: 'Paths' }).click();
  await page.waitForURL(/panel=paths/);
  await page.reload();
  const map = page.getByRole('dialog', { name: 'Paths through the form' });
  await map.getByRole('button', { name: /Two/ }).click();
  await map.waitFor({ state: 'detached' });
  await page.waitForURL(/selected=\.2(&|$)/);
  assert.deepEqual(parameters(page), { selected: '.2' });
  await leave(page);

  const phone = await openBuilder(`${id}?panel=properties&selected=e1`, undefined, {
    viewport: { width: 375, height: 700 },
  });
  const sheet = phone.getByRole('dialog', { name: 'Short text' });
  await sheet.waitFor();
  await phone.reload();
  await sheet.getByRole('button', { name: 'Close' }).click();
  await sheet.waitFor({ state: 'detached' });
  assert.deepEqual(parameters(phone), { selected: 'e1' });
  await leave(phone);
});

test('the browser reported no errors', () => {
  assert.deepEqual(problems, []);
});
