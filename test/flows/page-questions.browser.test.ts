import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { isSlice } from '#test/cases.ts';
import { motion } from '#test/console-browser.ts';
import { until } from '#test/service.ts';
import { element } from '../ast/forms.ts';
import { step } from './page-script-form.ts';
import { errorOf, field, pressButton, stage } from './page-script-stage.ts';

/* One question at a time: focus, keys, swipes, motion, progress and the size of the page. */

const form = await stage.publish(
  [
    step('You', [
      element('text', 'name', { required: true }),
      element('radio', 'colour', { options: ['Red', 'Green', 'Blue'] }),
      element('textarea', 'notes'),
    ]),
  ],
  { layout: 'question' },
);
const focusedId = (page: Page): Promise<string> => page.evaluate('document.activeElement.id');
const hasFocus = (page: Page, id: string): Promise<boolean> =>
  until(`the focus on ${id}`, async () => (await focusedId(page)) === id);
const chosenColour = (page: Page): Promise<string | null> =>
  page.evaluate(`document.querySelector('[name=colour]:checked')?.value ?? null`);
const leaveFocus = (page: Page): Promise<void> => page.evaluate('document.activeElement.blur()');
const phone = { isMobile: true, hasTouch: true, viewport: { width: 375, height: 700 } } as const;

for (const script of ['with', 'without']) {
  test(`${script} the script, the first question fills the window and has the focus at load`, {
    skip: isSlice && script === 'without',
  }, async () => {
    const page = await stage.browser.open('/healthz', undefined, {
      isNew: true,
      javaScriptEnabled: script === 'with',
    });
    for (const [width, height] of [
      [1280, 800],
      [375, 667],
    ] as const) {
      await page.setViewportSize({ width, height });
      await page.goto(`${stage.service.url}/f/${form.id}`);
      const main = (await page.locator('main').boundingBox())!;
      assert.deepEqual([main.x, main.y, main.width], [0, 0, width]);
      assert.ok(main.height >= height, `${main.height} of ${height}`);
      const question = (await field(page, 'name').boundingBox())!;
      if (width > 640)
        assert.ok(Math.abs(question.y + question.height / 2 - height / 2) < height / 5, 'in the middle');
      await page.keyboard.type('Ada');
      assert.equal(await field(page, 'name').inputValue(), 'Ada');
      assert.equal(await page.getByText('Press Enter').isVisible(), script === 'with');
    }
    await page.keyboard.press('Enter');
    if (script === 'with') await hasFocus(page, 'colour');
    await page.locator('[name=colour]').first().waitFor();
    await page.keyboard.press('Space');
    assert.equal(await page.locator('[name=colour]').first().isChecked(), true);
    await page.context().close();
  });
}

test('a form for a frame is as high as its content', {
  skip: isSlice,
}, async () => {
  const page = await stage.visit(form, { query: '?_embed=1', viewport: { width: 800, height: 2000 } });
  assert.ok((await page.locator('main').boundingBox())!.height < 1000);
  await stage.browser.leave(page);
});

test('letters choose if the options have the focus, on an Arabic keyboard too, and Enter always continues', {
  skip: isSlice,
}, async () => {
  const page = await stage.visit(form);
  await page.keyboard.type('Ada');
  await page.keyboard.press('Enter');
  await hasFocus(page, 'colour');
  await page.keyboard.press('b');
  assert.equal(await chosenColour(page), 'Green');
  await page.evaluate(
    `document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'ؤ', code: 'KeyC', bubbles: true }))`,
  );
  assert.equal(await chosenColour(page), 'Blue');
  await leaveFocus(page);
  await page.keyboard.press('a');
  assert.equal(await chosenColour(page), 'Blue', 'a letter alone is no shortcut (WCAG 2.1.4)');
  await page.keyboard.press('Enter');
  await hasFocus(page, 'notes');
  await stage.browser.leave(page);
});

test('an error keeps the focus in its question and is announced', async () => {
  const page = await stage.visit(form);
  await page.keyboard.press('Enter');
  await until('the error', async () => (await errorOf(page, 'name').innerText()) !== '');
  assert.equal(await focusedId(page), 'name');
  assert.equal(await page.locator('.summary').count(), 0);
  assert.match(await page.title(), /^Error: /);
  const region = page.locator('[aria-live=polite]');
  await until('the announcement', async () => (await region.textContent()) === 'Enter your full name');
  await page.keyboard.type('Ada');
  await page.keyboard.press('Enter');
  await hasFocus(page, 'colour');
  assert.equal(await region.textContent(), '', 'the next question does not repeat it');
  await pressButton(page, 'Back');
  await hasFocus(page, 'name');
  await field(page, 'name').fill('');
  await pressButton(page, 'Next');
  await hasFocus(page, 'name');
  await stage.browser.leave(page);
});

/** Moves a finger across the page. */
async function swipe(
  page: Page,
  from: readonly [number, number],
  to: readonly [number, number],
): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const move = (type: 'touchStart' | 'touchMove' | 'touchEnd', points: (readonly [number, number])[]) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y]) => ({ x, y })) });
  await move('touchStart', [from]);
  await move('touchMove', [[(from[0] + to[0]) / 2, (from[1] + to[1]) / 2]]);
  await move('touchMove', [to]);
  await move('touchEnd', []);
  await session.detach();
}

for (const [lang, back, forward] of [
  ['en', [60, 300], [300, 300]],
  ['ar', [300, 300], [60, 300]],
] as const) {
  test(`a swipe goes back (${lang})`, { skip: isSlice && lang !== 'en' }, async () => {
    const page = await stage.visit(form, { ...phone, query: `?_lang=${lang}` });
    await field(page, 'name').fill('Ada');
    await page.locator('.next').click();
    await hasFocus(page, 'colour');
    await swipe(page, forward, back);
    await swipe(page, [200, 200], [220, 500]);
    await page.locator('.next').click();
    await hasFocus(page, 'notes');
    await swipe(page, back, forward);
    await hasFocus(page, 'colour');
    await stage.browser.leave(page);
  });
}

test('the bar is full only after sending, and a question comes from where it is', {
  skip: isSlice,
}, async () => {
  const page = await stage.visit(form, motion);
  // The window may be reused from a test that preferred reduced motion.
  await page.emulateMedia(motion);
  const bar = (): Promise<number> => page.evaluate(`document.querySelector('.progress progress').value`);
  const motionOf = (): Promise<string> =>
    page.evaluate(`getComputedStyle(document.querySelector('.step:not([hidden])')).animationName`);
  assert.equal(await bar(), 25);
  await page.keyboard.type('Ada');
  await page.keyboard.press('Enter');
  await hasFocus(page, 'colour');
  assert.deepEqual([await bar(), await motionOf()], [50, 'come']);
  await pressButton(page, 'Back');
  await hasFocus(page, 'name');
  assert.equal(await motionOf(), 'come-back');
  await page.keyboard.press('Enter');
  await hasFocus(page, 'colour');
  await page.keyboard.press('Enter');
  await hasFocus(page, 'notes');
  assert.equal(await bar(), 75);
  await page.keyboard.press('Enter');
  await page.locator('.receipt').waitFor();
  const full = `(() => { const { width, backgroundColor } = getComputedStyle(document.querySelector('main'), '::before');
    return [width, backgroundColor !== 'rgba(0, 0, 0, 0)']; })()`;
  assert.deepEqual(await page.evaluate(full), [`${await page.evaluate<number>('innerWidth')}px`, true]);
  await stage.browser.leave(page);
});
