import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { isSlice } from '#test/cases.ts';
import { element, structure } from '../ast/forms.ts';
import { focused, focusIs, leave, make, openBuilder, part, problems } from './builder-page.ts';

/* How far keys reach in the builder: Tab stops, "/", and where the focus is after a dialog. */

const open = async (): Promise<Page> => {
  const page = await openBuilder(await make(structure(element('text', 'name', { label: 'Name' }))));
  page.setDefaultTimeout(15_000);
  return page;
};

test('one Tab and Enter lead from the beginning of the screen to the form', { skip: isSlice }, async () => {
  const page = await open();
  await page.locator('main').focus();
  await page.keyboard.press('Tab');
  await page.locator('.skip-link:focus', { hasText: 'Skip to the form' }).waitFor();
  await page.keyboard.press('Enter');
  await focusIs(page, /, position |\(Form\)/);
  await leave(page);
});

test('the palette is one Tab stop, in which the arrow keys move', { skip: isSlice }, async () => {
  const page = await open();
  await page.getByRole('searchbox', { name: 'Search elements' }).focus();
  await page.keyboard.press('Tab');
  await page.locator('.palette-item:focus').waitFor();
  await page.keyboard.press('ArrowDown');
  await page.locator('.palette-item:focus').waitFor();
  assert.equal(
    await page.evaluate(`document.activeElement === document.querySelector('.palette-item')`),
    false,
  );
  let tabs = 0;
  while (!/, position |\(Form\)/.test((await focused(page)) ?? '') && tabs < 9) {
    await page.keyboard.press('Tab');
    tabs += 1;
  }
  assert.ok(tabs <= 3, `${tabs} Tabs from the palette to the form`);
  await leave(page);
});

test('"/" adds an element wherever nothing is typed, and a question mark in its search is text', {
  skip: isSlice,
}, async () => {
  const page = await open();
  const menu = page.getByRole('dialog', { name: 'Add element' });
  for (const place of ['main', '.view-tab[aria-current]', '.palette-item']) {
    await page.locator(place).first().focus();
    await page.keyboard.press('/');
    await menu.waitFor();
    await page.keyboard.type('?');
    await page.getByRole('searchbox', { name: 'Search elements' }).last().waitFor();
    assert.equal(await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).count(), 0);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'detached' });
    await page.locator(`${place}:focus`).waitFor();
  }
  const search = page.getByRole('searchbox', { name: 'Search elements' });
  await search.focus();
  await page.keyboard.press('/');
  assert.equal(await search.inputValue(), '/');
  assert.equal(await menu.count(), 0);
  await leave(page);
});

test('a dialog opens above a menu, and the focus returns to where it was', { skip: isSlice }, async () => {
  const page = await open();
  await part(page, '“Name”').click();
  await focusIs(page, /^“Name”/);
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor({ state: 'detached' });
  await focusIs(page, /^“Name”/);
  await page.keyboard.press('/');
  await page.getByRole('dialog', { name: 'Add element' }).waitFor();
  await page.keyboard.press('Control+k');
  const finder = page.getByRole('dialog', { name: /Search/ });
  await finder.waitFor();
  assert.equal(
    await page.evaluate(`(() => {
      const box = document.querySelector('.finder-veil input').getBoundingClientRect();
      return document.elementFromPoint(box.left + 5, box.top + 5).closest('.finder-veil') !== null;
    })()`),
    true,
  );
  await page.keyboard.press('Escape');
  await finder.waitFor({ state: 'detached' });
  // The finder can have closed the menu below it.
  if (await page.getByRole('dialog', { name: 'Add element' }).count()) await page.keyboard.press('Escape');
  await focusIs(page, /^“Name”/);
  await leave(page);
});

test('the browser reported no errors', () => {
  assert.deepEqual(problems, []);
});
