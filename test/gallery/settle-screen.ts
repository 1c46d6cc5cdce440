import type { Page } from 'playwright-core';
import { until } from '#test/service.ts';

/** Runs in the browser: on a phone a dialog waits for the keyboard that its field may bring up. */
const shown = `[...document.querySelectorAll('.dialog-veil, .finder-veil')]
  .every((veil) => getComputedStyle(veil).opacity === '1')`;

/** Runs in the browser: the fonts are there, and those of the animations that end have ended. */
const settled = `Promise.allSettled([document.fonts.ready, ...document.getAnimations()
  .filter(({ effect }) => effect.getComputedTiming().iterations !== Infinity).map(({ finished }) => finished)])
  .then(() => null)`;

/** Opens a screen, does what is done there, and waits until everything is loaded, shown and still. */
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
