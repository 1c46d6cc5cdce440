import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page, Route } from 'playwright-core';
import { element, stepsOf, structure } from '#ast/testing.ts';
import type { Settings } from '#ast/settings.ts';
import { until } from '#test/service.ts';
import { ada, draftOf, labels, make, openBuilder, part, problems, read, saved } from './builder-page.ts';

/* What an author has entered stays until it is saved, whatever else is done meanwhile. */

const settingsOf = async (form: string): Promise<Settings> => (await read(form)).form.settings;
const view = (page: Page, name: string): Promise<void> =>
  page.getByRole('navigation', { name: 'Views of this form' }).getByRole('button', { name }).click();

test('what is chosen while an image is on its way up stays chosen', async () => {
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
  await page.getByRole('button', { name: 'Save theme' }).click();
  await page.getByText('Theme saved.').waitFor();
  const { theme } = await settingsOf(form);
  assert.equal(theme?.color, '#6d28d9');
  assert.ok(theme?.logo);
  await page.close();
});

test('half a colour in the theme does not keep settings from being saved, and waits for its other half', async () => {
  const form = await make(structure(element('text', 'a')));
  const page = await openBuilder(form);
  await view(page, 'Theme');
  await page.getByRole('textbox', { name: 'Colour', exact: true }).fill('#0b');
  await view(page, 'Settings');
  const save = page.getByRole('button', { name: 'Save settings' });
  assert.equal(await save.isDisabled(), true);
  const seconds = page.getByLabel('Least seconds');
  await seconds.fill('12');
  await seconds.press('End');
  await page.keyboard.type('s');
  assert.equal(await seconds.inputValue(), '12s');
  await page.getByText('Enter a whole number.').waitFor();
  await page.keyboard.press('Backspace');
  await save.click();
  await page.getByText('Settings saved.').waitFor();
  assert.equal((await settingsOf(form)).min_seconds, 12);
  await view(page, 'Theme');
  assert.equal(await page.getByRole('textbox', { name: 'Colour', exact: true }).inputValue(), '#0b');
  await page.close();
});

test('JSON that is not applied yet outlives a look at another view, and says when the form has moved on', async () => {
  const form = await make(structure(element('text', 'a', { label: 'First' })));
  const page = await openBuilder(form);
  await view(page, 'JSON');
  const text = page.getByRole('textbox', { name: 'The form as JSON' });
  await text.fill((await text.inputValue()).replace('First', 'Second'));
  await view(page, 'Design');
  await view(page, 'JSON');
  assert.match(await text.inputValue(), /Second/);
  const note = page.getByText('The form has changed since you began this text');
  assert.equal(await note.count(), 0);
  await view(page, 'Design');
  await page.getByRole('button', { name: 'Add a step', exact: true }).first().click();
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
  await page.close();
});

test('an option that is renamed past another’s name takes its own conditions along, and not those of the other', async () => {
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
  await page.getByText('Another option is called “Red wine” already.').waitFor();
  await page.keyboard.type(' list');
  assert.equal(await option.inputValue(), 'Red wine list');
  await until('the new name to be saved', async () => {
    const [drink, red, wine] = (await draftOf(form)).children![0]!.children!;
    const valueOf = (node: typeof red) =>
      /"value":"([^"]*)"/.exec(JSON.stringify(node!.attrs!['show_when']))?.[1];
    const options = (drink!.attrs!['options'] as string[]).join();
    if (options !== 'Red wine list,Red wine') return false;
    assert.deepEqual([valueOf(red), valueOf(wine)], ['Red wine list', 'Red wine']);
    return true;
  });
  await page.close();
});

test('undo works from a switch too, and the answers of a trial stay when its width changes', async () => {
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
  await page.close();
});

test('a session that ends in mid-edit leads to the sign-in, and from there back to the work, which is saved', async () => {
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
  await page.close();
});
