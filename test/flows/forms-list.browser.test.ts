import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Static } from 'typebox';
import type { ExportedForm as Exported, FormsOverview } from '#forms/shapes.ts';
import type { LocatedForm } from '#search/table-arrangement.ts';
import { isSlice } from '#test/cases.ts';
import { type ConsolePerson, signIn } from '#test/console.ts';
import { heading, holdToast, openConsoleBrowser, press, tabTo, type } from '#test/console-browser.ts';
import { samples } from '#test/fixtures/foreign-forms.ts';
import { openService, until } from '#test/service.ts';
import { templates } from '../../web/forms/templates/templates.ts';

const contact = templates.find(({ id }) => id === 'contact')!;

/* The list of forms in a real browser on the built console, by keyboard if the title says so. */

const service = await openService();
const console = await openConsoleBrowser(service);

const create = async (person: ConsolePerson, name: string): Promise<string> => {
  const structure = { ...contact.structure, attrs: { name } };
  return (await person.api<{ id: string }>('POST', '/forms', { structure })).body.id;
};
const list = async (person: ConsolePerson) =>
  (await person.api<Static<typeof FormsOverview>>('GET', '/forms/overview?sort=name')).body.data;
type ExportedForm = Static<typeof Exported>;

/** Opens the menu of a form in the list by keyboard and chooses an action. */
async function choose(page: Page, form: string, action: string): Promise<void> {
  await tabTo(page, 'button', `Actions for ${form}`);
  await press(page, 'Enter');
  await page.getByRole('menuitem', { name: action }).waitFor();
  await type(page, action);
  await press(page, 'Enter');
}

test('a template with an image uploads it to the workspace, and the page shows it', {
  skip: isSlice,
}, async () => {
  const person = await signIn(service, { role: 'editor' });
  const page = await console.open('/app/', person);
  // Leaving the screen during the image upload creates no form and does not redirect.
  const held = Promise.withResolvers<void>();
  await page.route(/\/images$/, (route) => held.promise.then(() => route.continue()), { times: 1 });
  const sent = page.waitForResponse(/\/images$/);
  const asked = page.waitForRequest(/\/images$/);
  await page.getByRole('button', { name: /^RSVP/ }).click();
  await asked;
  await page.getByRole('link', { name: 'All submissions' }).click();
  await heading(page, 'All submissions');
  held.resolve();
  await sent;
  await page.getByRole('link', { name: 'Forms', exact: true }).click();
  await page.getByRole('button', { name: /^RSVP/ }).click();
  await page.waitForURL(/\/app\/forms\/[0-9a-f-]{36}$/);
  const id = page.url().split('/').at(-1)!;
  assert.deepEqual(
    (await list(person)).map((form) => form.id),
    [id],
  );
  assert.equal((await person.api('POST', `/forms/${id}/publish`)).status, 200);
  await page.goto(`${service.url}/f/${id}`);
  await until('its cover to be drawn', () =>
    page.evaluate<boolean>(`document.querySelector('img.cover').naturalWidth > 0`),
  );
  await console.leave(page);
});

test('a form can be created from a template by keyboard and opens in the builder', {
  skip: isSlice,
}, async () => {
  const person = await signIn(service, { role: 'editor' });
  const page = await console.open('/app/', person);
  await page.getByLabel('Search templates').fill('nothing like it');
  await page.getByText('No template matches “nothing like it”').waitFor();
  await page.getByLabel('Search templates').fill('Attachments');
  await until(
    'only what asks for that to be left',
    async () => (await page.locator('.template').count()) < 4,
  );
  await tabTo(page, 'button', /^Contact/);
  await press(page, 'Enter');
  await page.waitForURL(/\/app\/forms\/[0-9a-f-]{36}$/);
  const id = page.url().split('/').at(-1)!;
  const located = await person.call<LocatedForm>('GET', `/forms/${id}/locate`);
  assert.equal(located.body.name, 'Contact us');
  await page.getByRole('link', { name: 'Submissions', exact: true }).waitFor();
  await tabTo(page, 'link', /All forms in Test/);
  await press(page, 'Enter');
  await heading(page, 'Forms');
  await page.getByRole('link', { name: 'Contact us' }).waitFor();
  await console.leave(page);
});

test('a dialog with typed text asks before Escape, its close button or an outside click closes it', {
  skip: isSlice,
}, async () => {
  const person = await signIn(service, { role: 'editor' });
  const form = await create(person, 'Visitors');
  const dialogs = [
    {
      path: `/app/w/${person.workspaceId}/forms`,
      button: 'Create form',
      tab: 'Import',
      field: 'Questions, CSV or JSON',
    },
    { path: `/app/forms/${form}/webhooks`, button: 'Add webhook', tab: undefined, field: 'URL' },
  ];
  const page = await console.open(dialogs[0]!.path, person);
  const question = page.getByRole('alertdialog', { name: 'Discard changes?' });
  for (const { path, button, tab, field } of dialogs) {
    await page.goto(service.url + path);
    const dialog = page.getByRole('dialog', { name: button });
    const open = async () => {
      await page.getByRole('button', { name: button }).first().click();
      if (tab !== undefined) await dialog.getByRole('tab', { name: tab }).click();
      await dialog.getByLabel(field).focus();
    };
    await open();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await open();
    await dialog.getByLabel(field).fill('https://example.org/{"typed":"text"}');
    const ways = [
      () => page.keyboard.press('Escape'),
      () => dialog.getByRole('button', { name: 'Close', exact: true }).click(),
      () => page.mouse.click(5, 5),
    ];
    for (const close of ways) {
      await close();
      await question.getByRole('button', { name: 'Cancel' }).click();
      await question.waitFor({ state: 'detached' });
      // The focus returns with a later frame. A key that is pressed before that reaches no dialog.
      await dialog.locator(':focus').waitFor();
      assert.equal(await dialog.getByLabel(field).inputValue(), 'https://example.org/{"typed":"text"}');
    }
    await page.keyboard.press('Escape');
    await question.getByRole('button', { name: 'Discard' }).click();
    await dialog.waitFor({ state: 'detached' });
    await open();
    assert.equal(await dialog.getByLabel(field).inputValue(), '');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  }
  await console.leave(page);
});

test('an error in pasted JSON shows its position, and valid dropped JSON becomes a form', {
  skip: isSlice,
}, async () => {
  const person = await signIn(service, { role: 'editor' });
  const page = await console.open(`/app/w/${person.workspaceId}/forms`, person);
  await page.getByRole('tab', { name: 'Import' }).click();
  const area = page.getByLabel('Questions, CSV or JSON');
  const step = (label: string): string =>
    `{"type":"form","attrs":{"name":"Pasted"},"children":[\n{"type":"step","attrs":{},"children":[\n{"type":"text","attrs":{"id":"a"${label}},"children":[]}]}]}`;
  await area.fill(step(''));
  await page.getByRole('button', { name: 'Create form' }).click();
  const problem = page.getByRole('alert').getByRole('button', { name: /Step 1, element 1, line 3/ });
  await problem.click();
  const marked = await area.evaluate((element: unknown) => {
    const { value, selectionStart, selectionEnd } = element as {
      value: string;
      selectionStart: number;
      selectionEnd: number;
    };
    return value.slice(selectionStart, selectionEnd);
  });
  assert.equal(marked, '{"type":"text","attrs":{"id":"a"},"children":[]}');

  await area.fill('{ "type": "form", ');
  await page.getByRole('button', { name: 'Create form' }).click();
  await page.getByRole('alert').getByText('This is not valid JSON').waitFor();
  await page.getByRole('tab', { name: 'Templates' }).click();
  await page.getByRole('tab', { name: 'Import' }).click();
  assert.equal(await area.inputValue(), '{ "type": "form", ', 'a look at the templates takes nothing away');

  const dropped = await page.evaluateHandle(
    `(() => { const data = new DataTransfer(); data.items.add(new File([${JSON.stringify(step(',"label":"A"'))}], 'form.json', { type: 'application/json' })); return data; })()`,
  );
  await area.dispatchEvent('drop', { dataTransfer: dropped });
  await page.getByRole('alert').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Create form' }).click();
  await page.waitForURL(/\/app\/forms\//);
  assert.deepEqual(
    (await list(person)).map(({ name }) => name),
    ['Pasted'],
  );

  // Recognizes the export of another service and reports each part before creating the form.
  await page.goto(`${service.url}/app/w/${person.workspaceId}/forms`);
  await page.getByRole('button', { name: 'Create form' }).click();
  await page.getByRole('tab', { name: 'Import' }).click();
  await area.fill(JSON.stringify(samples.typeform));
  await page.getByText('This is a Typeform form.').waitFor();
  await page
    .getByRole('list', { name: 'Not imported' })
    .getByText('No element type matches "payment".')
    .waitFor();
  assert.equal((await list(person)).length, 1, 'nothing is made yet');
  await page.getByRole('dialog').getByRole('button', { name: 'Create form' }).click();
  await page.waitForURL(/\/app\/forms\//);
  assert.deepEqual((await list(person)).map(({ name }) => name).toSorted(), ['Pasted', 'Weaving course']);
  await console.leave(page);
});

test('the list can be searched, filtered and sorted, and its URL records this', {
  skip: isSlice,
}, async () => {
  const person = await signIn(service, { role: 'editor' });
  for (const name of ['Cherry', 'Apple', 'Banana']) await create(person, name);
  const page = await console.open(`/app/w/${person.workspaceId}/forms`, person);
  const names = async (): Promise<string[]> =>
    page.getByRole('rowheader').getByRole('link').allTextContents();
  await page.getByRole('link', { name: 'Apple' }).waitFor();
  await tabTo(page, 'button', /Sort by/);
  await press(page, 'Enter');
  await type(page, 'Name');
  await press(page, 'Enter');
  await page.waitForURL(/sort=name/);
  await until('the order', async () => (await names()).join() === 'Apple,Banana,Cherry');
  await page.getByRole('searchbox', { name: 'Search forms' }).fill('an');
  await page.waitForURL(/q=an/);
  await page.getByRole('link', { name: 'Cherry' }).waitFor({ state: 'detached' });
  assert.deepEqual(await names(), ['Banana']);
  await page.reload();
  await page.getByRole('link', { name: 'Banana' }).waitFor();
  assert.deepEqual(await names(), ['Banana']);
  assert.equal(await page.getByRole('searchbox', { name: 'Search forms' }).inputValue(), 'an');
  await page.getByRole('searchbox', { name: 'Search forms' }).fill('nothing like it');
  await page.getByText('No matching forms').waitFor();
  await page.getByRole('button', { name: 'Show all forms' }).click();
  await page.getByRole('link', { name: 'Cherry' }).waitFor();
  await console.leave(page);
});

test('a form can be duplicated, archived and restored by keyboard, with undo', {
  skip: isSlice,
}, async () => {
  const person = await signIn(service, { role: 'editor' });
  await create(person, 'Original');
  const page = await console.open(`/app/w/${person.workspaceId}/forms`, person);
  await choose(page, 'Original', 'Duplicate');
  await page.getByRole('link', { name: 'Original (copy)' }).waitFor();
  await choose(page, 'Original', 'Archive');
  const archived = await holdToast(page, 'Original was archived.');
  await page
    .getByRole('row', { name: /Original A/ })
    .getByText('Archived')
    .waitFor();
  await archived.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Original is a draft again.').waitFor();
  assert.deepEqual(
    (await list(person)).map(({ name, status }) => [name, status]),
    [
      ['Original', 'draft'],
      ['Original (copy)', 'draft'],
    ],
  );
  await console.leave(page);
});

test('deleting a form requires typing its name and shows how many submissions are deleted', async () => {
  const person = await signIn(service, { role: 'editor' });
  const id = await create(person, 'Doomed');
  await service.services.database.query(
    "update forms set status = 'published', published_at = now() where id = $1",
    [id],
  );
  const answers = { name: 'Ada', email: 'ada@example.org', subject: 'Hello', message: 'Hello' };
  for (let count = 0; count < 2; count += 1) {
    const sent = await fetch(`${service.url}/f/${id}`, {
      method: 'POST',
      headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
      body: JSON.stringify({ answers }),
    });
    assert.equal(sent.status, 201);
  }
  const page = await console.open(`/app/w/${person.workspaceId}/forms`, person);
  await choose(page, 'Doomed', 'Delete');
  const dialog = page.getByRole('alertdialog');
  await dialog.getByText('2 submissions').waitFor();
  await type(page, 'Doome');
  await press(page, 'Enter');
  assert.equal(await dialog.getByRole('button', { name: 'Delete form' }).isDisabled(), true);
  await type(page, 'd');
  await press(page, 'Enter');
  await page.getByText('Doomed was deleted.').waitFor();
  await page.getByText('Create your first form.').waitFor();
  assert.deepEqual(await list(person), []);
  await console.leave(page);
});

test('plain text becomes a form by keyboard: its questions are drawn first, and what is not understood is listed', async () => {
  const person = await signIn(service, { role: 'editor' });
  await create(person, 'First');
  const page = await console.open(`/app/w/${person.workspaceId}/forms`, person);
  await tabTo(page, 'button', 'Create form');
  await press(page, 'Enter');
  await tabTo(page, 'tab', 'Templates');
  await press(page, 'ArrowRight');
  await tabTo(page, 'textbox', 'Questions, CSV or JSON');
  const text = '# About you\nName *\nEmail\n\nHow did you come?\n- Train\n- Car\n???';
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
  await press(page, 'Control+v');
  await page.getByText('This is plain text.').waitFor();
  const lost = page.getByRole('list', { name: 'Not imported' });
  await lost.getByText('Line 8').waitFor();
  const drawn = page.frameLocator('iframe[title="Preview of the form"]');
  await drawn.getByRole('heading', { name: 'About you' }).waitFor();
  await drawn.getByRole('textbox', { name: 'Email' }).waitFor();
  await drawn.getByRole('radio', { name: 'Train' }).waitFor();
  assert.deepEqual((await list(person)).length, 1, 'nothing is made yet');

  await press(page, 'Escape');
  const question = page.getByRole('alertdialog', { name: 'Discard changes?' });
  await question.getByRole('button', { name: 'Cancel' }).click();
  await question.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Read as CSV' }).click();
  await page.getByText('This is a table (CSV).').waitFor();
  await page.getByRole('button', { name: 'Read as plain text' }).click();
  await page.getByText('This is plain text.').waitFor();

  await tabTo(page, 'button', 'Choose a file');
  await press(page, 'Tab', 'Enter');
  await page.waitForURL(/\/app\/forms\/[0-9a-f-]{36}$/);
  const { body } = await person.api<{ structure: { children: { attrs: object; children: object[] }[] } }>(
    'GET',
    `/forms/${page.url().split('/').at(-1)}`,
  );
  assert.deepEqual(body.structure.children, [
    {
      type: 'step',
      attrs: { title: 'About you' },
      children: [
        { type: 'text', attrs: { id: 'name', label: 'Name', required: true }, children: [] },
        { type: 'email', attrs: { id: 'email', label: 'Email' }, children: [] },
        {
          type: 'radio',
          attrs: { id: 'how_did_you_come', label: 'How did you come?', options: ['Train', 'Car'] },
          children: [],
        },
      ],
    },
  ]);
  await console.leave(page);
});

test('a form is exported as a file that can be pasted again', { skip: isSlice }, async () => {
  const person = await signIn(service, { role: 'viewer' });
  const editor = await signIn(service, { role: 'editor', workspaceId: person.workspaceId });
  await create(editor, 'Über uns / 2026');
  const page = await console.open(`/app/w/${person.workspaceId}/forms`, person);
  const download = page.waitForEvent('download');
  await choose(page, 'Über uns / 2026', 'Export as JSON');
  const file = await download;
  assert.equal(file.suggestedFilename().normalize('NFC'), 'Über uns - 2026.json');
  const exported = JSON.parse(await readFile(await file.path(), 'utf8')) as ExportedForm;
  assert.deepEqual(exported.structure, { ...contact.structure, attrs: { name: 'Über uns / 2026' } });
  await page.getByRole('button', { name: 'Actions for Über uns / 2026' }).click();
  assert.deepEqual(
    await page.getByRole('menuitem').allTextContents(),
    ['Open', 'Submissions', 'Export as JSON', 'Export form package'],
    'a viewer changes nothing',
  );
  await console.leave(page);
});

test('a form exported from one workspace becomes a draft in another, which lists what the file lacked', {
  skip: isSlice,
}, async () => {
  const from = await signIn(service, { role: 'admin' });
  await create(from, 'Moving');
  const [moving] = await list(from);
  const settings = { access: 'password', password: 'open sesame' };
  await from.api('PATCH', `/forms/${moving!.id}`, { settings });
  const there = await console.open(`/app/w/${from.workspaceId}/forms`, from);
  const download = there.waitForEvent('download');
  await choose(there, 'Moving', 'Export form package');
  const file = await download;
  assert.equal(file.suggestedFilename(), 'Moving.form.tar.gz');
  const to = await signIn(service, { role: 'admin' });
  const page = await console.open(`/app/w/${to.workspaceId}/forms`, to);
  await page.getByRole('tab', { name: 'Import' }).click();
  const choosing = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Choose a file' }).click();
  const chooser = await choosing;
  await chooser.setFiles({ name: 'x.gz', mimeType: 'application/x-gzip', buffer: Buffer.from('no package') });
  await page.getByRole('alert').getByText('The file is not a form package').waitFor();
  const again = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Choose a file' }).click();
  await (await again).setFiles(await file.path());
  await page.getByText('Passwords are never exported.').waitFor();
  await page.getByRole('button', { name: 'Open the form' }).click();
  await page.waitForURL(/\/app\/forms\//);
  assert.deepEqual(
    (await list(to)).map(({ name }) => name),
    ['Moving'],
  );
  // Over a list the message stays until it is read.
  await page.getByRole('link', { name: /All forms in/ }).click();
  await page.getByRole('button', { name: 'Create form' }).click();
  await page.getByRole('tab', { name: 'Import' }).click();
  const third = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Choose a file' }).click();
  await (await third).setFiles(await file.path());
  const open = page.getByRole('button', { name: 'Open the form' });
  await open.waitFor();
  assert.equal(await page.getByRole('tab').count(), 0);
  await open.press('Escape');
  await open.press('Enter');
  await page.waitForURL(/\/app\/forms\//);
  await console.leave(there);
  await console.leave(page);
});

test('selected forms are labeled and unlabeled, and a label filters the list', {
  skip: isSlice,
}, async () => {
  const person = await signIn(service, { role: 'editor' });
  for (const name of ['Fair', 'Gala', 'Plain']) await create(person, name);
  const labels = async () => (await list(person)).map((form) => form.labels);
  const page = await console.open(`/app/w/${person.workspaceId}/forms?sort=name`, person);
  const check = async (name: string) => {
    await tabTo(page, 'checkbox', name);
    await press(page, 'Space');
  };
  await check('Select Fair');
  await check('Select Gala');
  const selection = page.getByRole('region', { name: 'Selection' });
  await selection.getByText('2 forms selected').waitFor();
  await selection.getByRole('button', { name: 'Label' }).click();
  const dialog = page.getByRole('dialog', { name: 'Label 2 forms' });
  await dialog.getByLabel('Add labels').fill('Events, Autumn');
  await press(page, 'Enter');
  await page.getByText('The labels of 2 forms were changed.').waitFor();
  assert.deepEqual(await labels(), [['Events', 'Autumn'], ['Events', 'Autumn'], []]);
  await selection.waitFor({ state: 'detached' });
  await choose(page, 'Fair', 'Label');
  await page.getByRole('dialog', { name: 'Label 1 form' }).getByLabel('Remove labels').fill('events');
  await press(page, 'Enter');
  await until('the label to be removed', async () => (await labels())[0]!.length === 1);
  await page.getByRole('navigation', { name: 'Labels' }).getByRole('link', { name: 'Events 1 form' }).click();
  await page.getByRole('link', { name: 'Fair', exact: true }).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Gala', exact: true }).waitFor();
  await page.reload();
  assert.equal(await page.getByRole('link', { name: 'Events 1 form' }).getAttribute('aria-current'), 'page');
  await page.getByRole('link', { name: 'All forms' }).last().click();
  await page.getByRole('link', { name: 'Plain', exact: true }).waitFor();
  await console.leave(page);
});

test('forms are dragged to a label with the mouse and by keyboard, and Undo takes the label off', {
  skip: isSlice,
}, async () => {
  const person = await signIn(service, { role: 'editor' });
  const ids = [await create(person, 'Fair'), await create(person, 'Gala')];
  const fair = await create(person, 'Old fair');
  await person.api('PATCH', `/forms/${fair}`, { labels: ['Autumn', 'Events'] });
  const labels = async () => (await list(person)).map((form) => form.labels);
  const page = await console.open(`/app/w/${person.workspaceId}/forms?sort=name`, person);
  const toast = page.getByText('The labels of 1 form were changed.');
  const events = page.getByRole('link', { name: /^Events/ });
  await page.getByRole('button', { name: 'Drag Fair to a label' }).waitFor();
  await page.getByRole('link', { name: 'Fair', exact: true }).dragTo(events);
  await toast.waitFor();
  assert.deepEqual(await labels(), [['Events'], [], ['Autumn', 'Events']]);
  await page.getByRole('button', { name: 'Undo' }).click();
  await until('the label to be off again', async () => (await labels())[0]!.length === 0);
  await toast.waitFor({ state: 'detached' });
  await tabTo(page, 'button', 'Drag Gala to a label');
  await press(page, 'Enter');
  await events
    .and(page.locator(':focus'))
    .or(page.getByRole('link', { name: /^Autumn/ }))
    .first()
    .waitFor();
  await tabTo(page, 'link', /^Events/);
  await press(page, 'Enter');
  await toast.waitFor();
  assert.deepEqual(await labels(), [[], ['Events'], ['Autumn', 'Events']]);
  for (const id of ids)
    await page
      .getByRole('checkbox', { name: id === ids[0] ? 'Select Fair' : 'Select Gala' })
      .check({ force: true });
  await page
    .getByRole('button', { name: 'Drag Gala to a label' })
    .dragTo(page.getByRole('link', { name: /^Autumn/ }));
  await page.getByText('The labels of 2 forms were changed.').waitFor();
  assert.deepEqual(await labels(), [['Autumn'], ['Events', 'Autumn'], ['Autumn', 'Events']]);
  await console.leave(page);
});

test('no script failed, and the content security policy blocked none', () => {
  console.assertQuiet();
});
