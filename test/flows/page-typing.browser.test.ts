import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { isSlice } from '#test/cases.ts';
import { type } from '#test/console-browser.ts';
import { until } from '#test/service.ts';
import { composite, element } from '../ast/forms.ts';
import { step } from './page-script-form.ts';
import { errorOf, field, pressButton, stage, wake } from './page-script-stage.ts';

/*
 * What a visitor types is stored, or it stays with an error: numbers as the page's language writes them, and
 * dates and times that the browser's control cannot read. With script and without.
 */
const form = await stage.publish(
  [
    step('Only', [
      element('date', 'born'),
      element('time', 'at', { required: true }),
      element('datetime', 'meet'),
      element('number', 'income', { min: 0.5 }),
      element('text', 'advice', { show_when: { element: 'income', is: 'at_least', value: 1000 } }),
      composite('kids', [element('date', 'day'), element('number', 'age')], { repeatable: true }),
    ]),
  ],
  { editing: true, save_progress: true },
);

const thanks = /\/submitted\?/;

/**
 * Types the values of the original issue: a day that does not exist, an hour alone, and numbers that are
 * invalid in English.
 */
async function typeWrongly(page: Page): Promise<void> {
  await typeInto(page, 'born', '02311985');
  await typeInto(page, 'at', '10');
  await typeInto(page, 'meet', '0131');
  await typeInto(page, 'income', '1.500.000');
  await typeInto(page, 'kids[0][day]', '0231');
  await typeInto(page, 'kids[0][age]', '12-34');
}

async function typeInto(page: Page, name: string, text: string): Promise<void> {
  await field(page, name).focus();
  await type(page, text);
}

/** Whether the browser reports that it cannot read the value of the control. */
const isUnread = (page: Page, name: string): Promise<boolean> =>
  page.evaluate<boolean>(`document.getElementById(${JSON.stringify(name)}).validity.badInput`);

async function mendDates(page: Page): Promise<void> {
  await field(page, 'born').fill('1985-02-28');
  await field(page, 'at').fill('10:30');
  await field(page, 'meet').fill('2026-01-31T09:15');
  await field(page, 'kids[0][day]').fill('2020-02-29');
}

async function assertTyped(page: Page): Promise<void> {
  for (const name of ['born', 'at', 'meet', 'kids[0][day]']) assert.ok(await isUnread(page, name), name);
  assert.equal(await field(page, 'income').inputValue(), '1.500.000');
  assert.equal(await field(page, 'kids[0][age]').inputValue(), '12-34');
}

test('with script, unreadable input shows an error with the format and stays as typed', async () => {
  const page = await stage.visit(form);
  await typeWrongly(page);
  await field(page, 'income').hover();
  await field(page, 'income').focus();
  await page.mouse.wheel(0, 300);
  for (const button of ['Submit', 'Save and continue later']) {
    await pressButton(page, button);
    await page.getByRole('alert').getByText('The born').waitFor();
    await assertTyped(page);
  }
  await pressButton(page, 'Submit');
  await page.getByRole('alert').getByText('The income').waitFor();
  assert.deepEqual(await page.getByRole('alert').getByRole('link').allInnerTexts(), [
    'The born: Enter a valid date, like 01/31/2026',
    'The at: Enter a time, like 02:30 PM',
    'The meet: Enter a date and time, like 01/31/2026, 02:30 PM',
    'The income: Enter a number, like 3.5',
    'The kids 1 – The day: Enter a valid date, like 01/31/2026',
    'The kids 1 – The age: Enter a number, like 3.5',
  ]);
  assert.equal(await field(page, 'income').getAttribute('inputmode'), 'text', 'all characters are there now');

  await mendDates(page);
  assert.equal(await errorOf(page, 'born').innerText(), '');
  await field(page, 'income').fill('1,500,000.25');
  await field(page, 'kids[0][age]').fill('12');
  await pressButton(page, 'Submit');
  await page.waitForURL(thanks);
  const [newest] = await stage.submissions(form);
  assert.deepEqual(newest?.answers, {
    born: '1985-02-28',
    at: '10:30',
    meet: '2026-01-31T09:15',
    income: 1_500_000.25,
    kids: [{ day: '2020-02-29', age: 12 }],
  });
  await stage.browser.leave(page);
});

test('without script, the browser keeps what it cannot read, and the server keeps invalid numbers', {
  skip: isSlice,
}, async () => {
  const before = (await stage.submissions(form)).length;
  const page = await stage.browser.open(`/f/${form.id}`, undefined, { javaScriptEnabled: false });
  await typeWrongly(page);
  const reads = (name: string) => page.locator(`[id="unread~${name}"]`);
  assert.equal(await reads('kids[0][day]').isVisible(), false, 'nothing is said while it is typed');
  for (const button of ['Submit', 'Add another The kids']) {
    await pressButton(page, button);
    await reads('born').waitFor();
    await assertTyped(page);
  }
  const said = await reads('born').innerText();
  assert.match(said, /^Enter a valid date, like 01\/31\/2026$/);

  await mendDates(page);
  await pressButton(page, 'Submit');
  await page.getByRole('alert').waitFor();
  assert.deepEqual(await page.getByRole('alert').getByRole('link').allInnerTexts(), [
    'The income: Enter a number, like 3.5',
    'The kids 1 – The age: Enter a number, like 3.5',
  ]);
  assert.equal(await field(page, 'income').inputValue(), '1.500.000');
  assert.equal(await field(page, 'kids[0][age]').inputValue(), '12-34');
  assert.equal((await stage.submissions(form)).length, before);
  await stage.browser.leave(page);
});

test('a page in German reads and shows numbers in German: at first, after saving and after changes', {
  skip: isSlice,
}, async () => {
  const page = await stage.visit(form, { locale: 'de-DE', query: '?income=2500.5' });
  assert.equal(await field(page, 'income').inputValue(), '2500,5');
  assert.equal(await field(page, 'advice').isVisible(), true);
  await field(page, 'income').fill('0,25');
  assert.equal(await field(page, 'advice').isVisible(), false);
  await typeInto(page, 'born', '02');
  await field(page, 'at').fill('10:30');
  await pressButton(page, 'Absenden');
  await page.getByRole('alert').getByText('ein gültiges Datum ein, zum Beispiel 31.01.2026').waitFor();
  await field(page, 'born').fill('');
  await page.getByRole('alert').getByText('Geben Sie 0,5 oder mehr ein').waitFor();
  await field(page, 'income').fill('1.500');
  assert.equal(
    await field(page, 'advice').isVisible(),
    true,
    'a condition reads the number as the page does',
  );

  // A reload keeps the text and its meaning.
  await until('the text is kept', async () =>
    (await page.evaluate<string>('JSON.stringify({ ...sessionStorage })')).includes('1.500'),
  );
  await page.reload();
  await wake(page);
  assert.equal(await field(page, 'income').inputValue(), '1.500');
  await field(page, 'kids[0][age]').fill('1,5');
  await pressButton(page, 'Absenden');
  await page.waitForURL(thanks);
  const [newest] = await stage.submissions(form);
  assert.deepEqual(newest?.answers, { at: '10:30', income: 1500, kids: [{ age: 1.5 }] });

  await page.getByRole('link', { name: 'Antworten ändern' }).click();
  await field(page, 'kids[0][age]').waitFor();
  assert.equal(await field(page, 'kids[0][age]').inputValue(), '1,5');
  assert.equal(await field(page, 'income').inputValue(), '1500');
  await stage.browser.leave(page);
});
