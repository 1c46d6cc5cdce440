import assert from 'node:assert/strict';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import type { ConsolePerson } from './console.ts';
import { findBarriers } from './console-browser.ts';
import type { Screen } from './gallery/screens.ts';
import { settleScreen } from './gallery/settle-screen.ts';
import { browser, outside } from './gallery/stage.ts';

/*
 * npm run screenshots: every screen at 1280, 800 and 375 px, light and dark, into screenshots/, for a person to look at;
 * axe looks at each of them too, and nothing is wider than its window.
 */

const folder = fileURLToPath(new URL('../screenshots/console/', import.meta.url));
type Look = { width: number; colorScheme: 'light' | 'dark' };
const looks: readonly Look[] = [1280, 800, 375].flatMap((width) => [
  { width, colorScheme: 'light' },
  { width, colorScheme: 'dark' },
]);

const isPhone = ({ width }: Look): boolean => width < 768;

/** Only the pictures whose names fit: SCREENS='^builder.*-375-dark'. */
const wanted = new RegExp(process.env['SCREENS'] ?? '');

await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });

/** Walks through screens in one look, as somebody or nobody, and writes a picture of each. */
async function walk(screens: readonly Screen[], look: Look, person?: ConsolePerson): Promise<void> {
  const { width, colorScheme } = look;
  const viewport = { width, height: 800 };
  const asked = screens.filter(([name]) => wanted.test(`${name}-${width}-${colorScheme}`));
  if (asked.length === 0) return;
  const page = await browser.open('/healthz', person, {
    colorScheme,
    viewport,
    hasTouch: isPhone(look),
    isMobile: isPhone(look),
  });
  const barriers: string[] = [];
  // One that does not come is said with the others.
  for (const screen of asked)
    await takePicture(page, screen, look).then(
      (found) => barriers.push(...found.map((barrier) => `${screen[0]}: ${barrier}`)),
      (error: unknown) => barriers.push(`${screen[0]}: ${String(error)}`),
    );
  await page.context().close();
  assert.deepEqual(barriers, []);
}

/**
 * What only the renderer of the API reference can mend: its code and its tables scroll without keys, and one of its links
 * has no words. Its colours are ours (web/docs/page.css).
 */
const isOfRenderer = (barrier: string): boolean => /^(scrollable-region-focusable|link-name): /.test(barrier);

/** @returns what is wrong with it. */
async function takePicture(
  page: Page,
  [name, path, ready, act]: Screen,
  { width, colorScheme }: Look,
): Promise<string[]> {
  await settleScreen(page, outside.url + path, ready, act);
  const isWider = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
  // What was opened covers the window, not the page. What a long page has below is drawn by then, and looked at drawn.
  await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`), fullPage: !act });
  const barriers = (await findBarriers(page)).filter(
    (barrier) => name !== 'api-docs' || !isOfRenderer(barrier),
  );
  await page.emulateMedia({ media: null });
  await page.context().setOffline(false);
  // The next picture begins with leaving this one, which asks while something is not saved.
  await page
    .locator(':is([data-save-state="pending"], [data-save-state="saving"])')
    .waitFor({ state: 'detached' });
  browser.assertQuiet();
  return isWider ? [...barriers, 'is wider than its window'] : barriers;
}

after(() => outside.close());

// The set-up page exists until the first account does, so its pictures come first.
for (const look of looks) await walk([['set-up', outside.setupPath, 'h1:has-text("Set up Formloom")']], look);
const { screenGroups } = await import('./gallery/screens.ts');

for (const look of looks)
  for (const { name, screens, person, before, isPhone: isForPhone } of screenGroups) {
    if (isForPhone && !isPhone(look)) continue;
    test(`${name}, ${look.width} px, ${look.colorScheme}`, async () => {
      await before?.();
      await walk(screens, look, person);
    });
  }
