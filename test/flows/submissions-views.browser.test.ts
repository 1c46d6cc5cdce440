import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import sharp from 'sharp';
import { element } from '../ast/forms.ts';
import { isSlice } from '../cases.ts';
import { signIn } from '../console.ts';
import { press, tabTo, type } from '../console-browser.ts';
import { until } from '../service.ts';
import {
  audit,
  elements,
  heads,
  leave,
  makeForm,
  person,
  rowNames,
  service,
  show,
  submit,
  tenant,
} from './submissions-stage.ts';

/* Filters on answers, the trash, the history and pinned columns in the browser: S1 to S4. */

test('filters are added, changed and removed by keyboard, kept in the URL, and applied to the export', async () => {
  const asked = { label: 'Pleased', rows: ['Food', { id: 'r', label: 'Room' }], options: ['Good', 'Fair'] };
  const form = await makeForm([...elements, element('matrix', 'pleased', asked)]);
  for (const [name, age, colour, pleased] of [
    ['Ada', 36, 'Red', { r: 'Fair', Food: 'Good' }],
    ['Ben', 17, 'Red', { r: 'Good' }],
    ['Cleo', 52, undefined, { Food: 'Fair' }],
  ] as const)
    await submit(form, { name, age, pleased, ...(colour && { colour }) }, `?campaign=${name}`);
  const page = await show(`/forms/${form}/submissions`);
  await page.locator('.sheet-link').first().waitFor();
  const rows = (expected: readonly string[]) =>
    until(`the rows ${expected.join()}`, async () => (await rowNames(page)).join() === expected.join());

  const addFilter = async (question: string) => {
    await tabTo(page, 'button', 'Add filter');
    await press(page, 'Enter');
    await page.getByRole('menuitem', { name: question, exact: true }).waitFor();
    await type(page, question);
    await press(page, 'Enter');
  };
  const hasFocus = (selector: string) =>
    until(`the focus on ${selector}`, async () => (await page.locator(`${selector}:focus`).count()) === 1);
  await addFilter('Age');
  await page.getByRole('group', { name: 'New filter' }).waitFor();
  assert.equal(await page.getByRole('dialog').count(), 0, 'the filter opens no dialog');
  await hasFocus('.filter-values input');
  await press(page, 'Enter');
  await page.getByRole('alert').getByText('Enter at least one number.').waitFor();
  await audit(page, 'the editor of a filter');
  await page.getByLabel('From', { exact: true }).focus();
  await type(page, '18');
  await press(page, 'Enter');
  await rows(['Cleo', 'Ada']);
  const chip = page.getByRole('button', { name: 'Edit filter: Age is at least 18' });
  await chip.waitFor();
  await hasFocus('[data-filter="0"]');
  await press(page, 'Enter', 'Escape');
  await hasFocus('[data-filter="0"]');
  assert.equal(await page.locator('.filter-editor').count(), 0, 'Escape closes the editor');

  await addFilter('Colour');
  await tabTo(page, 'checkbox', 'Red');
  await press(page, 'Space', 'Enter');
  await rows(['Ada']);
  const address = page.url();
  await page.reload();
  await rows(['Ada']);
  assert.equal(page.url(), address);
  await audit(page, 'the table with filters');

  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export' }).press('Enter');
  await page.getByRole('menuitem', { name: /^CSV, safe for spreadsheets/ }).press('Enter');
  const file = await readFile(await (await download).path(), 'utf8');
  assert.equal(file.trim().split('\r\n').length, 2);

  await page.getByRole('button', { name: 'Remove filter: Age is at least 18' }).press('Enter');
  await rows(['Ben', 'Ada']);
  await page.getByRole('button', { name: /^Edit filter: Colour/ }).press('Enter');
  await tabTo(page, 'button', /Condition/);
  await press(page, 'Enter');
  await type(page, 'is not');
  await press(page, 'Enter');
  await tabTo(page, 'button', 'Apply');
  await press(page, 'Enter');
  await rows(['Cleo']);
  await page.goBack();
  await rows(['Ben', 'Ada']);
  await tabTo(page, 'button', 'Clear');
  await press(page, 'Enter');
  await rows(['Cleo', 'Ben', 'Ada']);

  // A filter on one row of a matrix, by its options.
  const choose = async (list: RegExp, choice: string) => {
    await tabTo(page, 'button', list);
    await press(page, 'Enter');
    await type(page, choice);
    await press(page, 'Enter');
  };
  await addFilter('Pleased');
  await choose(/Whole question/, 'Room');
  await tabTo(page, 'checkbox', 'Fair');
  await press(page, 'Space', 'Enter');
  await rows(['Ada']);
  await page.getByRole('button', { name: 'Edit filter: Pleased (Room) is any of Fair' }).press('Enter');
  await choose(/Condition/, 'is not');
  await tabTo(page, 'button', 'Apply');
  await press(page, 'Enter');
  await rows(['Cleo']);
  await leave(page);
});

test('filters are joined by "and" or "or", and a group joins its filters by the other word', {
  skip: isSlice,
}, async () => {
  const form = await makeForm();
  for (const [name, age, colour] of [
    ['Ada', 36, 'Red'],
    ['Ben', 17, 'Blue'],
    ['Cleo', 52, 'Green'],
    ['Dora', 9, 'Red'],
  ] as const)
    await submit(form, { name, age, colour });
  const where = JSON.stringify([
    { on: 'answer', name: 'age', op: 'number', from: 18 },
    { on: 'answer', name: 'colour', op: 'any', values: ['Red'] },
  ]);
  const page = await show(`/forms/${form}/submissions?${new URLSearchParams({ where }).toString()}`);
  const rows = (expected: readonly string[]) =>
    until(`the rows ${expected.join()}`, async () => (await rowNames(page)).join() === expected.join());
  const choose = async (item: RegExp) => {
    await page.getByRole('button', { name: 'Match and group filters' }).press('Enter');
    await page.getByRole('menuitem', { name: item, exact: true }).press('Enter');
  };
  const filters = page.getByRole('group', { name: 'Filters' });
  await rows(['Ada']);
  await choose(/^Match any filter/);
  await rows(['Dora', 'Cleo', 'Ada']);
  assert.match((await filters.textContent())!, /Age is at least 18 ?or ?Colour is any of Red/);

  await choose(/^Add a group joined by “and”/);
  const editor = page.getByRole('group', { name: 'New filter in a new group' });
  await editor.getByLabel('Text').fill('ben');
  await page.keyboard.press('Enter');
  await rows(['Dora', 'Cleo', 'Ben', 'Ada']);
  await page.getByRole('button', { name: 'Add filter to this group' }).press('Enter');
  await page.getByRole('menuitem', { name: 'Age', exact: true }).press('Enter');
  await page.getByRole('textbox', { name: 'To', exact: true }).fill('16');
  await page.keyboard.press('Enter');
  await rows(['Dora', 'Cleo', 'Ada']);
  const group = page.getByRole('group', { name: 'Group: (Name contains “ben” and Age is at most 16)' });
  await group.waitFor();
  await audit(page, 'a group of filters');

  await page.getByRole('button', { name: 'Save as view' }).press('Enter');
  await page.getByRole('dialog').getByLabel('Name').fill('Mixed');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Mixed' }).waitFor();
  await page.getByRole('link', { name: 'All submissions' }).press('Enter');
  await rows(['Dora', 'Cleo', 'Ben', 'Ada']);
  await page.getByRole('link', { name: 'Mixed' }).press('Enter');
  await rows(['Dora', 'Cleo', 'Ada']);
  await group.waitFor();
  assert.equal(await page.getByRole('button', { name: 'Save changes' }).count(), 0);
  await choose(/^Match all filters/);
  await rows([]);
  assert.match((await page.locator('.filter-group').textContent())!, /Name contains “ben” ?or ?Age/);
  await page.getByRole('button', { name: 'Save changes' }).waitFor();
  await page.getByRole('button', { name: 'Reset' }).press('Enter');
  await rows(['Dora', 'Cleo', 'Ada']);
  await leave(page);
});

test('deleted submissions are in the trash, where they can be restored, or permanently deleted after typing their number', async () => {
  const form = await makeForm();
  const ids = [];
  for (const name of ['Ada', 'Ben', 'Cleo']) ids.push(await submit(form, { name }));
  const page = await show(`/forms/${form}/submissions?open=${ids[2]}`);
  await page.getByRole('button', { name: 'Delete', exact: true }).press('Enter');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete submission' }).press('Enter');
  await page.getByRole('button', { name: 'Undo' }).press('Enter');
  await until('the row to be back', async () => (await rowNames(page)).length === 3);
  for (const id of ids) await person.api('DELETE', `/submissions/${id}`);

  await page.reload();
  await page.getByText('No submissions yet').waitFor();
  await tabTo(page, 'link', 'Trash');
  await press(page, 'Enter');
  await page.getByRole('heading', { level: 1, name: 'Trash' }).waitFor();
  await page.getByRole('row', { name: /Ada/ }).waitFor();
  await audit(page, 'the trash');
  await page.getByRole('row', { name: /Ada/ }).getByRole('checkbox').press('Space');
  await tabTo(page, 'button', 'Restore');
  await press(page, 'Enter');
  await page.getByText('1 submission restored.').waitFor();
  await page.getByRole('row', { name: /Ada/ }).waitFor({ state: 'detached' });
  await tabTo(page, 'button', 'Empty trash');
  await press(page, 'Enter');
  await audit(page, 'the question before the trash is emptied');
  await type(page, '2');
  await press(page, 'Enter');
  await page.getByText('The trash is empty').waitFor();
  await page.reload();
  await page.getByText('The trash is empty').waitFor();
  await audit(page, 'the empty trash');
  const left = await tenant.call('GET', `/forms/${form}/submissions`);
  assert.deepEqual(
    left.body.data.map((submission) => submission.id),
    [ids[0]],
  );
  await leave(page);

  const viewer = await signIn(service, { workspaceId: tenant.workspaceId, role: 'viewer' });
  await person.api('DELETE', `/submissions/${ids[0]}`);
  const seen = await show(`/forms/${form}/trash`, { who: viewer });
  await seen.getByRole('row', { name: /Ada/ }).waitFor();
  const tab = seen.locator('.form-header').getByRole('link', { name: 'Submissions' });
  assert.equal(await tab.getAttribute('aria-current'), 'true');
  assert.equal(await seen.getByRole('button', { name: /Restore|Delete|Empty/ }).count(), 0);
  assert.equal(await seen.getByRole('checkbox').count(), 0);
  await leave(seen);
});

test("a submission started last week and completed today counts as today's, in the table and the panel", {
  skip: isSlice,
}, async () => {
  const form = await makeForm([
    element('text', 'name', { label: 'Name' }),
    element('file_upload', 'photo', { label: 'Photo' }),
  ]);
  const data = new FormData();
  data.set('name', 'Begun last week');
  data.append('photo', new Blob(['fourteen bytes'], { type: 'text/plain' }), 'note.txt');
  const sent = await fetch(`${service.url}/f/${form}`, {
    method: 'POST',
    headers: { Accept: 'application/json' },
    body: data,
  });
  const { id } = (await sent.json()) as { id: string };
  const other = await submit(form, { name: 'Begun and left' });
  await submit(form, { name: 'Sent at once' });
  const { database } = service.services;
  await database.query(
    `update submissions set created_at = now() - interval '8 days', completed_at = now() - interval '1 second'
     where workspace_id = $1 and id = $2`,
    [tenant.workspaceId, id],
  );
  await database.query(
    `update submissions set status = 'incomplete', completed_at = null, updated_at = now() - interval '3 days'
     where workspace_id = $1 and id = $2`,
    [tenant.workspaceId, other],
  );
  const page = await show(`/forms/${form}/submissions?open=${id}`);
  const panel = page.getByRole('complementary', { name: 'Submission' });
  await panel.locator('.panel-status').getByText('just now').waitFor();
  assert.doesNotMatch((await panel.textContent())!, /8 days ago.*8 days ago/);
  await panel.getByText('1 kB').waitFor();
  await panel.getByRole('region', { name: 'History' }).getByText('Started', { exact: true }).waitFor();
  const links = () => page.locator('.sheet-link').allTextContents();
  assert.deepEqual(await links(), ['just now', 'just now', '3 days ago']);
  await page
    .getByRole('button', { name: /Received/ })
    .first()
    .click();
  await page.getByRole('option', { name: 'Today' }).click();
  await until('the rows of today', async () => (await links()).length === 2);
  assert.deepEqual(await rowNames(page), ['Sent at once', 'Begun last week']);
  await page.getByRole('button', { name: 'Next submission (J)' }).waitFor();
  await leave(page);
});

test('the panel shows the history of a submission and leaves the toolbar unchanged', {
  skip: isSlice,
}, async () => {
  const form = await makeForm();
  const id = await submit(form, { name: 'Ada', age: 36 });
  await person.api('PATCH', `/submissions/${id}`, { answers: { name: 'Grace' } });
  const page = await show(`/forms/${form}/submissions`);
  await page.locator('.sheet-link').first().waitFor();
  const places = () =>
    page
      .locator('.submissions-top :is(button, a, input)')
      .evaluateAll((parts) => parts.map((part) => JSON.stringify(part.getBoundingClientRect())));
  const before = await places();
  await page.locator('.sheet-link').first().click();
  const history = page.getByRole('region', { name: 'History' });
  await history.getByText(/^Edited by/).waitFor();
  assert.match((await history.textContent())!, /Name: ?Ada ?→ ?Grace/);
  await history.getByText('Received', { exact: true }).waitFor();
  assert.deepEqual(await places(), before);
  await page.getByRole('link', { name: 'Open as a page' }).press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Grace' }).waitFor();
  assert.ok(new URL(page.url()).pathname.endsWith(`/forms/${form}/submissions/${id}`));
  await leave(page);
});

test('a submission has a page with an address, the next and the previous one of its view, and a print for people', {
  skip: isSlice,
}, async () => {
  const square = await sharp({ create: { width: 80, height: 40, channels: 3, background: '#0b6655' } })
    .png()
    .toBuffer();
  const { body } = await tenant.call('POST', '/images', square);
  const form = await makeForm(
    [
      element('text', 'name', { label: 'Name' }),
      element('date', 'day', { label: 'Day' }),
      element('textarea', 'note', { label: 'Note' }),
      element('file_upload', 'photo', { label: 'Photo' }),
    ],
    { theme: { logo: body.id } },
  );
  const data = new FormData();
  data.set('name', 'Ben');
  data.set('day', '2026-03-14');
  data.append('photo', new Blob([new Uint8Array(square)], { type: 'image/png' }), 'loom.png');
  await submit(form, { name: 'Ada' });
  const sent = await fetch(`${service.url}/f/${form}?campaign=spring`, {
    method: 'POST',
    headers: { Accept: 'application/json' },
    body: data,
  });
  const { id } = (await sent.json()) as { id: string };
  await submit(form, { name: 'Zoe' });
  await submit(form, { name: 'Cleo' });
  await person.api('POST', `/submissions/${id}/notes`, { text: 'Call back on Monday' });
  await person.api('PATCH', `/submissions/${id}`, { tags: ['vip'] });

  const where = JSON.stringify([
    {
      on: 'group',
      op: 'any',
      parts: ['Ada', 'Ben', 'Cleo'].map((value) => ({ on: 'answer', name: 'name', op: 'contains', value })),
    },
  ]);
  const query = new URLSearchParams({ where }).toString();
  const page = await show(`/forms/${form}/submissions/${id}?${query}`);
  const title = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
  await title('Ben');
  await page.getByText('Call back on Monday').waitFor();
  await audit(page, 'the page of a submission');
  await page.keyboard.press('j');
  await title('Ada');
  await page.getByRole('button', { name: /^Previous submission/ }).press('Enter');
  await title('Ben');
  await page.getByRole('button', { name: /^Previous submission/ }).press('Enter');
  await title('Cleo');
  await page.goBack();
  await title('Ben');
  await page.reload();
  await title('Ben');
  assert.equal(await page.title(), 'Ben · Contact · Formloom');

  await page.locator('.tags').getByText('vip').waitFor();
  const printed = async (): Promise<string> => {
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    const innerText = await page.evaluate<string>('document.body.innerText');
    await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
    return innerText.replaceAll(/\s+/g, ' ').trim();
  };
  const paper =
    /^Contact Ben Received \d+ [A-Z][a-z]+ \d{4}, \d\d:\d\d:\d\d Name Ben Day 14 Mar 2026 Photo loom\.png \d+ k?B$/;
  assert.match(await printed(), paper);
  await page.getByRole('button', { name: 'Edit answers' }).click();
  await page.getByLabel('Note').waitFor();
  assert.match(await printed(), paper, 'also during an edit');
  await page.emulateMedia({ media: 'print' });
  await until('the logo', () =>
    page.evaluate<boolean>("document.querySelector('.print-header img').naturalWidth > 0"),
  );
  assert.ok(await page.locator('.answer .file-preview').isVisible());
  assert.equal(await page.locator('input:visible, textarea:visible, button:visible').count(), 0);
  const pdf = (await page.pdf()).toString('latin1');
  assert.equal(pdf.match(/\/Type\s*\/Page\b/g)?.length, 1, 'one sheet');
  await leave(page);
});

test('columns are pinned by keyboard and stay in view, and the settings follow the person to another browser', {
  skip: isSlice,
}, async () => {
  const form = await makeForm();
  await submit(form, { name: 'Ada' });
  const widths = { colour: 400, age: 400, note: 400 };
  const arrangement = { order: [], hidden: ['$reference'], widths, pinned: 0, is_tall: false };
  await person.call('PUT', `/forms/${form}/arrangement`, arrangement);
  const page = await show(`/forms/${form}/submissions`);
  await page.locator('.sheet-link').waitFor();
  const saved = (): Promise<unknown> =>
    page.waitForResponse(
      (response) => response.request().method() === 'PUT' && response.url().endsWith('/arrangement'),
    );
  const choose = async (column: string, action: string): Promise<void> => {
    const done = saved();
    await page.getByRole('button', { name: `${column}, column options` }).press('Enter');
    await page.getByRole('menuitem', { name: action }).press('Enter');
    await done;
  };
  await choose('Name', 'Pin up to here');
  await choose('Email', 'Hide column');
  const sheet = page.getByRole('region', { name: 'Submissions' });
  await sheet.evaluate((element) => element.scrollTo({ left: 1_000 }));
  const [window, name, age] = await Promise.all(
    [sheet, page.locator('th', { hasText: 'Name' }), page.locator('th', { hasText: 'Colour' })].map((part) =>
      part.boundingBox(),
    ),
  );
  assert.ok(name!.x >= window!.x, 'a pinned column stays');
  assert.ok(age!.x < name!.x + name!.width, 'the others scroll under it');
  await page.context().close();

  const elsewhere = await show(`/forms/${form}/submissions`);
  await elsewhere.locator('.sheet-link').waitFor();
  assert.equal((await heads(elsewhere)).includes('Email'), false);
  assert.equal(await elsewhere.locator('th.sheet-pinned').count(), 2);
  await elsewhere.getByRole('button', { name: 'Name, column options' }).press('Enter');
  await elsewhere.getByRole('menuitem', { name: 'Unpin columns' }).press('Enter');
  await until('nothing to be pinned', async () => (await elsewhere.locator('th.sheet-pinned').count()) === 0);
  await leave(elsewhere);
});

test('column headers sort the table, by two columns with Shift, and a saved view shares sort order and columns with all members', {
  skip: isSlice,
}, async () => {
  const form = await makeForm();
  for (const [name, age] of [
    ['Ada', 36],
    ['Ben', 12],
    ['Cleo', 36],
  ] as const)
    await submit(form, { name, age });
  const page = await show(`/forms/${form}/submissions`);
  const shows = (names: readonly string[]) =>
    until(`the order ${names.join()}`, async () => (await rowNames(page)).join() === names.join());
  await shows(['Cleo', 'Ben', 'Ada']);
  await page.getByRole('button', { name: 'Sort by Age' }).click();
  await shows(['Ben', 'Cleo', 'Ada']);
  await page.getByRole('button', { name: 'Sort by Name' }).click({ modifiers: ['Shift'] });
  await shows(['Ben', 'Ada', 'Cleo']);
  await page.getByRole('button', { name: 'Age, column options' }).press('Enter');
  await page.getByRole('menuitem', { name: 'Sort descending', exact: true }).press('Enter');
  await shows(['Cleo', 'Ada', 'Ben']);
  assert.equal(await page.locator('th', { hasText: 'Age' }).getAttribute('aria-sort'), 'descending');
  assert.equal(new URL(page.url()).searchParams.get('sort'), '-age');

  const tab = (name: string) =>
    page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name, exact: true });
  await page.getByRole('button', { name: 'Save as view' }).press('Enter');
  await page.getByRole('dialog').getByLabel('Name').fill('Oldest first');
  await page.keyboard.press('Enter');
  await page.getByText('was saved for all members').waitFor();
  await page.getByRole('button', { name: 'Colour, column options' }).press('Enter');
  await page.getByRole('menuitem', { name: 'Hide column' }).press('Enter');
  const saveChanges = page.getByRole('button', { name: 'Save changes' });
  await saveChanges.waitFor();
  await page.getByRole('button', { name: 'Actions for the view “Oldest first”' }).press('Enter');
  await page.getByRole('menuitem', { name: 'Rename' }).press('Enter');
  await page.getByRole('dialog').getByLabel('Name').fill('By age');
  await page.keyboard.press('Enter');
  await page.getByText('The view “By age” was saved for all members.').waitFor();
  assert.ok(!(await heads(page)).includes('Colour'));
  await saveChanges.press('Enter');
  await saveChanges.waitFor({ state: 'detached' });
  assert.equal(await tab('By age').getAttribute('aria-current'), 'page');
  await tab('All submissions').press('Enter');
  await shows(['Cleo', 'Ben', 'Ada']);
  assert.ok((await heads(page)).includes('Colour'));
  await leave(page);

  const other = await signIn(service, { workspaceId: tenant.workspaceId, role: 'viewer' });
  const screen = await show(`/forms/${form}/submissions`, { who: other });
  await screen.getByRole('link', { name: 'By age' }).click();
  assert.equal(await screen.getByRole('button', { name: 'Save as view' }).count(), 0);
  await until('their order', async () =>
    /Cleo.*Ada.*Ben/.test((await screen.locator('.sheet-row').allTextContents()).join()),
  );
  assert.ok(!(await heads(screen)).includes('Colour'));
  await leave(screen);
});
