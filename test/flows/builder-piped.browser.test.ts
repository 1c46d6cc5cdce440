import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addVisits } from '#submissions/visit-counter.ts';
import { isSlice } from '#test/cases.ts';
import { element } from '../ast/forms.ts';
import {
  draftOf,
  leave,
  make,
  openBuilder,
  part,
  problems,
  service,
  untilSaved,
  workspaceId,
} from './builder-page.ts';

/* Answers in texts (piping), translations and formatted texts: people read labels, never IDs or marks. */

const asked = [
  element('text', 'full_name', { label: 'Full name' }),
  element('radio', 'fit', { label: 'How well do you fit, {{full_name}}?', options: ['Well', 'Badly'] }),
];
const form = {
  type: 'form',
  attrs: { name: 'Job', description: 'Takes about **10 minutes**. [Help](https://example.org/help)' },
  children: [
    { type: 'step', attrs: { title: 'Start' }, children: asked },
    {
      type: 'step',
      attrs: { title: 'Experience, {{full_name}}' },
      children: [
        element('text', 'why', { label: 'Why', show_when: { element: 'fit', is: 'equals', value: 'Well' } }),
      ],
    },
  ],
};
const chip = '.piped';

test('a text that shows an answer has a chip with the label of its question', { skip: isSlice }, async () => {
  const id = await make(form, true);
  const page = await openBuilder(id);
  page.setDefaultTimeout(15_000);
  const steps = page.locator('.steps-list');
  await steps.locator(chip, { hasText: 'Full name' }).waitFor();
  await part(page, '“How well').locator('[data-answer]', { hasText: 'Full name' }).waitFor();
  await part(page, '“Why”').locator(chip, { hasText: 'Full name' }).waitFor();
  await part(page, '“Why”').click();
  const panel = page.getByRole('complementary', { name: 'Properties' });
  await panel.locator(`.logic-sentence ${chip}`, { hasText: 'Full name' }).waitFor();
  await panel.locator(`.select-button ${chip}`, { hasText: 'Full name' }).waitFor();
  assert.doesNotMatch((await page.locator('body').innerText()).replaceAll(/\s+/g, ' '), /full_name|\{\{/);

  // The chip follows the label of its question.
  await part(page, '“Full name”').click();
  await panel.getByLabel('Label', { exact: true }).fill('Your name');
  await steps.locator(chip, { hasText: 'Your name' }).waitFor();
  await part(page, '“How well').locator('[data-answer]', { hasText: 'Your name' }).waitFor();
  await part(page, '“How well').click();
  await panel.getByLabel('Required').first().click({ force: true });
  await untilSaved(
    page,
    'the change',
    async () => (await draftOf(id)).children![0]!.children![1]!.attrs!['required'],
  );
  await page.getByRole('button', { name: 'Publish' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Publish changes' });
  await dialog.locator(chip, { hasText: 'Your name' }).first().waitFor();
  assert.doesNotMatch(await dialog.innerText(), /full_name|\{\{/);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await leave(page);
});

test('the filter of a webhook and the drop-off by step name questions by their labels', {
  skip: isSlice,
}, async () => {
  const id = await make(form, true);
  await addVisits(service.services.database, {
    workspace_ids: [workspaceId],
    form_ids: [id],
    days: ['2026-01-31'],
    kinds: ['view'],
    names: [''],
    counts: [3],
  });
  const page = await openBuilder(id);
  page.setDefaultTimeout(15_000);
  await page.goto(`${service.url}/app/forms/${id}/summary`);
  await page.getByText('Drop-off by step').first().waitFor();
  await page.locator(chip, { hasText: 'Full name' }).first().waitFor();
  await page.goto(`${service.url}/app/forms/${id}/webhooks`);
  await page
    .getByRole('button', { name: /Add webhook|New webhook/ })
    .first()
    .click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('URL').first().fill('https://example.org/hook');
  await dialog.getByRole('button', { name: 'Add condition' }).click();
  await dialog.locator('.logic-comparison .select-button').first().click();
  await page
    .getByRole('option', { name: /How well do you fit/ })
    .locator(chip)
    .waitFor();
  await page.keyboard.press('Escape');
  await page.goto(`${service.url}/app/forms/${id}`);
  await page.locator('.canvas-body').waitFor({ state: 'attached' });
  await leave(page);
});

test('missing translations are named by their text', { skip: isSlice }, async () => {
  const id = await make({ ...form, attrs: { ...form.attrs, languages: ['en', 'de'] } });
  const page = await openBuilder(id);
  page.setDefaultTimeout(15_000);
  await page.getByRole('button', { name: 'Publish' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Publish this form' });
  const warning = dialog.getByRole('button', { name: /not translated/ });
  await warning.waitFor();
  assert.match(
    (await warning.innerText()).replaceAll(/[\u2068\u2069]/g, ''),
    /^9 of 9 texts are not translated into German: “Job”, “Takes about 10 minutes\..*”, “Start”/,
  );
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await leave(page);
});

test('a help text is formatted with buttons and keys, and the list of forms shows a description without marks', {
  skip: isSlice,
}, async () => {
  const id = await make(form);
  const page = await openBuilder(id);
  page.setDefaultTimeout(15_000);
  await part(page, '“Full name”').click();
  const panel = page.getByRole('complementary', { name: 'Properties' });
  const help = panel.getByLabel('Help text');
  await help.fill('As in your passport');
  for (let letter = 0; letter < 'passport'.length; letter += 1) await help.press('Shift+ArrowLeft');
  const tools = panel.getByRole('toolbar', { name: 'Formatting' });
  await tools.getByRole('button', { name: 'Bold' }).click();
  assert.equal(await help.inputValue(), 'As in your **passport**');
  await part(page, '“Full name”').locator('.help b', { hasText: 'passport' }).waitFor();
  assert.equal(await page.evaluate('String(getSelection())'), 'passport');
  await page.keyboard.press('Control+b');
  assert.equal(await help.inputValue(), 'As in your passport');
  await page.keyboard.press('Control+i');
  await part(page, '“Full name”').locator('.help i', { hasText: 'passport' }).waitFor();
  await page.keyboard.press('Control+i');
  await tools.getByRole('button', { name: 'Link' }).click();
  assert.equal(await help.inputValue(), 'As in your [passport](https://)');
  await page.keyboard.type('example.org');
  await part(page, '“Full name”')
    .locator('.help a[href="https://example.org"]', { hasText: 'passport' })
    .waitFor();
  await untilSaved(page, 'the help text', async () =>
    String((await draftOf(id)).children![0]!.children![0]!.attrs!['help_text']).includes('example.org'),
  );
  await page.goto(`${service.url}/app`);
  const row = page.getByRole('row', { name: /Job/ }).filter({ has: page.locator(`a[href*="${id}"]`) });
  await row.getByText('Takes about 10 minutes. Help').waitFor();
  await row.locator('b', { hasText: '10 minutes' }).waitFor();
  await page.goto(`${service.url}/app/forms/${id}`);
  await page.locator('.canvas-body').waitFor({ state: 'attached' });
  await leave(page);
});

test('the browser reported no errors', () => {
  assert.deepEqual(problems, []);
});
