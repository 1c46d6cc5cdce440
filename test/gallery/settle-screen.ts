import type { Page } from 'playwright-core';
import { until } from '#test/service.ts';

/** Runs in the browser. On a phone a dialog waits for the keyboard that its field may open. */
const shown = `[...document.querySelectorAll('.dialog-veil, .finder-veil')]
  .every((veil) => getComputedStyle(veil).opacity === '1')`;

/** Runs in the browser: true once fonts are loaded and finite animations have ended. */
const settled = `Promise.allSettled([document.fonts.ready, ...document.getAnimations()
  .filter(({ effect }) => effect.getComputedTiming().iterations !== Infinity).map(({ finished }) => finished)])
  .then(() => null)`;

/** Opens a screen, runs its steps, and waits until everything is loaded, shown and still. */
export async function settleScreen(
  page: Page,
  url: string,
  ready: string,
  act?: (page: Page) => Promise<unknown>,
): Promise<void> {
  await page.goto(url);
  await page.locator(ready).first().waitFor();
  await act?.(page);
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
  await until('what was opened to be shown', () => page.evaluate<boolean>(shown));
  await page.evaluate(settled);
}
