import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { arabic } from './gallery/arabic.ts';
import { type FormName, galleryForms } from './gallery/forms.ts';
import { makeLogo, makePhoto } from './gallery/pictures.ts';
import { type GalleryState, galleryStates, type Made } from './gallery/states.ts';
import { endAnimations, findBarriers, openConsoleBrowser } from './console-browser.ts';
import { signIn } from './console.ts';
import { openMailServer } from './mail-server.ts';
import { openService, until } from './service.ts';
import { openVisitor } from './visitor.ts';

/*
 * npm run screenshots: every state of a public page at 320, 375, 800 and 1280 px, light and dark, without a theme, in one, and
 * in Arabic, into screenshots/pages/; axe looks at each, and nothing is wider than the window. SCREENS=files for the
 * states whose names begin so.
 */
const folder = fileURLToPath(new URL('../screenshots/pages/', import.meta.url));
const chosen = new RegExp(`^(?:${process.env['SCREENS'] ?? ''})`);
await mkdir(folder, { recursive: true });

const inbox = await openMailServer();
const service = await openService({
  SUBMITS_PER_ADDRESS: '100000',
  SMTP_URL: inbox.url,
  MAIL_FROM: 'Weaving Mill <forms@formloom.test>',
});
const tenant = await service.makeTenant();
const browser = await openConsoleBrowser(service);
const visitor = openVisitor(service);

const put = async (picture: Buffer): Promise<string> =>
  (await tenant.call('POST', '/images', picture)).body.id;
const photo = await put(await makePhoto([1600, 640]));
const brand = {
  color: '#c8102e',
  font: 'fraunces',
  corner: 'round',
  cover: photo,
  logo: await put(await makeLogo('#1d1d1f')),
  logo_dark: await put(await makeLogo('#ffffff')),
};

type Worn = { readonly say: (text: string) => string; readonly locale?: string; readonly theme?: object };

/** How forms look and speak. */
const dresses = {
  plain: { say: (text) => text },
  themed: { say: (text) => text, theme: { ...brand, submit_label: 'Book my place', short_reference: true } },
  arabic: {
    say: (text) => arabic[text] ?? text,
    locale: 'ar',
    theme: { font: 'vazirmatn', color: '#0f4c81', submit_label: 'احجز مكاني' },
  },
} as const satisfies Readonly<Record<string, Worn>>;
type Dress = keyof typeof dresses;

/** The page of another site: of its own scheme, whatever the visitor prefers. `localhost` is another site than `127.0.0.1`. */
const host = createServer((request, response) => {
  const { searchParams } = new URL(request.url ?? '', 'http://host');
  const isDark = searchParams.get('scheme') === 'dark';
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.end(`<!doctype html><html lang="en" style="color-scheme: ${isDark ? 'dark' : 'light'}"><title>Shop</title>
<meta name="viewport" content="width=device-width"><body style="margin: 0; padding: 1rem; font: 1rem/1.5 sans-serif; background: ${isDark ? '#14161c' : '#f4efe6'}">
<main><h1>The shop around the form</h1><p>What stands before the form on this page.</p>
<script src="${service.url}/embed.js" data-form="${searchParams.get('form')}"${searchParams.get('attributes') ?? ''}></script>
<p>What stands behind it.</p></main>`);
});
await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
after(() => host.close());
const site = `http://localhost:${(host.address() as AddressInfo).port}`;

async function publish(form: FormName, dress: Dress, mode: GalleryState['mode']): Promise<string> {
  const { say, ...worn }: Worn = dresses[dress];
  const { structure, settings, thanks } = galleryForms[form](say, photo);
  const theme = worn.theme && { ...worn.theme, confirmation_title: thanks };
  // A colour of the day does not read at night.
  const own = mode && { ...theme, mode, ...(mode === 'dark' && { color: '#7dd3fc' }) };
  const all = { ...settings, ...worn, theme: own ?? theme };
  const answer = await tenant.call('POST', '/forms', { structure, settings: all, publish: true });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body.id;
}

/** Forms of a dress, each made when it is first asked for. */
const published = new Map<string, Promise<string>>();
function idOf(form: FormName, dress: Dress, mode?: GalleryState['mode']): Promise<string> {
  const name = `${form} ${dress} ${mode}`;
  const id = published.get(name) ?? publish(form, dress, mode);
  published.set(name, id);
  return id;
}

/** The address of a state: of the form's page, or of the page around it. */
async function addressOf(state: GalleryState, dress: Dress): Promise<string> {
  const id = await idOf(state.form, dress, state.mode);
  const made: Made = { address: () => `/f/${id}`, used: await usedLink(state, id) };
  const path = `${state.path?.(made) ?? `/f/${id}`}${state.query ?? ''}`;
  if (!state.host) return service.url + path;
  const { scheme, attributes = '' } = state.host;
  return `${site}/?${new URLSearchParams({ scheme, attributes, form: path.slice(3) }).toString()}`;
}

/** The link of an invitation that was answered; of a full form, its one submission. */
async function usedLink(state: GalleryState, id: string): Promise<string> {
  if (state.form === 'full') await visitor.submit(id, {});
  if (state.name !== 'used') return '';
  const invited = await tenant.call('POST', `/forms/${id}/invitations`, {
    invitations: [{ email: 'anni@example.org' }],
  });
  const { data } = (await tenant.call('GET', `/forms/${id}/invitations`)).body;
  assert.equal(invited.status, 201);
  const { pathname, search } = new URL((data[0] as unknown as { url: string }).url);
  await visitor.submit(id, { name: 'Anni' }, search);
  return pathname + search;
}

/** Opens a state as people come to it. */
async function openState(state: GalleryState, dress: Dress): Promise<Page> {
  const options: BrowserContextOptions = { viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' };
  const page = await browser.open('/healthz', undefined, options);
  if (state.hasScript === false) await page.route('**/f/assets/**', (route) => route.abort());
  await page.goto(await addressOf(state, dress));
  const place = state.host ? page.frameLocator('.formloom iframe') : page;
  const isButton = state.ready?.startsWith('.formloom') === true;
  await (isButton ? page : place)
    .locator(state.ready ?? 'main form')
    .first()
    .waitFor();
  const hasForm = state.ready === undefined && state.form !== 'password' && state.hasScript !== false;
  if (hasForm) {
    await page.mouse.move(600, 300);
    await page.mouse.move(610, 310);
    await place.locator('[aria-live=polite]').waitFor({ state: 'attached' });
  }
  await state.act?.(page, place);
  return page;
}

const looks = [320, 375, 800, 1280].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
);

/** A picture of a page in every look. @returns what is wrong with it. */
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

const keeper = await signIn(service, { name: 'Gunta Stölzl', workspaceId: tenant.workspaceId });

/** What is mailed, by the address that it comes to. */
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
  const { structure, settings } = galleryForms.workshop((text) => text, photo);
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
    structure: galleryForms.full((text) => text, photo).structure,
    settings: digest,
    publish: true,
  });
  for (const name of ['Anni Albers', 'Otti Berger']) await visitor.submit(gathered.id, { name });
  const { database, wakeQueue } = service.services;
  const listed = 'select from digest_items where form_id = $1';
  await until('both to be listed', async () => (await database.query(listed, [gathered.id])).rowCount === 2);
  const due = `update jobs set run_at = now() where payload ->> 'kind' = 'digest_due' and payload ->> 'formId' = $1`;
  await database.query(due, [gathered.id]);
  wakeQueue();

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
    // Which no policy of ours keeps from its style.
    await page.goto('about:blank');
    await page.setContent(mail.html!);
    const problems = await takePictures(page, name);
    await page.context().close();
    assert.deepEqual(problems, []);
  });
}
