import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FrameLocator, Locator, Page } from 'playwright-core';
import type { Theme } from '#ast/theme/theme.ts';
import { isSlice, looksAt } from '#test/cases.ts';
import { findBarriers } from '#test/console-browser.ts';
import { until } from '#test/service.ts';
import { element, structure } from '../ast/forms.ts';
import { browser, leave, make, openBuilder, problems, read, saved, service } from './builder-page.ts';

/* An author chooses a theme, sees it immediately, and visitors see it after publishing. */

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

async function openTheme(form: string): Promise<Page> {
  const page = await openBuilder(form);
  await page.getByRole('button', { name: 'Theme' }).click();
  await preview(page).locator('main').waitFor();
  return page;
}

const preview = (page: Page): FrameLocator => page.frameLocator('.preview-frame');
const accentOf = (place: Locator): Promise<string> =>
  place.evaluate((button) => {
    const { getComputedStyle } = globalThis as unknown as {
      getComputedStyle: (element: unknown) => { backgroundColor: string };
    };
    return getComputedStyle(button).backgroundColor;
  });
const settingsOf = async (form: string): Promise<{ theme?: Theme; locale?: string }> =>
  (await read(form)).live.settings;
const publish = async (page: Page): Promise<void> => {
  const dialog = page.getByRole('dialog', { name: /^Publish/ });
  await page.getByRole('banner').getByRole('button', { name: 'Publish' }).click();
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await dialog.waitFor({ state: 'detached' });
};

async function choose(page: Page, field: string, choice: string): Promise<void> {
  await page.getByRole('button', { name: field }).click();
  await page.getByRole('option', { name: choice }).click();
}

test('the preview shows a theme immediately, and visitors see it once it is published', async () => {
  const form = await make(structure(element('text', 'a'), element('radio', 'b')), true);
  const page = await openTheme(form);
  const submit = preview(page).locator('.submit');
  const becomes = (colour: string): Promise<unknown> =>
    until(`the colour ${colour}`, async () => (await accentOf(submit)) === colour);
  await becomes('rgb(11, 102, 85)');
  await preview(page).locator('#a').fill('typed before');

  await page.getByRole('button', { name: 'Violet' }).click();
  await becomes('rgb(109, 40, 217)');
  assert.equal(
    await preview(page).locator('#a').inputValue(),
    'typed before',
    'another colour begins nothing anew',
  );
  await choose(page, 'Font', 'Fraunces');
  await choose(page, 'Corners', 'Round');
  await choose(page, 'Page language', 'Français');
  await preview(page).getByRole('button', { name: 'Envoyer' }).waitFor();
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: png });
  await preview(page).locator('img.logo').waitFor();
  await saved(page);
  assert.deepEqual(await settingsOf(form), {}, 'nothing is live yet');
  await publish(page);
  const { theme, locale } = await settingsOf(form);
  const { logo, ...rest } = theme!;
  assert.deepEqual(rest, { color: '#6d28d9', font: 'fraunces', corner: 'round' });
  assert.ok(logo);
  assert.equal(locale, 'fr');

  const visitor = await browser.newPage();
  const failed: string[] = [];
  visitor.on('console', (message) => message.type() === 'error' && failed.push(message.text()));
  await visitor.goto(`${service.url}/f/${form}`);
  assert.equal(await accentOf(visitor.getByRole('button', { name: 'Envoyer' })), 'rgb(109, 40, 217)');
  await visitor.evaluate('document.fonts.ready');
  assert.equal(await visitor.evaluate(`document.fonts.check('16px Fraunces')`), true);
  // `naturalWidth` of a `srcset` image depends on its pixel density.
  assert.ok(await visitor.evaluate(`document.querySelector('img.logo').naturalWidth > 0`));
  assert.deepEqual(failed, []);
  await visitor.close();
  await leave(page);
});

test('a color with too little contrast is reported with its ratio, gets a readable shade as an offer, and blocks publishing', {
  skip: isSlice,
}, async () => {
  const form = await make(structure(element('text', 'a')));
  const page = await openTheme(form);
  await page.getByRole('textbox', { name: 'Color', exact: true }).fill('#ffd400');
  await page.getByText('Contrast 1.4:1 on light paper. Text needs 4.5:1.').waitFor();
  await page.getByText(/"theme.color" #ffd400 has a contrast of 1.4:1/).waitFor();
  await page.getByRole('banner').getByRole('button', { name: 'Publish' }).click();
  const dialog = page.getByRole('dialog', { name: 'Publish this form' });
  assert.equal(await dialog.getByRole('button', { name: 'Publish' }).isDisabled(), true);
  await dialog.getByRole('button', { name: /^Color: "theme.color" #ffd400/ }).click();

  await page.getByRole('button', { name: /^Use #/ }).click();
  await page.getByText(/Contrast 4\.\d:1, readable\./).waitFor();
  await publish(page);
  assert.match((await settingsOf(form)).theme!.color!, /^#[0-9a-f]{6}$/);
  await leave(page);
});

test('the preview shows light and dark of an adaptive form, and an SVG is refused as an image', {
  skip: isSlice,
}, async () => {
  const page = await openTheme(await make(structure(element('text', 'a'))));
  const submit = preview(page).locator('.submit');
  await page.getByRole('button', { name: 'Dark', exact: true }).click();
  await until('the dark accent', async () => (await accentOf(submit)) !== 'rgb(11, 102, 85)');
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles({ name: 'a.svg', mimeType: 'image/svg+xml', buffer: Buffer.from('<svg/>') });
  await page.getByText('This file is not a PNG, JPEG or WebP image.').waitFor();
  await leave(page);
});

test('axe reports no violations in the panel, light and dark', async () => {
  const form = await make(structure(element('text', 'a')));
  const page = await openTheme(form);
  await page.getByRole('textbox', { name: 'Color', exact: true }).fill('#ffd400');
  await page.getByText('Contrast 1.4:1').waitFor();
  for (const colorScheme of looksAt(0, ['dark', 'light'] as const)) {
    await page.emulateMedia({ colorScheme });
    const found = await findBarriers(page);
    // The only h1 of the page is the form's title in the canvas of the design view.
    assert.deepEqual(
      found.filter((line) => !line.startsWith('page-has-heading-one')),
      [],
      colorScheme,
    );
  }
  await page.context().close();
  assert.deepEqual(problems, []);
});
