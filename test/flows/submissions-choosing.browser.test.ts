import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element } from '../ast/forms.ts';
import { isSlice } from '../cases.ts';
import { holdToast } from '../console-browser.ts';
import { until } from '../service.ts';
import { insertMany } from '../submissions/scene.ts';
import { leave, makeForm, person, service, show, submit, tenant } from './submissions-stage.ts';

/* An editor's choices change nothing else: custom answers, rows and keys. */

test('a custom answer is shown, stays when other options are selected, and can be changed', {
  skip: isSlice,
}, async () => {
  const form = await makeForm([
    element('radio', 'colour', { label: 'Colour', other: true }),
    element('multiple_choice', 'tones', { label: 'Tones', other: true }),
    element('dropdown', 'shade', { label: 'Shade', other: true }),
  ]);
  const id = await submit(form, { colour: 'Mauve', tones: ['Red', 'Teal'] });
  const page = await show(`/forms/${form}/submissions?open=${id}`);
  const answers = async () => (await tenant.call('GET', `/submissions/${id}`)).body.answers;
  await page.getByRole('button', { name: 'Edit answers' }).click();
  assert.equal(await page.getByLabel('Colour: other answer').inputValue(), 'Mauve');
  await page.getByRole('group', { name: 'Tones' }).getByText('Blue').click();
  await page.getByRole('button', { name: 'No answer Shade' }).click();
  await page.getByRole('option', { name: 'Other' }).click();
  await page.getByLabel('Shade: other answer').fill('Red');
  await page.getByLabel('Shade: other answer').fill('Reddish');
  await page.getByRole('button', { name: 'Save answers' }).click();
  await page.getByText('Saved.').waitFor();
  assert.deepEqual(await answers(), { colour: 'Mauve', tones: ['Red', 'Blue', 'Teal'], shade: 'Reddish' });

  await page.getByRole('button', { name: 'Edit answers' }).click();
  await page.getByLabel('Tones: other answer').fill('Ochre');
  await page.getByRole('button', { name: 'Other Colour' }).click();
  await page.getByRole('option', { name: 'Green' }).click();
  await page.getByLabel('Colour: other answer').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Save answers' }).click();
  await until('the second edit', async () => (await answers())['colour'] === 'Green');
  assert.deepEqual((await answers())['tones'], ['Red', 'Blue', 'Ochre']);
  await leave(page);
});

test('a row that is deselected after selecting all is not deleted with them', async () => {
  const form = await makeForm([element('text', 'name', { label: 'Name' })]);
  await Promise.all(Array.from({ length: 52 }, (_, index) => submit(form, { name: `Person ${index}` })));
  const page = await show(`/forms/${form}/submissions`);
  await page.getByText('1–50 of 52').waitFor();
  await page.locator('label:has(input[aria-label="Select all submissions on this page"])').click();
  await page.getByRole('button', { name: 'Select all 52' }).click();
  const bar = page.getByRole('region', { name: 'Selection' });
  await bar.getByText('All 52 submissions are selected').waitFor();
  await page.locator('.sheet-row label').first().click();
  await bar.getByText('49 submissions selected').waitFor();
  await bar.getByRole('button', { name: 'Delete' }).click();
  // A selection requires no typed confirmation, because one press undoes the deletion.
  await page.getByRole('button', { name: 'Delete 49 submissions' }).click();
  const toast = await holdToast(page, '49 submissions were moved to the trash');
  await until('three to be left', async () => (await page.locator('.sheet-row').count()) === 3);
  await toast.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('1–50 of 52').waitFor();
  await leave(page);
});

test('more than 1,000 rows can be selected page by page, but a deletion accepts at most 1,000 or all', {
  skip: isSlice,
}, async () => {
  const form = await makeForm([element('text', 'name', { label: 'Name' })]);
  const count = 1_051;
  await insertMany(service.services.database, {
    workspaceId: tenant.workspaceId,
    formId: form,
    version: 1,
    answers: { name: 'Ada' },
    since: new Date('2026-02-01T10:00:00Z'),
    count,
  });
  // Draws twenty pages, so it filters the rows and shows few columns.
  const hidden = ['$status', '$tags', '$reference'];
  const arrangement = { order: [], hidden, widths: {}, pinned: 0, is_tall: false };
  assert.equal((await person.call('PUT', `/forms/${form}/arrangement`, arrangement)).status, 204);
  const where = encodeURIComponent(JSON.stringify([{ on: 'answer', name: 'name', op: 'filled' }]));
  const page = await show(`/forms/${form}/submissions?where=${where}`);
  const bar = page.getByRole('region', { name: 'Selection' });
  const all = page.locator('label:has(input[aria-label="Select all submissions on this page"])');
  const pager = page.locator('.pager');
  const next = pager.getByRole('button', { name: 'Next page' });
  /**
   * Asserts that the label shows the current page until the next one has loaded. Otherwise "Select all" would
   * deselect the current rows.
   */
  const seeRowsNamed = async (): Promise<void> => {
    const second = /[?&]page=2(?:&|$)/;
    const { promise: release, resolve } = Promise.withResolvers<void>();
    await page.route(second, (route) => release.then(() => route.continue()), { times: 1 });
    const asked = page.waitForRequest(second);
    await next.click();
    await asked;
    assert.equal(await pager.getByText('1–50 of 1,051', { exact: true }).isVisible(), true);
    resolve();
    await pager.getByText('51–100 of 1,051').waitFor();
    await pager.getByRole('button', { name: 'Previous page' }).click();
    await pager.getByText('1–50 of 1,051').waitFor();
  };
  for (let ticked = 50; ticked <= 1_050; ticked += 50) {
    await pager.getByText(`${(ticked - 49).toLocaleString()}–${ticked.toLocaleString()} of 1,051`).waitFor();
    await all.click();
    await bar.getByText(`${ticked.toLocaleString()} submissions selected`).waitFor();
    if (ticked === 50) await seeRowsNamed();
    if (ticked < 1_050) await next.press('Enter');
  }
  await bar.getByText('1,050 submissions selected: select at most 1,000, or all').waitFor();
  const remove = bar.getByRole('button', { name: 'Delete' });
  assert.equal(await remove.isDisabled(), true);
  await all.click();
  await bar.getByText('1,000 submissions selected', { exact: true }).waitFor();
  assert.equal(await remove.isDisabled(), false);
  await bar.getByRole('button', { name: 'Select all 1,051 matching' }).click();
  await bar.getByText('All 1,051 submissions in this view are selected').waitFor();
  await remove.click();
  await page.getByRole('button', { name: 'Delete 1,051 submissions' }).click();
  await holdToast(page, '1,051 submissions were moved to the trash');
  await leave(page);
});

test('keys in a dialog over the table do not open another submission behind it', {
  skip: isSlice,
}, async () => {
  const form = await makeForm();
  const older = await submit(form, { name: 'Ada' });
  const newer = await submit(form, { name: 'Ben' });
  const page = await show(`/forms/${form}/submissions?open=${newer}`);
  const opened = () => new URL(page.url()).searchParams.get('open');
  await page.getByRole('region', { name: 'Answers' }).getByText('Ben').waitFor();
  await page.getByRole('button', { name: 'Columns', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Columns' });
  await dialog.getByRole('button', { name: 'Done' }).focus();
  await page.keyboard.press('j');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  assert.equal(opened(), newer);
  await page.keyboard.press('j');
  await until('the older one', () => Promise.resolve(opened() === older));
  await leave(page);
});

test('an import of answers shows a preview of its file, and then what it left out', async () => {
  const form = await makeForm([
    element('text', 'name', { label: 'Name', required: true }),
    element('number', 'age', { label: 'Age' }),
  ]);
  const page = await show(`/forms/${form}/submissions`);
  await page.getByRole('link', { name: 'Import' }).click();
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Choose file' }).click();
  const text = 'Name,Age,Submitted at\nAda,36,31.01.2026 10:00\nBen,old,1.2.2026 9:30\n';
  await (await chooser).setFiles({ name: 'answers.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
  await page.getByRole('list', { name: 'Problems in the file' }).getByText('Line 3').waitFor();
  await page.getByRole('button', { name: 'Import 1 submission' }).click();
  await page.getByText('The last import created 1 submission').waitFor();
  const [row] = (await tenant.call('GET', `/forms/${form}/submissions`)).body.data;
  assert.deepEqual([row!.answers, row!.completed_at], [{ name: 'Ada', age: 36 }, '2026-01-31T10:00:00.000Z']);
  await leave(page);
});
