import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { isSlice } from '#test/cases.ts';
import { signIn } from '#test/console.ts';
import { findBarriers, heading, openConsoleBrowser, tabTo } from '#test/console-browser.ts';
import { shareService, until } from '#test/service.ts';
import { toastDurationsMs } from '../../web/design/toast-list.ts';
import { element, structure } from '../ast/forms.ts';

/* What all pages of settings have in common: their shape, the save state, toasts and Copy buttons. */

const service = await shareService();
const console = await openConsoleBrowser(service);
const owner = await signIn(service, { name: 'Ada' });
const settings = `/app/w/${owner.workspaceId}/settings`;

const pages: readonly [path: string, title: string][] = [
  [`${settings}/general`, 'General'],
  [`${settings}/members`, 'Members'],
  [`${settings}/keys`, 'API keys'],
  [`${settings}/mail`, 'Email'],
  [`${settings}/domains`, 'Domains'],
  [`${settings}/retention`, 'Retention'],
  [`${settings}/people`, 'People'],
  [`${settings}/activity`, 'Audit log'],
  ['/app/account', 'Your account'],
];

/** Where the title begins and the widest part of the page ends, and the text below the title. */
const readShape = (page: Page): Promise<{ start: number; end: number; lead: string }> =>
  page.evaluate(`(() => {
    const parts = [...document.querySelectorAll('.page > *')].map((part) => part.getBoundingClientRect());
    return {
      start: document.querySelector('h1').getBoundingClientRect().left,
      end: Math.max(...parts.map(({ right }) => right)),
      lead: document.querySelector('.page-lead')?.firstChild.textContent ?? '',
    };
  })()`);

test('every page of settings has the same width, and one sentence below its title', {
  skip: isSlice,
}, async () => {
  const page = await console.open('/app/account', owner);
  const shapes = [];
  for (const [path, title] of pages) {
    await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);
    await heading(page, title);
    const { lead, ...shape } = await readShape(page);
    assert.match(lead, /^[^.]+\.\s*$/, title);
    shapes.push(shape);
  }
  for (const [index, shape] of shapes.entries()) assert.deepEqual(shape, shapes[0], pages[index]![1]);
  await console.leave(page);
});

test('a card says Saving, Saved, or Not saved with the reason, and nothing of it after the next edit', async () => {
  const page = await console.open(`${settings}/general`, owner);
  const name = page.getByLabel('Name', { exact: true });
  const save = page.getByRole('button', { name: 'Save name' });
  const state = page.locator('form').filter({ has: name }).locator('[data-save-state]');
  const said = page.locator('form').filter({ has: name }).getByRole('status').last();
  await name.fill('Acme');
  await save.click();
  await state.getByText('Saved').waitFor();
  assert.equal(await said.textContent(), 'Saved');
  assert.equal(await page.locator('.toast').count(), 0);
  await name.fill('');
  await until('the state to be empty', async () => (await state.textContent()) === '');
  await save.click();
  await state.getByText('Not saved: correct the fields above.').waitFor();
  await name.fill('Acme again');
  await page.context().setOffline(true);
  await save.click();
  await state.getByText(/^Not saved: .{10,}/).waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await page.context().setOffline(false);
  await save.click();
  await state.getByText('Saved', { exact: true }).waitFor();
  await console.leave(page);
});

/** Saves a key without a change, which answers with a toast. */
async function changeKey(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${name}` }).click();
  await page.getByRole('menuitem', { name: 'Change' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
}

test('a toast ends by itself, also under a resting pointer; a moving pointer or the focus keeps it', {
  skip: isSlice,
}, async () => {
  await owner.api('POST', '/keys', { name: 'Export' });
  const page = await console.open(`${settings}/keys`, owner);
  const toast = page.locator('.toast', { hasText: 'The key Export was changed.' });
  // The pointer rests where the toast will open.
  await changeKey(page, 'Export');
  await toast.waitFor();
  const box = (await toast.boundingBox())!;
  const middle = { x: box.x + 40, y: box.y + box.height / 2 };
  await toast.getByRole('button', { name: 'Dismiss' }).click();
  await toast.waitFor({ state: 'detached' });
  await page.mouse.move(0, 0);
  await page.getByRole('button', { name: 'Actions for Export' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Change' }).press('Enter');
  await page.getByRole('dialog').getByLabel('Name').waitFor();
  await page.mouse.move(middle.x, middle.y);
  await page.keyboard.press('Enter');
  await toast.waitFor();
  await toast.waitFor({ state: 'detached', timeout: toastDurationsMs.said + 4_000 });

  await changeKey(page, 'Export');
  await toast.hover();
  await page.mouse.move(middle.x + 5, middle.y);
  await page.waitForTimeout(toastDurationsMs.said + 1_000);
  assert.equal(await toast.count(), 1, 'the pointer keeps it');
  await tabTo(page, 'button', 'Dismiss');
  await page.mouse.move(0, 0);
  await page.waitForTimeout(toastDurationsMs.said + 1_000);
  assert.equal(await toast.count(), 1, 'the focus keeps it');
  await page.keyboard.press('Enter');
  await toast.waitFor({ state: 'detached' });
  await console.leave(page);
});

test('a toast is above dialogs and panels, not over their buttons, and is announced alone', {
  skip: isSlice,
}, async () => {
  for (const width of [1280, 375]) {
    const page = await console.open(`${settings}/general`, owner, { viewport: { width, height: 800 } });
    await heading(page, 'General');
    // A failure stays until it is closed.
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Download audit log' }).click();
    const toast = page.locator('.toast-bad');
    await toast.waitFor();
    await page.context().setOffline(false);
    const region = page.getByRole('status').filter({ has: toast });
    assert.equal(await region.getAttribute('aria-atomic'), 'false');
    await page.getByRole('button', { name: 'Leave workspace' }).click();
    const dialog = page.getByRole('alertdialog');
    // Playwright clicks only what no other element covers.
    await dialog.getByRole('button', { name: 'Cancel' }).click({ trial: true });
    await toast.getByRole('button', { name: 'Dismiss' }).click();
    await toast.waitFor({ state: 'detached' });
    assert.equal(await dialog.count(), 1, 'the dialog stays open');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    await console.leave(page);
  }
});

test('IDs, URLs and keys have a Copy button that says what it copies', { skip: isSlice }, async () => {
  const { body: form } = await owner.api<{ id: string }>('POST', '/forms', {
    structure: structure(element('text', 'name')),
    publish: true,
  });
  const { body: webhook } = await owner.api<{ id: string }>('POST', `/forms/${form.id}/webhooks`, {
    url: 'https://example.com/hook',
    events: ['submission.created'],
  });
  const page = await console.open(`/app/forms/${form.id}/webhooks/${webhook.id}`, owner);
  const copy = async (name: string): Promise<string> => {
    await page.getByRole('button', { name: `Copy ${name}`, exact: true }).click();
    await page.getByText('Copied to the clipboard.').first().waitFor();
    return page.evaluate('navigator.clipboard.readText()');
  };
  assert.equal(await copy('webhook URL'), 'https://example.com/hook');
  assert.equal(await copy('webhook ID'), webhook.id);
  await page.goto(`${service.url}${settings}/general`);
  assert.equal(await copy('workspace ID'), owner.workspaceId);
  await console.leave(page);
});

test('no script failed, and the content security policy blocked none', () => console.assertQuiet());
