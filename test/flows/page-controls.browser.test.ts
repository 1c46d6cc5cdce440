import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { isSlice } from '#test/cases.ts';
import { findBarriers } from '#test/console-browser.ts';
import { makePhoto } from '#test/gallery/pictures.ts';
import { until } from '#test/service.ts';
import { element } from '../ast/forms.ts';
import { step } from './page-script-form.ts';
import { errorOf, field, pressButton, stage, wake } from './page-script-stage.ts';

/* Layout and behavior of a public page's controls: choices, files, counters, and the way to them. */

const eleven = Array.from({ length: 11 }, (_, index) => String(index));
const form = await stage.publish([
  step('First', [
    element('radio', 'score', { options: eleven, options_layout: 'row', label: 'How likely?' }),
    element('yes_no', 'sure'),
    element('multiple_choice', 'days', { options: ['Mon', 'Tue', 'Wed', 'Thu'], options_layout: 'grid_4' }),
    element('radio', 'guild', { options: ['Weavers', 'Dyers'], other: true }),
    element('file_upload', 'photo', { accept: ['image/*'] }),
    element('textarea', 'note', { max_length: 10 }),
  ]),
  step('Second', [element('text', 'name')]),
]);

const boxesOf = (
  page: Page,
  name: string,
): Promise<{ x: number; y: number; width: number; height: number }[]> =>
  page.evaluate(`[...document.getElementsByName(${JSON.stringify(name)})].filter((each) => each.value !== '')
    .map((each) => { const { x, y, width, height } = each.closest('label').getBoundingClientRect(); return { x, y, width, height }; })`);

test('eleven short options fit one row at 768 px, targets are 44 px at 320 px, and a grid has its columns', {
  skip: isSlice,
}, async () => {
  const wide = await stage.browser.open(`/f/${form.id}`, undefined, {
    viewport: { width: 768, height: 900 },
  });
  assert.equal(new Set((await boxesOf(wide, 'score')).map(({ y }) => y)).size, 1);
  assert.equal(new Set((await boxesOf(wide, 'days')).map(({ y }) => y)).size, 1);
  await stage.browser.leave(wide);
  const narrow = await stage.browser.open(`/f/${form.id}`, undefined, {
    viewport: { width: 320, height: 700 },
  });
  for (const { width, height } of await boxesOf(narrow, 'score'))
    assert.ok(width >= 44 && height >= 44, `${width} × ${height}`);
  assert.ok((await narrow.evaluate<number>('document.documentElement.scrollWidth')) <= 320);
  await stage.browser.leave(narrow);
});

const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

test('a file field has one button, in the language and direction of the page, and previews images', {
  skip: isSlice,
}, async () => {
  const page = await stage.visit(form, { query: '?_lang=ar', locale: 'en-US' });
  const zone = page.locator('.zone');
  assert.match(await zone.innerText(), /اختر ملفات/);
  const [control, text] = [await field(page, 'photo').boundingBox(), await zone.boundingBox()];
  assert.ok(text!.y >= control!.y && text!.y + text!.height <= control!.y + control!.height + 1);
  const native = `getComputedStyle(document.getElementById('photo'), '::file-selector-button').display`;
  assert.equal(await page.evaluate(native), 'none');
  await field(page, 'photo').setInputFiles({ name: 'me.png', mimeType: 'image/png', buffer: pixel });
  await page.locator('.held img').waitFor();
  await until('the picture', () =>
    page.evaluate<boolean>(`document.querySelector('.held img').naturalWidth === 1`),
  );
  await page.locator('.held [type=hidden]').waitFor({ state: 'attached' });
  assert.deepEqual(await findBarriers(page), []);
  await stage.browser.leave(page);
});

test('after the first step, the first control is within 220 px of the top of a phone', {
  skip: isSlice,
}, async () => {
  const page = await stage.visit(form, { viewport: { width: 375, height: 667 } });
  await pressButton(page, 'Next');
  await field(page, 'name').waitFor();
  const { y } = (await field(page, 'name').boundingBox())!;
  assert.ok(y <= 220, `${y} px`);
  assert.deepEqual(await findBarriers(page), []);
  await stage.browser.leave(page);
});

test('remaining characters are counted, and announced when the visitor pauses near the limit', {
  skip: isSlice,
}, async () => {
  const page = await stage.visit(form);
  const count = page.locator('[id="count~note"]');
  assert.equal(await count.innerText(), 'Up to 10 characters.');
  await field(page, 'note').fill('Nine lett');
  assert.equal(await count.innerText(), '1 character left');
  await page.locator('[aria-live=polite]').getByText('1 character left').waitFor();
  await field(page, 'note').fill('Twelve lette');
  assert.equal(await count.innerText(), '2 characters too many');
  await pressButton(page, 'Next');
  await errorOf(page, 'note').getByText('Use at most 10 characters').waitFor();
  await stage.browser.leave(page);
});

test('a printed page shows every step and no buttons', { skip: isSlice }, async () => {
  const page = await stage.visit(form);
  const second = page.getByRole('heading', { name: 'Second' });
  assert.equal(await second.isVisible(), false);
  await page.emulateMedia({ media: 'print' });
  assert.equal(await second.isVisible(), true);
  assert.equal(await field(page, 'name').isVisible(), true);
  assert.equal(await page.locator('button:visible').count(), 0);
  await stage.browser.leave(page);
});

const { body: uploaded } = await stage.tenant.call('POST', '/images', await makePhoto([320, 240]));
const image = uploaded.id;
const rated = await stage.publish([
  step('Opinion', [
    element('rating', 'stay', { required: true, low_label: 'Poor', high_label: 'Great' }),
    element('rating', 'food', { levels: 10, symbol: 'hearts' }),
    element('rating', 'room', { levels: 3, symbol: 'numbers' }),
    element('ranking', 'colours'),
    element('picture_choice', 'motif', {
      options: [
        'Waves',
        { id: 'l', label: 'Leaves', image },
        { id: 's', label: 'Stars', image, capacity: 9 },
      ],
      required: true,
    }),
    element('matrix', 'drinks', { required: true, rows: ['Tea', 'Coffee & milk'] }),
  ]),
]);

for (const javaScriptEnabled of [true, false]) {
  test(`ratings, pictures and matrix rows are chosen and options ranked by keyboard, in one row at 320 px in both directions, ${javaScriptEnabled ? 'with' : 'without'} a script`, {
    skip: isSlice && !javaScriptEnabled,
  }, async () => {
    const viewport = { width: 320, height: 700 };
    const page = await stage.browser.open(`/f/${rated.id}?_lang=ar`, undefined, {
      javaScriptEnabled,
      viewport,
    });
    for (const name of javaScriptEnabled ? ['stay', 'food', 'room'] : []) {
      const boxes = await boxesOf(page, name);
      assert.equal(new Set(boxes.map(({ y }) => y)).size, 1, name);
      for (const { width, height } of boxes) assert.ok(width >= 24 && height >= 44, `${width} × ${height}`);
      assert.ok(boxes[0]!.x > boxes.at(-1)!.x, 'the lowest is at the right');
    }
    if (javaScriptEnabled) assert.deepEqual(await findBarriers(page), []);
    await pressButton(page, 'إرسال');
    await errorOf(page, 'stay').getByText('اختر').waitFor();
    await page.getByRole('radio', { name: '1 – Poor' }).focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowDown');
    assert.equal(await page.getByRole('radio', { name: '2', exact: true }).first().isChecked(), true);
    await page.getByRole('radio', { name: '5 – Great' }).check();
    await page.locator('[name=food][value="10"]').check();
    await page.getByRole('button', { name: 'نقل Blue إلى أعلى' }).click();
    if (!javaScriptEnabled) await page.waitForLoadState();
    await page.getByRole('button', { name: 'نقل Green إلى أسفل' }).click();
    await page.locator('[name^="drinks["]').first().press('Space');
    await page.locator('[name^="drinks["]').first().press('ArrowDown');
    await page.getByRole('radio', { name: 'Waves' }).press('ArrowDown');
    assert.equal(await page.getByRole('radio', { name: 'Leaves' }).isChecked(), true);
    await page.getByText('Stars').click();
    await pressButton(page, 'إرسال');
    await errorOf(page, 'drinks').getByText('Coffee & milk').waitFor();
    await page.getByRole('radio', { name: 'Coffee & milk: Red', exact: true }).check();
    await pressButton(page, 'إرسال');
    await page.locator('.done').waitFor();
    await stage.browser.leave(page);
    const [submission] = await stage.submissions(rated);
    assert.deepEqual(submission?.answers, {
      stay: 5,
      food: 10,
      colours: ['Red', 'Blue', 'Green'],
      motif: ['s'],
      drinks: { Tea: 'Green', 'Coffee & milk': 'Red' },
    });
  });
}

const contract = await stage.publish([
  step('Contract', [element('signature', 'sign', { required: true }), element('signature', 'witness')]),
  step('End', [element('text', 'note')]),
]);

test('a signature can be drawn or typed, is sent by Next, is kept over a reload and can be cleared', {
  skip: isSlice,
}, async () => {
  const page = await stage.visit(contract, { viewport: { width: 320, height: 900 } });
  const pad = page.locator('.pad canvas').first();
  const draw = async (): Promise<void> => {
    const { x, y, width, height } = (await pad.boundingBox())!;
    await page.mouse.move(x + 20, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width - 20, y + height / 3, { steps: 5 });
    await page.mouse.up();
  };
  await draw();
  await page.getByRole('button', { name: 'Clear The sign' }).click();
  await pressButton(page, 'Next');
  await errorOf(page, 'sign').getByText('Sign, or type your name').waitFor();
  await draw();
  await page.getByLabel('Or type your name').nth(1).fill('Anni Albers');
  assert.deepEqual(await findBarriers(page), []);
  await pressButton(page, 'Next');
  await field(page, 'note').waitFor();
  await page.reload();
  await wake(page);
  await pressButton(page, 'Back');
  await page.locator('.pad.drawn + .held').first().waitFor({ state: 'attached' });
  const pixels = `document.querySelector('.pad canvas').getContext('2d').getImageData(0, 0, 300, 100).data`;
  // The signature is redrawn in the first frame in which its pad has a size.
  await until('the signature', () => page.evaluate<boolean>(`${pixels}.some((part) => part > 0)`));
  assert.equal(await field(page, 'witness').inputValue(), 'Anni Albers');
  await pressButton(page, 'Next');
  await pressButton(page, 'Submit');
  await page.locator('.done').waitFor();
  await stage.browser.leave(page);
  const [submission] = await stage.submissions(contract);
  const { sign, witness } = submission!.answers as Record<'sign' | 'witness', Record<string, unknown>[]>;
  const facts = [sign, witness].map((files) => files.map((file) => [file['filename'], file['content_type']]));
  assert.deepEqual(facts, [[['signature.png', 'image/png']], [['Anni Albers.png', 'image/png']]]);
});
