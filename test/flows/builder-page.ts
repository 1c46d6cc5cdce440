import assert from 'node:assert/strict';
import { after } from 'node:test';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import type { Static } from 'typebox';
import type { FormNode } from '#ast/form/tree.ts';
import type { Draft } from '#forms/shapes.ts';
import { openBrowser } from '#test/browser.ts';
import { type ConsolePerson, signIn } from '#test/console.ts';
import { goNowhere, goWithin, stillness } from '#test/console-browser.ts';
import { openService, until } from '#test/service.ts';

/* Shared by the builder's tests: a service, two editors, a browser and helpers for the screen. */

export const service = await openService();
export const tenant = await service.makeTenant();
export const { workspaceId } = tenant;
export const ada = await signIn(service, { workspaceId, name: 'Ada', role: 'editor' });
export const bob = await signIn(service, { workspaceId, name: 'Bob', role: 'editor' });
export const browser = await openBrowser();
after(() => browser.close());

export const problems: string[] = [];

/** Windows by person and options. `left` has the unused ones, which show an empty screen. */
const kinds = new WeakMap<Page, string>();
const left = new Map<string, Page>();

/**
 * Opens the builder of a form as a person. It reuses a window of an earlier test, which saves 0.5 s of CPU.
 * Errors of the browser fail the test that checks for them.
 */
export async function openBuilder(
  form: string,
  person: ConsolePerson = ada,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const kind = JSON.stringify([person.email, options]);
  const path = `/app/forms/${form}`;
  let page = left.get(kind);
  if (page) {
    left.delete(kind);
    await goWithin(page, path);
  } else {
    page = await openWindow(person, options);
    kinds.set(page, kind);
    await page.goto(service.url + path);
  }
  await page.locator('.canvas-body').waitFor({ state: 'attached' });
  return page;
}

export async function openWindow(person: ConsolePerson, options: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    permissions: ['clipboard-read', 'clipboard-write'],
    ...stillness,
    ...options,
  });
  await context.addCookies(person.cookies);
  const page = await context.newPage();
  page.on('pageerror', (error) => problems.push(error.message));
  page.on(
    'console',
    (message) =>
      message.type() === 'error' &&
      !/Failed to load resource/.test(message.text()) &&
      problems.push(message.text()),
  );
  return page;
}

/**
 * Leaves the builder at the end of a test, so that the next test can reuse the window with an empty screen.
 */
export async function leave(page: Page): Promise<void> {
  await goNowhere(page);
  await page.unrouteAll();
  page.removeAllListeners('dialog');
  const kind = kinds.get(page)!;
  // If a test opened two equal windows, only one is kept for reuse.
  if (left.has(kind)) await page.context().close();
  else left.set(kind, page);
}

export async function make(sent: object, publish = false): Promise<string> {
  const { status, body } = await tenant.call('POST', '/forms', { structure: sent, publish });
  assert.equal(status, 201);
  return body.id;
}

type Read = Pick<Static<typeof Draft>, 'form' | 'live'> & {
  draft: Omit<Static<typeof Draft>, 'form' | 'live'>;
};
export async function read(id: string): Promise<Read> {
  const { form, live, ...draft } = (await ada.api<Static<typeof Draft>>('GET', `/forms/${id}/draft`)).body;
  return { form, live, draft };
}
export const draftOf = async (form: string): Promise<FormNode> =>
  (await read(form)).draft.structure as FormNode;
export const labels = (form: FormNode): string[] =>
  form.children!.flatMap((step) => step.children!.map((node) => String(node.attrs!['label'])));

export const said = (page: Page): Promise<string | null> => page.locator('[data-announcer]').textContent();
export const part = (page: Page, words: string): Locator =>
  page.locator(`.canvas-body [aria-label^="${words}"]`);
export const saved = (page: Page): Promise<void> =>
  page.locator('[data-save-state="saved"]', { hasText: 'Saved' }).waitFor();
/** Waits until the screen shows "Saved", then until `look` finds the result. Each look costs one request. */
export async function untilSaved<Found>(
  page: Page,
  what: string,
  look: () => Promise<Found | undefined | false>,
): Promise<Found> {
  await saved(page);
  return until(what, look);
}
// Scripts for the page are strings, because this program's types have no document.
export const focused = (page: Page): Promise<string | null> =>
  page.evaluate(`(() => {
    let active = document.activeElement;
    while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
    return active?.getAttribute('aria-label') ?? active?.tagName ?? null;
  })()`);

const fits = (text: string | null, words: string | RegExp): boolean =>
  typeof words === 'string' ? text === words : words.test(text ?? '');

/** Waits until a screen reader announces this text. It is drawn shortly after the key. */
export const hears = (page: Page, words: string | RegExp): Promise<unknown> =>
  until(`“${String(words)}” to be said`, async () => fits(await said(page), words));
/** Waits until the focus is on the control with this name. */
export const focusIs = (page: Page, words: string | RegExp): Promise<unknown> =>
  until(`the focus on “${String(words)}”`, async () => fits(await focused(page), words));

/** Adds an element with the keyboard's menu and gives it a label. */
export async function insert(page: Page, search: string, label: string): Promise<void> {
  await page.keyboard.press('/');
  await page.getByRole('dialog', { name: 'Add element' }).waitFor();
  await page.keyboard.type(search);
  await page.locator('.insert-list [data-focused]').waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.canvas-body .written').waitFor();
  await page.keyboard.insertText(label);
  await page.keyboard.press('Enter');
  await part(page, `“${label}”`).waitFor();
}

/** Closes the dialog that announces a published form. */
export async function closeLaunch(page: Page): Promise<void> {
  const launched = page.getByRole('dialog', { name: 'Your form is live' });
  await launched.getByRole('button', { name: 'Done' }).click();
  await launched.waitFor({ state: 'detached' });
}
