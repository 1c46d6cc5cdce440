import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { isSlice, looksAt } from '#test/cases.ts';
import { endAnimations, findBarriers, motion } from '#test/console-browser.ts';
import { until } from '#test/service.ts';
import { composite, element } from '../ast/forms.ts';
import { step } from './page-script-form.ts';
import { field, focused, headingHasFocus, pressButton, stage } from './page-script-stage.ts';

/* The review step and one question at a time, with the page's script and without page loads. */

const isShownFor = (id: string, value: unknown) => ({ show_when: { element: id, is: 'equals', value } });
const steps = [
  step('You', [
    element('text', 'name', { required: true }),
    element('date', 'born'),
    element('yes_no', 'abroad', { label: 'From abroad?' }),
  ]),
  step('Papers', [element('text', 'visa')], isShownFor('abroad', true)),
  step('Stay', [
    element('multiple_choice', 'meals'),
    element('file_upload', 'ticket'),
    composite('guests', [element('text', 'guest')], { label: 'Guest', repeatable: true }),
  ]),
];

const listed = (page: Page): Promise<string[][]> =>
  page.evaluate<string[][]>(
    `[...document.querySelectorAll('.answers > div')].map((row) =>
      [...row.querySelectorAll('dt, dd:not(:last-child)')].map(({ innerText }) => innerText.replaceAll(/\\n+/g, ' ')))`,
  );

const looks = [
  [320, 'dark'],
  [375, 'light'],
  [1280, 'light'],
] as const;
let turn = 0;

/** Asserts that the page fits every width and axe finds nothing, light and dark. */
async function lookAt(page: Page, where: string): Promise<void> {
  const seen = looksAt(turn, looks);
  turn += 1;
  for (const look of looks) {
    const [width, colorScheme] = look;
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    // Ends animations, so that the new question has stopped moving.
    await page.evaluate(endAnimations);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width, where);
    if (seen.includes(look)) assert.deepEqual(await findBarriers(page), [], `${where} ${width}`);
  }
}

test('the review step shows current answers, and each can be changed and returned from by keyboard', {
  skip: isSlice,
}, async () => {
  const form = await stage.publish(steps, { review_step: true });
  const page = await stage.visit(form, motion);
  await field(page, 'name').fill('<b>Ada</b>');
  await field(page, 'born').fill('1999-04-30');
  await page.getByRole('radio', { name: 'No', exact: true }).check();
  await pressButton(page, 'Next');
  await headingHasFocus(page, 'Stay');
  await page.getByRole('checkbox', { name: 'Red' }).check();
  await page.setInputFiles('[type=file]', {
    name: 'ticket.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('a'),
  });
  await page.getByRole('button', { name: 'Remove ticket.txt' }).waitFor();
  await field(page, 'guests[0][guest]').fill('Anni');
  await page.keyboard.press('Enter');
  await headingHasFocus(page, 'Check your answers');
  assert.equal(await page.title(), 'Check your answers – Step 3 of 3 – Trip');
  assert.deepEqual(await listed(page), [
    ['The name', '<b>Ada</b>'],
    ['The born', 'April 30, 1999'],
    ['From abroad?', 'No'],
    ['The meals', 'Red'],
    ['The ticket', 'ticket.txt 1 kB'],
    ['The guest', 'Anni'],
  ]);
  await lookAt(page, 'the list');

  await page.getByRole('button', { name: 'Change From abroad?' }).focus();
  await page.keyboard.press('Enter');
  await until('the focus on the question', async () => (await focused(page)) === 'abroad');
  await page.getByRole('radio', { name: 'Yes', exact: true }).check();
  await page.keyboard.press('Enter');
  await headingHasFocus(page, 'Papers');
  await field(page, 'visa').fill('A1');
  await page.keyboard.press('Enter');
  await headingHasFocus(page, 'Check your answers');
  assert.deepEqual((await listed(page))[3], ['The visa', 'A1']);
  await page.reload();
  await page.locator('.answers').first().waitFor();
  assert.deepEqual((await listed(page))[3], ['The visa', 'A1'], 'also after a reload');
  await page.goBack();
  await headingHasFocus(page, 'Papers');
  await pressButton(page, 'Next');
  await pressButton(page, 'Next');
  await headingHasFocus(page, 'Check your answers');
  await pressButton(page, 'Submit');
  await page.locator('.receipt').waitFor();
  const [submission] = await stage.submissions(form);
  assert.equal(submission?.answers.visa, 'A1');
  await stage.browser.leave(page);
});

const questions = [
  step('You', [
    element('text', 'name', { required: true }),
    element('radio', 'colour'),
    element('multiple_choice', 'meals', { help_text: 'As many as you like.' }),
    element('textarea', 'notes', isShownFor('colour', 'Green')),
    element('dropdown', 'size'),
    composite('guests', [element('text', 'guest'), element('yes_no', 'veg')], {
      label: 'Guest',
      repeatable: true,
    }),
  ]),
];

for (const [direction, lang] of [
  ['left to right', 'en'],
  ['right to left', 'ar'],
] as const) {
  test(`one question at a time, ${direction}: works with the keyboard only, focuses each question and has no findings at any width`, {
    skip: isSlice && lang !== 'en',
  }, async () => {
    const form = await stage.publish(questions, { layout: 'question', review_step: true });
    const page = await stage.visit(form, { query: `?_lang=${lang}` });
    const hasFocus = (id: string) => until(`the focus on ${id}`, async () => (await focusedId(page)) === id);
    await lookAt(page, 'first');
    await field(page, 'name').focus();
    await page.keyboard.press('Enter');
    await page.locator('.error > p').waitFor();
    await lookAt(page, 'error');
    await field(page, 'name').fill('Ada');
    await page.keyboard.press('Enter');
    await hasFocus('colour');
    await page.keyboard.press('2');
    assert.equal(await page.locator('[name=colour]:checked').getAttribute('value'), 'Green');
    await page.keyboard.press('a');
    assert.equal(await page.locator('[name=colour]:checked').getAttribute('value'), 'Red');
    await page.keyboard.press('ArrowDown');
    assert.equal(await page.locator('[name=colour]:checked').getAttribute('value'), 'Green');
    await lookAt(page, 'options');
    await page.keyboard.press('Enter');
    await hasFocus('meals');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Space');
    await page.keyboard.press('3');
    await page.keyboard.press('Enter');
    await hasFocus('notes');
    await page.keyboard.type('One');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('two');
    await lookAt(page, 'text');
    await page.keyboard.press('Enter');
    await hasFocus('size');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await hasFocus('guests[0][guest]');
    await page.keyboard.type('Anni');
    await lookAt(page, 'group');
    await page.keyboard.press('Enter');
    await page.locator('.answers').first().waitFor();
    await page.goBack();
    await hasFocus('guests[0][guest]');
    await page.keyboard.press('Enter');
    await page.locator('.answers').first().waitFor();
    await page.keyboard.press('Tab');
    await page.locator('.actions .submit').click();
    await page.locator('.receipt').waitFor();
    const [submission] = await stage.submissions(form);
    assert.deepEqual(submission?.answers, {
      name: 'Ada',
      colour: 'Green',
      meals: ['Green', 'Blue'],
      notes: 'One\ntwo',
      size: 'Red',
      guests: [{ guest: 'Anni' }],
    });
    await stage.browser.leave(page);
  });
}

test('one question at a time: digit keys choose on a scale, and on a touch screen Enter adds a line', {
  skip: isSlice,
}, async () => {
  const scale = element('radio', 'score', { options: ['0', '1', '2', '3'], options_layout: 'row' });
  const form = await stage.publish([step('You', [scale, element('textarea', 'notes')])], {
    layout: 'question',
  });
  const page = await stage.visit(form, {
    isMobile: true,
    hasTouch: true,
    viewport: { width: 375, height: 700 },
  });
  await field(page, 'score').focus();
  await page.keyboard.press('2');
  assert.equal(await page.locator('[name=score]:checked').getAttribute('value'), '2');
  await page.keyboard.press('Enter');
  await until('the next question', async () => (await focusedId(page)) === 'notes');
  assert.equal(await page.locator('.count.keys').isVisible(), false);
  await page.keyboard.type('One');
  await page.keyboard.press('Enter');
  await page.keyboard.type('two');
  assert.equal(await field(page, 'notes').inputValue(), 'One\ntwo');
  await stage.browser.leave(page);
});

const focusedId = (page: Page): Promise<string> => page.evaluate('document.activeElement.id');

test('a question appears within 200 ms, and without motion if the visitor prefers reduced motion', {
  skip: isSlice,
}, async () => {
  const form = await stage.publish(questions, { layout: 'question' });
  const page = await stage.visit(form, motion);
  const motions = `document.querySelector('section.step:not([hidden])').getAnimations().map((each) => each.effect.getTiming().duration)`;
  await field(page, 'name').fill('Ada');
  const [moving] = await page.evaluate<number[]>(`document.querySelector('.next').click(), ${motions}`);
  assert.equal(moving, 200);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await pressButton(page, 'Back');
  assert.deepEqual(await page.evaluate(`document.querySelector('.next').click(), ${motions}`), []);
  await stage.browser.leave(page);
});

test('a form loads only the scripts of its layouts', { skip: isSlice }, async () => {
  const loadedBy = async (settings: Record<string, unknown>): Promise<string[]> => {
    const form = await stage.publish(questions, settings);
    const page = await stage.visit(form);
    const names = await page.evaluate<string[]>(
      `performance.getEntriesByType('resource').map(({ name }) => name)`,
    );
    await stage.browser.leave(page);
    return ['review', 'questions', 'shown-answers'].filter((name) =>
      names.some((address) => address.includes(`/${name}-`)),
    );
  };
  assert.deepEqual(await loadedBy({}), []);
  assert.deepEqual(await loadedBy({ review_step: true }), ['review']);
  assert.deepEqual(await loadedBy({ layout: 'question' }), ['questions']);
});

test('texts show answers as they are typed, in rows too, escaped, and are cleared with them', {
  skip: isSlice,
}, async () => {
  const form = await stage.publish([
    step('You', [
      element('text', 'name'),
      element('text', 'nick', { label: 'Nickname of {{name}}', required: true }),
      composite(
        'guests',
        [element('text', 'guest'), element('text', 'mail', { label: 'Mail of {{guest}}' })],
        {
          label: 'Guest of {{name}}',
          repeatable: true,
        },
      ),
    ]),
    step('Stay of {{name}}', [element('date', 'day')]),
    step('End', [element('text', 'why', { label: 'Why {{day}}?' })]),
  ]);
  const page = await stage.visit(form);
  const label = (name: string) => page.locator(`label[for="${name}"]`).innerText();
  const titles = () => page.locator('.one_row > legend').allInnerTexts();
  await field(page, 'name').fill('<b>Ada</b> {{nick}}');
  assert.equal(await label('nick'), 'Nickname of <b>Ada</b> {{nick}} (required)');
  assert.deepEqual(await titles(), ['Guest of <b>Ada</b> {{nick}} 1']);
  await field(page, 'guests[0][guest]').fill('Anni');
  await page.getByRole('button', { name: /^Add another/ }).click();
  await field(page, 'guests[1][guest]').fill('Otti');
  assert.deepEqual(
    [await label('guests[0][mail]'), await label('guests[1][mail]')],
    ['Mail of Anni', 'Mail of Otti'],
  );
  await pressButton(page, 'Next');
  assert.match(await page.locator('.summary a').innerText(), /^Nickname of <b>Ada<\/b> \{\{nick\}\}: /);
  await field(page, 'name').fill('');
  assert.equal((await label('nick')).trim(), 'Nickname of (required)');
  await field(page, 'name').fill('Ada');
  await field(page, 'nick').fill('A');
  await pressButton(page, 'Next');
  await headingHasFocus(page, 'Stay of Ada');
  await field(page, 'day').fill('2026-12-24');
  await pressButton(page, 'Next');
  await headingHasFocus(page, 'End');
  assert.equal(await label('why'), 'Why December 24, 2026?');
  assert.deepEqual(await findBarriers(page), []);
  await stage.browser.leave(page);
});
