import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { openConsoleBrowser } from '#test/console-browser.ts';
import { openOutside, recordedTree } from '#test/record/outside.ts';
import { arabic } from './arabic.ts';
import { type FormName, galleryForms } from './forms.ts';
import { makeLogo, makePhoto } from './pictures.ts';
import type { GalleryState, Made } from './states.ts';

/** The service whose pages are photographed. */
export const outside = await openOutside(recordedTree);
export const browser = await openConsoleBrowser(outside);
export const tenant = await outside.makeTenant('Weaving Mill');
const { visitor } = outside;

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

export type Worn = {
  readonly say: (text: string) => string;
  readonly locale?: string;
  readonly theme?: object;
};

/** Themes and languages of the forms. */
export const dresses = {
  plain: { say: (text) => text },
  themed: { say: (text) => text, theme: { ...brand, submit_label: 'Book my place' } },
  arabic: {
    say: (text) => arabic[text] ?? text,
    locale: 'ar',
    theme: { font: 'vazirmatn', color: '#0f4c81', submit_label: 'احجز مكاني' },
  },
} as const satisfies Readonly<Record<string, Worn>>;
export type Dress = keyof typeof dresses;

/**
 * The page of another site, with its own color scheme regardless of the visitor's. `localhost` is another
 * site than `127.0.0.1`.
 */
const host = createServer((request, response) => {
  const { searchParams } = new URL(request.url ?? '', 'http://host');
  const isDark = searchParams.get('scheme') === 'dark';
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.end(`<!doctype html><html lang="en" style="color-scheme: ${isDark ? 'dark' : 'light'}"><title>Shop</title>
<meta name="viewport" content="width=device-width"><body style="margin: 0; padding: 1rem; font: 1rem/1.5 sans-serif; background: ${isDark ? '#14161c' : '#f4efe6'}">
<main><h1>The shop around the form</h1><p>What stands before the form on this page.</p>
<script src="${outside.url}/embed.js" data-form="${searchParams.get('form')}"${searchParams.get('attributes') ?? ''}></script>
<p>What stands behind it.</p></main>`);
});
await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
after(() => host.close());
const site = `http://localhost:${(host.address() as AddressInfo).port}`;

async function publish(form: FormName, dress: Dress, mode: GalleryState['mode']): Promise<string> {
  const { say, ...worn }: Worn = dresses[dress];
  const { structure, settings, thanks } = galleryForms[form](say, photo);
  const theme = worn.theme && { ...worn.theme, confirmation_title: thanks };
  // The light color has too little contrast in dark mode.
  const own = mode && { ...theme, mode, ...(mode === 'dark' && { color: '#7dd3fc' }) };
  const all = { ...settings, ...worn, theme: own ?? theme };
  const answer = await tenant.call('POST', '/forms', { structure, settings: all, publish: true });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body.id;
}

/** The forms by theme, each created on first use. */
const published = new Map<string, Promise<string>>();
function idOf(form: FormName, dress: Dress, mode?: GalleryState['mode']): Promise<string> {
  const name = `${form} ${dress} ${mode}`;
  const id = published.get(name) ?? publish(form, dress, mode);
  published.set(name, id);
  return id;
}

/** Returns the URL of a state: the form's page, or the page around it. */
async function addressOf(state: GalleryState, dress: Dress): Promise<string> {
  const id = await idOf(state.form, dress, state.mode);
  const made: Made = { address: () => `/f/${id}`, used: await usedLink(state, id) };
  const path = `${state.path?.(made) ?? `/f/${id}`}${state.query ?? ''}`;
  if (!state.host) return outside.url + path;
  const { scheme, attributes = '' } = state.host;
  return `${site}/?${new URLSearchParams({ scheme, attributes, form: path.slice(3) }).toString()}`;
}

/** Returns the link of an answered invitation. Also submits once to the full forms. */
async function usedLink(state: GalleryState, id: string): Promise<string> {
  if (state.form === 'full') await visitor.submit(id, {});
  if (state.form === 'waiting') await visitor.submit(id, { course: 'w' });
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

/** Opens a state of a form's page as a visitor does. */
export async function openState(
  state: GalleryState,
  dress: Dress,
  watch: (page: Page) => unknown = () => undefined,
): Promise<Page> {
  const options: BrowserContextOptions = { viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' };
  const page = await browser.open('/healthz', undefined, options);
  if (state.hasScript === false) await page.route('**/f/assets/**', (route) => route.abort());
  const address = await addressOf(state, dress);
  watch(page);
  await page.goto(address);
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
