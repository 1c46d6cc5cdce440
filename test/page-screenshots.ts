import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { endAnimations, findBarriers } from './console-browser.ts';
import { galleryForms } from './gallery/forms.ts';
import { browser, type Dress, dresses, openState, outside, tenant } from './gallery/pages.ts';
import { galleryStates } from './gallery/states.ts';
import { until } from './service.ts';

/*
 * npm run screenshots: photographs every state of a public page at 320, 375, 800 and 1280 px, light and dark,
 * into screenshots/pages/. Each state is shown without a theme, with one, and in Arabic. axe checks each, and
 * nothing is wider than the window. SCREENS=files selects states by the start of their names.
 */
const folder = fileURLToPath(new URL('../screenshots/pages/', import.meta.url));
const chosen = new RegExp(`^(?:${process.env['SCREENS'] ?? ''})`);
await mkdir(folder, { recursive: true });
after(() => outside.close());

const looks = [320, 375, 800, 1280].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
);

/**
 * Photographs a page in every look.
 * @returns its accessibility violations and overflows.
 */
async function takePictures(page: Page, name: string): Promise<string[]> {
  const problems: string[] = [];
  for (const { width, colorScheme } of looks) {
    const where = `${name}-${width}-${colorScheme}`;
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    for (const frame of page.frames()) await frame.evaluate(endAnimations);
    await page.evaluate('document.fonts.ready.then(() => null)');
    for (const frame of page.frames()) {
      const barriers = await findBarriers(frame);
      problems.push(...barriers.map((barrier) => `${where}: ${barrier}`));
      if (await frame.evaluate('document.documentElement.scrollWidth > innerWidth'))
        problems.push(`${where}: is wider than its window`);
    }
    await page.screenshot({ path: join(folder, `${where}.png`), fullPage: true });
  }
  return problems;
}

for (const state of galleryStates.filter(({ name }) => chosen.test(name))) {
  for (const dress of Object.keys(dresses) as Dress[]) {
    test(`${state.name}, ${dress}`, async () => {
      const page = await openState(state, dress);
      const problems = await takePictures(page, `${state.name}-${dress}`);
      await page.context().close();
      browser.assertQuiet();
      assert.deepEqual(problems, []);
    });
  }
}

const { inbox, visitor } = outside;
const keeper = await outside.signIn({ name: 'Gunta Stölzl', workspaceId: tenant.workspaceId });

/** The emails of the gallery by recipient address. */
const letters = {
  'mail-receipt': 'anni@example.org',
  'mail-notification': 'studio@example.org',
  'mail-invitation': 'otti@example.org',
  'mail-digest': 'evening@example.org',
  'mail-resume': 'later@example.org',
  'mail-security': keeper.email,
};

const wantedLetters = Object.entries(letters).filter(([name]) => chosen.test(name));
if (wantedLetters.length > 0) {
  const { structure, settings } = galleryForms.workshop((text) => text, '');
  const told = { notification_email: letters['mail-notification'], receipt_email_element: 'email' };
  const { body: form } = await tenant.call('POST', '/forms', {
    structure,
    settings: { ...settings, ...told },
    publish: true,
  });
  await tenant.call('POST', `/forms/${form.id}/invitations`, {
    invitations: [{ email: letters['mail-invitation'], name: 'Otti Berger' }],
    message: 'Dear {{name}},\n\nthree days at the loom, in June. Tell us when you arrive.',
  });
  await visitor.submit(form.id, {
    name: 'Anni Albers',
    email: letters['mail-receipt'],
    day: '2126-06-14',
    size: 'Small',
    guests: [{ guest: 'Otti Berger', veg: true }],
    wishes: 'A place at the window, please.',
  });
  await keeper.api('POST', '/keys', { name: 'Website' });

  const digest = { notification_email: letters['mail-digest'], notification_digest: 'daily' };
  const { body: gathered } = await tenant.call('POST', '/forms', {
    structure: galleryForms.full((text) => text, '').structure,
    settings: digest,
    publish: true,
  });
  for (const name of ['Anni Albers', 'Otti Berger']) await visitor.submit(gathered.id, { name });
  const listed = 'select from digest_items where form_id = $1';
  await until('both to be listed', async () => (await outside.query(listed, [gathered.id])).length === 2);
  const due = `update jobs set run_at = now() where payload ->> 'kind' = 'digest_due' and payload ->> 'formId' = $1`;
  await outside.query(due, [gathered.id]);
  await outside.query(`select pg_notify('formloom_jobs', 'digest')`);

  const saved = await openState(galleryStates.find(({ name }) => name === 'saved')!, 'themed');
  await saved.locator('[type=email]').fill(letters['mail-resume']);
  await saved.locator('.submit').click();
  await inbox.waitForOne(letters['mail-resume']);
  await saved.context().close();
}
for (const [name, address] of wantedLetters) {
  test(name, async () => {
    const { mail } = await inbox.waitForOne(address);
    const page = await browser.open('/healthz');
    // No Content-Security-Policy blocks the email's styles on this page.
    await page.goto('about:blank');
    await page.setContent(mail.html!);
    const problems = await takePictures(page, name);
    await page.context().close();
    assert.deepEqual(problems, []);
  });
}
