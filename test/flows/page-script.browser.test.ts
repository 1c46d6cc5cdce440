import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { composite, element } from '#ast/testing.ts';
import { findBarriers, press, tabTo, type } from '#test/console-browser.ts';
import { until } from '#test/service.ts';
import { errorOf, field, focused, openScriptStage, pressButton, step, wake } from './page-script-stage.ts';

/*
 * The conventions P1 to P7 (the issue "the public form page") of the page with its script: steps without a new page,
 * the same checks as the server's, logic as one types. P8 and P9 are in page-script-sending.browser.test.ts.
 */
const stage = await openScriptStage();
after(() => stage.browser.assertQuiet());

const isCompany = { element: 'kind', is: 'equals', value: 'Company' };
const form = await stage.publish([
  step('About you', [
    element('text', 'name', { required: true }),
    element('email', 'email'),
    element('radio', 'kind', { options: ['Person', 'Company'], required: true }),
    element('text', 'company', { show_when: isCompany, required: true }),
    element('date', 'day'),
  ]),
  step('The company', [element('text', 'vat')], { show_when: isCompany }),
  step('The team', [
    composite('team', [element('text', 'member', { required: true }), element('yes_no', 'veg')], {
      repeatable: true,
    }),
  ]),
]);

const title = (page: Page): Promise<string> => page.title();
const headingHasFocus = (page: Page, name: string): Promise<boolean> =>
  until(`the focus on "${name}"`, async () => (await focused(page)) === name);
const fillFirstStep = async (page: Page): Promise<void> => {
  await field(page, 'name').fill('Ada');
  await page.getByRole('radio', { name: 'Person' }).check();
};

test('P1: the title says the step and the form, and first of all that there is an error', async () => {
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
  await page.context().close();
});

test('P2: a step takes the focus to its heading and begins at its top; Back and a reload keep the answers', async () => {
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
  await page.context().close();
});

test('P3: what is wrong is said at the top and at the field, leads there, and goes when it is mended', async () => {
  const page = await stage.visit(form);
  await field(page, 'email').focus();
  await field(page, 'name').focus();
  assert.equal(await errorOf(page, 'email').innerText(), '', 'nothing was written, so nothing is said');
  await field(page, 'email').fill('ada');
  assert.equal(await errorOf(page, 'email').innerText(), '', 'nothing is said before the field is left');
  await field(page, 'name').focus();
  await errorOf(page, 'email').getByText('enter an email address like name@example.com').waitFor();
  await page.locator('[aria-live=polite]').getByText('enter an email address').waitFor();
  assert.equal(await field(page, 'email').getAttribute('aria-invalid'), 'true');
  assert.match((await field(page, 'email').getAttribute('aria-describedby')) ?? '', /_error-email/);
  await field(page, 'email').pressSequentially('@example.com');
  await errorOf(page, 'email').getByText('enter').waitFor({ state: 'detached' });
  assert.equal(await field(page, 'email').getAttribute('aria-invalid'), null);

  await pressButton(page, 'Next');
  const summary = page.getByRole('alert');
  await summary.waitFor();
  await until('the focus on the summary', async () => (await focused(page)).startsWith('There is a problem'));
  const links = summary.getByRole('link');
  assert.deepEqual(await links.allInnerTexts(), [
    'The name: an answer is required.',
    'The kind: an answer is required.',
  ]);
  assert.equal(await errorOf(page, 'name').innerText(), 'The name: an answer is required.');
  assert.deepEqual(await findBarriers(page), []);
  await links.nth(1).click();
  assert.equal(await page.evaluate('document.activeElement.value'), 'Person', 'the first radio button');
  await press(page, 'Space');
  assert.equal(await errorOf(page, 'kind').innerText(), '');
  await page.context().close();
});

test('P4: the browser and the server say the same in the same words, in the language of the page', async () => {
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
    await page.context().close();
  }
});

test('P5: the whole form with the keyboard alone, from the first field to the receipt', async () => {
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
  // In a text, Enter goes on as the button does.
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
  assert.equal(await page.evaluate('document.activeElement.id'), 'team[0][member]');
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
  await page.context().close();
});

test('P6: at 375 px, in the dark, nothing is cut off or too small to touch, and no barrier is in any step', async () => {
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
  await page.context().close();
});

test('P7: progress counts the steps that the answers lead through, and the bar never goes back', async () => {
  const page = await stage.visit(form);
  const progress = page.getByRole('progressbar');
  const state = async (): Promise<unknown> => [
    await page.locator('#_progress p').innerText(),
    await page.evaluate<number>(`document.querySelector('#_progress progress').value`),
    await progress.getAttribute('aria-valuetext'),
  ];
  assert.deepEqual(await state(), ['Step 1 of 2', 50, 'Step 1 of 2']);
  await fillFirstStep(page);
  await page.getByRole('radio', { name: 'Company' }).check();
  await field(page, 'company').fill('Engines');
  assert.deepEqual(await state(), ['Step 1 of 3', 50, 'Step 1 of 3'], 'one more step, and the bar stays');
  await pressButton(page, 'Next');
  await headingHasFocus(page, 'The company');
  assert.deepEqual(await state(), ['Step 2 of 3', 67, 'Step 2 of 3']);
  await pressButton(page, 'Back');
  await headingHasFocus(page, 'About you');
  assert.deepEqual(await state(), ['Step 1 of 3', 67, 'Step 1 of 3']);
  await page.context().close();
});

test('logic: what an answer shows or hides comes and goes at once, and what is hidden is not sent', async () => {
  const page = await stage.visit(form);
  await fillFirstStep(page);
  assert.equal(await field(page, 'company').isVisible(), false);
  await page.getByRole('radio', { name: 'Company' }).check();
  await field(page, 'company').fill('Engines');
  await page.getByRole('radio', { name: 'Person' }).check();
  assert.equal(await field(page, 'company').isVisible(), false);
  await page.getByRole('radio', { name: 'Company' }).check();
  assert.equal(await field(page, 'company').inputValue(), 'Engines', 'it is kept while one tries');
  await page.getByRole('radio', { name: 'Person' }).check();
  await pressButton(page, 'Next');
  await headingHasFocus(page, 'The team');
  await pressButton(page, 'Submit');
  await page.waitForURL(/\/submitted\?/);
  const [newest] = await stage.submissions(form);
  assert.deepEqual(newest?.answers, { name: 'Ada', kind: 'Person' });
  await page.context().close();
});

test('an answer of one\'s own beside the options chooses "Other"', async () => {
  const own = await stage.publish([
    step('One', [
      element('radio', 'colour', { other: true }),
      element('dropdown', 'place', { other: true }),
      element('multiple_choice', 'several', { other: true }),
    ]),
  ]);
  const page = await stage.visit(own);
  await page.getByRole('radio', { name: 'Red' }).check();
  for (const question of ['colour', 'place', 'several'])
    await page.getByRole('textbox', { name: `The ${question}: your own answer` }).fill('Mauve');
  await pressButton(page, 'Submit');
  await page.waitForURL(/\/submitted\?/);
  assert.deepEqual((await stage.submissions(own))[0]?.answers, {
    colour: 'Mauve',
    place: 'Mauve',
    several: ['Mauve'],
  });
  await page.context().close();
});

test('a script that fails leaves the form to the browser, which posts it', async () => {
  const visited = await stage.visit(form);
  const page = await visited.context().newPage();
  await page.route('**/f/assets/start-*', (route) => route.abort());
  await page.goto(visited.url());
  await fillFirstStep(page);
  await pressButton(page, 'Next');
  await page.getByRole('heading', { name: 'The team' }).waitFor();
  assert.equal(await page.locator('[aria-live=polite]').count(), 0, 'no script is at work');
  await pressButton(page, 'Submit');
  await page.waitForURL(/\/submitted\?/);
  await page.context().close();
});

test('a press that comes before the script waits for it', async () => {
  const page = await stage.visit(form);
  let letGo = (): void => {};
  const held = new Promise<void>((resolve) => (letGo = resolve));
  await page.route('**/f/assets/start-*', async (route) => {
    await held;
    await route.continue();
  });
  await page.evaluate('sessionStorage.clear()');
  await page.goto(page.url());
  await pressButton(page, 'Next');
  assert.equal(await page.getByRole('alert').count(), 0);
  letGo();
  await page.getByRole('alert').waitFor();
  await wake(page);
  await page.context().close();
});
