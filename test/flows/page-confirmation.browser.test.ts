import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatSubmissionReference } from '#ast/short-reference.ts';
import { isSlice } from '#test/cases.ts';
import { findBarriers } from '#test/console-browser.ts';
import { until } from '#test/service.ts';
import { element } from '../ast/forms.ts';
import { step } from './page-script-form.ts';
import { field, pressButton, stage } from './page-script-stage.ts';

/* The confirmation with a script: copying the reference and the edit link. */

const form = await stage.publish([step('Only', [element('text', 'name')])], { editing: true });

test('the reference and the edit link can be copied, and another response can be started', async () => {
  const page = await stage.visit(form);
  await field(page, 'name').fill('Ada');
  await pressButton(page, 'Submit');
  await page.waitForURL(/\/submitted\?receipt=/);
  const reference = formatSubmissionReference(new URL(page.url()).searchParams.get('receipt')!);
  const copied = () => page.evaluate<string>('navigator.clipboard.readText()');

  await pressButton(page, 'Copy Confirmation code');
  await page.locator('[aria-live=polite]').getByText('Copied').first().waitFor();
  assert.equal(await copied(), reference);
  await pressButton(page, 'Copy Change your answers');
  const path = await page.getByRole('link', { name: 'Change your answers' }).getAttribute('href');
  await until('the edit link', async () => (await copied()) === `${stage.service.url}${path}`);
  assert.deepEqual(await findBarriers(page), []);

  // Without a clipboard, as on pages without HTTPS, the browser copies a selection.
  await page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('no clipboard'))");
  await page.getByRole('button', { name: 'Confirmation code' }).click();
  await until('the reference', async () => (await copied()) === reference);

  await page.getByRole('link', { name: 'Submit another response' }).click();
  await field(page, 'name').waitFor();
  assert.equal(await field(page, 'name').inputValue(), '');
  await stage.browser.leave(page);
});

test('without a script, the confirmation has no Copy button', { skip: isSlice }, async () => {
  const page = await stage.browser.open(`/f/${form.id}`, undefined, { javaScriptEnabled: false });
  await pressButton(page, 'Submit');
  await page.locator('.receipt code').waitFor();
  assert.equal(await page.getByRole('button').count(), 0);
  await page.context().close();
});
