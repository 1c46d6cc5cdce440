import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { openBrowser } from '#test/browser.ts';
import { isSlice } from '#test/cases.ts';
import { openRelayedService, until } from '#test/service.ts';
import { element, structure } from '../ast/forms.ts';

/* Visitors without script while the database is unavailable: they lose no request and no answer. */
const { service, relay } = await openRelayedService();
const tenant = await service.makeTenant();
const browser = await openBrowser();
after(() => browser.close());

/** Publishes a form with a text and other elements, and opens its page. */
async function openForm(
  settings: object,
  ...more: ReturnType<typeof element>[]
): Promise<{ id: string; page: Page }> {
  const { status, body } = await tenant.call('POST', '/forms', {
    structure: structure(element('textarea', 'wishes'), ...more),
    settings,
    publish: true,
  });
  assert.equal(status, 201);
  const context = await browser.newContext({ javaScriptEnabled: false });
  after(() => context.close());
  const page = await context.newPage();
  await page.goto(`${service.url}/f/${body.id}?_lang=en&ref=a%26b`);
  return { id: body.id, page };
}

async function away(work: () => Promise<unknown>): Promise<void> {
  relay.silence({ connected: true, next: true });
  relay.hangUp();
  await work();
  relay.silence({ connected: false, next: false });
}

/** Retries until the database is back, because its lost connections are discovered one by one. */
const tryUntil = (page: Page, selector: string, tryAgain: () => Promise<unknown>) =>
  until(`${selector} to come`, async () => {
    await Promise.all([page.waitForEvent('load'), tryAgain()]);
    return (await page.locator(selector).count()) > 0;
  });

const said = (page: Page) => page.locator('.notice').innerText();
const answersOf = async (id: string) =>
  (await tenant.call('GET', `/forms/${id}/submissions`)).body.data.map(({ answers }) => answers);

test('a page that failed to load can be requested again by its button, with its parameters', {
  skip: isSlice,
}, async () => {
  const { page } = await openForm({});
  const asked = page.url();
  await away(() => page.reload());
  await tryUntil(page, '[name=wishes]', () => page.getByRole('button', { name: 'Try again' }).click());
  assert.equal(page.url(), asked);
});

test('answers sent while the database is unavailable stay on the page, and its button sends them once', async () => {
  const { id, page } = await openForm({});
  const wishes = 'A "window",\n<and> light & air';
  await page.locator('[name=wishes]').fill(wishes);
  const submit = page.locator('[value=submit]');
  await away(async () => {
    await submit.click();
    assert.match(await said(page), /kept on this page/);
  });
  await tryUntil(page, '.done', () => page.getByRole('button', { name: 'Try again' }).click());
  assert.deepEqual(await answersOf(id), [{ wishes }]);
});

test('a page cannot repeat a file, but the browser sends it again on reload', async () => {
  const { id, page } = await openForm({}, element('file_upload', 'cv'));
  await page.locator('[name=wishes]').fill('Light');
  await page
    .locator('[name=cv]')
    .setInputFiles({ name: 'cv.txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
  await away(async () => {
    await page.locator('[value=submit]').click();
    assert.match(await said(page), /Reload this page/);
    assert.equal(await page.getByRole('button').count(), 0);
  });
  await tryUntil(page, '.done', () => page.reload());
  const [answers] = await answersOf(id);
  assert.equal((answers!['cv'] as { filename: string }[])[0]!.filename, 'cv.txt');
});

test('an error page repeats no password and no data that another site made a visitor send', async () => {
  const { id } = await openForm({ access: 'password', password: 'tulip-fire' });
  const post = async (path: string, body: Record<string, string>, headers = {}) => {
    const request = {
      method: 'POST',
      body: new URLSearchParams(body),
      headers: { Accept: 'text/html', ...headers },
    };
    const page = await (await fetch(`${service.url}/f/${id}${path}`, request)).text();
    return page.slice(page.indexOf('<main>'));
  };
  await away(async () => {
    const pages = [
      await post('/enter', { _password: 'tulip-fire' }),
      await post('', { wishes: 'tulip-fire' }, { Origin: 'https://shop.example' }),
    ];
    for (const page of pages) {
      assert.match(page, /Reload this page/);
      assert.doesNotMatch(page, /tulip-fire/);
    }
  });
});
