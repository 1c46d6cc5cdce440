import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { isSlice } from '#test/cases.ts';
import { element } from '../ast/forms.ts';
import { leave, make, openBuilder, part, problems, saved, service } from './builder-page.ts';

/* Fields of the builder: errors wait until a field is left, texts read with labels, the theme shows the page. */

const form = (settings: object = {}): Promise<string> =>
  make(
    {
      type: 'form',
      attrs: { name: 'Job', languages: ['en', 'de'] },
      children: [
        {
          type: 'step',
          attrs: {},
          children: [
            element('text', 'full_name', { label: 'Full name' }),
            element('number', 'age', { label: 'How old are you, {{full_name}}?' }),
          ],
        },
        { type: 'step', attrs: {}, children: [element('text', 'why', { label: 'Why' })] },
      ],
      ...settings,
    },
    true,
  );
const panelOf = (page: Page): Locator => page.getByRole('complementary', { name: 'Properties' });
const tab = (page: Page, name: string): Promise<void> =>
  page.getByRole('navigation', { name: 'Form views' }).getByRole('button', { name }).click();

test('number, pattern and id fields show their error only when they are left', {
  skip: isSlice,
}, async () => {
  const page = await openBuilder(await form());
  page.setDefaultTimeout(15_000);
  const panel = panelOf(page);
  const fields = [
    ['“How old', 'Minimum', '1x', 'Enter a number like 2.5.', '12'],
    ['“Why”', 'Pattern', '[a', /^The pattern /, '[a]'],
  ] as const;
  for (const [question, label, wrong, problem, right] of fields) {
    await part(page, question).click();
    const field = panel.getByLabel(label, { exact: true });
    await field.focus();
    await page.keyboard.type(wrong);
    assert.equal(await panel.getByText(problem).count(), 0, label);
    await page.keyboard.press('Tab');
    await panel.getByText(problem).waitFor();
    await field.focus();
    await field.fill(right);
    await panel.getByText(problem).waitFor({ state: 'detached' });
  }
  await saved(page);
  await page.getByRole('button', { name: 'Skip to the form' }).waitFor();
  await leave(page);
});

test('an id that is refused stays in its field with the reason', { skip: isSlice }, async () => {
  const page = await openBuilder(
    await make({
      type: 'form',
      attrs: { name: 'Draft' },
      children: [
        {
          type: 'step',
          attrs: {},
          children: [element('text', 'a', { label: 'A' }), element('text', 'b', { label: 'B' })],
        },
      ],
    }),
  );
  page.setDefaultTimeout(15_000);
  await part(page, '“B”').click();
  const panel = panelOf(page);
  const id = panel.getByLabel('ID', { exact: true });
  await id.fill('a');
  assert.equal(await panel.getByText('already uses this ID').count(), 0);
  await id.press('Tab');
  await panel.getByText('already uses this ID').waitFor();
  assert.equal(await id.inputValue(), 'a');
  await id.press('Escape');
  assert.equal(await id.inputValue(), 'b');
  await panel.getByText('already uses this ID').waitFor({ state: 'detached' });
  await leave(page);
});

test('a text that shows an answer reads with the label of its question, also in translations', {
  skip: isSlice,
}, async () => {
  const page = await openBuilder(await form());
  page.setDefaultTimeout(15_000);
  await part(page, '“How old').click();
  await panelOf(page).locator('.piped-reading .piped', { hasText: 'Full name' }).waitFor();
  await tab(page, 'Languages');
  const cell = page.getByRole('row').filter({ hasText: 'How old are you' });
  await cell.locator('.texts-original .piped', { hasText: 'Full name' }).waitFor();
  await cell.getByRole('textbox').fill('Wie alt, {{full_name}}?');
  await cell.locator('.piped-reading .piped', { hasText: 'Full name' }).waitFor();
  await saved(page);
  await leave(page);
});

const styleOf = (place: Locator, name: 'cursor' | 'display'): Promise<string> =>
  place.evaluate((node: unknown, property) => {
    const look = globalThis as unknown as { getComputedStyle(node: unknown): Record<string, string> };
    return look.getComputedStyle(node)[property]!;
  }, name);

test('the theme is shown on the page of the form: with its languages, layout and review', {
  skip: isSlice,
}, async () => {
  const id = await form();
  const page = await openBuilder(id);
  page.setDefaultTimeout(15_000);
  await tab(page, 'Settings');
  await page.getByText('Check your answers', { exact: true }).click();
  await saved(page);
  for (const view of ['Preview', 'Theme']) {
    await tab(page, view);
    const frame = page.frameLocator('iframe[title="Form preview"]');
    await frame.getByText('Step 1 of 3').first().waitFor();
    assert.equal(await styleOf(frame.locator('.languages summary'), 'cursor'), 'pointer', view);
  }
  await tab(page, 'Settings');
  await page.getByRole('radio', { name: 'One question at a time' }).press('Space');
  await tab(page, 'Preview');
  const frame = page.frameLocator('iframe[title="Form preview"]');
  await frame.getByText('Question 1 of 4').first().waitFor();
  assert.equal(await styleOf(frame.locator('main'), 'display'), 'flex');
  for (let left = 3; left > 0; left -= 1) await frame.getByRole('button', { name: 'Next' }).click();
  assert.equal(await styleOf(frame.locator('.answers > div').first(), 'display'), 'grid');
  await saved(page);
  await leave(page);
});

test('the QR code of a form can be downloaded as SVG and as PNG', { skip: isSlice }, async () => {
  const page = await openBuilder(await form());
  page.setDefaultTimeout(15_000);
  await tab(page, 'Share');
  for (const [kind, start] of [
    ['SVG', '<svg'],
    ['PNG', '\u0089PNG'],
  ] as const) {
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: `Download as ${kind}` }).click();
    const file = await download;
    assert.equal(file.suggestedFilename(), `Job.${kind.toLowerCase()}`);
    assert.equal((await readFile(await file.path(), 'latin1')).slice(0, 4), start);
  }
  await leave(page);
});

test('the error of a URL does not move the button that takes the focus from it', {
  skip: isSlice,
}, async () => {
  const page = await openBuilder(await form());
  page.setDefaultTimeout(15_000);
  await page.goto(`${service.url}${new URL(page.url()).pathname}/webhooks`);
  await page.getByRole('button', { name: 'Add webhook' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add webhook' });
  await dialog.getByLabel('URL', { exact: true }).fill('example');
  await dialog.getByRole('button', { name: 'Add condition' }).click({ delay: 150 });
  await dialog.getByText(/^Only if/).waitFor();
  await dialog.getByText('The URL must begin with https://.').waitFor();
  // A press that becomes a scroll leaves the field too.
  await page.reload();
  await page.getByRole('button', { name: 'Add webhook' }).click();
  const url = dialog.getByLabel('URL', { exact: true });
  await url.fill('example');
  await url.dispatchEvent('pointerdown');
  await url.blur();
  await url.dispatchEvent('pointercancel');
  await dialog.getByText('The URL must begin with https://.').waitFor();
  await page.context().close();
});

test('the browser reported no errors', () => {
  assert.deepEqual(problems, []);
});
