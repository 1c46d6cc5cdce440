import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { storeImage } from '#forms/images/images.ts';
import { openBrowser } from '#test/browser.ts';
import { isSlice } from '#test/cases.ts';
import { findBarriers } from '#test/console-browser.ts';
import { until } from '#test/service.ts';
import { makeForm } from '#test/visitor.ts';
import { element } from '../ast/forms.ts';
import { stage } from './page-script-stage.ts';

/*
 * Themed public pages as visitors see them: readable, complete, and without layout shift while a font loads.
 */

const { service, tenant } = stage;
const browser = await openBrowser();
after(() => browser.close());

test('the layout does not shift when a web font loads', { skip: isSlice }, async () => {
  const questions = [
    element('paragraph', 'p', { label: 'A few words about what we would like to know. '.repeat(6).trim() }),
    ...['one', 'two', 'three'].map((id) =>
      element('text', id, { help_text: 'Write as much as you like here.' }),
    ),
  ];
  for (const font of ['inter', 'source-serif'] as const) {
    const form = await makeForm(tenant, questions, { settings: { theme: { font } } });
    const page = await browser.newPage({ viewport: { width: 800, height: 900 } });
    await page.addInitScript(`window.shifts = [];
      new PerformanceObserver((list) => shifts.push(...list.getEntries().map(({ value }) => value)))
        .observe({ type: 'layout-shift', buffered: true });`);
    const { promise: arrival, resolve: arrive } = Promise.withResolvers<void>();
    await page.route('**/f/fonts/**', async (route) => {
      await arrival;
      await route.continue();
    });
    await page.goto(form.public_url, { waitUntil: 'domcontentloaded' });
    const tops = (): Promise<number[]> =>
      page.evaluate(
        `[...document.querySelectorAll('.field, .submit')].map((box) => box.getBoundingClientRect().top)`,
      );
    const before = await tops();
    arrive();
    await until('the face', () =>
      page.evaluate(
        `[...document.fonts].some(({ status, family }) => status === 'loaded' && !family.includes('stand-in'))`,
      ),
    );
    assert.deepEqual(await tops(), before, font);
    // Browsers count a layout shift from 0.1 as unstable. Glyph edges are rounded to pixels.
    const shift = await page.evaluate<number>('shifts.reduce((sum, value) => sum + value, 0)');
    assert.ok(shift < 0.001, `${font}: ${shift}`);
    await page.close();
  }
});

const onePixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test('errors are shown below the cover, with and without the script', { skip: isSlice }, async () => {
  const image = await storeImage(service.services, tenant.workspaceId, Buffer.from(onePixel, 'base64'));
  const form = await makeForm(tenant, [element('text', 'name', { required: true })], {
    settings: { theme: { cover: image.id } },
  });
  const page = await browser.newPage();
  for (const script of ['with', 'without']) {
    if (script === 'without') await page.route('**/f/assets/**', (route) => route.abort());
    await page.goto(form.public_url);
    await page.locator('.submit').click();
    for (const width of [375, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      const summary = (await page.locator('.summary').boundingBox())!;
      const cover = (await page.locator('.cover').boundingBox())!;
      assert.ok(cover.height > 50 && summary.y >= cover.y + cover.height, `${script} a script, ${width} px`);
    }
  }
  await page.close();
});

const looks: readonly { settings: object; colorScheme: 'light' | 'dark'; width: number }[] = [
  {
    settings: { theme: { color: '#be185d', corner: 'round', density: 'compact' } },
    colorScheme: 'light',
    width: 320,
  },
  { settings: { theme: { color: '#be185d', background: '#001f5b' } }, colorScheme: 'dark', width: 1280 },
  {
    settings: { theme: { color: '#7dd3fc', mode: 'dark', density: 'airy' } },
    colorScheme: 'light',
    width: 768,
  },
  {
    settings: { theme: { color: '#111111', font: 'vazirmatn' }, locale: 'ar' },
    colorScheme: 'dark',
    width: 375,
  },
];
const inputs = ['text', 'textarea', 'radio', 'multiple_choice', 'dropdown', 'yes_no', 'date', 'file_upload'];
const questions = inputs.map((type) => element(type, type, { required: true, help_text: 'Help' }));

test('axe reports no violations in any of four themes, light and dark, wide and narrow, and nothing is cut off', async () => {
  const page = await browser.newPage();
  for (const { settings, colorScheme, width } of looks) {
    const where = JSON.stringify({ ...settings, colorScheme, width });
    const form = await makeForm(tenant, questions, { settings });
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    await page.goto(form.public_url);
    // The page with errors contains everything that the page without errors contains, so a slice checks only
    // the former.
    if (!isSlice) assert.deepEqual(await findBarriers(page), [], where);
    await page.locator('.submit').click();
    await page.locator('.summary').waitFor();
    assert.deepEqual(await findBarriers(page), [], `${where}, with errors`);
    assert.ok(
      await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
      `${where} is cut off`,
    );
  }
  await page.close();
});
