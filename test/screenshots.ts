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
 * npm run screenshots: photographs every screen at 1280, 800 and 375 px, light and dark, into screenshots/,
 * for a person to review. axe checks each, and nothing is wider than its window.
 */

const folder = fileURLToPath(new URL('../screenshots/console/', import.meta.url));
type Look = { width: number; colorScheme: 'light' | 'dark' };
const looks: readonly Look[] = [1280, 800, 375].flatMap((width) => [
  { width, colorScheme: 'light' },
  { width, colorScheme: 'dark' },
]);

const isPhone = ({ width }: Look): boolean => width < 768;

/** Only pictures whose names match: SCREENS='^builder.*-375-dark'. */
const wanted = new RegExp(process.env['SCREENS'] ?? '');

await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });

/** Photographs screens in one look, signed in as a person or signed out. */
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
  // A screen that fails is reported with the others.
  for (const screen of asked)
    await takePicture(page, screen, look).then(
      (found) => barriers.push(...found.map((barrier) => `${screen[0]}: ${barrier}`)),
      (error: unknown) => barriers.push(`${screen[0]}: ${String(error)}`),
    );
  await page.context().close();
  assert.deepEqual(barriers, []);
}

/**
 * Violations that only the renderer of the API reference can fix: its code and tables scroll without keyboard
 * access, and one of its links has no text. Its colors are ours (web/docs/page.css).
 */
const isOfRenderer = (barrier: string): boolean => /^(scrollable-region-focusable|link-name): /.test(barrier);

/**
 * Photographs a screen.
 * @returns its accessibility violations and overflows.
 */
async function takePicture(
  page: Page,
  [name, path, ready, act]: Screen,
  { width, colorScheme }: Look,
): Promise<string[]> {
  await settleScreen(page, outside.url + path, ready, act);
  const isWider = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
  // What an action opened covers only the window, so it is not photographed at full length. Otherwise the
  // picture renders the lower part of a long page, so the checks see it.
  await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`), fullPage: !act });
  const barriers = (await findBarriers(page)).filter(
    (barrier) => name !== 'api-docs' || !isOfRenderer(barrier),
  );
  await page.emulateMedia({ media: null });
  await page.context().setOffline(false);
  // The next picture leaves this page, which asks if there are unsaved changes.
  await page
    .locator(':is([data-save-state="pending"], [data-save-state="saving"])')
    .waitFor({ state: 'detached' });
  browser.assertQuiet();
  return isWider ? [...barriers, 'is wider than its window'] : barriers;
}

after(() => outside.close());

// The setup page exists only until the first account is created, so its pictures come first.
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
