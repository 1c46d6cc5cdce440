import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { isSlice } from '#test/cases.ts';
import { motion } from '#test/console-browser.ts';
import { until } from '#test/service.ts';
import { element } from '../ast/forms.ts';
import {
  ada,
  draftOf,
  hears,
  labels,
  leave,
  make,
  openBuilder,
  part,
  problems,
  read,
  said,
  untilSaved,
} from './builder-page.ts';

/*
 * Moving steps, adding elements at every gap, changing settings, and whether "Publish" has something to
 * publish.
 */

const threeSteps = {
  type: 'form',
  attrs: { name: 'Three' },
  children: ['One', 'Two', 'Three'].map((title) => ({
    type: 'step',
    attrs: { title },
    children: [element('text', title.toLowerCase(), { label: `In ${title}` })],
  })),
};
const titles = async (id: string): Promise<string> =>
  (await draftOf(id)).children!.map(({ attrs }) => attrs!['title']).join();
const handle = (page: Page, step: number): Locator =>
  page.getByRole('button', { name: `Move step ${step}: press Space to pick up` });

test('B2: steps can be dragged with the mouse in their list', { skip: isSlice }, async () => {
  const id = await make(threeSteps);
  const page = await openBuilder(id);
  const [from, to] = [(await handle(page, 3).boundingBox())!, (await handle(page, 1).boundingBox())!];
  await page.mouse.move(from.x + 8, from.y + 8);
  await page.mouse.down();
  await page.mouse.move(to.x + 8, to.y + 2, { steps: 6 });
  await page.locator('.drop-line').waitFor();
  await page.mouse.up();
  await hears(page, 'Moved: position 1 of 3');
  await untilSaved(page, 'the move to be saved', async () => (await titles(id)) === 'Three,One,Two');
  await leave(page);
});

test('B2: steps can be dragged by touch, and moved by keyboard with announced positions', {
  skip: isSlice,
}, async () => {
  const id = await make(threeSteps);
  const page = await openBuilder(id, ada, { ...motion, hasTouch: true });
  const touch = await page.context().newCDPSession(page);
  const [from, to] = [(await handle(page, 1).boundingBox())!, (await handle(page, 2).boundingBox())!];
  const at = (share: number) => [{ x: from.x + 10, y: from.y + 10 + (to.y + to.height - from.y) * share }];
  await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: at(0) });
  for (const share of [0.3, 0.6, 1])
    await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: at(share) });
  await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  await hears(page, 'Moved: position 2 of 3');

  await handle(page, 2).focus();
  await page.keyboard.press(' ');
  await until('the step to be lifted', async () =>
    (await said(page))!.startsWith('“One” (Step) picked up, position 2 of 3. Use the arrow keys'),
  );
  await page.keyboard.press('ArrowDown');
  await hears(page, '“One” (Step), position 3 of 3');
  await page.keyboard.press(' ');
  await hears(page, 'Dropped: “One” (Step), position 3 of 3');
  await untilSaved(page, 'the moves to be saved', async () => (await titles(id)) === 'Two,Three,One');
  await leave(page);
});

test('B3: every gap between elements has a "+" that adds an element there', { skip: isSlice }, async () => {
  const children = ['A', 'B', 'C'].map((label) => element('text', label.toLowerCase(), { label }));
  const id = await make({
    type: 'form',
    attrs: { name: 'Gaps' },
    children: [{ type: 'step', attrs: { title: 'One' }, children }],
  });
  const page = await openBuilder(id);
  await page.locator('.insert-here').nth(3).waitFor();
  assert.equal(await page.locator('.insert-here').count(), 4, 'before, between and behind three elements');
  await part(page, '“A”').click();
  await page.getByRole('button', { name: 'Add an element after' }).waitFor();
  await page.locator('.insert-here').nth(2).hover();
  await page.locator('.insert-here').nth(2).click();
  await page.getByRole('dialog', { name: 'Add element' }).waitFor();
  await page.keyboard.type('email');
  await page.locator('.insert-list [data-focused]').waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.canvas-body .written').waitFor();
  await page.keyboard.insertText('Mail');
  await page.keyboard.press('Enter');
  await untilSaved(
    page,
    'the element to be saved',
    async () => labels(await draftOf(id)).join() === 'A,B,Mail,C',
  );
  await leave(page);
});

test('B5: the Publish button is highlighted only if the working copy differs from the live form', {
  skip: isSlice,
}, async () => {
  const id = await make(threeSteps, true);
  const page = await openBuilder(id);
  const banner = page.getByRole('banner');
  const plain = banner.locator('.button:not(.button-primary)', { hasText: /^Publish$/ });
  await plain.waitFor();
  await part(page, '“In One”').click();
  await page.keyboard.press('Control+d');
  await banner.locator('.button-primary').waitFor();
  await page.keyboard.press('Control+z');
  await plain.waitFor();
  await leave(page);
});

test('settings for access, saved answers, spam and time can be changed, and a password is never shown again', {
  skip: isSlice,
}, async () => {
  const id = await make(threeSteps);
  const page = await openBuilder(id);
  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByText('Anyone with the password').click();
  await page.getByRole('button', { name: 'Set password' }).click();
  const dialog = page.getByRole('dialog', { name: 'Form password' });
  await dialog.getByLabel('New password').fill('abc');
  await dialog.getByRole('button', { name: 'Set password' }).click();
  await dialog.getByText('must be text of 4 to 128 characters').waitFor();
  await dialog.getByLabel('New password').fill('open sesame');
  await dialog.getByRole('button', { name: 'Set password' }).click();
  await page.getByText('The new password is in effect.').waitFor();
  await page.locator('button:focus', { hasText: 'Change password' }).waitFor();
  await page.getByLabel('Closed message').fill('Come back in May.');
  await page.getByText('Save progress', { exact: true }).click();
  await page.getByLabel('Days to resume').fill('7');
  await page.getByLabel('Minimum seconds to complete').fill('3');
  await page.getByLabel('Limit per hour').fill('0');
  await page.getByText('must be a whole number from 1').first().waitFor();
  await page.getByLabel('Limit per hour').fill('500');
  await page.getByText('must be a whole number from 1').waitFor({ state: 'detached' });
  await untilSaved(
    page,
    'the last of them to be saved',
    async () => (await read(id)).draft.settings.limit_per_form === 500,
  );
  const { form, live, draft } = await read(id);
  assert.deepEqual([form.has_password, live.version, live.settings], [true, 1, {}]);
  assert.deepEqual(draft.settings, {
    access: 'password',
    closed_message: 'Come back in May.',
    save_progress: true,
    resume_days: 7,
    min_seconds: 3,
    limit_per_form: 500,
  });
  await leave(page);
});

test('the browser reported no errors', () => {
  assert.deepEqual(problems, []);
});
