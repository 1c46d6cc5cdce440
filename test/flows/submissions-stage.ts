import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { composite, element, structure } from '#ast/testing.ts';
import { openBrowser } from '../browser.ts';
import { stillness } from '../console-browser.ts';
import { signIn } from '../console.ts';
import { openService } from '../service.ts';

/** What the browser tests of a form's submissions share: a service, an editor who is signed in, and a browser. */
export const service = await openService();
export const tenant = await service.makeTenant();
export const person = await signIn(service, { workspaceId: tenant.workspaceId, role: 'editor' });
export const browser: Browser = await openBrowser();
const axe = await readFile(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
after(() => browser.close());

export const elements = [
  element('text', 'name', { label: 'Name', required: true }),
  element('email', 'email', { label: 'Email' }),
  element('radio', 'colour', { label: 'Colour' }),
  element('number', 'age', { label: 'Age' }),
  element('textarea', 'note', { label: 'Note' }),
  composite('guests', [element('text', 'guest', { label: 'Guest', required: true })], {
    repeatable: true,
    label: 'Guests',
  }),
];

export async function makeForm(children: unknown[] = elements, settings = {}): Promise<string> {
  const form = { structure: structure(...children), settings, publish: true };
  const made = await tenant.call('POST', '/forms', form);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body.id;
}

export async function submit(form: string, answers: object, reference = ''): Promise<string> {
  const sent = await fetch(`${service.url}/f/${form}${reference}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify({ answers }),
  });
  const body = (await sent.json()) as { id: string };
  assert.equal(sent.status, 201, JSON.stringify(body));
  return body.id;
}

type Shown = { page: Page; context: BrowserContext; problems: string[] };

/** Opens an address of the console, signed in. `problems` gathers script errors, dialogs and CSP reports. */
export async function show(path: string, options: { dark?: boolean; width?: number } = {}): Promise<Shown> {
  const { dark = false, width = 1280 } = options;
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    colorScheme: dark ? 'dark' : 'light',
    locale: 'en-GB',
    ...stillness,
  });
  await context.addCookies(person.cookies);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    if (/Content Security Policy/i.test(message.text())) problems.push(message.text());
  });
  await page.goto(`${service.url}/app${path}`);
  return { page, context, problems };
}

export const rowNames = (page: Page): Promise<string[]> =>
  page
    .locator('.sheet-row')
    .evaluateAll((rows) => rows.map((row) => row.querySelectorAll('td')[2]?.textContent ?? ''));
export const heads = (page: Page): Promise<string[]> =>
  page
    .locator('.sheet-head-button')
    .evaluateAll((buttons) => buttons.map((button) => button.textContent ?? ''));

export async function audit(page: Page, what: string): Promise<void> {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await axe.run({
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
      resultTypes: ['violations'],
    });
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`,
    );
  });
  assert.deepEqual(found, [], what);
}
