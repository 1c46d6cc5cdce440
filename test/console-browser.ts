import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { AxeResults } from 'axe-core';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { openBrowser } from './browser.ts';
import { looksAt } from './cases.ts';
import type { ConsolePerson } from './console.ts';
import type { TestService } from './service.ts';

/** The built console in a real browser for one test file. */
export type ConsoleBrowser = {
  /**
   * Opens a window for a person, or signed out, at a path such as `/app/`. `isNew` opens one with nothing
   * loaded.
   */
  open(
    path: string,
    person?: ConsolePerson,
    options?: BrowserContextOptions & { isNew?: boolean },
  ): Promise<Page>;
  /**
   * Ends a test's use of a window. The next test reuses it if they differ at most in size and colors, which
   * halves the CPU because scripts are loaded. A failed test never gets here. A window that would ask before
   * closing is closed.
   */
  leave(page: Page): Promise<void>;
  /**
   * Fails if a script threw, the content security policy was violated or injected text ran as a script, since
   * the last call.
   */
  assertQuiet(): void;
};

/** Injected text. If a page runs any of it as a script, it calls `alert` or sets `window.pwned`. */
export const payloads = [
  '"><img src=x onerror=alert(1)>',
  '<script>window.pwned=1</script>',
  "'-alert(1)-'",
  'javascript:alert(1)',
  '{{constructor.constructor("alert(1)")()}}',
] as const;

/**
 * Turns motion off, because the frames of a fading dialog are a third of its CPU. These tests turn motion on:
 * the story, those of the builder by keyboard, mouse and touch, and those of form layouts. The walk with axe
 * checks each form both ways.
 */
export const stillness = { reducedMotion: 'reduce' } as const;

/** For tests with motion. */
export const motion = { reducedMotion: 'no-preference' } as const;

/** Goes to another screen without a reload, like a link of the console. */
export const goWithin = (page: Page, path: string): Promise<void> =>
  page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);

/** Leaves a screen of the console for an empty one and closes its toasts. */
export async function goNowhere(page: Page): Promise<void> {
  await goWithin(page, '/app/nowhere');
  await page.getByText('Page not found').waitFor();
  await page.evaluate(`document.querySelectorAll('.toast > :last-child').forEach((close) => close.click())`);
  await page.locator('.toast').first().waitFor({ state: 'detached' });
  await page.mouse.move(0, 0);
}

/** @param goesWithin whether one person's next screen opens without a reload, for a third of the CPU. */
export async function openConsoleBrowser(
  service: Pick<TestService, 'url'>,
  { goesWithin = false } = {},
): Promise<ConsoleBrowser> {
  const browser = await openBrowser();
  after(() => browser.close());
  const problems: string[] = [];
  const spares = new Map<string, Page[]>();
  const kinds = new WeakMap<Page, string>();
  const people = new WeakMap<Page, ConsolePerson | undefined>();
  return {
    async open(
      path,
      person,
      { viewport = { width: 1280, height: 800 }, colorScheme = 'light', isNew = false, ...rest } = {},
    ) {
      const kind = JSON.stringify(rest);
      const spare = viewport && !isNew && spares.get(kind)?.pop();
      if (spare) {
        await spare.setViewportSize(viewport);
        await spare.emulateMedia({ media: null, colorScheme });
        if (person && people.get(spare) === person) {
          await goWithin(spare, path);
          return spare;
        }
        people.set(spare, person);
        await spare.context().clearCookies();
        if (person) await spare.context().addCookies(person.cookies);
        // Opening the current address would at most reload it, with the history state of the previous page.
        const [here, there] = [spare.url(), service.url + path].map((address) => address.split('#', 1)[0]);
        if (here === there) await spare.goto(`${service.url}/healthz`);
        await spare.goto(service.url + path);
        return spare;
      }
      const context = await browser.newContext({
        viewport,
        colorScheme,
        // Without a locale this Chromium reports `en-US@posix`, which no real browser does.
        locale: 'en-US',
        ...stillness,
        permissions: ['clipboard-read', 'clipboard-write'],
        ...rest,
      });
      if (person) await context.addCookies(person.cookies);
      const page = await context.newPage();
      kinds.set(page, kind);
      people.set(page, person);
      page.on('pageerror', (error) => problems.push(error.stack ?? error.message));
      page.on('dialog', (dialog) => {
        problems.push(`a dialog opened: ${dialog.message()}`);
        void dialog.dismiss();
      });
      page.on('console', (message) => {
        // A test may expect a refused request or a blocked frame, so these are not problems.
        if (
          message.type() === 'error' &&
          !/Failed to load resource|^Blocked autofocusing/.test(message.text())
        )
          problems.push(message.text());
      });
      await page.goto(service.url + path);
      return page;
    },
    async leave(page) {
      const kind = kinds.get(page);
      await page.unrouteAll();
      const goesUnasked = await page.evaluate<boolean>(
        `dispatchEvent(new Event('beforeunload', { cancelable: true }))`,
      );
      if (!goesUnasked || kind === undefined) return page.context().close();
      if (goesWithin && people.get(page) && page.url().startsWith(`${service.url}/app/`))
        await goNowhere(page);
      else {
        people.delete(page);
        // Pages write to storage while they run, and the next page must find it empty.
        await page.evaluate('Storage.prototype.setItem = () => {}');
      }
      await page.evaluate('localStorage.clear(), sessionStorage.clear()');
      spares.set(kind, [...(spares.get(kind) ?? []), page]);
    },
    assertQuiet: () => assert.deepEqual(problems.splice(0), []),
  };
}

const axe = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
/** Limits results for passed elements, which are most of a screen, to one per rule. */
const axeOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  resultTypes: ['violations'],
};

/**
 * Animations pass through colors without contrast. Endless ones, such as a skeleton's, are not waited for.
 */
export const endAnimations = `Promise.allSettled(document.getAnimations()
  .filter(({ effect }) => effect.getComputedTiming().iterations !== Infinity).map(({ finished }) => finished))`;

/**
 * Excludes the live region of react-aria. After a dialog with a busy button closes, the hidden region names a
 * removed element for 7 s, although it was already spoken.
 */
const axeScope = { exclude: [['[data-live-announcer]']] };

/** Returns the violations that axe finds on the current page, one readable line each. Tests expect none. */
export async function findBarriers(page: Pick<Page, 'evaluate'>): Promise<string[]> {
  await page.evaluate(endAnimations);
  // Injects axe, half a megabyte, only once for a page that is checked in several states.
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe);
  const violations = await page.evaluate<AxeResults['violations']>(
    `axe.run(${JSON.stringify(axeScope)}, ${JSON.stringify(axeOptions)}).then(({ violations }) => violations)`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ''}`),
  );
}

const looks = [
  { width: 1280, colorScheme: 'light' },
  { width: 375, colorScheme: 'dark' },
  { width: 1280, colorScheme: 'dark' },
  { width: 375, colorScheme: 'light' },
] as const;

/**
 * Returns a function that checks the current state of a window. Nothing may be wider than the window on
 * desktop and phone, and axe must find nothing in the next of four variants (`looksAt`).
 */
export function lookAround(page: Page): (what: string) => Promise<void> {
  let turn = 0;
  return async (what) => {
    const seen = looksAt(turn, looks);
    turn += 1;
    for (const width of [1280, 375]) {
      await page.setViewportSize({ width, height: 800 });
      assert.ok(
        await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
        `${what} is wider than ${width} px`,
      );
      for (const look of seen.filter((each) => each.width === width)) {
        await page.emulateMedia({ colorScheme: look.colorScheme });
        assert.deepEqual(await findBarriers(page), [], `${what}, ${width} px, ${look.colorScheme}`);
      }
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  };
}

/** Types into the focused element key by key, for screens that respond to each key. */
export const type = (page: Page, text: string): Promise<void> => page.keyboard.type(text);

/** Inserts a text into the focused element, if only the text matters. */
export const write = (page: Page, text: string): Promise<void> => page.keyboard.insertText(text);

export async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}

/**
 * Moves the focus with Tab to the control with this name, like a person without a mouse. It finds the control
 * once, and again if the page redraws it, because each search reads the names of a whole screen.
 */
export async function tabTo(page: Page, role: Role, name: string | RegExp): Promise<void> {
  const target = page.getByRole(role, { name, exact: true }).first();
  await target.waitFor();
  let found = await target.elementHandle();
  for (let tries = 0; tries < 120; tries += 1) {
    const has = await found?.evaluate(hasFocus);
    if (has) return;
    if (has === undefined) found = await target.elementHandle();
    else await page.keyboard.press('Tab');
  }
  assert.fail(`Tab does not lead to the ${role} ${String(name)}`);
}
type Role = Parameters<Page['getByRole']>[0];

/**
 * Runs in the browser, whose globals are not in this program's types. Returns undefined for a removed
 * element.
 */
const hasFocus = (element: { isConnected?: boolean }): boolean | undefined =>
  element.isConnected
    ? (globalThis as unknown as { document: { activeElement: unknown } }).document.activeElement === element
    : undefined;

/**
 * Waits for a toast with this text and hovers over it so that it stays. It would disappear after `toastDurationsMs`,
 * and under load a test may wait longer for the screen below to change.
 */
export async function holdToast(page: Page, said: string): Promise<Locator> {
  const toast = page.locator('.toast', { hasText: said }).last();
  await toast.hover();
  return toast;
}

/** Waits for a screen with exactly this title. */
export const heading = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
