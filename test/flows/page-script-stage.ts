import assert from 'node:assert/strict';
import { after } from 'node:test';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { type ConsoleBrowser, openConsoleBrowser } from '#test/console-browser.ts';
import { type Body, openService, type Tenant, type TestService, until } from '#test/service.ts';

/** The public page with its script in a real browser, shared by all its test files. */
type ScriptStage = {
  service: TestService;
  tenant: Tenant;
  browser: ConsoleBrowser;
  publish(steps: readonly object[], settings?: Record<string, unknown>): Promise<Body>;
  /** Opens a form's page, or an address below it, and waits until its script runs. */
  visit(form: Body, options?: BrowserContextOptions & { query?: string }): Promise<Page>;
  /** Returns the submissions of a form, newest first. */
  submissions(form: Body): Promise<Body[]>;
};

export const stage = await openScriptStage();
after(() => stage.browser.assertQuiet());

async function openScriptStage(): Promise<ScriptStage> {
  const service = await openService();
  const tenant = await service.makeTenant();
  const browser = await openConsoleBrowser(service);
  return {
    service,
    tenant,
    browser,
    async publish(steps, settings = {}) {
      const structure = { type: 'form', attrs: { name: 'Trip' }, children: steps };
      const { status, body } = await tenant.call('POST', '/forms', { structure, settings, publish: true });
      assert.equal(status, 201, JSON.stringify(body));
      return body;
    },
    async visit(form, { query = '', ...options } = {}) {
      const page = await browser.open(`/f/${form.id}${query}`, undefined, options);
      await wake(page);
      return page;
    },
    async submissions(form) {
      return (await tenant.call('GET', `/forms/${form.id}/submissions`)).body.data;
    },
  };
}

/** Moves the mouse like a visitor and waits for the script, which loads then. */
export async function wake(page: Page): Promise<void> {
  // The first moves may still be on the page before.
  await until('the script of the page', async () => {
    await page.mouse.move(5, 5);
    await page.mouse.move(9, 9);
    // The live region exists before all parts of the script are loaded. This attribute appears when they work.
    return (await page.locator('form[novalidate]').count()) > 0;
  });
}

/** Returns the control with this name. */
export const field = (page: Page, name: string): Locator => page.locator(`[id="${name}"]`);

/** Returns the error text of a field. */
export const errorOf = (page: Page, name: string): Locator => page.locator(`[id="error~${name}"]`);

export const pressButton = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click();

/** Returns the text of the focused element, or its ID if it has no text. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate<string>(
    '(document.activeElement.innerText || document.activeElement.id || document.activeElement.tagName).trim()',
  );

export const headingHasFocus = (page: Page, name: string): Promise<boolean> =>
  until(`the focus on "${name}"`, async () => (await focused(page)) === name);

/** Answers the first step of `companySteps`. */
export async function fillFirstStep(page: Page): Promise<void> {
  await field(page, 'name').fill('Ada');
  await page.getByRole('radio', { name: 'Person' }).check();
}
