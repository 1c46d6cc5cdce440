import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page, Route } from 'playwright-core';
import type { FormNode } from '#ast/form/tree.ts';
import type { Settings } from '#ast/settings.ts';
import { isSlice } from '#test/cases.ts';
import { until } from '#test/service.ts';
import { element, stepsOf, structure } from '../ast/forms.ts';
import {
  ada,
  bob,
  closeLaunch,
  draftOf,
  labels,
  leave,
  make,
  openBuilder,
  part,
  problems,
  read,
  saved,
  untilSaved,
} from './builder-page.ts';

/* Edits of an author are kept until they are saved, whatever else happens. */

const settingsOf = async (form: string): Promise<Settings> => (await read(form)).draft.settings;
const view = (page: Page, name: string): Promise<void> =>
  page.getByRole('navigation', { name: 'Form views' }).getByRole('button', { name }).click();

test('choices that are made during an image upload are kept', async () => {
  const form = await make(structure(element('text', 'a')));
  const page = await openBuilder(form);
  await view(page, 'Theme');
  const arrived = Promise.withResolvers<Route>();
  await page.route('**/images', (route) => arrived.resolve(route));
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles({
      name: 'logo.png',
      mimeType: 'image/png',
      buffer: Buffer.from(
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
        'base64',
      ),
    });
  const held = await arrived.promise;
  await page.getByRole('button', { name: 'Violet' }).click();
  await held.continue();
  await page.getByRole('button', { name: 'Remove logo' }).waitFor();
  await untilSaved(page, 'colour and logo to be saved', async () => {
    const { theme } = await settingsOf(form);
    return theme?.color === '#6d28d9' && theme.logo !== undefined;
  });
  await leave(page);
});

test('an invalid setting stays as typed, marks its tab, and is linked from the error that it causes', {
  skip: isSlice,
}, async () => {
  const form = await make(structure(element('text', 'a')));
  const page = await openBuilder(form);
  const tab = (name: string) =>
    page.getByRole('navigation', { name: 'Form views' }).getByRole('button', { name });
  await view(page, 'Theme');
  await page.getByRole('textbox', { name: 'Color', exact: true }).fill('#0b');
  await tab('Theme').getByText('1 problem').waitFor();
  await view(page, 'Settings');
  const seconds = page.getByLabel('Minimum seconds to complete');
  await seconds.fill('12s');
  const redirect = page.getByLabel('Redirect URL');
  await redirect.fill('nowhere');
  await tab('Settings').getByText('2 problems').waitFor();
  await page.getByText('Must be a URL that begins with https://').waitFor();
  await untilSaved(page, 'all of it to be saved', async () => {
    const { theme, redirect_url: url, min_seconds: typed } = await settingsOf(form);
    return JSON.stringify([theme, url, typed]) === '[{"color":"#0b"},"nowhere","12s"]';
  });

  await view(page, 'Design');
  const publish = page.getByRole('banner').getByRole('button', { name: 'Publish' });
  const dialog = page.getByRole('dialog', { name: 'Publish this form' });
  await publish.click();
  await dialog.getByText('3 problems prevent publishing').waitFor();
  await dialog.getByRole('button', { name: /^Redirect URL: / }).click();
  await page.locator('input[type=url]:focus').waitFor();
  await redirect.fill('');
  await page.getByRole('button', { name: 'Not valid yet: Minimum seconds to complete' }).click();
  await page.locator('input:focus[value="12s"]').waitFor();
  assert.equal(await seconds.inputValue(), '12s');
  await seconds.fill('12');
  await tab('Settings').getByText('problem').waitFor({ state: 'detached' });
  await publish.click();
  await dialog.getByRole('button', { name: /^Color: / }).click();
  const colour = page.getByRole('textbox', { name: 'Color', exact: true });
  await page.locator('input:focus[value="#0b"]').waitFor();
  assert.equal(await colour.inputValue(), '#0b');
  await leave(page);
});

test('an incomplete date shows an error, is not saved or published, and stays as typed', {
  skip: isSlice,
}, async () => {
  const form = await make(structure(element('text', 'a')));
  const page = await openBuilder(form);
  await view(page, 'Settings');
  const closes = page.getByLabel(/^Closes/);
  await closes.fill('2031-05-06T07:08');
  const closesAt = async () => (await settingsOf(form)).closes_at;
  const kept = await untilSaved(page, 'it to be saved', closesAt);
  await closes.focus();
  await page.keyboard.press('Backspace');
  const problem = page.getByText('This is incomplete. Complete it or clear it.');
  await problem.waitFor();
  await page.getByRole('banner').getByRole('button', { name: 'Publish' }).click();
  await page.locator('input[type=datetime-local]:focus').waitFor();
  assert.equal(await page.getByRole('dialog').count(), 0);
  assert.equal(await page.locator('input[type=datetime-local]:invalid').count(), 1);
  await saved(page);
  assert.equal(await closesAt(), kept);
  for (const leads of [
    page.getByRole('navigation', { name: 'Form views' }).getByRole('button', { name: 'Theme' }),
    page.getByRole('link', { name: 'Submissions', exact: true }),
  ]) {
    await page.getByLabel('Confirmation message').focus();
    await leads.click();
    await page.locator('input[type=datetime-local]:focus').waitFor();
    assert.equal(await problem.count(), 1, 'it stays where it is, with its sentence');
  }
  await closes.focus();
  await page.keyboard.type('06');
  await problem.waitFor({ state: 'detached' });
  await untilSaved(page, 'the month to be saved', async () => (await closesAt()) !== kept);
  await leave(page);
});

test('theme and settings are saved automatically, published with the form, undone, compared and restored', {
  skip: isSlice,
}, async () => {
  const form = await make(structure(element('text', 'a', { label: 'First' })));
  const page = await openBuilder(form);
  const publish = page.getByRole('banner').getByRole('button', { name: 'Publish' });
  const dialog = page.getByRole('dialog', { name: /^Publish/ });
  await view(page, 'Theme');
  await page.getByRole('button', { name: 'Violet' }).click();
  await view(page, 'Settings');
  await page.getByLabel('Confirmation message').fill('Merci');
  await publish.click();
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await dialog.waitFor({ state: 'detached' });
  await closeLaunch(page);
  const live = async () => (await read(form)).live.settings;
  assert.deepEqual(await live(), { theme: { color: '#6d28d9' }, confirmation_message: 'Merci' });

  // Undo from another tab opens the tab of the change.
  await page.getByRole('switch', { name: 'Allow editing' }).press('Space');
  await view(page, 'Theme');
  await page.getByRole('button', { name: 'Pink' }).click();
  await view(page, 'Design');
  await page.keyboard.press('Control+z');
  await page.getByRole('heading', { name: 'Theme' }).waitFor();
  await page.keyboard.press('Control+z');
  await page.getByRole('heading', { name: 'Settings', level: 2 }).waitFor();
  assert.equal(await page.getByRole('switch', { name: 'Allow editing' }).isChecked(), false);
  await page.getByRole('button', { name: 'Redo (Ctrl+Shift+Z)' }).click();
  await page.getByRole('button', { name: 'Redo (Ctrl+Shift+Z)' }).click();

  await publish.click();
  assert.deepEqual(await dialog.locator('.differences li').allTextContents(), [
    'ChangedTheme: Color“#6d28d9” → “#be185d”',
    'ChangedAllow editing(empty) → yes',
  ]);
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal((await live()).editing, true);

  await view(page, 'History');
  await page.locator('.versions-item', { hasText: 'Version 2' }).getByRole('button').click();
  await page.getByText('“#be185d” → “#6d28d9”').waitFor();
  await page.getByRole('button', { name: 'Restore to working copy' }).click();
  await untilSaved(page, 'the settings of that version', async () => {
    const { theme, editing } = await settingsOf(form);
    return theme?.color === '#6d28d9' && editing === undefined;
  });

  // Leaving the page before the second ends still saves.
  await view(page, 'Settings');
  await page.getByLabel('Confirmation message').fill('Danke');
  await page.getByRole('link', { name: 'All forms' }).click();
  await page.getByLabel('Confirmation message').waitFor({ state: 'detached' });
  await until('what was changed last', async () => (await settingsOf(form)).confirmation_message === 'Danke');
  await leave(page);
});

test('answers can be inserted in texts and a layout chosen, and the preview and the public page show both', {
  skip: isSlice,
}, async () => {
  const form = await make(
    structure(
      element('text', 'name', { label: 'Full name' }),
      element('date', 'day', { label: 'Day of arrival' }),
    ),
  );
  const page = await openBuilder(form);
  const insert = async (question: string): Promise<void> => {
    await page.getByRole('button', { name: 'Insert an answer' }).first().click();
    await page.getByRole('menuitem', { name: question, exact: true }).click();
  };
  await part(page, '“Day of arrival”').click();
  await page
    .getByRole('complementary', { name: 'Properties' })
    .getByLabel('Label')
    .fill('When do you come, ');
  await insert('Full name');
  await view(page, 'Settings');
  await page.getByLabel('Confirmation message').fill('Until then, ');
  await insert('Full name');
  await page.getByRole('radio', { name: 'One question at a time' }).press('Space');
  await page.getByRole('switch', { name: 'Check your answers' }).press('Space');
  await untilSaved(page, 'everything to be saved', async () => {
    const { confirmation_message: said, layout, review_step: hasReview } = await settingsOf(form);
    return said === 'Until then, {{name}}' && layout === 'question' && hasReview === true;
  });
  assert.deepEqual(labels(await draftOf(form)), ['Full name', 'When do you come, {{name}}']);
  // A changed question ID also changes the texts that show its answer.
  await view(page, 'Design');
  await part(page, '“Full name”').click();
  const id = page.getByRole('complementary', { name: 'Properties' }).getByLabel('ID', { exact: true });
  await id.fill('who');
  await id.press('Enter');
  await untilSaved(page, 'the texts to follow', async () => {
    const { confirmation_message: said } = await settingsOf(form);
    return said === 'Until then, {{who}}' && labels(await draftOf(form))[1] === 'When do you come, {{who}}';
  });
  await view(page, 'Preview');
  const trial = page.frameLocator('iframe');
  await trial.getByText('Question 1 of 3').waitFor();
  await trial.getByLabel('Full name').fill('Anni');
  await trial.getByRole('button', { name: 'Next' }).click();
  await trial.getByText('When do you come, Anni').waitFor();
  await leave(page);
});

test('another person’s saved settings are merged with mine, and I decide if we both changed one setting', async () => {
  const form = await make(structure(element('text', 'a', { label: 'First' })));
  const mine = await openBuilder(form);
  const theirs = await openBuilder(form, bob);
  await view(theirs, 'Settings');
  await theirs.getByLabel('Confirmation message').fill('Of Bob');
  await saved(theirs);
  await part(mine, '“First”').click();
  await mine.getByLabel('Label', { exact: true }).fill('Of Ada');
  await mine.getByText('Bob edited another part of this form.').waitFor();
  await untilSaved(mine, 'both to be saved', async () => {
    const { structure: form1, settings } = (await read(form)).draft;
    return labels(form1 as FormNode).join() === 'Of Ada' && settings.confirmation_message === 'Of Bob';
  });
  await view(mine, 'Settings');
  const message = mine.getByLabel('Confirmation message');
  assert.equal(await message.inputValue(), 'Of Bob');
  await message.fill('Of Ada');
  await untilSaved(
    mine,
    'mine to be saved',
    async () => (await settingsOf(form)).confirmation_message === 'Of Ada',
  );
  await theirs.getByLabel('Confirmation message').fill('Of Bob again');
  const dialog = theirs.getByRole('alertdialog', { name: 'This form was changed elsewhere' });
  await dialog.getByText('“Of Ada” → “Of Bob again”').waitFor();
  await dialog.getByRole('button', { name: 'Keep mine' }).click();
  await untilSaved(
    theirs,
    'the choice',
    async () => (await settingsOf(form)).confirmation_message === 'Of Bob again',
  );
  await leave(mine);
  await leave(theirs);
});

test('renaming a form in the JSON view also renames it in the header, and unapplied JSON is not shown as saved', {
  skip: isSlice,
}, async () => {
  const form = await make({ ...structure(element('text', 'a')), attrs: { name: 'Untitled form' } });
  const page = await openBuilder(form);
  await view(page, 'JSON');
  const text = page.getByRole('textbox', { name: 'Form as JSON' });
  await text.fill((await text.inputValue()).replace('Untitled form', 'Garden party'));
  await page.getByRole('banner').getByText('JSON not applied').first().waitFor();
  await view(page, 'Design');
  await page.getByRole('banner').getByRole('button', { name: 'Publish' }).click();
  await page.getByText('The text in the JSON view is not applied yet and will not be published.').waitFor();
  await page.keyboard.press('Escape');
  await view(page, 'JSON');
  await page.getByRole('button', { name: 'Apply' }).click();
  await saved(page);
  await page.getByRole('banner').getByText('Garden party').waitFor();
  await leave(page);
});

test('unapplied JSON is kept while other views are open and warns if the form has changed', {
  skip: isSlice,
}, async () => {
  const form = await make(structure(element('text', 'a', { label: 'First' })));
  const page = await openBuilder(form);
  await view(page, 'JSON');
  const text = page.getByRole('textbox', { name: 'Form as JSON' });
  await text.fill((await text.inputValue()).replace('First', 'Second'));
  await view(page, 'Design');
  await view(page, 'JSON');
  assert.match(await text.inputValue(), /Second/);
  const note = page.getByText('The form has changed since you started editing this JSON');
  assert.equal(await note.count(), 0);
  await view(page, 'Design');
  await page.getByRole('button', { name: 'Add step', exact: true }).first().click();
  await page.keyboard.press('Enter');
  await view(page, 'JSON');
  await note.waitFor();
  await page.getByRole('button', { name: 'Apply' }).click();
  await saved(page);
  const draft = await draftOf(form);
  assert.deepEqual(
    [draft.children!.length, draft.children![0]!.children![0]!.attrs!['label']],
    [1, 'Second'],
  );
  await leave(page);
});

test('renaming an option past the name of another one updates only its own conditions', {
  skip: isSlice,
}, async () => {
  const when = (value: string) => ({ show_when: { element: 'drink', is: 'equals', value } });
  const form = await make(
    stepsOf({ title: 'One' }, [
      element('radio', 'drink', { label: 'Drink', options: ['Red', 'Red wine'] }),
      element('text', 'a', { label: 'Of red', ...when('Red') }),
      element('text', 'b', { label: 'Of wine', ...when('Red wine') }),
    ]),
  );
  const page = await openBuilder(form);
  await part(page, '“Drink”').click();
  const option = page.getByLabel('Option 1 of 2');
  await option.press('End');
  await page.keyboard.type(' wine');
  await page.getByText('Another option is already called “Red wine”.').waitFor();
  await page.keyboard.type(' list');
  assert.equal(await option.inputValue(), 'Red wine list');
  await untilSaved(page, 'the new name to be saved', async () => {
    const [drink, red, wine] = (await draftOf(form)).children![0]!.children!;
    const valueOf = (node: typeof red) =>
      /"value":"([^"]*)"/.exec(JSON.stringify(node!.attrs!['show_when']))?.[1];
    const options = (drink!.attrs!['options'] as string[]).join();
    if (options !== 'Red wine list,Red wine') return false;
    assert.deepEqual([valueOf(red), valueOf(wine)], ['Red wine list', 'Red wine']);
    return true;
  });
  await leave(page);
});

test('a renamed published option keeps its stored value and can have a quota, and a new one is plain text', {
  skip: isSlice,
}, async () => {
  const form = await make(
    structure(
      element('radio', 'drink', { label: 'Drink', options: ['Red', 'White'] }),
      element('text', 'why', { show_when: { element: 'drink', is: 'equals', value: 'Red' } }),
    ),
    true,
  );
  const page = await openBuilder(form);
  await part(page, '“Drink”').click();
  await page.getByLabel('Option 1 of 2').fill('Rosé');
  await page.getByRole('button', { name: 'Details of option 1' }).click();
  const details = page.getByRole('group', { name: 'Details of option 1' });
  await details.getByLabel('Quota').fill('12');
  const id = details.getByLabel('Stored value');
  assert.deepEqual([await id.inputValue(), await id.getAttribute('readonly')], ['Red', '']);
  await page.getByRole('button', { name: 'Add option' }).click();
  await page.getByLabel('Option 3 of 3').fill('Water');
  await page.getByRole('button', { name: 'Details of option 3' }).click();
  const other = page.getByRole('group', { name: 'Details of option 3' });
  await other.getByLabel('Stored value').fill('White');
  await other.getByText('“White” already uses this value.').waitFor();
  await other.getByLabel('Stored value').fill('none');
  await other.getByLabel('Points').fill('2.5');
  await untilSaved(page, 'the options to be saved', async () => {
    const [drink, why] = (await draftOf(form)).children![0]!.children!;
    const options = JSON.stringify(drink!.attrs!['options']);
    if (!options.includes('2.5')) return false;
    assert.deepEqual(drink!.attrs!['options'], [
      { id: 'Red', label: 'Rosé', capacity: 12 },
      'White',
      { id: 'none', label: 'Water', points: 2.5 },
    ]);
    assert.deepEqual(why!.attrs!['show_when'], { element: 'drink', is: 'equals', value: 'Red' });
    return true;
  });
  await part(page, '“Drink”').getByText('12 places left').waitFor();
  await leave(page);
});

test('undoing an action of a form that is no longer open shows a message and changes nothing', {
  skip: isSlice,
}, async () => {
  const form = await make(structure(element('text', 'a', { label: 'Name' })));
  const page = await openBuilder(form);
  await view(page, 'JSON');
  const json = page.getByLabel('Form as JSON');
  await json.fill((await json.inputValue()).replace('"Name"', '"Full name"'));
  await page.getByRole('button', { name: 'Apply' }).click();
  await untilSaved(page, 'it to be saved', async () => labels(await draftOf(form)).includes('Full name'));
  await page.getByRole('link', { name: /All forms in/ }).click();
  await page.getByRole('heading', { level: 1, name: 'Forms' }).waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('This form is no longer open here, so the change cannot be undone.').waitFor();
  assert.deepEqual(labels(await draftOf(form)), ['Full name']);
  assert.deepEqual(problems, []);
  await leave(page);
});

test('undo works from a switch, and preview answers are kept if the width changes', {
  skip: isSlice,
}, async () => {
  const form = await make(structure(element('text', 'a', { label: 'Name' })));
  const page = await openBuilder(form);
  await part(page, '“Name”').click();
  const required = page.getByRole('switch', { name: 'Required' });
  await required.press('Space');
  assert.equal(await required.isChecked(), true);
  await page.keyboard.press('Control+z');
  await until('the switch to be off', async () => !(await required.isChecked()));

  await view(page, 'Preview');
  const answer = page.frameLocator('.preview-frame').locator('#a');
  await answer.fill('Ada');
  await page.getByRole('button', { name: 'Phone, 375 px' }).click();
  await until(
    'the width of a phone',
    async () => (await page.locator('.preview-frame').boundingBox())!.width < 380,
  );
  assert.equal(await answer.inputValue(), 'Ada');
  assert.deepEqual(problems, []);
  await leave(page);
});

test('a session that ends during an edit leads to sign-in and back to the edit, which is saved', async () => {
  const form = await make(structure(element('text', 'a', { label: 'First' })));
  const page = await openBuilder(form);
  await page.context().clearCookies();
  await part(page, '“First”').click();
  await page.getByLabel('Label', { exact: true }).fill('Second');
  await page.getByRole('heading', { name: 'Sign in to Formloom' }).waitFor();
  await page.getByLabel('Email address').fill(ada.email);
  await page.getByLabel('Password').fill(ada.password);
  await page.keyboard.press('Enter');
  await part(page, '“Second”').waitFor();
  await saved(page);
  assert.deepEqual(labels(await draftOf(form)), ['Second']);
  await page.context().close();
});
