import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { AxeResults } from 'axe-core';
import type { Locator, Page } from 'playwright-core';
import type { FormNode } from '#ast/form/tree.ts';
import { isSlice, looksAt } from '#test/cases.ts';
import { signIn } from '#test/console.ts';
import { findBarriers, stillness } from '#test/console-browser.ts';
import { until } from '#test/service.ts';
import { composite, element, structure } from '../ast/forms.ts';
import {
  ada,
  browser,
  focusIs,
  labels,
  leave,
  make,
  openBuilder,
  part,
  problems,
  read,
  service,
  workspaceId,
} from './builder-page.ts';

/* The builder's accessibility with axe, hostile texts, phones and viewers. */

const payload = '<img src=x onerror="window.hit=1">"><script>window.hit=1</script>{{7*7}}';
const axe = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

const schemes = ['light', 'dark'] as const;

test('axe finds nothing in any view, light or dark, and markup in texts is shown as text', async () => {
  const condition = {
    any: [
      { element: 'b', is: 'one_of', value: [payload] },
      { not: { all: [{ reference: payload, is: 'contains', value: payload }] } },
    ],
  };
  const step = {
    type: 'step',
    attrs: { title: payload, description: payload, jumps: [{ when: condition, to: payload }] },
    children: [
      element('text', 'a', { label: payload, help_text: payload, placeholder: payload }),
      element('radio', 'b', { label: payload, options: [payload, 'x'] }),
      composite('c', [element('text', 'd', { label: payload })], { label: payload, repeatable: true }),
      { type: 'nonsense', attrs: { label: payload }, children: [] },
      element('text', 'e', { label: 'Ruled', pattern: 'a+', show_when: condition }),
    ],
  };
  const form = await make(structure(element('text', 'z')));
  const attrs = { name: payload, description: payload, languages: ['en', 'ar'] };
  const hostile = { type: 'form', attrs, children: [step] };
  await ada.api('PUT', `/forms/${form}/draft`, { structure: hostile });
  const page = await openBuilder(form);
  await page.evaluate(axe);
  const found: string[] = [];
  let views = 0;
  const check = async (where: string): Promise<void> => {
    views += 1;
    for (const colorScheme of looksAt(views, schemes)) {
      await page.emulateMedia({ colorScheme });
      const violations = await page.evaluate<AxeResults['violations']>(`(async () => {
        const passing = document.getAnimations().filter(({ effect }) => effect.getTiming().iterations !== Infinity);
        await Promise.all(passing.map(({ finished }) => finished));
        const runOnly = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
        const results = await axe.run({ exclude: ['iframe'] }, { runOnly, resultTypes: ['violations'] });
        return results.violations;
      })()`);
      for (const { id, nodes } of violations)
        found.push(
          `${where}, ${colorScheme}: ${id} at ${nodes.map(({ target }) => JSON.stringify(target)).join(' and ')}`,
        );
    }
  };
  await check('design');
  await part(page, '“<img').nth(2).click();
  await check('an element');
  await part(page, '“Ruled”').click();
  await check('rules and logic of an element');
  await page.getByRole('button', { name: /^1 / }).first().click();
  await check('the jumps of a step');
  await page.keyboard.press('/');
  await page.getByRole('dialog', { name: 'Add element' }).waitFor();
  await check('the insert menu');
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await shortcuts.getByText('Ctrl+Shift+Z').waitFor();
  await check('the list of shortcuts');
  await page.keyboard.press('Escape');
  await shortcuts.waitFor({ state: 'detached' });
  await page.getByRole('banner').getByRole('button', { name: 'Publish' }).click();
  await check('publish');
  await page.keyboard.press('Escape');
  for (const view of ['Preview', 'Languages', 'Settings', 'Share', 'History', 'JSON']) {
    await page.getByRole('navigation', { name: 'Form views' }).getByRole('button', { name: view }).click();
    await page.locator('[aria-busy]').waitFor({ state: 'detached' });
    await check(view);
  }
  assert.deepEqual(found, []);
  assert.equal(await page.evaluate(`'hit' in window`), false);
  await page.emulateMedia({ colorScheme: null });
  await leave(page);
});

test('on a phone, a form from a template can be edited, previewed and published, and its link copied', {
  skip: isSlice,
}, async () => {
  const context = await browser.newContext({
    viewport: { width: 375, height: 667 },
    hasTouch: true,
    isMobile: true,
    permissions: ['clipboard-read', 'clipboard-write'],
    ...stillness,
  });
  await context.addCookies(ada.cookies);
  const page = await context.newPage();
  page.on('pageerror', (error) => problems.push(error.message));
  const tap = (name: string | RegExp, within: Pick<Page, 'getByRole'> = page): Promise<void> =>
    within.getByRole('button', { name, exact: true }).tap();
  const sheet = page.getByRole('dialog');
  /**
   * Checks that nothing is wider than the window and buttons are large enough for a thumb, and runs axe. For
   * views that are also checked on wide screens, axe runs only in `npm run test:long -- screens`.
   */
  const isFit = async (where: string, hasAxe = true): Promise<void> => {
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 375, where);
    assert.deepEqual(await page.evaluate(smallTargets), [], where);
    if (hasAxe) assert.deepEqual(await findBarriers(page), [], where);
  };

  await page.goto(`${service.url}/app/w/${workspaceId}/forms`);
  await tap('Create form');
  await sheet.getByRole('button', { name: /^Contact/ }).tap();
  await part(page, '“Subject”').getByText('Subject').tap({ force: true });
  const written = page.locator('.canvas-body .written');
  await written.waitFor();
  // The on-screen keyboard opens.
  await page.setViewportSize({ width: 375, height: 367 });
  await until('what is written to be in sight', async () => {
    const { y, height } = (await written.boundingBox())!;
    return y > 0 && y + height < (await page.locator('.canvas-foot').boundingBox())!.y;
  });
  await page.keyboard.press('End');
  await page.keyboard.type(' matter');
  await page.setViewportSize({ width: 375, height: 667 });
  await page.keyboard.press('Enter');
  await focusIs(page, /^“Subject matter”/);

  await tap('Add element');
  await isFit('what can be added');
  await sheet.getByRole('menuitem', { name: 'Single choice' }).tap();
  await written.waitFor();
  await page.keyboard.type('Day');
  await page.keyboard.press('Enter');
  const day = part(page, '“Day”');
  await focusIs(page, /^“Day”/);
  await day.getByText('Option 1').tap({ force: true });
  await day.getByRole('textbox', { name: 'Option 1' }).waitFor();
  await page.keyboard.insertText('Friday');
  await page.keyboard.press('Enter');
  await day.getByRole('textbox', { name: 'Option 2' }).waitFor();
  await page.keyboard.insertText('Saturday');
  await page.keyboard.press('Enter');
  await day.getByRole('textbox', { name: 'Option 3' }).waitFor();
  await page.keyboard.insertText('Sunday');
  await page.keyboard.press('Escape');
  const bar = page.getByRole('toolbar');
  await tap('Required', bar);
  await tap('Move up', bar);
  await isFit('the canvas');
  await page.setViewportSize({ width: 320, height: 667 });
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320);
  assert.deepEqual(await page.evaluate(smallTargets), [], 'the narrowest phone');
  await page.setViewportSize({ width: 375, height: 667 });

  await tap('Properties');
  await sheet.getByLabel('Help text').fill('When will you come?');
  assert.equal(await sheet.getByLabel('Placeholder').count(), 0, 'no control of it has room for one');
  await isFit('the properties');
  // A sheet with a form closes only by its header, so that a swipe over typed text does not lose it.
  await tap('Paste a list', sheet);
  const list = page.getByRole('dialog', { name: 'Options from a list' });
  await list.getByRole('textbox').fill('Monday');
  await swipe(page, list.getByText('One option per line'), 200);
  assert.equal(await list.getByRole('textbox').inputValue(), 'Monday');
  await swipe(page, list, 200);
  await tap('Discard', page.getByRole('alertdialog', { name: 'Discard changes?' }));
  await list.waitFor({ state: 'detached' });
  await swipe(page, sheet, 60);
  await sheet.getByRole('heading', { name: 'Single choice' }).waitFor();
  await swipe(page, sheet, 200, { isJoined: true });
  const moved = page.locator('.dialog-swiped[style*="translate"]');
  assert.equal(await moved.count(), 0, 'a second finger leaves the sheet where it was');
  await swipe(page, sheet, 200);
  await sheet.waitFor({ state: 'detached' });

  await tap('Steps');
  await tap('Add step', sheet);
  await focusIs(page, 'Step title');
  await sheet.waitFor({ state: 'detached' });
  await page.keyboard.insertText('At last');
  await page.keyboard.press('Enter');
  await part(page, '“Message”').tap({ position: { x: 100, y: 90 }, force: true });
  await tap('More actions', bar);
  await page.getByRole('menuitem', { name: 'At last' }).tap();

  await tap('Preview');
  await page.frameLocator('iframe').getByText('When will you come?').waitFor();
  await isFit('the preview', !isSlice);
  await tap('Publish');
  await tap('Publish', sheet);
  await tap('Copy link', sheet);
  await sheet.getByText('Copied to the clipboard.').waitFor();
  await isFit('the link', !isSlice);
  const id = new URL(page.url()).pathname.split('/').at(-1)!;
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), `${service.url}/f/${id}`);
  const [first, second] = ((await read(id)).live.structure as FormNode).children!;
  assert.deepEqual(
    [first, second].map((step) => labels({ type: 'form', attrs: {}, children: [step!] })),
    [
      [
        'Your name',
        'Email address',
        'What’s it about?',
        'Day',
        'Subject matter',
        'Attachments',
        'Referral source',
      ],
      ['Message'],
    ],
  );
  const { required, options } = first!.children![3]!.attrs!;
  assert.deepEqual([required, options], [true, ['Friday', 'Saturday', 'Sunday']]);
  await context.close();
});

/** Moves a finger slowly down from the header of a sheet, by this distance. */
async function swipe(page: Page, sheet: Locator, way: number, { isJoined = false } = {}): Promise<void> {
  // A sheet that is still opening, after the keyboard, does not accept touches yet.
  await sheet.tap({ trial: true });
  const { x, y, width, height } = (await sheet.boundingBox())!;
  const from = y + Math.min(24, height / 2);
  const touch = await page.context().newCDPSession(page);
  const at = (down: number) => [{ x: x + width / 3, y: from + down }];
  await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: at(0) });
  for (let down = 0; down <= way; down += 20) {
    await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: at(down) });
    // Slower than a flick, which is recognized by its speed.
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 60))');
  }
  if (isJoined) {
    const touchPoints = [...at(way), { x: x + width / 2, y: from + way }];
    await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints });
  }
  await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  await touch.detach();
}

/** Runs in the browser: finds buttons of the builder and its overlays that are too small for a thumb. */
const smallTargets = `[...document.querySelectorAll(':is(.canvas-foot, .node-bar, .view-bar, .dialog, .form-actions) :is(.button, .view-tab)')]
  .map((button) => [button.ariaLabel ?? button.textContent, button.getBoundingClientRect()])
  .filter(([, { width, height }]) => width > 0 && Math.min(width, height) < 44)
  .map(([name, { width, height }]) => name + ': ' + width + ' by ' + height)`;

test('a viewer can see the form but not change it', async () => {
  const form = await make(structure(element('text', 'a', { label: 'Name' })));
  const viewer = await signIn(service, { workspaceId, role: 'viewer' });
  const page = await openBuilder(form, viewer);
  await page.getByText('View only').waitFor();
  await part(page, '“Name”').click();
  for (const key of ['Delete', 'Control+d', ' ', 'ArrowUp', 'Enter']) await page.keyboard.press(key);
  await part(page, '“Name”').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Publish' }).count(), 0);
  await page.keyboard.press('Control+s');
  assert.equal((await read(form)).draft.revision, 0);
  await leave(page);
});

test('the browser reported no errors', () => {
  assert.deepEqual(problems, []);
});
