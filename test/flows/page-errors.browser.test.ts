import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { storeImage } from '#forms/images/images.ts';
import { isSlice } from '#test/cases.ts';
import { until } from '#test/service.ts';
import { element } from '../ast/forms.ts';
import { step } from './page-script-form.ts';
import { field, headingHasFocus, pressButton, stage } from './page-script-stage.ts';

/* Errors of the public page: where the summary is, where the focus goes, and that fields stay aligned. */

const onePixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const required = { required: true };
const tops = async (page: Page, ...names: string[]): Promise<number[]> =>
  Promise.all(names.map(async (name) => Math.round((await field(page, name).boundingBox())!.y)));

for (const script of ['with', 'without']) {
  test(`${script} the script, the summary leaves the first question on the screen, and links lead to each`, {
    skip: isSlice && script === 'without',
  }, async () => {
    const image = await storeImage(
      stage.service.services,
      stage.tenant.workspaceId,
      Buffer.from(onePixel, 'base64'),
    );
    const names = ['name', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
    const form = await stage.publish(
      [
        step(
          'You',
          names.map((name) => element('text', name, required)),
        ),
        step('More', [element('text', 'end')]),
      ],
      { theme: { cover: image.id } },
    );
    const page = await stage.browser.open('/healthz', undefined, {
      isNew: true,
      javaScriptEnabled: script === 'with',
    });
    for (const [width, height] of [
      [375, 667],
      [1280, 800],
    ] as const) {
      await page.setViewportSize({ width, height });
      await page.goto(`${stage.service.url}/f/${form.id}`);
      await page.locator('.next').click();
      await page.locator('.summary:focus').waitFor();
      const summary = (await page.locator('.summary').boundingBox())!;
      const first = (await field(page, 'name').boundingBox())!;
      assert.ok(summary.y >= 0 && first.y + first.height <= height, `${summary.y}, ${first.y}`);
      await page.locator('.summary a').last().click();
      assert.equal(await page.evaluate(`document.activeElement.id || location.hash.slice(1)`), 'nine');
      const last = (await field(page, 'nine').boundingBox())!;
      assert.ok(last.y >= 0 && last.y + last.height <= height);
    }
    await page.context().close();
  });
}

test('the next step does not repeat an announced error', { skip: isSlice }, async () => {
  const form = await stage.publish([
    step('You', [element('email', 'mail'), element('text', 'other')]),
    step('Stay', [element('text', 'end')]),
  ]);
  const page = await stage.visit(form);
  const region = page.locator('[aria-live=polite]');
  await field(page, 'mail').fill('ada');
  await page.keyboard.press('Tab');
  await until('the announcement', async () => /Enter an email/.test((await region.textContent()) ?? ''));
  await field(page, 'mail').fill('ada@example.org');
  await pressButton(page, 'Next');
  await headingHasFocus(page, 'Stay');
  assert.equal(await region.textContent(), '');
  await stage.browser.leave(page);
});

for (const layout of ['row', 'grid_2']) {
  test(`fields side by side stay aligned in a ${layout}, whatever is above and below them`, {
    skip: isSlice,
  }, async () => {
    const long = 'The name by which your family and your friends have known you since you were a child';
    const form = await stage.publish([
      {
        type: 'step',
        attrs: { title: 'You', layout },
        children: [
          element('text', 'short', required),
          element('text', 'long', { label: long, max_length: 20, help_text: 'As in your passport.' }),
          element('email', 'mail', required),
          element('textarea', 'notes', { label: long }),
          element('dropdown', 'size', { label: long }),
          element('radio', 'colour'),
        ].slice(0, layout === 'row' ? 2 : 6),
      },
    ]);
    const page = await stage.visit(form, { viewport: { width: 900, height: 800 } });
    for (const state of ['empty', 'with errors']) {
      const [short, other] = await tops(page, 'short', 'long');
      assert.equal(short, other, state);
      if (layout !== 'row') {
        const [mail, notes, size] = await tops(page, 'mail', 'notes', 'size');
        assert.equal(mail, notes, state);
        assert.ok((await field(page, 'mail').boundingBox())!.height < 60, 'a line stays as high as a line');
        const gap = size! - (await field(page, 'notes').boundingBox())!.height - notes!;
        assert.ok(gap > 0 && gap < 120, `${gap}: the options do not stretch the fields beside them`);
      }
      await pressButton(page, 'Submit');
      await page.locator('.summary').waitFor();
    }
    await stage.browser.leave(page);
  });
}
