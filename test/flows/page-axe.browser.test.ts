import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { composite, element, stepsOf } from '#ast/testing.ts';
import { openBrowser } from '#test/browser.ts';
import { findBarriers } from '#test/console-browser.ts';
import { openService } from '#test/service.ts';

/*
 * A slice of the matrix of `features` P10: viewport, scheme, forced colours, reduced motion and direction, each through
 * an empty Next, what an answer makes appear, the way back, the last step and the confirmation, with and without script.
 */
const service = await openService();
const tenant = await service.makeTenant();
const browser = await openBrowser();
after(() => browser.close());

const { body: form } = await tenant.call('POST', '/forms', {
  structure: stepsOf(
    { title: 'You', description: 'Who are you?' },
    [
      element('email', 'email', { required: true, help_text: 'We answer there.' }),
      element('radio', 'colour', { other: true }),
      element('multiple_choice', 'topics', { other: true, max_choices: 2 }),
      element('dropdown', 'size', { other: true }),
      element('text', 'why', { show_when: { element: 'colour', is: 'equals', value: 'Red' } }),
      element('date', 'day', { min: 'today', max: 'today+30' }),
    ],
    { title: 'More', layout: 'grid_2' },
    [
      element('file_upload', 'cv', { accept: ['.pdf', 'image/*'], max_files: 2 }),
      composite('team', [element('text', 'member'), element('yes_no', 'veg')], { repeatable: true }),
    ],
  ),
  publish: true,
  settings: { save_progress: true, editing: true },
});

type Look = BrowserContextOptions & { query?: string; hasScript?: boolean };
const looks: Readonly<Record<string, Look>> = {
  'wide and light': { viewport: { width: 1280, height: 900 } },
  'narrow, dark, without script': {
    viewport: { width: 375, height: 800 },
    colorScheme: 'dark',
    hasScript: false,
  },
  'a tablet with forced colours and reduced motion': {
    viewport: { width: 768, height: 1000 },
    forcedColors: 'active',
    reducedMotion: 'reduce',
  },
  'from right to left, without script': {
    viewport: { width: 1280, height: 900 },
    query: '?_lang=ar',
    hasScript: false,
  },
};

const go = (page: Page, to: string) => page.locator(`.actions [value=${to}]`).click();
const shown = (page: Page, title: string) =>
  page.getByRole('heading', { name: title, exact: true }).waitFor();
const clean = async (page: Page, where: string) => assert.deepEqual(await findBarriers(page), [], where);

for (const [name, { query = '', hasScript = true, ...options }] of Object.entries(looks)) {
  test(`${name}: no finding on the way from the first step to the confirmation`, async () => {
    const context = await browser.newContext(options);
    // The page as it is when its script does not arrive: axe itself needs a browser that runs scripts.
    if (!hasScript) await context.route('**/f/assets/**', (route) => route.abort());
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    await page.goto(`${form.public_url}${query}`);
    await clean(page, 'at first');
    await go(page, 'next');
    await page.locator('[role=alert] a').waitFor();
    await clean(page, 'after an empty Next');

    await page.locator('[id=email]').fill('ada@example.com');
    await page.locator('[name=colour][value=Red]').check();
    // Without script this Next brings the question; with one it is there already, and Next goes on.
    if (!hasScript) {
      await go(page, 'next');
      await page.locator('[id=why]').waitFor();
      await clean(page, 'with a question that has appeared');
    }
    await go(page, 'next');
    await shown(page, 'More');
    await clean(page, 'in the next step');
    await go(page, 'back');
    await shown(page, 'You');
    await clean(page, 'back in the first step');
    await go(page, 'next');
    await shown(page, 'More');
    await go(page, 'submit');
    await page.locator('.receipt').waitFor();
    await clean(page, 'at the end');
    await context.close();
  });
}
