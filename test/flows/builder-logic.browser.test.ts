import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { isSlice } from '#test/cases.ts';
import { findBarriers } from '#test/console-browser.ts';
import { until } from '#test/service.ts';
import { element } from '../ast/forms.ts';
import {
  draftOf,
  focusIs,
  hears,
  leave,
  make,
  openBuilder,
  part,
  problems,
  read,
  untilSaved,
} from './builder-page.ts';

/* Conditional logic and rules in the builder: docs/rules.md B7, and related settings. */

const form = (...steps: object[][]): object => ({
  type: 'form',
  attrs: { name: 'Visit' },
  children: steps.map((children, index) => ({
    type: 'step',
    attrs: { title: `Step ${index + 1}` },
    children,
  })),
});
const country = element('radio', 'country', { label: 'Country', options: ['DE', 'AT'] });
const onlyInGermany = { all: [{ element: 'country', is: 'equals', value: 'DE' }] };
const state = element('text', 'state', { label: 'State', show_when: onlyInGermany });

const properties = (page: Page) => page.getByRole('complementary', { name: 'Properties' });
const choose = async (page: Page, name: string | RegExp, option: string): Promise<void> => {
  await properties(page).getByRole('button', { name }).last().click();
  await page.getByRole('option', { name: option }).first().click();
};
const attribute = async (id: string, step: number, index: number, name: string): Promise<unknown> =>
  (await draftOf(id)).children![step]!.children![index]!.attrs![name];

test('B7: a rule can be created by keyboard, is shown as a sentence on the element, and can be undone', async () => {
  const id = await make(form([country, element('text', 'state', { label: 'State' })]));
  const page = await openBuilder(id);
  await part(page, '“State”').click();
  const add = properties(page).getByRole('button', { name: 'Show if …' });
  await add.focus();
  await page.keyboard.press('Enter');
  await part(page, '“State”').getByText('Shown if Country is DE').waitFor();
  // The pressed button disappears. The focus moves to the new condition, and returns when the rule is
  // removed.
  await properties(page).locator('[data-part="0"] button:focus').waitFor();
  await properties(page).getByRole('button', { name: 'Remove “Show if”' }).press('Enter');
  await properties(page).locator('button:focus', { hasText: 'Show if …' }).waitFor();
  await page.keyboard.press('Enter');
  await properties(page).locator('[data-part="0"] button:focus').waitFor();
  assert.match(
    (await part(page, '“State”').getAttribute('aria-label'))!,
    /Shown if “Country” is “DE”$/,
    'a screen reader hears it too',
  );

  await properties(page).getByRole('button', { name: 'Add group', exact: true }).focus();
  await page.keyboard.press('Enter');
  await properties(page).locator('.logic-group .logic-group').waitFor();
  await until('the new group to have the focus', async () =>
    page.evaluate(`document.activeElement.closest('.logic-group .logic-group') !== null`),
  );
  await properties(page).getByRole('button', { name: 'Remove group' }).click();
  await properties(page).locator('.logic-group .logic-group').waitFor({ state: 'detached' });
  await choose(page, /.+ Condition$/, 'is not');
  await part(page, '“State”').getByText('Shown if Country is not DE').waitFor();
  await untilSaved(
    page,
    'the rule to be saved',
    async () =>
      JSON.stringify(await attribute(id, 0, 1, 'show_when')) ===
      JSON.stringify({ all: [{ element: 'country', is: 'not_equals', value: 'DE' }] }),
  );
  await part(page, '“State”').click();
  const rule = part(page, '“State”').getByText('Shown if');
  await until('undo to take the rule back', async () => {
    await page.keyboard.press('Control+z');
    return (await rule.count()) === 0;
  });
  await leave(page);
});

test('a rule between two questions can be set for a question, and back to a value', async () => {
  const days = ['start', 'end'].map((day) =>
    element('date', day, { label: day === 'end' ? 'Last day' : 'First day' }),
  );
  const id = await make(form(days));
  const page = await openBuilder(id);
  await part(page, '“Last day”').click();
  await properties(page).getByRole('button', { name: 'Valid if …' }).press('Enter');
  await choose(page, /.+ Condition$/, 'is after');
  await choose(page, /.+ Compare with$/, 'First day');
  await part(page, '“Last day”').getByText('Valid if Last day is after First day').waitFor();
  const rule = async () => JSON.stringify(await attribute(id, 0, 1, 'valid_when'));
  const written = JSON.stringify({ all: [{ element: 'end', is: 'after', other: 'start' }] });
  await untilSaved(page, 'the rule to be saved', async () => (await rule()) === written);
  assert.deepEqual(await findBarriers(page), []);
  await choose(page, /.+ Compare with$/, 'A value');
  await part(page, '“Last day”').getByText('Valid if Last day is after …').waitFor();
  await leave(page);
});

test('B7: a condition for showing an option can be added at the option and removed', {
  skip: isSlice,
}, async () => {
  const city = element('radio', 'city', { label: 'City', options: ['Bonn', 'Graz'] });
  const id = await make(form([country, city]));
  const page = await openBuilder(id);
  await part(page, '“City”').click();
  await properties(page).getByRole('button', { name: 'Details of option 2' }).press('Enter');
  await properties(page).getByRole('button', { name: 'Show option if …' }).press('Enter');
  await choose(page, /^(?:Value|DE)/, 'AT');
  const offered = { all: [{ element: 'country', is: 'equals', value: 'AT' }] };
  const options = async () => JSON.stringify(await attribute(id, 0, 1, 'options'));
  const written = JSON.stringify(['Bonn', { id: 'Graz', label: 'Graz', show_when: offered }]);
  await untilSaved(page, 'the condition to be saved', async () => (await options()) === written);
  assert.deepEqual(await findBarriers(page), []);
  await properties(page).getByRole('button', { name: 'Remove “Show option if”' }).press('Enter');
  await untilSaved(page, 'the option to be as it was', async () => (await options()) === '["Bonn","Graz"]');
  await leave(page);
});

test('B7: deleting an element that a rule uses lists the dependents and then updates them or changes nothing', async () => {
  const id = await make(form([country, state]));
  const page = await openBuilder(id);
  await part(page, '“Country”').click();
  await page.keyboard.press('Delete');
  const dialog = page.getByRole('alertdialog');
  await dialog.getByText('“State” (Short text)').waitFor();
  await dialog.getByText('Shown if Country is DE').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await part(page, '“Country”').waitFor();
  await hears(page, 'No changes made.');

  await part(page, '“Country”').focus();
  await page.keyboard.press('Delete');
  await dialog.getByRole('button', { name: 'Remove and continue' }).click();
  await part(page, '“Country”').waitFor({ state: 'detached' });
  await part(page, '“State”').getByText('Shown if').waitFor({ state: 'detached' });
  await part(page, '“State”').click();
  await page.keyboard.press('Control+z');
  await part(page, '“State”').getByText('Shown if Country is DE').waitFor();
  await focusIs(page, /^“Country”/);
  await leave(page);
});

test('B7: moving an element behind its dependents asks for confirmation, and a new ID updates the rules', {
  skip: isSlice,
}, async () => {
  const id = await make(form([country, state], [element('text', 'more', { label: 'More' })]));
  const page = await openBuilder(id);
  await part(page, '“Country”').click();
  for (const key of [' ', 'ArrowDown', 'ArrowDown', ' ']) await page.keyboard.press(key);
  const dialog = page.getByRole('alertdialog');
  await dialog.getByText('“State” (Short text)').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  assert.match((await part(page, '“Country”').getAttribute('aria-label'))!, /position 1 of 2, step 1/);

  const field = properties(page).getByLabel('ID', { exact: true });
  await part(page, '“Country”').focus();
  await properties(page)
    .getByText('Used in the logic of “State” (Short text) (updated automatically).')
    .waitFor();
  await field.fill('more');
  await page.keyboard.press('Tab');
  await properties(page).getByText('“More” (Short text) already uses this ID.').waitFor();
  await field.fill('land');
  await field.press('Enter');
  await untilSaved(page, 'the id and its rule to be saved', async () =>
    JSON.stringify(await attribute(id, 0, 1, 'show_when')).includes('"land"'),
  );
  assert.equal(await attribute(id, 0, 0, 'id'), 'land');
  // Selects another element without moving the focus first.
  await field.fill('nation');
  await part(page, '“More”').dispatchEvent('click');
  await untilSaved(page, 'the id to be that of the part for which it was typed', async () =>
    JSON.stringify(await attribute(id, 0, 1, 'show_when')).includes('"nation"'),
  );
  await leave(page);
});

test('B7: a jump to a step gives it an ID, and a circular jump is a problem at its element', {
  skip: isSlice,
}, async () => {
  const id = await make(
    form([country], [element('text', 'a', { label: 'A' })], [element('text', 'b', { label: 'B' })]),
  );
  const page = await openBuilder(id);
  await page.getByRole('button', { name: /^1\s*Step 1/ }).click();
  await properties(page).getByRole('button', { name: 'Skip to …' }).click();
  await properties(page)
    .getByRole('button', { name: /Skip to$/ })
    .click();
  await page.getByRole('option', { name: 'Step 3' }).click();
  await page.locator('.canvas-body').getByText('Skips to Step 3 if Country is DE').waitFor();
  await untilSaved(page, 'the jump to be saved', async () => {
    const { children } = await draftOf(id);
    return (
      JSON.stringify(children![0]!.attrs!['jumps']) ===
        JSON.stringify([{ when: onlyInGermany, to: 'step_3' }]) && children![2]!.attrs!['id'] === 'step_3'
    );
  });

  await part(page, '“Country”').click();
  assert.ok(await properties(page).getByRole('button', { name: 'Show if …' }).isVisible());
  await leave(page);

  const circle = await make(form([element('text', 'z')]));
  const looped = await openBuilder(circle);
  await looped.getByRole('button', { name: 'JSON' }).click();
  await looped
    .getByRole('textbox')
    .fill(
      JSON.stringify(
        form([
          element('text', 'one', { label: 'One', show_when: { element: 'two', is: 'answered' } }),
          element('text', 'two', { label: 'Two', show_when: { element: 'one', is: 'answered' } }),
        ]),
      ),
    );
  await looped.getByText(/cycle/).first().waitFor();
  await leave(looped);
});

test('rules can be set in the panel: lengths, a pattern with a trial, days from today and file types', {
  skip: isSlice,
}, async () => {
  const id = await make(
    form([
      element('text', 'code', { label: 'Code' }),
      element('date', 'day', { label: 'Day' }),
      element('file_upload', 'cv', { label: 'CV' }),
    ]),
  );
  const page = await openBuilder(id);
  await part(page, '“Code”').click();
  const panel = properties(page);
  await panel.getByLabel('Minimum length').fill('x');
  await page.keyboard.press('Tab');
  await panel.getByText('Enter a whole number.').waitFor();
  await panel.getByLabel('Minimum length').fill('3');
  await panel.getByLabel('Pattern').fill('(a');
  await page.keyboard.press('Tab');
  await panel.getByText('The pattern must be a regular expression.').waitFor();
  await panel.getByLabel('Pattern').fill('[A-Z]{2}\\d+');
  await panel.getByLabel('Test an answer').fill('AB12');
  await panel.getByText('This answer matches the pattern.').waitFor();
  await panel.getByLabel('Test an answer').fill('ab12');
  await panel.getByText('This answer does not match the pattern.').waitFor();
  await panel.getByLabel('Error message').fill('Two capitals and digits.');

  await part(page, '“Day”').click();
  await choose(page, /Latest/, 'Days before today (0 for today)');
  await panel.getByLabel('Latest: days before today').fill('18');
  await part(page, '“CV”').click();
  await panel.getByRole('button', { name: 'PDF' }).click();
  await panel.getByLabel('Maximum files').fill('2');
  await untilSaved(page, 'all of it to be saved', async () => (await attribute(id, 0, 2, 'max_files')) === 2);
  const [code, day, cv] = (await draftOf(id)).children![0]!.children!.map(({ attrs }) => attrs!);
  assert.deepEqual(
    [code!['min_length'], code!['pattern'], code!['error_message']],
    [3, '[A-Z]{2}\\d+', 'Two capitals and digits.'],
  );
  assert.equal(day!['max'], 'today-18');
  assert.deepEqual([cv!['accept'], cv!['max_files']], [['.pdf'], 2]);
  await leave(page);
});

test('B6: the preview shows and hides questions, follows the steps and stores nothing', {
  skip: isSlice,
}, async () => {
  const reason = element('text', 'why', { label: 'Why', require_when: onlyInGermany });
  const mail = element('email', 'mail', { label: 'Mail', required: true });
  const id = await make(form([country, state, reason], [mail]));
  const page = await openBuilder(id);
  await page.getByRole('button', { name: 'Preview' }).click();
  const frame = page.frameLocator('iframe');
  await frame.getByText('Country').first().waitFor();
  assert.ok(await frame.getByLabel('State').isHidden());
  const mark = frame.locator('.field', { hasText: 'Why' }).locator('.mark');
  await mark.waitFor({ state: 'attached' });
  assert.ok(await mark.isHidden());
  await frame.getByLabel('DE').check();
  await frame.getByLabel('State').fill('Berlin');
  await mark.waitFor();
  await frame.getByRole('radio', { name: 'AT' }).check();
  await frame.getByLabel('State').waitFor({ state: 'hidden' });
  await frame.getByRole('button', { name: 'Next' }).click();
  await frame.getByRole('button', { name: 'Submit' }).click();
  await frame.getByText('There is a problem').waitFor();
  await frame.getByRole('button', { name: 'Back' }).click();
  assert.ok(await frame.getByRole('radio', { name: 'AT' }).isChecked());
  await frame.getByRole('button', { name: 'Next' }).click();
  await frame.getByLabel('Mail').fill('ada@example.org');
  await frame.getByRole('button', { name: 'Submit' }).click();
  await frame.getByText('Thank you', { exact: true }).waitFor();
  assert.equal((await read(id)).form.submission_count, 0);
  await leave(page);
});

test('the browser reported no errors', () => {
  assert.deepEqual(problems, []);
});
