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

/** The built console in a real browser, for one test file. */
export type ConsoleBrowser = {
  /** A window of its own, as a person (nobody without one), at a path such as `/app/`; `isNew` where nothing may have been loaded. */
  open(
    path: string,
    person?: ConsolePerson,
    options?: BrowserContextOptions & { isNew?: boolean },
  ): Promise<Page>;
  /**
   * Ends a test's window. The next one goes on in it, if it differs in its size and colours at most: for half of the CPU,
   * as the scripts are there. A test that fails never comes to this, and one that would be asked whether to go is closed.
   */
  leave(page: Page): Promise<void>;
  /** Fails when a script threw, the policy was broken, or a script that came in as text ran, since this was asked last. */
  assertQuiet(): void;
};

/** What shows that foreign text became script: any of it calls `alert` or sets `window.pwned`. */
export const payloads = [
  '"><img src=x onerror=alert(1)>',
  '<script>window.pwned=1</script>',
  "'-alert(1)-'",
  'javascript:alert(1)',
  '{{constructor.constructor("alert(1)")()}}',
] as const;

/**
 * Nothing moves, as for people who ask for that: the frames of a dialog that fades in and out are a third of what it
 * takes of the processors. The story, the builder's tests by keyboard, mouse and touch, and those of how pages ask
 * look at it with motion; the walk with axe sees each form both ways.
 */
export const stillness = { reducedMotion: 'reduce' } as const;

/** For those that look at it with motion. */
export const motion = { reducedMotion: 'no-preference' } as const;

/** Goes to another screen as a link of the console does: nothing is loaded again. */
export const goWithin = (page: Page, path: string): Promise<void> =>
  page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);

/** Leaves a screen of the console for one that does nothing, with nothing of what was said on it. */
export async function goNowhere(page: Page): Promise<void> {
  await goWithin(page, '/app/nowhere');
  await page.getByText('Page not found').waitFor();
  await page.evaluate(`document.querySelectorAll('.toast > :last-child').forEach((close) => close.click())`);
  await page.locator('.toast').first().waitFor({ state: 'detached' });
  await page.mouse.move(0, 0);
}

/** @param goesWithin whether the next screen of the same person is gone to within the console: for a third of the CPU. */
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
        // Who goes to where one is has it loaded again at most, with what the page before kept in the history.
        const [here, there] = [spare.url(), service.url + path].map((address) => address.split('#', 1)[0]);
        if (here === there) await spare.goto(`${service.url}/healthz`);
        await spare.goto(service.url + path);
        return spare;
      }
      const context = await browser.newContext({
        viewport,
        colorScheme,
        // Without one this Chromium reports `en-US@posix`, which no person's browser does.
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
        // A refused request is the subject of a test, not a problem of the page; nor is what a frame may not do.
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
        // Pages write as they go, and the next one is to find nothing.
        await page.evaluate('Storage.prototype.setItem = () => {}');
      }
      await page.evaluate('localStorage.clear(), sessionStorage.clear()');
      spares.set(kind, [...(spares.get(kind) ?? []), page]);
    },
    assertQuiet: () => assert.deepEqual(problems.splice(0), []),
  };
}

const axe = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
/** Of what is as it should be, most of a screen, it writes down no more than one thing for each rule. */
const axeOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  resultTypes: ['violations'],
};

/** Animations pass through colours without contrast. Those that never end (a skeleton's) are not waited for. */
export const endAnimations = `Promise.allSettled(document.getAnimations()
  .filter(({ effect }) => effect.getComputedTiming().iterations !== Infinity).map(({ finished }) => finished))`;

/**
 * All of the page but what react-aria says of a button that was busy when its dialog closed: for 7 s a hidden live
 * region, spoken once already, names an element that is gone.
 */
const axeScope = { exclude: [['[data-live-announcer]']] };

/** What axe finds on a page as it is: one readable line each; none is what a test expects. */
export async function findBarriers(page: Pick<Page, 'evaluate'>): Promise<string[]> {
  await page.evaluate(endAnimations);
  // Half a megabyte, which a page that is looked at in several states has from the first time.
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
 * What looks at a window in its states: nothing is wider than it, on a desk and on a phone, and axe finds nothing, in the next
 * one of four looks (`looksAt`).
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

/** Types into whatever has the focus, key by key, each of which a screen answers to. */
export const type = (page: Page, text: string): Promise<void> => page.keyboard.type(text);

/** Writes into whatever has the focus, where it is the text that counts. */
export const write = (page: Page, text: string): Promise<void> => page.keyboard.insertText(text);

/** Presses keys one after the other. */
export async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}

/**
 * Moves the focus with Tab to the control of this name, as somebody without a mouse does. The control is found by its
 * name once, and again when the page draws it anew: each search reads the names of a whole screen.
 */
export async function tabTo(page: Page, role: Role, name: string | RegExp): Promise<void> {
  const target = page.getByRole(role, { name, exact: true }).first();
  await target.waitFor();
  let found = await target.elementHandle();
  for (let tries = 0; tries < 80; tries += 1) {
    const has = await found?.evaluate(hasFocus);
    if (has) return;
    if (has === undefined) found = await target.elementHandle();
    else await page.keyboard.press('Tab');
  }
  assert.fail(`Tab does not lead to the ${role} ${String(name)}`);
}
type Role = Parameters<Page['getByRole']>[0];

/** Runs in the browser, whose globals this program's types do not know; nothing of an element that is gone. */
const hasFocus = (element: { isConnected?: boolean }): boolean | undefined =>
  element.isConnected
    ? (globalThis as unknown as { document: { activeElement: unknown } }).document.activeElement === element
    : undefined;

/**
 * Waits for a toast that says this, and points at it, so that it stays: by itself it goes (`shownMs`), and a test beside
 * others may take longer to see the screen below it change.
 */
export async function holdToast(page: Page, said: string): Promise<Locator> {
  const toast = page.locator('.toast', { hasText: said }).last();
  await toast.hover();
  return toast;
}

/** Waits for a screen by its title. */
export const heading = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole('heading', { level: 1, name }).waitFor();
