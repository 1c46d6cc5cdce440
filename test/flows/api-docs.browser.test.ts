import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { isSlice } from '#test/cases.ts';
import { openConsoleBrowser } from '#test/console-browser.ts';
import { shareService, until } from '#test/service.ts';

/* The reference at /api/v1/docs: guides, operations, examples, and trying it out with an API key. */

const service = await shareService();
const tenant = await service.makeTenant();
const browser = await openConsoleBrowser(service);

/** Opens the page at one of its addresses and records its requests. */
async function open(hash: string, width = 1280): Promise<{ page: Page; asked: string[] }> {
  const page = await browser.open('/healthz', undefined, { viewport: { width, height: 800 } });
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(`${service.url}/api/v1/docs/${hash}`);
  return { page, asked };
}

test('an address opens an operation with requests in curl, TypeScript and Python that can be tried with a key, without other origins', async () => {
  const { page, asked } = await open('#tag/forms/GET/forms');
  await page.getByRole('heading', { name: 'List forms' }).waitFor();
  const section = page.locator('[id$="tag/forms/GET/forms"]').last();
  const example = section.locator('.scalar-card').first();
  for (const [client, code] of [
    ['Shell Curl', `curl '${service.url}/api/v1/forms?`],
    ['TypeScript', `await fetch('${service.url}/api/v1/forms'`],
    ['Python Requests', `requests.get(`],
  ] as const) {
    await example
      .getByRole('button', { name: /Curl|TypeScript|Python/ })
      .first()
      .click();
    await page
      .getByRole('option', { name: client.split(' ').at(-1)! })
      .first()
      .click();
    // Each word is a separate element, and each line has a number.
    await until(client, async () => (await example.innerText()).replaceAll(/\s+/g, ' ').includes(code));
  }
  await page.locator('input[placeholder="Token"]').first().fill(tenant.key);
  await section.getByRole('button', { name: /Test Request/ }).click();
  await page.getByRole('dialog').waitFor();
  const answer = page.waitForResponse(`${service.url}/api/v1/forms*`);
  await page.getByRole('button', { name: /Send/ }).first().click();
  assert.equal((await answer).status(), 200);
  await page.getByRole('dialog').getByText('200', { exact: false }).first().waitFor();
  assert.deepEqual(
    asked.filter((url) => /^https?:/.test(url) && !url.startsWith(service.url)),
    [],
  );
  browser.assertQuiet();
});

test('the guides come before the operations, link to each other and can be searched, also on a phone', {
  skip: isSlice,
}, async () => {
  const { page } = await open('', 375);
  await page.getByRole('heading', { name: 'Webhooks, from zero to verified' }).waitFor();
  await page.getByText(`API=${service.url}/api/v1`).waitFor(); // Can be pasted unchanged.
  await page.getByRole('link', { name: 'errors' }).first().click();
  await page.waitForURL(/#description\/errors$/);
  assert.ok(await page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth'));
  await page.getByRole('button', { name: 'Open Menu' }).click();
  await page
    .getByRole('button', { name: /Search/ })
    .first()
    .click();
  await page.getByRole('combobox').last().fill('idempotency and concurrency');
  await page
    .getByRole('option', { name: /Idempotency and concurrency/ })
    .first()
    .waitFor();
  browser.assertQuiet();
});
