import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { composite, element, structure } from '../ast/forms.ts';
import { signIn } from '../console.ts';
import { findBarriers, openConsoleBrowser } from '../console-browser.ts';
import { openService } from '../service.ts';

/** What the browser tests of submissions share: a service, a signed-in editor and a browser. */
export const service = await openService();
export const tenant = await service.makeTenant();
export const person = await signIn(service, { workspaceId: tenant.workspaceId, role: 'editor' });
const windows = await openConsoleBrowser(service, { goesWithin: true });

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

/** Opens a console path, signed in as the editor or as another person. */
export const show = (path: string, { dark = false, width = 1280, who = person } = {}): Promise<Page> =>
  windows.open(`/app${path}`, who, {
    viewport: { width, height: 800 },
    colorScheme: dark ? 'dark' : 'light',
    locale: 'en-GB',
  });

/** Closes a test's window and asserts that no script failed and no injected script ran. */
export async function leave(page: Page): Promise<void> {
  windows.assertQuiet();
  await windows.leave(page);
}

export const rowNames = (page: Page): Promise<string[]> =>
  page.evaluate(
    "[...document.querySelectorAll('.sheet-row')].map((row) => row.querySelectorAll('td')[2]?.textContent ?? '')",
  );
export const heads = (page: Page): Promise<string[]> =>
  page.evaluate("[...document.querySelectorAll('.sheet-head-button')].map(({ textContent }) => textContent)");

export const audit = async (page: Page, what: string): Promise<void> =>
  assert.deepEqual(await findBarriers(page), [], what);
