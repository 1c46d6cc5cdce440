import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { isSlice } from '#test/cases.ts';
import { findBarriers, heading } from '#test/console-browser.ts';
import { until } from '#test/service.ts';
import { openVisitor } from '#test/visitor.ts';
import { element, structure } from '../ast/forms.ts';
import {
  bob,
  draftOf,
  insert,
  labels,
  leave,
  make,
  openBuilder,
  part,
  problems,
  read,
  saved,
  service,
  tenant,
  untilSaved,
} from './builder-page.ts';

/* Saving, conflicts, publishing, versions, preview and JSON in a real browser: docs/rules.md B4-B6. */

test('two editors of a form never overwrite each other unnoticed, and can keep theirs, use the other’s or save a copy', async () => {
  for (const resolution of ['Keep mine', 'Use theirs', 'Save mine as a new form']) {
    const form = await make(structure(element('text', 'a', { label: 'Original' })));
    const mine = await openBuilder(form);
    const theirs = await openBuilder(form, bob);
    const rename = async (page: Page, label: string): Promise<void> => {
      await part(page, '“Original”').click();
      await page.getByRole('textbox', { name: 'Label' }).fill(label);
    };
    await rename(theirs, 'Of Bob');
    await saved(theirs);
    await rename(mine, 'Of Ada');
    const dialog = mine.getByRole('alertdialog', { name: 'This form was changed elsewhere' });
    await dialog.getByText('Label: “Of Bob” → “Of Ada”').waitFor();
    assert.match((await dialog.textContent())!, /Bob saved it/);
    assert.deepEqual(labels(await draftOf(form)), ['Of Bob'], 'nothing was overwritten');

    await dialog.getByRole('button', { name: resolution }).click();
    await dialog.waitFor({ state: 'detached' });
    await saved(mine);
    assert.deepEqual(labels(await draftOf(form)), [resolution === 'Keep mine' ? 'Of Ada' : 'Of Bob']);
    if (resolution === 'Use theirs') {
      await mine.keyboard.press('Control+z');
      await part(mine, '“Of Ada”').waitFor();
    }
    if (resolution === 'Save mine as a new form') {
      const { body } = await tenant.call('GET', '/forms?per_page=1');
      assert.deepEqual(labels(await draftOf(body.data[0]!.id)), ['Of Ada']);
    }
    await leave(mine);
    await leave(theirs);
  }
});

test('if the service is unavailable, edits are kept in the browser and saved after a reload', async () => {
  const form = await make(structure(element('text', 'a', { label: 'Original' })));
  const page = await openBuilder(form);
  await page.route('**/draft', (route) => route.abort());
  await part(page, '“Original”').click();
  await page.getByRole('textbox', { name: 'Label' }).fill('Written offline');
  await page.getByText('Offline, saved in this browser').first().waitFor();
  page.on('dialog', (dialog) => void dialog.accept());
  await page.unroute('**/draft');
  await page.reload();
  await part(page, '“Written offline”').waitFor();
  await saved(page);

  // Leaves the screen before the last change is saved and returns immediately.
  await part(page, '“Written offline”').click();
  await page.getByRole('textbox', { name: 'Label' }).fill('Written in haste');
  await page.getByRole('link', { name: 'All forms' }).click();
  await page.goBack();
  await part(page, '“Written in haste”').click();
  await page.getByRole('textbox', { name: 'Label' }).fill('Written offline');
  await untilSaved(
    page,
    'the way back to be saved',
    async () => labels(await draftOf(form)).join() === 'Written offline',
  );
  assert.deepEqual(labels(await draftOf(form)), ['Written offline']);
  await leave(page);
});

test('blocking errors of publishing lead to their element; a published form accepts answers, locks its IDs and can be restored', async () => {
  const form = await make(structure(element('text', 'name', { label: 'Your name' })));
  const page = await openBuilder(form);
  const publish = page.getByRole('banner').getByRole('button', { name: 'Publish' });
  await part(page, '“Your name”').click();
  await page.getByRole('textbox', { name: 'Label' }).fill('');
  await publish.click();
  const blocked = page.getByRole('dialog', { name: 'Publish this form' });
  await blocked.getByRole('button', { name: /“Label” is still missing/ }).click();
  await page.getByRole('textbox', { name: 'Label' }).fill('Name');
  await publish.click();
  await blocked.getByRole('button', { name: 'Publish' }).click();
  const launched = page.getByRole('dialog', { name: 'Your form is live' });
  await launched.getByRole('img', { name: /QR code/ }).waitFor();
  await launched.locator('button:focus', { hasText: 'Copy link' }).waitFor();
  await page.keyboard.press('Enter');
  await launched.getByText('Copied to the clipboard.').waitFor();
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), `${service.url}/f/${form}`);
  assert.match((await launched.getByRole('textbox', { name: 'Embed code' }).textContent())!, /embed\.js/);
  assert.equal(
    await launched.getByRole('link', { name: 'Open' }).getAttribute('href'),
    `${service.url}/f/${form}`,
  );
  assert.deepEqual(await findBarriers(page), []);
  await launched.getByRole('link', { name: 'Invite people' }).click();
  await page.waitForURL(/\/invitations$/);
  // The address changes before the screen. Going back immediately would stay on the dialog.
  await heading(page, 'Invitations');

  assert.equal((await openVisitor(service).post(form, [['name', 'Grace']])).status, 303);
  const { body } = await tenant.call('GET', `/forms/${form}/submissions`);
  assert.deepEqual(body.data[0]!.answers, { name: 'Grace' });

  await page.goBack();
  await part(page, '“Name”').click();
  assert.equal(await page.getByRole('textbox', { name: 'Id' }).getAttribute('readonly'), '');
  await part(page, '“Name”').press('Delete');
  await page.getByRole('alertdialog').getByText('1 submission answers it.').waitFor();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await insertInto(page, 'long', 'Message');
  await publish.click();
  const changes = page.getByRole('dialog', { name: 'Publish changes' });
  assert.deepEqual(await changes.locator('.differences li').allTextContents(), [
    'Added“Message” (Long text)',
    'Removed“Name” (Short text)',
  ]);
  await changes.getByText('Removing "Name" affects 1 answer.').waitFor();
  await changes.getByRole('button', { name: 'Publish' }).click();
  await changes.waitFor({ state: 'detached' });

  await page.getByRole('button', { name: 'History' }).click();
  await page.locator('.versions-item', { hasText: 'Version 2' }).getByRole('button').click();
  await page.getByRole('button', { name: 'Restore to working copy' }).click();
  await part(page, '“Name”').waitFor();
  await untilSaved(
    page,
    'the restored copy to be saved',
    async () => labels(await draftOf(form)).join() === 'Name',
  );
  assert.equal(
    (await tenant.call('GET', `/forms/${form}`)).body.structure.children[0]!.children[0]!.attrs['label'],
    'Message',
  );
  await leave(page);
});

async function insertInto(page: Page, search: string, label: string): Promise<void> {
  await part(page, '“One”').focus();
  await insert(page, search, label);
}

test('a change by the API during an edit can be compared and used, and undo restores the edit', {
  skip: isSlice,
}, async () => {
  const form = await make(structure(element('text', 'a', { label: 'Original' })));
  const first = await openBuilder(form);
  await part(first, '“Original”').click();
  await first.getByRole('textbox', { name: 'Label' }).fill('Mine');
  await saved(first);
  await first.context().close();
  await tenant.call('PUT', `/forms/${form}`, {
    structure: structure(element('text', 'a', { label: 'From the API' })),
  });

  const page = await openBuilder(form);
  await page.getByText('The live form changed while you were editing').waitFor();
  await part(page, '“Mine”').waitFor();
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByText('Label: “Mine” → “From the API”').waitFor();
  await page.getByRole('button', { name: 'Use live form' }).click();
  await part(page, '“From the API”').waitFor();
  await page.keyboard.press('Control+z');
  await part(page, '“Mine”').waitFor();

  // Changes the live form again while the builder is open, so that the comparison is out of date.
  await saved(page);
  await tenant.call('PUT', `/forms/${form}`, {
    structure: structure(element('text', 'a', { label: 'Again' })),
  });
  await page.getByRole('banner').getByRole('button', { name: 'Publish' }).click();
  const dialog = page.getByRole('dialog', { name: 'Publish this form' });
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await dialog.getByText('The live form has changed since you compared it. Compare it again.').waitFor();
  await dialog.getByText('Publishing replaces those changes').waitFor();
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(
    (await tenant.call('GET', `/forms/${form}`)).body.structure.children[0]!.children[0]!.attrs['label'],
    'Mine',
  );
  await leave(page);
});

test('the preview checks answers on the real page and stores nothing, and JSON can be edited, applied and undone', async () => {
  const form = await make(structure(element('text', 'name', { label: 'Name', required: true })));
  const page = await openBuilder(form);
  await page.getByRole('button', { name: 'Preview' }).click();
  const preview = page.frameLocator('iframe[title="Form preview"]');
  await preview.getByRole('button', { name: 'Submit' }).click();
  await preview.getByRole('link', { name: 'Enter your full name' }).waitFor();
  await preview.getByLabel('Name').fill('Ada');
  await preview.getByRole('button', { name: 'Submit' }).click();
  await preview.getByText('Thank you', { exact: true }).waitFor();
  assert.equal((await read(form)).form.submission_count, 0);
  await page.getByRole('button', { name: 'Phone, 375 px' }).click();
  assert.equal((await page.locator('.preview-frame').boundingBox())!.width, 375);

  await page.getByRole('button', { name: 'JSON' }).click();
  const text = page.getByLabel('Form as JSON');
  await text.fill('{"type":"form"');
  await page.getByText('This JSON cannot be applied').waitFor();
  await text.fill(
    JSON.stringify(
      structure(element('text', 'name', { label: 'From JSON' }), {
        type: 'text',
        attrs: { id: 'b' },
        children: [],
      }),
    ),
  );
  await page.getByText('Step 1, element 2:').waitFor();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('button', { name: 'Design' }).click();
  await part(page, '“From JSON”').waitFor();
  await page.getByRole('button', { name: 'Undo (Ctrl+Z)' }).click();
  await part(page, '“Name”').waitFor();
  await leave(page);
});

test('a text can be translated, undone in one step and imported from a file, and publishing lists missing translations', {
  skip: isSlice,
}, async () => {
  const form = await make(structure(element('text', 'a', { label: 'Name' })), true);
  const page = await openBuilder(form);
  const view = (name: string) =>
    page.getByRole('navigation', { name: 'Form views' }).getByRole('button', { name }).click();
  await view('Languages');
  await page.getByRole('button', { name: 'Original language' }).click();
  await page.getByRole('option', { name: 'English', exact: true }).click();
  await page.getByLabel('Add a language').fill('deutsch');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  const german = page.getByRole('textbox', { name: 'German: Name', exact: true });
  await german.pressSequentially('Ihr Name');
  await saved(page);
  const translations = async () => (await draftOf(form)).children![0]!.children![0]!.attrs!['translations'];
  assert.deepEqual(await translations(), { de: { label: 'Ihr Name' } });
  await page.getByRole('button', { name: /^Undo/ }).click();
  await until('the step is undone', async () => (await german.inputValue()) === '');
  await page.getByRole('button', { name: /^Redo/ }).click();
  await until('and done again', async () => (await german.inputValue()) === 'Ihr Name');

  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('button', { name: 'Import CSV' }).click(),
  ]);
  const file = (text: string) => ({ name: 't.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
  await chooser.setFiles(file('key,de\n$form/name,Kontakt\ngone/label,Weg\n'));
  await page.getByText('Line 3: The form has no text "gone/label".').waitFor();
  const [again] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('button', { name: 'Import CSV' }).click(),
  ]);
  await again.setFiles(file('key,de\n$form/name,Kontakt\n'));
  const name = page.getByRole('textbox', { name: 'German: Contact', exact: true });
  await until('the file is taken', async () => (await name.inputValue()) === 'Kontakt');
  await page.getByRole('banner').getByRole('button', { name: 'Publish' }).click();
  await page.getByRole('button', { name: /^1 of 3 texts are not translated into German/ }).click();
  await page.getByRole('heading', { name: 'Texts' }).waitFor();
  await leave(page);
});

test('the browser reported no errors', () => {
  assert.deepEqual(problems, []);
});
