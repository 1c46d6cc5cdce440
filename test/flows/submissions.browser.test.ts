import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { Route } from 'playwright-core';
import type { TableSettings } from '#submissions/shapes.ts';
import { element } from '../ast/forms.ts';
import { isSlice } from '../cases.ts';
import { signIn } from '../console.ts';
import { holdToast } from '../console-browser.ts';
import { until } from '../service.ts';
import { whileHeld } from '../while-held.ts';
import {
  audit,
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

test('by keyboard alone: open a submission, go to the next and back, correct an error from its link, and delete', async () => {
  const form = await makeForm();
  const ids: string[] = [];
  for (const name of ['Ada', 'Ben', 'Cleo'])
    ids.push(await submit(form, { name, guests: [{ guest: 'Tom' }] }, '?campaign=spring'));
  const page = await show(`/forms/${form}/submissions`);
  await page.locator('.sheet-link').first().waitFor();
  assert.deepEqual(await rowNames(page), ['Cleo', 'Ben', 'Ada']);

  await page.locator('.sheet-link').first().focus();
  await page.keyboard.press('Enter');
  const panel = page.getByRole('complementary', { name: 'Submission' });
  const shows = (name: string) =>
    panel.getByRole('region', { name: 'Answers' }).getByText(name, { exact: true }).waitFor();
  await shows('Cleo');
  assert.equal(new URL(page.url()).searchParams.get('open'), ids[2]);
  const longer = await page.evaluate('document.documentElement.scrollHeight - innerHeight');
  assert.equal(longer, 0, 'what is long in the panel scrolls within it');
  for (const [key, name] of [
    ['j', 'Ben'],
    ['ArrowDown', 'Ada'],
    ['k', 'Ben'],
    ['ArrowUp', 'Cleo'],
    ['j', 'Ben'],
  ] as const) {
    await page.keyboard.press(key);
    await shows(name);
  }

  await panel.getByRole('button', { name: 'Edit answers' }).press('Enter');
  await panel.getByLabel('Age', { exact: true }).fill('old');
  await panel.getByLabel('Guest (required)').fill('');
  await panel.getByLabel('Name (required)').fill('');
  await panel.getByRole('button', { name: 'Save answers' }).press('Enter');
  await panel.getByText('Name: an answer is required.').waitFor();
  await panel.getByText('Age: enter a number like 3.5.').waitFor();
  await until(
    'the first wrong field to be focused',
    async () => (await page.locator('[aria-invalid="true"]:focus').count()) === 1,
  );
  await page.keyboard.type('Benjamin');
  await panel.getByLabel('Age', { exact: true }).fill('41');
  await panel.getByRole('button', { name: 'Save answers' }).press('Enter');
  await shows('Benjamin');
  await until('the table to show the edit', async () => (await rowNames(page)).includes('Benjamin'));
  const stored = await tenant.call('GET', `/submissions/${ids[1]}`);
  assert.deepEqual(stored.body.answers, { name: 'Benjamin', age: 41 });

  await panel.getByRole('button', { name: 'Edit reference data' }).press('Enter');
  await panel.getByLabel('Value').fill('autumn');
  await page.keyboard.press('Enter');
  await panel
    .getByRole('definition')
    .filter({ hasText: /^autumn$/ })
    .waitFor();
  await panel.getByRole('button', { name: 'Mark as incomplete' }).press('Enter');
  await panel.getByRole('button', { name: 'Mark as completed' }).waitFor();

  await panel.getByRole('button', { name: 'Delete' }).press('Enter');
  const question = page.getByRole('alertdialog');
  await question.getByRole('button', { name: 'Delete submission' }).press('Enter');
  await shows('Ada');
  await until('the row to go', async () => (await rowNames(page)).length === 2);
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  assert.equal(new URL(page.url()).searchParams.get('open'), null);
  await leave(page);
});

test('the URL stores the whole view, a search highlights its matches, and next and previous follow the filter', {
  skip: isSlice,
}, async () => {
  const form = await makeForm([
    element('text', 'name', { label: 'Name' }),
    element('textarea', 'note', { label: 'Note' }),
  ]);
  for (let index = 0; index < 60; index += 1)
    await submit(form, {
      name: `Person ${index}`,
      note: index % 10 === 8 ? 'She runs every day.' : 'He walks.',
    });
  const page = await show(`/forms/${form}/submissions`);
  await page.getByText('1–50 of 60').waitFor();
  await page.getByRole('button', { name: 'Next page' }).click();
  await page.getByText('51–60 of 60').waitFor();
  assert.equal(new URL(page.url()).searchParams.get('page'), '2');

  await page.getByRole('combobox', { name: 'Search submissions' }).fill('running');
  await page.locator('mark').first().waitFor();
  await until('the search', async () => (await page.locator('.sheet-row').count()) === 6);
  assert.deepEqual([...new Set(await page.locator('mark').allTextContents())], ['runs']);
  await page.locator('.sheet-link').first().click();
  const answers = page.getByRole('region', { name: 'Answers' });
  await answers.getByText('Person 58').waitFor();
  await page.keyboard.press('j');
  await answers.getByText('Person 48').waitFor();
  await answers.locator('mark', { hasText: 'runs' }).waitFor();
  const address = page.url();
  assert.deepEqual([...new URL(address).searchParams.keys()].sort(), ['open', 'q']);
  await page.goto(`${service.url}/healthz`);
  await page.goto(address);
  await page.getByRole('region', { name: 'Answers' }).getByText('Person 48').waitFor();
  await until('the rows that match', async () => (await page.locator('.sheet-row').count()) === 6);

  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('menuitem', { name: /^CSV, safe for spreadsheets/ }).click();
  const file = await readFile(await (await download).path(), 'utf8');
  assert.equal(file.trim().split('\r\n').length, 7);
  assert.match(
    (await download).url(),
    /^http.*\/export\?/,
    'the browser takes it as it comes, and no tab holds it',
  );
  await leave(page);
});

test('the search box suggests terms and explains errors, and an unknown word gets the nearest match as a suggestion', {
  skip: isSlice,
}, async () => {
  const form = await makeForm();
  await submit(form, { name: 'Ada Lovelace', note: 'stuck fast' });
  const ben = await submit(form, { name: 'Ben', note: 'fast, but stuck' });
  const page = await show(`/forms/${form}/submissions`);
  const box = page.getByRole('combobox', { name: 'Search submissions' });
  const named = async (...names: string[]): Promise<void> => {
    const rows = page.locator('.sheet-row');
    await until(`the rows of ${names.join()}`, async () => {
      const texts = await rows.allTextContents();
      return texts.length === names.length && names.every((name, index) => texts[index]!.includes(name));
    });
  };
  await named('Ben', 'Ada Lovelace');
  await box.pressSequentially('"stuck fast" sta');
  await page.getByRole('option', { name: /^status:/ }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  assert.equal(await box.inputValue(), '"stuck fast" status:');
  await page.keyboard.type('c');
  await page.getByRole('option', { name: 'completed', exact: true }).click();
  assert.equal(await box.inputValue(), '"stuck fast" status:completed ');
  await named('Ada Lovelace');

  await box.fill(`stuck ${'-word '.repeat(25)}`);
  await page.getByText('A search can have at most 24 phrases').waitFor();
  assert.equal(await box.getAttribute('aria-invalid'), 'true');
  await named('Ada Lovelace');
  await box.fill('lovelase');
  await page.getByRole('button', { name: 'Search for “lovelace”' }).click();
  await named('Ada Lovelace');
  await box.press('Escape');
  await named('Ben', 'Ada Lovelace');
  await page.getByRole('button', { name: 'How to search' }).click();
  await page.getByRole('dialog', { name: 'How to search' }).getByText('email:ada@acme.com').waitFor();
  await audit(page, 'how to search');
  await page.keyboard.press('Escape');

  await page.keyboard.press('Control+k');
  const finder = page.getByRole('dialog', { name: 'Search' });
  await finder.getByRole('option', { name: 'Webhooks' }).first().waitFor();
  await page.keyboard.type('"fast but" -lovelace');
  await finder.getByRole('option', { name: /fast, but stuck/ }).waitFor();
  await audit(page, 'what Ctrl+K opens');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Answers' }).getByText('Ben').waitFor();
  assert.equal(new URL(page.url()).searchParams.get('open'), ben);
  await leave(page);
});

test("an export streams to disk without filling the tab's memory, and a refused export says why", {
  skip: isSlice,
}, async () => {
  const form = await makeForm([
    element('text', 'name', { label: 'Name' }),
    element('textarea', 'note', { label: 'Note' }),
  ]);
  const note = 'A long answer. '.repeat(4_000).trim();
  for (let index = 0; index < 40; index++) await submit(form, { name: `Person ${index}`, note });
  const page = await show(`/forms/${form}/submissions`);
  const exportAll = async () => {
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name: /^NDJSON/ }).click();
  };
  const downloads = page.waitForEvent('download');
  await exportAll();
  const download = await downloads;
  assert.match(download.url(), /^http:.*\/export\?/, 'an address of the service, no blob of the page');
  assert.match(download.suggestedFilename(), /\.ndjson$/);
  const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n');
  assert.equal(lines.length, 40);
  assert.ok(lines.every((line) => line.includes(note)));

  await tenant.call('DELETE', `/forms/${form}`);
  await exportAll();
  await page.getByText('The resource does not exist.').waitFor();
  await leave(page);
});

test('all uploaded files are downloaded as one archive, which only forms with files offer', {
  skip: isSlice,
}, async () => {
  const form = await makeForm([element('file_upload', 'cv', { label: 'CV' })]);
  const body = new FormData();
  body.append('cv', new File(['Ada Lovelace'], 'cv.txt', { type: 'text/plain' }));
  const accept = { Accept: 'application/json' };
  assert.equal(
    (await fetch(`${service.url}/f/${form}`, { method: 'POST', body, headers: accept })).status,
    201,
  );
  const page = await show(`/forms/${form}/submissions`);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('menuitem', { name: /^ZIP archive/ }).click();
  const archive = await readFile(await (await download).path());
  assert.match((await download).suggestedFilename(), / files \d{4}-\d\d-\d\d\.zip$/);
  assert.ok(archive.includes('/cv/cv.txt') && archive.includes('Ada Lovelace'), 'stored without compression');

  const plain = await makeForm();
  await submit(plain, { name: 'Ada' });
  await page.goto(`${service.url}/app/forms/${plain}/submissions`);
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('menuitem', { name: /^NDJSON/ }).waitFor();
  assert.equal(await page.getByRole('menuitem', { name: /^ZIP archive/ }).count(), 0);
  await leave(page);
});

test('only a submission that passed a quiz has a certificate beside its PDF', { skip: isSlice }, async () => {
  const quiz = [
    element('text', 'name', { label: 'Name' }),
    element('yes_no', 'flat', { label: 'The earth is flat', correct: [false] }),
    element('score', 'score', { label: 'Score', pass_mark: 1 }),
  ];
  const form = await makeForm(quiz, { certificate_name_element: 'name' });
  const failed = await submit(form, { name: 'Ben', flat: true });
  const passed = await submit(form, { name: 'Ada', flat: false });
  const page = await show(`/forms/${form}/submissions/${passed}`);
  const button = page.getByRole('button', { name: 'Download Certificate' });
  const download = page.waitForEvent('download');
  await button.click();
  assert.match((await download).suggestedFilename(), /^Contact .* certificate\.pdf$/);
  await page.goto(page.url().replace(passed, failed));
  await page.getByText('0 (not passed)').waitFor();
  await page.getByRole('button', { name: 'Download PDF' }).waitFor();
  assert.equal(await button.count(), 0);
  await leave(page);
});

test('columns are moved, hidden and resized by keyboard and mouse, and remembered for each person and form', {
  skip: isSlice,
}, async () => {
  const form = await makeForm();
  await submit(form, { name: 'Ada', email: 'ada@example.com' });
  const page = await show(`/forms/${form}/submissions`);
  await page.locator('.sheet-link').waitFor();
  assert.deepEqual(await heads(page), [
    'Received',
    'Status',
    'Name',
    'Email',
    'Colour',
    'Age',
    'Note',
    'Guests',
    'Tags',
  ]);
  const choose = async (column: string, action: string): Promise<void> => {
    await page.getByRole('button', { name: `${column}, column options` }).press('Enter');
    await page.getByRole('menuitem', { name: action }).press('Enter');
  };
  await choose('Email', 'Move towards the start');
  await choose('Colour', 'Hide column');
  const name = page.locator('th', { hasText: 'Name' });
  const before = (await name.boundingBox())!.width;
  await choose('Name', 'Wider');
  await until('the column to be wider', async () => (await name.boundingBox())!.width > before + 40);

  const grip = page.locator('th', { hasText: 'Note' }).locator('.sheet-grip');
  await grip.dragTo(page.locator('th', { hasText: 'Status' }), { targetPosition: { x: 4, y: 10 } });
  const arranged = ['Received', 'Note', 'Status', 'Email', 'Name', 'Age', 'Guests', 'Tags'];
  await until('the new order', async () => (await heads(page)).join() === arranged.join());

  await page.getByRole('button', { name: 'Columns', exact: true }).press('Enter');
  await page.getByRole('dialog', { name: 'Columns' }).getByRole('switch', { name: 'Colour' }).press('Space');
  await page.getByRole('button', { name: 'Move Guests up' }).press('Enter');
  await audit(page, 'the columns dialog');
  await page.keyboard.press('Escape');
  const saved = page.waitForResponse((response) =>
    Boolean(response.request().postData()?.includes('"is_tall":true')),
  );
  await page.getByRole('button', { name: 'Show several lines per row' }).press('Enter');
  await saved;
  await page.reload();
  await page.locator('.sheet-link').waitFor();
  assert.deepEqual(await heads(page), [
    'Received',
    'Note',
    'Status',
    'Email',
    'Name',
    'Colour',
    'Guests',
    'Age',
    'Tags',
  ]);
  const oneLine = page.getByRole('button', { name: 'Show one line per row' });
  await oneLine.waitFor();

  // A change waits until the one before is saved. A person who leaves the page then keeps both.
  const rows = {
    text: 'select from table_settings where workspace_id = $1 and form_id = $2 for update',
    values: [tenant.workspaceId, form],
  };
  await whileHeld(service.services.database, rows, 2, async () => {
    const sent = page.waitForRequest((request) => request.method() === 'PUT');
    await oneLine.press('Enter');
    await sent;
    await choose('Age', 'Hide column');
    await page.reload();
  });
  const kept = () => person.call<{ settings: TableSettings }>('GET', `/forms/${form}/arrangement`);
  await until('the last change to be kept', async () => (await kept()).body.settings.hidden.includes('age'));
  assert.equal((await kept()).body.settings.is_tall, false);
  await leave(page);
});

test('all matches are deleted, tagged and given a status, each with one-click undo, and a viewer sees none of these actions', async () => {
  const form = await makeForm([element('text', 'name', { label: 'Name' })]);
  await Promise.all(
    Array.from({ length: 53 }, (_, index) => submit(form, { name: index < 52 ? `Spam ${index}` : 'Good' })),
  );
  const page = await show(`/forms/${form}/submissions?q=spam`);
  await page.getByText('1–50 of 52').waitFor();
  await page.locator('label:has(input[aria-label="Select all submissions on this page"])').click();
  await page.getByRole('button', { name: 'Select all 52 matching' }).click();
  await page.getByRole('region', { name: 'Selection' }).getByRole('button', { name: 'Delete' }).click();
  const question = page.getByRole('alertdialog');
  await audit(page, 'the question before a bulk removal');
  const confirm = question.getByRole('button', { name: 'Delete 52 submissions' });
  await confirm.click();
  const undo = async (said: string) => {
    const toast = await holdToast(page, said);
    await toast.getByRole('button', { name: 'Undo' }).click();
    const putBack = page.locator('.toast', { hasText: '52 submissions were restored.' });
    await putBack.waitFor();
    // If it stayed, the test would mistake it for the end of the next undo.
    await putBack.getByRole('button', { name: 'Dismiss' }).click();
    await putBack.waitFor({ state: 'detached' });
  };
  await holdToast(page, '52 submissions were moved to the trash.');
  await page.getByText('No matches').waitFor();
  await undo('52 submissions were moved to the trash.');
  await page.getByText('1–50 of 52').waitFor();
  const selectAll = async () => {
    await page.locator('label:has(input[aria-label="Select all submissions on this page"])').click();
    await page.getByRole('button', { name: 'Select all 52 matching' }).click();
  };
  const tagged = async (tag: string) =>
    (await tenant.call('GET', `/forms/${form}/submissions?tag=${tag}`)).body.pagination.total_count;
  const two = await tenant.call('GET', `/forms/${form}/submissions?per_page=2`);
  const spam = two.body.data.find(({ answers }) => answers['name'] !== 'Good')!;
  await tenant.call('PATCH', `/submissions/${spam.id}`, { tags: ['urgent'] });
  await selectAll();
  await page.getByRole('region', { name: 'Selection' }).getByRole('button', { name: 'Tag' }).click();
  const tags = page.getByRole('dialog', { name: 'Tag 52 submissions' });
  await tags.getByRole('combobox', { name: 'Add tags' }).fill('urgent');
  await tags.getByRole('button', { name: 'Tag 52 submissions' }).click();
  const saysTagged = await holdToast(page, '52 submissions were tagged.');
  assert.equal(await tagged('urgent'), 52);
  await saysTagged.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('51 submissions were restored.').waitFor();
  assert.equal(await tagged('urgent'), 1);

  await selectAll();
  const bar = page.getByRole('region', { name: 'Selection' });
  await bar.getByRole('button', { name: 'Status' }).click();
  await page.getByRole('menuitem', { name: 'Mark as incomplete' }).click();
  await page.getByRole('button', { name: 'Mark 52 submissions' }).click();
  await holdToast(page, '52 submissions were updated.');
  const incomplete = page.locator('.sheet-row', { hasText: 'Incomplete' });
  await until('all to be incomplete', async () => (await incomplete.count()) === 50);
  await undo('52 submissions were updated.');
  await until('none to be', async () => (await incomplete.count()) === 0);
  await selectAll();
  await bar.getByRole('button', { name: 'Delete' }).click();
  // The toast and its Undo also appear on another screen if the person leaves before the change is done.
  const held = Promise.withResolvers<void>();
  await page.route(/\/submissions\/changes\/[^/]+$/, (route) => held.promise.then(() => route.continue()));
  await confirm.click();
  await page.getByRole('link', { name: 'Summary' }).click();
  await page.getByRole('heading', { name: 'Submissions over time' }).waitFor();
  held.resolve();
  // A lost connection does not remove Undo.
  await page.route(/\/undo$/, (route) => route.abort(), { times: 1 });
  const lost = page.locator('.toast-bad');
  await page
    .locator('.toast', { hasText: 'moved to the trash.' })
    .getByRole('button', { name: 'Undo' })
    .click();
  await lost.getByRole('button', { name: 'Dismiss' }).click();
  await undo('52 submissions were moved to the trash.');
  await page.goto(`${service.url}/app/forms/${form}/submissions?q=spam`);
  await selectAll();
  await bar.getByRole('button', { name: 'Delete' }).click();
  await confirm.click();
  await page.getByText('No matches').waitFor();
  const left = await tenant.call('GET', `/forms/${form}/submissions`);
  assert.deepEqual([left.body.pagination.total_count, left.body.data[0]!.answers], [1, { name: 'Good' }]);
  await leave(page);

  const viewer = await signIn(service, { workspaceId: tenant.workspaceId, role: 'viewer' });
  const seen = await show(`/forms/${form}/submissions?open=${left.body.data[0]!.id}`, { who: viewer });
  await seen.getByRole('region', { name: 'Answers' }).getByText('Good').waitFor();
  assert.equal(await seen.getByRole('button', { name: /Edit|Delete|Mark/ }).count(), 0);
  assert.equal(await seen.getByRole('checkbox').count(), 0);
  // A deletion by another member, as the viewer sees it in progress.
  const own = [tenant.workspaceId, form];
  const { database } = service.services;
  await database.query(
    `update tasks set finished_at = null where workspace_id = $1 and form_id = $2 and kind = 'submissions.trash'`,
    own,
  );
  await seen.reload();
  await seen.getByRole('progressbar', { name: 'Deleting submissions' }).first().waitFor();
  await database.query(
    `update tasks set finished_at = now() where workspace_id = $1 and form_id = $2 and finished_at is null`,
    own,
  );
  await seen.locator('.toast', { hasText: 'were moved to the trash.' }).first().waitFor();
  assert.equal(await seen.getByRole('button', { name: 'Undo' }).count(), 0);
  await leave(seen);
});

test('an edit does not overwrite a newer change of another member, and leaving with unsaved changes asks for confirmation', async () => {
  const form = await makeForm();
  const id = await submit(form, { name: 'Ada' });
  await submit(form, { name: 'Ben' });
  const page = await show(`/forms/${form}/submissions?open=${id}`);
  await page.getByRole('button', { name: 'Edit answers' }).click();
  const name = page.getByLabel('Name (required)');
  await name.fill('Mine');
  const partner = await signIn(service, { name: 'Partner', workspaceId: tenant.workspaceId, role: 'editor' });
  const theirs = await partner.api('PATCH', `/submissions/${id}`, { answers: { name: 'Theirs' } });
  assert.equal(theirs.status, 200);
  // Loading the newer answers fails as well. The typed text stays.
  await page.route('**/submissions/*/view*', (route) =>
    route.fulfill({ status: 404, json: { error: 'not_found' } }),
  );
  for (const attempt of ['the first', 'the second']) {
    await page.getByRole('button', { name: 'Save answers' }).click();
    await page.getByText('Partner changed this submission').waitFor();
    await page.getByText('Not found').waitFor();
    assert.equal(await name.inputValue(), 'Mine', attempt);
  }
  await page.unroute('**/submissions/*/view*');
  const turn = () => page.locator('.sheet-link').first().click();
  const question = page.getByRole('alertdialog', { name: 'Leave without saving?' });
  await turn();
  await question.getByRole('button', { name: 'Cancel' }).click();
  assert.equal(await name.inputValue(), 'Mine');

  // Until the save completes, leaving the page still asks for confirmation.
  const arrived = Promise.withResolvers<Route>();
  await page.route('**/api/v1/submissions/*', (route) =>
    route.request().method() === 'PATCH' ? arrived.resolve(route) : route.continue(),
  );
  await page.getByRole('button', { name: 'Save answers' }).click();
  const held = await arrived.promise;
  await turn();
  await question.getByRole('button', { name: 'Cancel' }).click();
  await held.continue();
  await page.getByText('Partner changed this submission').waitFor();
  assert.equal(await name.inputValue(), 'Mine');

  // The service would refuse a request with this stale If-Match, so only the absence of requests proves that
  // none is sent.
  const writes: string[] = [];
  page.on('request', (request) => request.method() !== 'GET' && writes.push(request.url()));
  await turn();
  await question.getByRole('button', { name: 'Discard changes' }).click();
  await page.getByRole('region', { name: 'Answers' }).getByText('Ben').waitFor();
  assert.deepEqual(writes, []);
  assert.deepEqual((await tenant.call('GET', `/submissions/${id}`)).body.answers, { name: 'Theirs' });

  await page.getByRole('button', { name: 'Add reference data' }).click();
  await page.getByLabel('Value').fill('spring');
  await page.getByRole('link', { name: 'Summary' }).click();
  await question.getByRole('button', { name: 'Cancel' }).click();
  assert.equal(await page.getByLabel('Value').inputValue(), 'spring');
  await leave(page);
});
