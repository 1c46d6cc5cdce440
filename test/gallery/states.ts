import type { FrameLocator, Page } from 'playwright-core';
import { until } from '#test/service.ts';
import type { FormName } from './forms.ts';
import { makePhoto } from './pictures.ts';

/** The page of a form, or the frame that it is embedded in. */
type Place = Page | FrameLocator;

/** A state of a form's page. */
export type GalleryState = {
  readonly name: string;
  readonly form: FormName;
  /** The query string of the form's URL. */
  readonly query?: string;
  /** The host page if the form is embedded: its color scheme and the attributes of its script tag. */
  readonly host?: { readonly scheme: 'light' | 'dark'; readonly attributes?: string };
  /** A path instead of the form's, such as an expired link. */
  readonly path?: (made: Made) => string;
  readonly hasScript?: false;
  /** The color scheme of the theme. */
  readonly mode?: 'light' | 'dark';
  /** The selector that shows the page is ready. */
  readonly ready?: string;
  readonly act?: (page: Page, place: Place) => Promise<unknown>;
};

/** What was created for a look: the URLs of its forms, and links that no form contains. */
export type Made = {
  readonly address: (form: FormName) => string;
  /** The link of an answered invitation. */
  readonly used: string;
};

const go = (place: Place, to: string) => place.locator(`.actions [value=${to}]`).click();
const field = (place: Place, name: string) => place.locator(`[id="${name}"]`);

async function fillFirstStep(place: Place): Promise<void> {
  await field(place, 'name').fill('Anni Albers');
  await field(place, 'email').fill('anni@example.org');
  await field(place, 'day').fill('2126-06-14');
}

async function toSecondStep(_page: Page, place: Place): Promise<void> {
  await fillFirstStep(place);
  await go(place, 'next');
  await field(place, 'size').waitFor();
}

async function toReview(page: Page, place: Place): Promise<void> {
  await toSecondStep(page, place);
  await field(place, 'size').check();
  await field(place, 'guests[0][guest]').fill('Otti Berger');
  await field(place, 'wishes').fill('A place at the window, please.\nI weave better in daylight.');
  await go(place, 'next');
  await place.locator('.answers').first().waitFor();
}

async function toEnd(page: Page, place: Place): Promise<void> {
  await toReview(page, place);
  await go(place, 'submit');
  await place.locator('.receipt').waitFor();
}

async function joinList(_page: Page, place: Place): Promise<void> {
  await field(place, 'name').fill('Anni Albers');
  await place.locator('[name=course][value=w]').check();
  await go(place, 'submit');
  await place.locator('.receipt').waitFor();
}

async function chooseSome(_page: Page, place: Place): Promise<void> {
  await place.locator('[name=found][value=_other]').check();
  await place.locator('[name="_other[found]"], .other').first().fill('From my grandmother');
  await place.locator('[name=score][value="9"]').check();
  for (const name of ['days', 'colours'])
    for (const index of [0, 2]) await place.locator(`[name=${name}]`).nth(index).check();
  await place.locator('[name=dinner][value=yes]').check();
  await place.locator('[name=motif][value=w]').check();
}

async function weigh(_page: Page, place: Place): Promise<void> {
  for (const [name, value] of [
    ['stars', 5],
    ['hearts', 3],
    ['numbers', 8],
    ['again', 9],
  ])
    await place.locator(`[name=${name}][value="${value}"]`).check();
}

async function toOrder(page: Page, place: Place): Promise<void> {
  await weigh(page, place);
  await go(place, 'next');
  for (const id of ['w', 'l']) await place.locator(`[name=motifs][value=${id}]`).check();
  await field(place, 'weight').fill('4');
}

const picture = await makePhoto([240, 160]);
const file = (name: string, mimeType: string, bytes = 300_000) => ({
  name,
  mimeType,
  buffer: mimeType === 'image/jpeg' ? picture : Buffer.alloc(bytes, 'a'),
});

/**
 * Sends one file that arrives, one that fails, one that stays in progress, and below them one of a refused
 * type.
 */
async function sendFiles(page: Page): Promise<void> {
  const choose = (name: string, chosen: ReturnType<typeof file>) => field(page, name).setInputFiles(chosen);
  await choose('pictures', file('my-loom.jpg', 'image/jpeg'));
  await page.locator('.held [type=hidden]').waitFor({ state: 'attached' });
  const uploads = '**/f/*/files*';
  await page.route(uploads, (route) => route.abort());
  await choose(
    'pictures',
    file('a-name-that-is-as-long-as-names-of-scanned-documents-are.pdf', 'application/pdf'),
  );
  await page.locator('.held .error').first().waitFor();
  await page.unroute(uploads);
  await choose('ticket', file('ticket.docx', 'application/msword'));
  await page.locator('.refused').waitFor();
  await slowUploads(page, 40_000);
  await choose('pictures', file('carpet.pdf', 'application/pdf'));
  await page.locator('.held progress').waitFor();
  await until('a quarter of the file', () =>
    page.evaluate<boolean>(`document.querySelector('.held progress').value > 25`),
  );
  await slowUploads(page, 100);
}

async function sign(page: Page): Promise<void> {
  const pad = page.locator('.pad canvas');
  await pad.scrollIntoViewIfNeeded();
  const { x, y, width, height } = (await pad.boundingBox())!;
  const strokes = [0.3, 0.7, 0.25, 0.65, 0.5, 0.7];
  for (const [index, down] of strokes.entries()) {
    await page.mouse.move(x + width * (0.2 + index / 10), y + height * down, { steps: 4 });
    if (index === 0) await page.mouse.down();
  }
  await page.mouse.up();
  await page.locator('.pad.drawn').waitFor();
}

async function slowUploads(page: Page, bytesPerSecond: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const speed = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: bytesPerSecond };
  await session.send('Network.emulateNetworkConditions', speed);
}

async function loseTheLine(page: Page, place: Place): Promise<void> {
  await toReview(page, place);
  await page.route('**/f/*', (route) =>
    route.request().method() === 'POST' ? route.abort() : route.continue(),
  );
  await go(place, 'submit');
  await place.locator('.summary, .hint').first().waitFor();
}

/** Every state, each in three widths, light and dark. */
export const galleryStates: readonly GalleryState[] = [
  { name: 'first', form: 'workshop' },
  {
    name: 'errors',
    form: 'workshop',
    act: async (_page, place) => {
      await field(place, 'email').fill('anni at example');
      await field(place, 'site').fill('no address');
      await field(place, 'day').fill('2020-01-01');
      await field(place, 'years').fill('900');
      await field(place, 'work').fill('I have woven since I was a child, and have never stopped since then.');
      await go(place, 'next');
      await place.locator('.summary').waitFor();
    },
  },
  {
    name: 'errors-bare',
    form: 'choices',
    hasScript: false,
    act: async (_page, place) => {
      await go(place, 'submit');
      await place.locator('.summary').waitFor();
    },
  },
  {
    name: 'counted',
    form: 'workshop',
    act: async (_page, place) => {
      await fillFirstStep(place);
      await field(place, 'work').fill('I have woven since I was a child, in wool, silk and paper');
    },
  },
  { name: 'prefill-wrong', form: 'workshop', query: '?day=soon&name=Anni' },
  { name: 'second-step', form: 'workshop', act: toSecondStep },
  {
    name: 'rows',
    form: 'workshop',
    act: async (page, place) => {
      await toSecondStep(page, place);
      await place.locator('.add').click();
      await field(place, 'guests[1][guest]').waitFor();
    },
  },
  {
    name: 'rows-errors',
    form: 'workshop',
    act: async (page, place) => {
      await toSecondStep(page, place);
      await place.locator('.add').click();
      await field(place, 'guests[1][guest]').fill('Otti Berger');
      await place.locator('[name="guests[0][veg]"][value=yes]').check();
      await go(place, 'next');
      await place.locator('.summary').waitFor();
    },
  },
  { name: 'review', form: 'workshop', act: toReview },
  { name: 'offline', form: 'workshop', act: loseTheLine },
  { name: 'offline-while-filling', form: 'workshop', act: (page) => page.context().setOffline(true) },
  { name: 'choices', form: 'choices' },
  { name: 'chosen', form: 'choices', act: chooseSome },
  { name: 'files', form: 'files' },
  { name: 'files-sent', form: 'files', act: sendFiles },
  { name: 'signed', form: 'files', act: sign },
  { name: 'order', form: 'order' },
  { name: 'order-weighed', form: 'order', act: weigh },
  { name: 'order-filled', form: 'order', act: toOrder },
  { name: 'order-bare', form: 'order', hasScript: false, act: toOrder },
  {
    name: 'order-errors',
    form: 'order',
    act: async (page, place) => {
      await weigh(page, place);
      await go(place, 'next');
      await place.locator('[name=way][value=post]').check();
      await go(place, 'submit');
      await place.locator('.summary').waitFor();
    },
  },
  {
    name: 'order-end',
    form: 'order',
    act: async (page, place) => {
      await toOrder(page, place);
      await place.locator('[name=way][value=fetch]').check();
      await go(place, 'submit');
      await place.locator('.receipt').waitFor();
    },
  },
  { name: 'languages', form: 'languages' },
  { name: 'languages-arabic', form: 'languages', query: '?_lang=ar', act: toOrder },
  { name: 'single', form: 'single' },
  {
    name: 'single-text',
    form: 'single',
    act: async (_page, place) => {
      await field(place, 'found').check();
      await go(place, 'next');
      await field(place, 'work').waitFor();
    },
  },
  { name: 'confirmation', form: 'workshop', act: toEnd },
  {
    name: 'quiz-result',
    form: 'quiz',
    act: async (_page, place) => {
      await field(place, 'name').fill('Anni Albers');
      await place.locator('[name=red]').first().check();
      await field(place, 'looms').fill('8');
      await go(place, 'submit');
      await place.locator('.quiz').waitFor();
    },
  },
  {
    name: 'edit',
    form: 'workshop',
    act: async (page, place) => {
      await toEnd(page, place);
      await place.locator('a[href*="/edit/"]').click();
      await field(place, 'name').waitFor();
    },
  },
  {
    name: 'saved',
    form: 'workshop',
    hasScript: false,
    act: async (_page, place) => {
      await fillFirstStep(place);
      await go(place, 'save');
      await place.locator('.receipt').waitFor();
    },
  },
  {
    name: 'resumed',
    form: 'workshop',
    hasScript: false,
    act: async (_page, place) => {
      await fillFirstStep(place);
      await go(place, 'save');
      await place.locator('.receipt a').click();
      await place.locator('.hint').waitFor();
    },
  },
  { name: 'closed', form: 'closed', ready: '.notice' },
  { name: 'early', form: 'early', ready: '.notice' },
  { name: 'full', form: 'full', ready: '.notice' },
  { name: 'waiting-list', form: 'waiting' },
  { name: 'waiting', form: 'waiting', act: joinList },
  {
    name: 'waiting-cancel',
    form: 'waiting',
    act: async (page, place) => {
      await joinList(page, place);
      await place.locator('a[href*="/cancel"]').click();
      await place.locator('form[action*="/cancel"]').waitFor();
    },
  },
  {
    name: 'waiting-cancelled',
    form: 'waiting',
    act: async (page, place) => {
      await joinList(page, place);
      await place.locator('a[href*="/cancel"]').click();
      await place.locator('form[action*="/cancel"] button').click();
      await place.locator('.notice:not(:has(form))').waitFor();
    },
  },
  { name: 'invited', form: 'invited', ready: '.notice' },
  { name: 'used', form: 'invited', ready: '.notice', path: ({ used }) => used },
  {
    name: 'no-link',
    form: 'workshop',
    ready: '.notice',
    path: ({ address }) => `${address('workshop')}/resume/none`,
  },
  {
    name: 'unknown',
    form: 'workshop',
    ready: '.notice',
    path: () => '/f/00000000-0000-7000-8000-000000000000',
  },
  { name: 'password', form: 'password' },
  {
    name: 'password-wrong',
    form: 'password',
    act: async (_page, place) => {
      await field(place, '_password').fill('sesame');
      await place.locator('.submit').click();
      await place.locator('.error p').waitFor();
    },
  },
  { name: 'embedded-in-light', form: 'choices', host: { scheme: 'light' }, act: chooseSome },
  { name: 'embedded-in-dark', form: 'choices', host: { scheme: 'dark' }, act: chooseSome },
  {
    name: 'embedded-errors-in-dark',
    form: 'workshop',
    host: { scheme: 'dark' },
    act: (_page, place) => go(place, 'next'),
  },
  { name: 'embedded-light-in-dark', form: 'single', mode: 'light', host: { scheme: 'dark' } },
  { name: 'embedded-dark-in-light', form: 'single', mode: 'dark', host: { scheme: 'light' } },
  { name: 'embedded-end-in-dark', form: 'workshop', host: { scheme: 'dark' }, act: toEnd },
  { name: 'embedded-closed-in-dark', form: 'closed', host: { scheme: 'dark' }, ready: '.notice' },
  {
    name: 'embedded-unknown',
    form: 'choices',
    host: { scheme: 'dark' },
    ready: '.notice',
    path: () => '/f/00000000-0000-7000-8000-000000000000',
  },
  {
    name: 'embedded-popup',
    form: 'single',
    host: { scheme: 'dark', attributes: ' data-popup="Order"' },
    ready: '.formloom-button',
    act: async (page, place) => {
      await page.locator('.formloom-button').click();
      await field(place, 'found').waitFor();
    },
  },
];
