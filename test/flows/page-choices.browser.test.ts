import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { isSlice } from '#test/cases.ts';
import { findBarriers } from '#test/console-browser.ts';
import { until } from '#test/service.ts';
import { element } from '../ast/forms.ts';
import { step } from './page-script-form.ts';
import { errorOf, field, pressButton, stage, wake } from './page-script-stage.ts';

/* Choosing on a public page: clearing a choice, ranking, ratings, sliders, and search in long dropdowns. */

const form = await stage.publish([
  step('First', [
    element('radio', 'score', { options: ['1', '2', '3'], options_layout: 'row', label: 'How likely?' }),
    element('yes_no', 'sure'),
    element('radio', 'guild', { options: ['Weavers', 'Dyers'], required: true }),
    element('matrix', 'drinks', { rows: ['Tea'], options: ['Hot', 'Cold'] }),
  ]),
]);

const announced = (page: Page, text: string): Promise<void> =>
  page.locator('main [aria-live=polite]').getByText(text).waitFor();

async function answersOf(of: typeof form, page: Page): Promise<unknown> {
  await pressButton(page, 'Submit');
  await page.waitForURL(/\/submitted/);
  await stage.browser.leave(page);
  return (await stage.submissions(of))[0]?.answers;
}

test('a second click, Delete and Backspace clear optional choices only', async () => {
  const page = await stage.visit(form);
  assert.equal(await page.getByText('No answer').count(), 0);
  const [score, yes, weavers] = [field(page, 'score'), field(page, 'sure'), field(page, 'guild')];
  await score.press('Space');
  await page.getByText('How likely?').click();
  await page.locator('label', { has: score }).click();
  assert.equal(await score.isChecked(), false);
  await announced(page, 'No answer');
  await score.press('Space');
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.getByRole('radio', { name: '2', exact: true }).isChecked(), true);
  await page.keyboard.press('Delete');
  await yes.check();
  await yes.press('Space');
  assert.equal(await yes.isChecked(), true, 'because Space chooses');
  await yes.click();
  assert.equal(await yes.isChecked(), false);
  await page.getByRole('radio', { name: 'Tea: Hot' }).click();
  await page.keyboard.press('Backspace');
  await weavers.click();
  await weavers.click();
  await page.keyboard.press('Delete');
  assert.deepEqual(await answersOf(form, page), { guild: 'Weavers' });
});

test('without a script, "No answer" clears a choice and is shown only beside one', {
  skip: isSlice,
}, async () => {
  const page = await stage.browser.open(`/f/${form.id}`, undefined, { javaScriptEnabled: false });
  const none = page.locator('fieldset', { has: field(page, 'score') }).getByLabel('No answer');
  assert.equal(await none.isVisible(), false);
  await field(page, 'score').check();
  await field(page, 'guild').check();
  await none.click();
  assert.deepEqual(await answersOf(form, page), { guild: 'Weavers' });
});

const ranked = await stage.publish([
  step('Colors', [
    element('ranking', 'best', { options: ['Madder', 'Weld', 'Indigo', 'Walnut'] }),
    element('ranking', 'worst', { options: ['Mud', 'Rust'], required: true }),
    element('text', 'note'),
  ]),
]);
const orderOf = (page: Page): Promise<string[]> =>
  page.locator('.ranks').first().locator('.option > span').allInnerTexts();
const box = async (page: Page, option: string) =>
  (await page.locator('.ranks > .option', { hasText: option }).boundingBox())!;

test('options are ranked by dragging, with buttons, with arrow keys, or by accepting the order', {
  skip: isSlice,
}, async () => {
  const page = await stage.visit(ranked);
  assert.deepEqual(await findBarriers(page), []);
  const [from, to] = [await box(page, 'Walnut'), await box(page, 'Madder')];
  await page.mouse.move(from.x + 90, from.y + 20);
  await page.mouse.down();
  await page.mouse.move(to.x + 90, to.y + 6, { steps: 8 });
  await page.mouse.up();
  await announced(page, 'Walnut: 1 of 4');
  assert.deepEqual(await orderOf(page), ['Walnut', 'Madder', 'Weld', 'Indigo']);
  await page.getByRole('button', { name: 'Move Weld up' }).click();
  await announced(page, 'Weld: 2 of 4');
  await page.keyboard.press('End');
  await announced(page, 'Weld: 4 of 4');
  await page.keyboard.press('ArrowUp');
  assert.deepEqual(await orderOf(page), ['Walnut', 'Madder', 'Weld', 'Indigo']);
  await until('the answers to be kept', async () =>
    (await page.evaluate<string>('JSON.stringify(sessionStorage)')).includes('Walnut'),
  );
  await page.reload();
  await wake(page);
  assert.deepEqual(await orderOf(page), ['Walnut', 'Madder', 'Weld', 'Indigo']);
  await pressButton(page, 'Submit');
  await errorOf(page, 'worst').getByText('Put all options in order').waitFor();
  await page.getByRole('link', { name: /worst/ }).click();
  assert.equal(await page.evaluate('document.activeElement.id'), 'worst');
  await pressButton(page, 'Use this order');
  await until('no error', async () => (await errorOf(page, 'worst').innerText()) === '');
  assert.deepEqual(await findBarriers(page), []);
  assert.deepEqual(await answersOf(ranked, page), {
    best: ['Walnut', 'Madder', 'Weld', 'Indigo'],
    worst: ['Mud', 'Rust'],
  });
});

test('a finger drags an option by its handle, and a cleared ranking has no answer', {
  skip: isSlice,
}, async () => {
  const page = await stage.visit(ranked, { hasTouch: true, viewport: { width: 375, height: 700 } });
  const drag = `(option, other) => {
    const [item, to] = [option, other].map((text) => [...document.querySelectorAll('.ranks > .option')].find((each) => each.innerText.includes(text)));
    const handle = item.querySelector('svg');
    item.setPointerCapture = () => {};
    const send = (type, of, y) => of.dispatchEvent(new PointerEvent(type, { bubbles: true, isPrimary: true, pointerType: 'touch', clientY: y }));
    const [start, end] = [item, to].map((each) => each.getBoundingClientRect());
    send('pointerdown', handle, start.y + 20);
    for (const part of [0.3, 0.6, 1]) send('pointermove', item, start.y + 20 + (end.bottom - start.y - 20) * part);
    send('pointerup', item, end.bottom);
  }`;
  await page.evaluate(`(${drag})('Madder', 'Weld')`);
  assert.deepEqual(await orderOf(page), ['Weld', 'Madder', 'Indigo', 'Walnut']);
  await page.getByRole('button', { name: 'Clear' }).click();
  await announced(page, 'No answer');
  await page.getByRole('button', { name: 'Move Rust up' }).click();
  assert.deepEqual(await answersOf(ranked, page), { worst: ['Rust', 'Mud'] });
});

const levels = await stage.publish([
  step('Levels', [
    element('rating', 'stars', { low_label: 'Poor' }),
    element('rating', 'mood', { symbol: 'smileys' }),
    element('scale', 'effort', { display: 'slider', high_label: 'Much' }),
    element('scale', 'again', { display: 'slider', required: true, from: 1, to: 5 }),
  ]),
]);
/** Counts the icons that are filled. */
const filled = (page: Page): Promise<number> =>
  page.evaluate(`[...document.getElementsByName('stars')].filter((each) =>
    !/, 0\\)|none/.test(getComputedStyle(each.closest('label').querySelector('svg')).fill)).length`);

test('stars are drawn without a font, show the hovered rating and follow arrow keys', {
  skip: isSlice,
}, async () => {
  const page = await stage.visit(levels);
  assert.equal(await page.locator('[name=stars] + span svg').count(), 5);
  assert.equal(await filled(page), 0);
  await page.locator('label', { has: page.locator('[name=stars][value="4"]') }).hover();
  assert.equal(await filled(page), 4);
  await page.locator('[name=stars][value="2"]').check();
  await page.keyboard.press('ArrowRight');
  await page.mouse.move(5, 5);
  assert.equal(await filled(page), 3);
  await page.getByRole('radio', { name: '1 – Poor' }).waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await stage.browser.leave(page);
});

for (const query of ['', '?_lang=ar']) {
  test(`a slider shows its value, has none until it is moved, and can be cleared (${query || 'left to right'})`, {
    skip: isSlice && query !== '',
  }, async () => {
    const page = await stage.visit(levels, { query, viewport: { width: 320, height: 700 } });
    const [effort, again] = [field(page, 'effort'), field(page, 'again')];
    const none = query ? 'بلا إجابة' : 'No answer';
    assert.equal(await effort.getAttribute('aria-valuetext'), none);
    assert.ok((await page.evaluate<number>('document.documentElement.scrollWidth')) <= 320);
    assert.deepEqual(await findBarriers(page), []);
    await page.locator('.submit').click();
    await errorOf(page, 'again').locator('p').waitFor();
    assert.equal(await again.getAttribute('aria-invalid'), 'true');
    await again.press('Space');
    await until('no error', async () => (await errorOf(page, 'again').innerText()) === '');
    assert.equal(await again.getAttribute('aria-invalid'), null);
    await again.press('ArrowUp');
    const outputs = page.locator('.slider output');
    assert.deepEqual(await outputs.allInnerTexts(), ['–', '4']);
    await effort.press('End');
    assert.equal(await effort.getAttribute('aria-valuetext'), '10 – Much');
    await effort.press('Delete');
    assert.deepEqual(await outputs.allInnerTexts(), ['–', '4']);
    await page.locator('[name=mood][value="5"]').check();
    await page.locator('.submit').click();
    await page.waitForURL(/\/submitted/);
    await stage.browser.leave(page);
    assert.deepEqual((await stage.submissions(levels))[0]?.answers, { mood: 5, again: 4 });
  });
}

const conditional = await stage.publish([
  step('One', [
    element('yes_no', 'strict'),
    ...[
      element('ranking', 'order', { options: ['Red', 'Blue'] }),
      element('scale', 'level', { display: 'slider' }),
    ].map(({ attrs, ...node }) => ({
      ...node,
      attrs: { ...attrs, require_when: { element: 'strict', is: 'equals', value: true } },
    })),
  ]),
]);

test('an answer that a condition requires cannot be cleared', async () => {
  const page = await stage.visit(conditional);
  const clears = page.getByRole('button', { name: 'Clear' });
  await page.getByRole('button', { name: 'Use this order' }).click();
  await field(page, 'level').press('End');
  assert.equal(await clears.count(), 2);
  await page.getByRole('radio', { name: 'Yes' }).check();
  assert.equal(await clears.count(), 0);
  await field(page, 'level').press('Delete');
  assert.deepEqual(await answersOf(conditional, page), { strict: true, order: ['Red', 'Blue'], level: 10 });
});

test('without a script, a slider is a row of numbers', { skip: isSlice }, async () => {
  const page = await stage.browser.open(`/f/${levels.id}`, undefined, { javaScriptEnabled: false });
  assert.equal(await page.locator('.slider:visible').count(), 0);
  await page.locator('[name=again][value="2"]').check();
  assert.deepEqual(await answersOf(levels, page), { again: 2 });
});

const regions = Array.from({ length: 500 }, (_, index) => `Region ${String(index).padStart(3, '0')}`);
const long = await stage.publish([
  step('One', [
    element('dropdown', 'region', { options: regions, placeholder: 'Where from?', required: true }),
    element('text', 'note'),
  ]),
]);

test('a long dropdown is searched by keyboard, without accents, and keeps only its own entries', async () => {
  const page = await stage.visit(long);
  const region = page.getByRole('combobox', { name: 'The region' });
  assert.equal(await region.getAttribute('placeholder'), 'Where from?');
  await pressButton(page, 'Submit');
  await errorOf(page, 'region').getByText('Choose an option').waitFor();
  assert.equal(await region.getAttribute('aria-invalid'), 'true');
  await region.fill('région 42');
  const options = page.getByRole('option');
  assert.equal(await options.count(), 10);
  assert.deepEqual(await findBarriers(page), []);
  await region.press('ArrowDown');
  await region.press('Enter');
  assert.equal(await region.inputValue(), 'Region 421');
  assert.equal(await options.count(), 0);
  await until('no error', async () => (await errorOf(page, 'region').innerText()) === '');
  assert.equal(await region.getAttribute('aria-invalid'), null);
  await region.fill('Atlantis');
  await announced(page, 'No matches');
  await field(page, 'note').focus();
  assert.equal(await region.inputValue(), 'Region 421', 'which was chosen before');
  await region.fill('');
  await field(page, 'note').focus();
  await errorOf(page, 'region').getByText('Choose an option').waitFor();
  await region.click();
  await page.getByRole('option', { name: 'Region 007' }).click();
  await region.press('ArrowDown');
  await region.press('Escape');
  assert.equal(await region.inputValue(), 'Region 007');
  assert.deepEqual(await answersOf(long, page), { region: 'Region 007' });
});

const plain: BrowserContextOptions = { javaScriptEnabled: false };

test('without a script, a long dropdown is a native select, and its first entry clears the choice', {
  skip: isSlice,
}, async () => {
  const page = await stage.browser.open(`/f/${long.id}`, undefined, plain);
  const region = page.getByRole('combobox', { name: 'The region' });
  assert.equal(await region.locator(':checked').innerText(), 'Where from?');
  await region.focus();
  await page.keyboard.type('Region 42');
  assert.equal(await region.inputValue(), 'Region 420');
  await page.keyboard.press('Home');
  assert.equal(await region.inputValue(), '');
  await stage.browser.leave(page);
});

test('without a script, the buttons of a ranking move an option and keep the focus', {
  skip: isSlice,
}, async () => {
  const page = await stage.browser.open(`/f/${ranked.id}`, undefined, plain);
  await page.getByRole('button', { name: 'Move Indigo up' }).click();
  await page.locator('button:focus').getByText('Move Indigo up').waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.ranks > .option:first-child:has-text("Indigo")').waitFor();
  await page.getByRole('button', { name: 'Use this order' }).click();
  await page.getByRole('button', { name: 'Use this order' }).waitFor({ state: 'hidden' });
  assert.deepEqual(await answersOf(ranked, page), {
    best: ['Indigo', 'Madder', 'Weld', 'Walnut'],
    worst: ['Mud', 'Rust'],
  });
});
