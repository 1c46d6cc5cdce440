import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSlice } from '#test/cases.ts';
import { signIn } from '#test/console.ts';
import { findBarriers, heading, openConsoleBrowser, press, tabTo, type } from '#test/console-browser.ts';
import { callApi, shareService, until } from '#test/service.ts';
import { element, structure } from '../ast/forms.ts';

/* Changes to an API key after its creation, with the keyboard only: K1 to K3. */

const service = await shareService();
const console = await openConsoleBrowser(service);

test('a key can be limited to a form, changed, rotated and reviewed, by keyboard', async () => {
  const owner = await signIn(service, { name: 'Ada' });
  const form = await owner.api<{ id: string }>('POST', '/forms', {
    structure: { ...structure(element('text', 'name')), attrs: { name: 'Workshop' } },
  });
  await owner.api('POST', '/forms', { structure: structure(element('text', 'name')) });
  const page = await console.open(`/app/w/${owner.workspaceId}/settings/keys`, owner);
  await page.getByText('No API keys yet').waitFor();
  await tabTo(page, 'button', 'Create key');
  await press(page, 'Enter');
  await type(page, 'Export');
  await page.getByRole('radio', { name: /^All forms/ }).focus();
  await press(page, 'ArrowDown');
  await tabTo(page, 'checkbox', 'Workshop');
  await press(page, 'Space');
  assert.deepEqual(await findBarriers(page), []);
  await press(page, 'Enter');
  const copy = async (): Promise<string> => {
    await page.getByRole('dialog', { name: 'Your key “Export”' }).waitFor();
    await tabTo(page, 'button', 'Copy API key');
    await press(page, 'Enter');
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    await tabTo(page, 'button', 'I have saved it');
    await press(page, 'Enter');
    return copied;
  };
  const first = await copy();
  const listed = await callApi(service.url, first, 'GET', '/forms');
  assert.deepEqual(
    listed.body.data.map(({ id }) => id),
    [form.body.id],
  );
  const row = page.getByRole('row', { name: /Export/ });
  await row.getByText('in 1 form').waitFor();
  await row.getByText('by Ada').waitFor();

  const act = async (action: string): Promise<void> => {
    await tabTo(page, 'button', 'Actions for Export');
    await press(page, 'Enter');
    await page.getByRole('menu').waitFor();
    await type(page, action);
    await press(page, 'Enter');
  };
  await act('Change');
  await page.getByRole('radio', { name: /^All data/ }).focus();
  await press(page, 'ArrowDown');
  await tabTo(page, 'checkbox', /Read forms/);
  await press(page, 'Space');
  assert.deepEqual(await findBarriers(page), []);
  await tabTo(page, 'button', 'Save');
  await press(page, 'Enter');
  await page.getByText('The key Export was changed.').waitFor();
  assert.equal((await callApi(service.url, first, 'GET', '/submissions/search?q=x')).status, 403);

  await act('Rotate');
  await page.getByRole('dialog', { name: 'Rotate Export' }).waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await tabTo(page, 'button', 'Rotate key');
  await press(page, 'Enter');
  const second = await copy();
  assert.notEqual(second, first);
  await row.getByText(/the old secret works until/).waitFor();
  for (const key of [first, second])
    assert.equal((await callApi(service.url, key, 'GET', '/forms')).status, 200);

  await act('Recent');
  const requests = page.getByRole('dialog', { name: 'Requests made with Export' });
  await requests.waitFor();
  await until('its requests to be listed', async () => {
    const answered = page.waitForResponse((response) => response.url().endsWith('/requests'));
    await requests.getByRole('button', { name: 'Refresh' }).press('Enter');
    await answered;
    return (await requests.getByRole('row').count()) >= 5;
  });
  await requests.getByText('GET /api/v1/submissions/search', { exact: true }).waitFor();
  await requests.getByText('403', { exact: true }).waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await tabTo(page, 'button', 'Done');
  await press(page, 'Enter');
  await page.reload();
  await heading(page, 'API keys');
  await row.getByText('from 127.0.0.1').waitFor();
  await console.leave(page);
  console.assertQuiet();
});

test('a key that is limited to a deleted form can still be changed', { skip: isSlice }, async () => {
  const owner = await signIn(service, { name: 'Grace' });
  const make = async (name: string): Promise<string> =>
    (
      await owner.api<{ id: string }>('POST', '/forms', {
        structure: { ...structure(element('text', 'name')), attrs: { name } },
      })
    ).body.id;
  const [kept, gone] = [await make('Kept'), await make('Gone')];
  await owner.api('POST', '/keys', { name: 'Export', form_ids: [kept, gone] });
  assert.equal((await owner.api('DELETE', `/forms/${gone}`)).status, 204);
  const page = await console.open(`/app/w/${owner.workspaceId}/settings/keys`, owner);
  await page.getByRole('button', { name: 'Actions for Export' }).click();
  await page.getByRole('menuitem', { name: 'Change' }).click();
  await page.getByRole('checkbox', { name: 'Kept' }).waitFor();
  await page.getByLabel('Name', { exact: true }).fill('Nightly');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The key Nightly was changed.').waitFor();
  const { body } = await owner.api<{ data: { form_ids: string[] }[] }>('GET', '/keys');
  assert.deepEqual(body.data[0]!.form_ids, [kept]);
  await console.leave(page);
  console.assertQuiet();
});
