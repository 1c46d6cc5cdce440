import type { Page } from 'playwright-core';
import { type Screen, screenGroups } from '#test/gallery/screens.ts';
import { settleScreen } from '#test/gallery/settle-screen.ts';
import { browser, outside } from '#test/gallery/stage.ts';
import type { Save } from './texts.ts';

/** Selects screens by the start of their names. */
const wanted = new RegExp(`^(?:${process.env['SCREENS'] ?? ''})`);

/** Records the accessibility tree of every screen of the console. */
export async function recordScreens(save: Save): Promise<void> {
  for (const { screens, person, before, isPhone } of screenGroups) {
    await before?.();
    const size = isPhone
      ? { viewport: { width: 375, height: 800 }, hasTouch: true, isMobile: true }
      : { viewport: { width: 1280, height: 800 } };
    const page = await browser.open('/healthz', person, { ...size, isNew: true });
    for (const screen of screens.filter(([name]) => wanted.test(name)))
      await save(`screens/${screen[0]}.yaml`, await readTree(page, screen));
    await page.context().close();
  }
}

async function readTree(page: Page, [, path, ready, act]: Screen): Promise<string> {
  try {
    await settleScreen(page, outside.url + path, ready, act);
    return await page.locator('html').ariaSnapshot();
  } catch (error) {
    return `This screen could not be opened: ${String(error)}`;
  } finally {
    await page.emulateMedia({ media: null });
    await page.context().setOffline(false);
    await page
      .locator(':is([data-save-state="pending"], [data-save-state="saving"])')
      .waitFor({ state: 'detached' });
  }
}
