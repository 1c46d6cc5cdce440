import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { isSlice } from '#test/cases.ts';
import { findBarriers, press, tabTo, type } from '#test/console-browser.ts';
import { until } from '#test/service.ts';
import { element, stepsOf } from '../ast/forms.ts';
import { companySteps, step } from './page-script-form.ts';
import {
  errorOf,
  field,
  fillFirstStep,
  focused,
  headingHasFocus,
  pressButton,
  stage,
} from './page-script-stage.ts';

/*
 * The conventions P1 to P7 (the issue "the public form page") of the page with its script: steps without page
 * loads, and checks that equal the server's. P8 and P9 are in page-script-sending.browser.test.ts, logic in
 * page-script-logic.
 */
const form = await stage.publish(companySteps);

const title = (page: Page): Promise<string> => page.title();

test('P1: the title names the step and the form, and begins with the error if there is one', {
  skip: isSlice,
}, async () => {
  const page = await stage.visit(form);
  assert.match(await title(page), /^Step 1 of 2 – Trip$/);
  await pressButton(page, 'Next');
  await page.getByRole('alert').waitFor();
  assert.match(await title(page), /^Error: Step 1 of 2 – Trip$/);
  await fillFirstStep(page);
  await pressButton(page, 'Next');
  await headingHasFocus(page, 'The team');
  assert.match(await title(page), /^Step 2 of 2 – Trip$/);
  assert.equal(await page.locator('h1').count(), 1);
  await stage.browser.leave(page);
});

test('P2: a new step focuses its heading and starts at its top, and Back and a reload keep the answers', async () => {
  const page = await stage.visit(form, { viewport: { width: 375, height: 400 } });
  await fillFirstStep(page);
  const document = await page.evaluate<number>('performance.timeOrigin');
  await pressButton(page, 'Next');
  await headingHasFocus(page, 'The team');
  assert.equal(await page.evaluate('scrollY'), 0);
  await field(page, 'team[0][member]').fill('Grace');
  await pressButton(page, 'Add another The team');
  await field(page, 'team[1][member]').fill('Joan');

  await page.goBack();
  await headingHasFocus(page, 'About you');
  assert.equal(await field(page, 'name').inputValue(), 'Ada');
  await page.goForward();
  await headingHasFocus(page, 'The team');
  assert.equal(await page.evaluate('performance.timeOrigin'), document, 'no other page was loaded');
  await pressButton(page, 'Back');
  await headingHasFocus(page, 'About you');
  await page.goForward();
  await headingHasFocus(page, 'The team');

  const key = await page.locator('[name=_key]').inputValue();
  await page.reload();
  await field(page, 'team[1][member]').waitFor();
  assert.equal(await field(page, 'team[1][member]').inputValue(), 'Joan');
  assert.equal(await field(page, 'team[0][member]').inputValue(), 'Grace');
  assert.equal(await field(page, 'kind').isChecked(), true);
  assert.equal(await page.locator('[name=_key]').inputValue(), key, 'the same submission goes on');
  await stage.browser.leave(page);
});

test('P3: errors are shown at the top and at the field, link to it and disappear when corrected', async () => {
  const page = await stage.visit(form);
  await field(page, 'email').focus();
  await field(page, 'name').focus();
  assert.equal(await errorOf(page, 'email').innerText(), '', 'nothing was written, so nothing is said');
  await field(page, 'email').fill('ada');
  assert.equal(await errorOf(page, 'email').innerText(), '', 'nothing is said before the field is left');
  await field(page, 'name').focus();
  await errorOf(page, 'email').getByText('Enter an email address, like name@example.com').waitFor();
  await page.locator('[aria-live=polite]').getByText('The email: Enter an email address').waitFor();
  assert.equal(await field(page, 'email').getAttribute('aria-invalid'), 'true');
  assert.match((await field(page, 'email').getAttribute('aria-describedby')) ?? '', /error~email/);
  await field(page, 'email').fill('ada@example.com');
  await errorOf(page, 'email').getByText('Enter').waitFor({ state: 'detached' });
  assert.equal(await field(page, 'email').getAttribute('aria-invalid'), null);

  const title = await page.title();
  await pressButton(page, 'Next');
  const summary = page.getByRole('alert');
  await summary.waitFor();
  await until('the focus on the summary', async () => (await focused(page)).startsWith('There is a problem'));
  const links = summary.getByRole('link');
  assert.deepEqual(await links.allInnerTexts(), [
    'The name: Enter your full name',
    'The kind: Choose an option',
  ]);
  assert.equal(await errorOf(page, 'name').innerText(), 'Enter your full name');
  assert.deepEqual(await findBarriers(page), []);
  await links.nth(1).click();
  await until(
    'the focus on the first radio button',
    async () => (await page.evaluate('document.activeElement.value')) === 'Person',
  );
  await press(page, 'Space');
  assert.equal(await errorOf(page, 'kind').innerText(), '');
  assert.deepEqual(await links.allInnerTexts(), ['The name: Enter your full name']);
  await field(page, 'name').fill('Ada');
  await summary.waitFor({ state: 'detached' });
  assert.equal(await page.title(), title);
  await stage.browser.leave(page);
});

test('P3: a question with several controls is checked when the visitor leaves it, not between the controls', {
  skip: isSlice,
}, async () => {
  const form = await stage.publish([
    step('Only', [
      element('multiple_choice', 'topics', { options: ['One', 'Two', 'Three'], min_choices: 2 }),
      element('text', 'name'),
    ]),
  ]);
  const page = await stage.visit(form);
  await page.getByRole('checkbox', { name: 'One' }).press('Space');
  await page.getByRole('checkbox', { name: 'Two' }).focus();
  assert.equal(await errorOf(page, 'topics').innerText(), '');
  await field(page, 'name').focus();
  await errorOf(page, 'topics').getByText('Choose at least 2 options').waitFor();
  // A legend on the border of its group would make the error bar begin in the middle.
  assert.equal(
    await page.evaluate("getComputedStyle(document.querySelector('.invalid > legend')).float"),
    'left',
  );
  await stage.browser.leave(page);
});

test('P4: the browser and the server show errors in equal words, in the language of the page', async () => {
  for (const [locale, required] of [
    ['en-US', '(required)'],
    ['de-DE', '(erforderlich)'],
  ] as const) {
    const page = await stage.visit(form, { locale });
    await page.locator('.mark', { hasText: required }).first().waitFor();
    await field(page, 'email').fill('ada');
    await pressButton(page, await page.locator('.actions [value=next]').innerText());
    await page.getByRole('alert').waitFor();
    const said = await page.getByRole('alert').getByRole('link').allInnerTexts();
    const answer = await page.request.post(page.url(), {
      headers: { 'Accept-Language': locale, Accept: 'text/html' },
      form: { email: 'ada', _go: 'next', _step: '0' },
    });
    assert.equal(answer.status(), 422);
    const html = await answer.text();
    assert.equal(said.length, 3);
    for (const sentence of said) assert.ok(html.includes(sentence), sentence);
    await stage.browser.leave(page);
  }
});

test('P4: switching the language keeps the typed answers, also over a reload, and continues in that language', async () => {
  const said = (label: string, text: string, more: object = {}) => ({
    label,
    translations: { de: { label: text, ...more } },
  });
  const spoken = await stage.tenant.call('POST', '/forms', {
    publish: true,
    structure: {
      ...stepsOf(
        { title: 'You' },
        [
          element('text', 'name', said('Your name', 'Ihr Name')),
          element('radio', 'size', said('Size', 'Größe', { options: { Red: 'Rot' } })),
        ],
        { title: 'More' },
        [element('textarea', 'notes', said('Notes for {{name}}', 'Notizen für {{name}}'))],
      ),
      attrs: { name: 'Contact', languages: ['en', 'de'] },
    },
  });
  const page = await stage.visit(spoken.body);
  await page.getByLabel('Your name').fill('Ada');
  await page.getByLabel('Red').check();
  await pressButton(page, 'Next');
  await page.getByLabel('Notes for Ada').fill('Half');
  await page.locator('.languages > summary').click();
  assert.deepEqual(await findBarriers(page), []);
  await page.getByRole('button', { name: 'Deutsch' }).click();
  await page.waitForURL(/_lang=de/);
  assert.equal(await page.getByLabel('Notizen für Ada').inputValue(), 'Half');
  await page.reload();
  assert.equal(await page.getByLabel('Notizen für Ada').inputValue(), 'Half');
  await pressButton(page, 'Zurück');
  assert.equal(await page.getByLabel('Rot').isChecked(), true);
  await stage.browser.leave(page);
});

test('P5: the whole form can be completed with the keyboard only, from the first field to the receipt', async () => {
  const page = await stage.visit(form);
  await tabTo(page, 'textbox', /The name/);
  await type(page, 'Ada');
  await press(page, 'Tab');
  await type(page, 'ada@example.com');
  await tabTo(page, 'radio', 'Person');
  await press(page, 'ArrowDown');
  assert.equal(await page.getByRole('radio', { name: 'Company' }).isChecked(), true);
  await press(page, 'Tab');
  await type(page, 'Engines');
  await press(page, 'Tab');
  await type(page, '01312026');
  assert.equal(await field(page, 'day').inputValue(), '2026-01-31');
  await tabTo(page, 'button', 'Next');
  await press(page, 'Enter');
  await headingHasFocus(page, 'The company');
  await press(page, 'Tab');
  await type(page, 'GB 1');
  // In a text field, Enter works like the button.
  await press(page, 'Enter');
  await headingHasFocus(page, 'The team');
  await press(page, 'Tab');
  await press(page, 'Tab');
  await tabTo(page, 'textbox', /The member/);
  await type(page, 'Grace');
  await tabTo(page, 'button', 'Add another The team');
  await press(page, 'Enter');
  await type(page, 'Joan');
  await tabTo(page, 'button', 'Remove The team 1');
  await press(page, 'Enter');
  await until(
    'the focus on the next row',
    async () => (await page.evaluate('document.activeElement.id')) === 'team[0][member]',
  );
  assert.equal(await field(page, 'team[0][member]').inputValue(), 'Joan');
  await tabTo(page, 'button', 'Submit');
  await press(page, 'Enter');
  await page.waitForURL(/\/submitted\?/);
  const [newest] = await stage.submissions(form);
  assert.deepEqual(newest?.answers, {
    name: 'Ada',
    email: 'ada@example.com',
    kind: 'Company',
    company: 'Engines',
    day: '2026-01-31',
    vat: 'GB 1',
    team: [{ member: 'Joan' }],
  });
  await stage.browser.leave(page);
});

test('P6: at 375 px in dark mode, nothing is cut off or too small to touch, and axe finds nothing in any step', {
  skip: isSlice,
}, async () => {
  const page = await stage.visit(form, {
    viewport: { width: 375, height: 667 },
    hasTouch: true,
    colorScheme: 'dark',
  });
  const check = async (): Promise<void> => {
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 375);
    const heights = await page.evaluate<number[]>(
      `[...document.querySelectorAll('button, .option')].map((one) => one.offsetHeight).filter((height) => height > 1)`,
    );
    assert.ok(Math.min(...heights) >= 44, `touch targets of ${String(heights)} px`);
    assert.deepEqual(await findBarriers(page), []);
  };
  await check();
  await fillFirstStep(page);
  await page.getByRole('button', { name: 'Next' }).tap();
  await headingHasFocus(page, 'The team');
  await page.getByRole('button', { name: 'Add another The team' }).tap();
  await check();
  await stage.browser.leave(page);
});

test('P7: progress counts the steps that the answers lead to, and the bar never moves back', {
  skip: isSlice,
}, async () => {
  const page = await stage.visit(form);
  const progress = page.getByRole('progressbar');
  const state = async (): Promise<unknown> => [
    await page.locator('#_progress p').innerText(),
    await page.evaluate<number>(`document.querySelector('#_progress progress').value`),
    await progress.getAttribute('aria-valuetext'),
  ];
  assert.deepEqual(await state(), ['Step 1 of 2', 33, 'Step 1 of 2']);
  await fillFirstStep(page);
  await page.getByRole('radio', { name: 'Company' }).check();
  await field(page, 'company').fill('Engines');
  assert.deepEqual(await state(), ['Step 1 of 3', 33, 'Step 1 of 3'], 'one more step, and the bar stays');
  await pressButton(page, 'Next');
  await headingHasFocus(page, 'The company');
  assert.deepEqual(await state(), ['Step 2 of 3', 50, 'Step 2 of 3']);
  await pressButton(page, 'Back');
  await headingHasFocus(page, 'About you');
  assert.deepEqual(await state(), ['Step 1 of 3', 50, 'Step 1 of 3']);
  await stage.browser.leave(page);
});
