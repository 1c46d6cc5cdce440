import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { isSlice } from '#test/cases.ts';
import { findBarriers } from '#test/console-browser.ts';
import { element } from '../ast/forms.ts';
import { draftOf, focusIs, leave, make, openBuilder, part, problems, untilSaved } from './builder-page.ts';

/* How rules begin: with the previous question, without complaints, and with a map of the paths. */

const form = (...steps: object[][]): object => ({
  type: 'form',
  attrs: { name: 'Visit' },
  children: steps.map((children, index) => ({
    type: 'step',
    attrs: { title: `Step ${index + 1}` },
    children,
  })),
});
const properties = (page: Page) => page.getByRole('complementary', { name: 'Properties' });
const text = (id: string, label: string): object => element('text', id, { label });

test('a rule begins with the previous question, and is an error only after its field was left', {
  skip: isSlice,
}, async () => {
  const id = await make(form([text('name', 'Name'), text('city', 'City'), text('why', 'Why')]));
  const page = await openBuilder(id);
  page.setDefaultTimeout(15_000);
  await part(page, '“City”').click();
  await properties(page).getByRole('button', { name: 'Show if …' }).press('Enter');
  await part(page, '“City”').getByText('Shown if Name is …').waitFor();
  assert.equal(await properties(page).locator('.field-error:visible, .message-warn:visible').count(), 0);
  assert.equal(await part(page, '“City”').getAttribute('data-problem'), null);
  await properties(page).getByRole('textbox', { name: 'Value' }).focus();
  await properties(page).getByLabel('Label', { exact: true }).focus();
  await properties(page).getByText('“Show if”').filter({ visible: true }).last().waitFor();
  await properties(page).locator('.field-error:visible').waitFor();
  await page.locator('.canvas-body [aria-label^="“City”"][data-problem]').waitFor();
  await properties(page).getByRole('textbox', { name: 'Value' }).fill('Ada');
  await properties(page).locator('.field-error:visible').waitFor({ state: 'detached' });

  // A new question with empty options has no error either, until someone leaves it.
  await page.getByRole('button', { name: 'Single choice', exact: true }).click();
  await page.locator('.canvas-body .written').waitFor();
  await properties(page)
    .getByRole('button', { name: /option/i })
    .first()
    .waitFor();
  assert.equal(await properties(page).locator('.field-error:visible, .message-warn:visible').count(), 0);
  await leave(page);
});

test('a question decides which step is next, and the map of the paths shows and opens it', async () => {
  const id = await make(
    form(
      [element('radio', 'country', { label: 'Country', options: ['DE', 'AT'] })],
      [text('a', 'A')],
      [text('b', 'B')],
    ),
  );
  const page = await openBuilder(id);
  page.setDefaultTimeout(15_000);
  await part(page, '“Country”').click();
  await properties(page).getByRole('button', { name: 'Skip to …' }).press('Enter');
  await properties(page)
    .getByRole('button', { name: /Skip to$/ })
    .click();
  await page.getByRole('option', { name: 'Step 3' }).click();
  await page.locator('.canvas-body').getByText('Skips to Step 3 if Country is DE').waitFor();
  await untilSaved(page, 'the jump', async () =>
    JSON.stringify((await draftOf(id)).children![0]!.attrs!['jumps'])?.includes('step_3'),
  );
  const opener = page.getByRole('button', { name: 'Paths' });
  await opener.press('Enter');
  const map = page.getByRole('dialog', { name: 'Paths through the form' });
  await map.locator('.paths-arrows path').waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await page.keyboard.press('Escape');
  await focusIs(page, 'BUTTON');
  await opener.press('Enter');
  await map.getByRole('button', { name: 'Skips to Step 3 if Country is DE' }).click();
  await properties(page).getByText('Skip to', { exact: true }).first().waitFor();
  await opener.press('Enter');
  await map.getByRole('button', { name: /^2\s*Step 2/ }).press('Enter');
  await focusIs(page, /^“Step 2” \(Step\)/);
  await leave(page);
});

test('the browser reported no errors', () => {
  assert.deepEqual(problems, []);
});
