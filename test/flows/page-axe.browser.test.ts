import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import sharp from 'sharp';
import { openBrowser, reuseWindows } from '#test/browser.ts';
import { isSlice, looksAt } from '#test/cases.ts';
import { findBarriers } from '#test/console-browser.ts';
import { prepareTemplate, templates } from '../../web/forms/templates/templates.ts';
import { composite, element, stepsOf } from '../ast/forms.ts';
import { stage, wake } from './page-script-stage.ts';

/*
 * The matrix of docs/rules.md P10. With script, each state of the page is checked: first view, empty Next,
 * next step, the way back, and the end. Each is checked in both directions, and in light, dark and forced
 * colors. Three widths and reduced motion alternate, so that every pair is covered. npm test covers one of
 * the three variants at each stop, from left to right. Without script, one path is checked in two variants.
 */
const { tenant } = stage;
const browser = await openBrowser();
after(() => browser.close());

const square = sharp({ create: { width: 640, height: 480, channels: 3, background: '#a63d2f' } });
const photo: string = (await tenant.call('POST', '/images', await square.png().toBuffer())).body.id;
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
      element('rating', 'stars'),
      element('scale', 'likely'),
      element('ranking', 'best'),
      element('matrix', 'pleased', { rows: ['Food', 'Room'] }),
      element('picture_choice', 'motif'),
      element('signature', 'sign'),
      { type: 'image', attrs: { image: photo, alt: 'A loom', caption: 'Our loom' }, children: [] },
      element('consent', 'agreed'),
      element('calculation', 'sum', { formula: '{likely} * 2', prefix: '€ ' }),
      element('hidden', 'source'),
      {
        type: 'rich_text',
        attrs: { text: '## A heading\n\nA text with [links](https://example.com).' },
        children: [],
      },
    ],
  ),
  publish: true,
  settings: { save_progress: true, editing: true },
});

const widths = [375, 768, 1280] as const;
const schemes = [
  { colorScheme: 'light', forcedColors: 'none' },
  { colorScheme: 'dark', forcedColors: 'none' },
  { colorScheme: 'light', forcedColors: 'active' },
] as const;

/** Returns a function that checks a page in each scheme. Each call moves the widths on by one scheme. */
function openLooks(turn: number): (page: Page, where: string) => Promise<void> {
  let turns = turn;
  return async (page, where) => {
    turns += 1;
    const looks = schemes.map((scheme, index) => ({
      width: widths[(turns + index) % widths.length]!,
      ...scheme,
      reducedMotion: (turns + index) % 2 === 0 ? ('reduce' as const) : ('no-preference' as const),
    }));
    for (const { width, ...media } of looksAt(Math.floor(turns / widths.length), looks)) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia(media);
      assert.deepEqual(await findBarriers(page), [], `${where}: ${JSON.stringify({ width, ...media })}`);
    }
  };
}

const { open: openWindow, leave } = reuseWindows(browser, { width: 1280, height: 720 });

const clean = async (page: Page, where: string) => assert.deepEqual(await findBarriers(page), [], where);
const go = (page: Page, to: string) => page.locator(`.actions [value=${to}]`).click();
const shown = (page: Page, title: string) =>
  page.getByRole('heading', { name: title, exact: true }).waitFor();

/**
 * Asserts that at 320 px nothing is cut off or outside the window, for every type with a step's script too.
 */
async function fitsNarrowest(page: Page, hasAxe: boolean): Promise<void> {
  await page.setViewportSize({ width: 320, height: 900 });
  const beyond = await page.evaluate<
    string[]
  >(`[...document.querySelectorAll('.step:not([hidden]) :is(label, legend, input, select, textarea, button, canvas, img, output, th, td)')]
    .filter((node) => node.checkVisibility({ visibilityProperty: true }) && !node.closest('.unseen'))
    .filter((node) => { const { left, right } = node.getBoundingClientRect(); return left < 0 || right > 320; })
    .map((node) => node.outerHTML.slice(0, 120))`);
  assert.deepEqual(beyond, []);
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320);
  if (hasAxe) await clean(page, 'at 320 px with its script');
}

/** Goes from the first step to the confirmation through everything visible, and calls `look` at each stop. */
async function walk(
  page: Page,
  query: string,
  hasScript: boolean,
  look: (page: Page, where: string) => Promise<void>,
): Promise<void> {
  await page.goto(`${form.public_url}${query}`);
  if (hasScript) await wake(page);
  await look(page, 'at first');
  await go(page, 'next');
  await page.locator('[role=alert] a').first().waitFor();
  await look(page, 'after an empty Next');

  await page.locator('[id=email]').fill('ada@example.com');
  await page.locator('[name=colour][value=Red]').check();
  // Without script this Next shows the question. With script it is already visible, and Next continues.
  if (!hasScript) {
    await go(page, 'next');
    await page.locator('[id=why]').waitFor();
    await look(page, 'with a question that has appeared');
  }
  await go(page, 'next');
  await shown(page, 'More');
  await look(page, 'in the next step');
  if (hasScript) await fitsNarrowest(page, query === '' || !isSlice);
  await go(page, 'back');
  await shown(page, 'You');
  await page.locator('[name=colour][value=_other]').check();
  await look(page, 'back in the first step');
  await page.locator('[name=colour][value=Red]').check();
  await go(page, 'next');
  await shown(page, 'More');
  await go(page, 'submit');
  await page.locator('.receipt').waitFor();
  await look(page, 'at the end');
}

for (const [turn, [direction, query]] of [
  ['left to right', ''],
  ['right to left', '?_lang=ar'],
].entries()) {
  test(`P10, ${direction}: axe finds nothing in any state and variant`, {
    skip: isSlice && turn > 0,
  }, async () => {
    const page = await openWindow();
    await walk(page, query!, true, openLooks(turn));
    await leave(page);
  });
}

const bareLooks: Readonly<Record<string, BrowserContextOptions & { query?: string }>> = {
  'narrow and dark': { viewport: { width: 320, height: 800 }, colorScheme: 'dark' },
  'from right to left': { viewport: { width: 1280, height: 900 }, query: '?_lang=ar' },
};
for (const [name, { query = '', ...options }] of Object.entries(bareLooks)) {
  test(`P10, without script, ${name}: axe finds nothing on the way to the confirmation`, {
    skip: isSlice,
  }, async () => {
    const context = await browser.newContext(options);
    // Blocks the page's script instead of turning scripts off, because axe itself needs them.
    await context.route('**/f/assets/**', (route) => route.abort());
    await walk(await context.newPage(), query, false, clean);
    await context.close();
  });
}

const notices: readonly (readonly [what: string, settings: object])[] = [
  ['that is closed', { access: 'closed', closed_message: 'See you next year!' }],
  ['behind a password', { access: 'password', password: 'open sesame' }],
];
for (const [what, settings] of notices) {
  test(`P10: axe finds nothing on the page of a form ${what}`, async () => {
    const { body } = await tenant.call('POST', '/forms', {
      structure: form.structure,
      publish: true,
      settings,
    });
    const page = await openWindow();
    await page.goto(body.public_url);
    await openLooks(0)(page, what);
    await leave(page);
  });
}

test('P10: every template can be published, and axe finds nothing on its page', {
  skip: isSlice,
}, async () => {
  // Small, because each larger image takes a second of CPU.
  const upload = async (address: string): Promise<string> =>
    (await tenant.call('POST', '/images', await sharp(fileURLToPath(address)).resize(96).png().toBuffer()))
      .body.id;
  for (const [turn, template] of templates.filter(({ id }) => id !== 'blank').entries()) {
    const { id } = template;
    const begun = await prepareTemplate(template, upload);
    const { status, body } = await tenant.call('POST', '/forms', { ...begun, publish: true });
    assert.equal(status, 201, `${id}: ${JSON.stringify(body)}`);
    const page = await openWindow();
    await page.setViewportSize({ width: widths[turn % widths.length]!, height: 900 });
    await page.emulateMedia(schemes[turn % schemes.length]);
    if (turn % 2 === 1) await page.route('**/f/assets/**', (route) => route.abort());
    await page.goto(body.public_url);
    if (turn % 2 === 0) await wake(page);
    await clean(page, id);
    await leave(page);
  }
});
