import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import type { FrameLocator, Page } from 'playwright-core';
import { openBrowser, reuseWindows } from '#test/browser.ts';
import { isSlice } from '#test/cases.ts';
import { shareService, until } from '#test/service.ts';
import { element } from '../ast/forms.ts';

/* Embeds forms in pages of a site on another origin, with the script tag from the share panel. */

const service = await shareService();
const tenant = await service.makeTenant();
const browser = await openBrowser();
after(() => browser.close());

const structure = {
  type: 'form',
  attrs: { name: 'Order' },
  children: [
    {
      type: 'step',
      attrs: { title: 'You' },
      children: [element('text', 'fullName', { required: true }), element('email', 'email')],
    },
    {
      type: 'step',
      attrs: { title: 'Things' },
      children: Array.from({ length: 8 }, (_, index) => element('textarea', `thing-${index}`)),
    },
  ],
};

async function publish(settings: object = {}): Promise<string> {
  const { status, body } = await tenant.call('POST', '/forms', { structure, publish: true, settings });
  assert.equal(status, 201, JSON.stringify(body));
  return body.id;
}

/** The other site, with a page for each path. `localhost` is a different site from `127.0.0.1`. */
const pages = new Map<string, string>();
const host = createServer((request, response) => {
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.end(pages.get((request.url ?? '').split('?')[0]!) ?? '');
});
await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
after(() => host.close());
const site = `http://localhost:${(host.address() as AddressInfo).port}`;

const recorder = `<script>
  window.heard = [];
  for (const name of ['loaded', 'step', 'submitted'])
    document.addEventListener('formloom:' + name, (event) => heard.push({ name, ...event.detail }));
</script>`;

type Heard = { name: string; form: string; step?: number; steps?: number; receipt?: string };
const heard = (page: Page): Promise<Heard[]> => page.evaluate('window.heard');

/** Opens a page of the other site with these tags. */
async function visit(tags: string): Promise<Page> {
  const path = `/${pages.size}`;
  pages.set(path, `<!doctype html><title>Shop</title><h1>Shop</h1>${recorder}${tags}<p>After</p>`);
  const page = await openWindow();
  await page.goto(site + path);
  return page;
}

const { open: openWindow, leave } = reuseWindows(browser, { width: 800, height: 700 });

const tag = (form: string, attributes = ''): string =>
  `<script src="${service.url}/embed.js" data-form="${form}"${attributes}></script>`;
const frameOf = (page: Page): FrameLocator => page.frameLocator('.formloom iframe');

/** Waits until the frame is as high as its form and returns the height. */
async function fittingHeight(page: Page): Promise<number> {
  return until('the frame to be as high as the form', async () => {
    const inside = await frameOf(page)
      .locator('body')
      .evaluate((body) => Math.ceil((body as unknown as { offsetHeight: number }).offsetHeight));
    const box = await page.locator('.formloom iframe').boundingBox();
    return box !== null && Math.abs(box.height - inside) <= 1 && box.height;
  });
}

test('an embedded form is prefilled from its tag, grows with its steps and reports events', async () => {
  const form = await publish();
  const page = await visit(
    tag(form, ' data-prefill="fullName=Ada&campaign=spring" data-prefill-email="a@example.org"'),
  );
  const frame = frameOf(page);
  assert.equal(await frame.locator('#fullName').inputValue(), 'Ada');
  assert.equal(await frame.locator('#email').inputValue(), 'a@example.org');
  const first = await fittingHeight(page);

  await frame.getByRole('button', { name: 'Next' }).click();
  await frame.locator('#thing-7').waitFor();
  const second = await until('a higher frame', async () => {
    const height = await fittingHeight(page);
    return height > first + 300 && height;
  });
  await frame.getByRole('button', { name: 'Back' }).click();
  await until('a lower frame', async () => (await fittingHeight(page)) < second - 300);
  await frame.getByRole('button', { name: 'Next' }).click();
  await frame.getByRole('button', { name: 'Submit' }).click();

  const events = await until('the submission', async () => {
    const all = await heard(page);
    return all.some(({ name }) => name === 'submitted') && all;
  });
  assert.deepEqual(events[0], { name: 'loaded', form, event: 'loaded' });
  assert.ok(events.some(({ name, step, steps }) => name === 'step' && step === 2 && steps === 2));
  const { receipt } = events.find(({ name }) => name === 'submitted')!;
  await frame.locator('.receipt').waitFor();
  await frame.locator('h1:focus').waitFor();
  assert.ok((await fittingHeight(page)) < second - 300, 'the frame fits the confirmation');
  const { status, body } = await tenant.call('GET', `/submissions/${receipt}`);
  assert.equal(status, 200);
  assert.deepEqual(body.answers, { fullName: 'Ada', email: 'a@example.org' });
  assert.deepEqual(body.metadata.reference, { campaign: 'spring' });
  await leave(page);
});

test('the frame of a form far down the page gets its height before any scrolling', {
  skip: isSlice,
}, async () => {
  const page = await visit(`<div style="block-size: 6000px"></div>${tag(await publish())}`);
  // Does not measure the body, because that would cause the layout that a browser otherwise does when the
  // frame becomes visible.
  const height = await until('a height of its own', async () => {
    const style = await page
      .locator('.formloom iframe')
      .evaluate((frame) => (frame as unknown as { style: { blockSize: string } }).style.blockSize);
    return style !== '' && Number.parseFloat(style);
  });
  assert.equal(await page.evaluate('scrollY'), 0);
  assert.equal(height, await fittingHeight(page));
  await leave(page);
});

test('URL parameters of the host page become reference data only if the tag names them', async () => {
  const form = await publish();
  const path = `/${pages.size}`;
  const send = async (attributes: string): Promise<object> => {
    pages.set(path, `<!doctype html><title>Shop</title>${recorder}${tag(form, attributes)}`);
    const page = await openWindow();
    const query = '?utm_source=news&utm_campaign=spring&_lang=de&fullName=Mallory&session=secret';
    await page.goto(`${site}${path}${query}`);
    const frame = frameOf(page);
    assert.equal(await frame.locator('#fullName').inputValue(), '');
    await frame.locator('#fullName').fill('Ada');
    await frame.getByRole('button', { name: 'Next' }).click();
    await frame.getByRole('button', { name: 'Submit' }).click();
    const receipt = await until(
      'the receipt',
      async () => (await heard(page)).find(({ name }) => name === 'submitted')?.receipt,
    );
    await leave(page);
    return (await tenant.call('GET', `/submissions/${receipt}`)).body.metadata.reference;
  };
  assert.deepEqual(await send(''), {});
  assert.deepEqual(await send(' data-reference'), { utm_source: 'news', utm_campaign: 'spring' });
  const named = ' data-reference="utm_source _lang gclid" data-prefill="utm_source=tag"';
  assert.deepEqual(await send(named), { utm_source: 'tag' });
});

test('one question at a time does not take the focus of the page around it', async () => {
  const form = await publish({ layout: 'question' });
  const page = await visit(tag(form));
  await until('the form', async () => (await heard(page)).some(({ name }) => name === 'loaded'));
  await frameOf(page).locator('main').hover();
  await frameOf(page).locator('form[novalidate]').waitFor();
  assert.equal(await page.evaluate('document.activeElement.tagName'), 'BODY');
  await leave(page);
});

test('without the script the frame has the height of its tag, and every page of the form stays in it', {
  skip: isSlice,
}, async () => {
  const form = await publish({ editing: true, save_progress: true, embed_origins: [site] });
  const page = await visit('');
  // Blocks the assets of the page. The host page has no script tag either, so it sends no messages.
  await page.route('**/f/assets/**', (route) => route.abort());
  await page.setContent(`<iframe src="${service.url}/f/${form}?_embed=1&_lang=de" height="600"></iframe>`);
  const frame = page.frameLocator('iframe');
  const press = (go: string) => frame.locator(`.actions [value=${go}]`).click();
  await frame.locator('#fullName').fill('Ada');
  await press('next');
  await frame.getByRole('heading', { name: 'Things' }).waitFor();
  await press('submit');
  await frame.locator('.receipt').waitFor();
  await frame.getByRole('link', { name: 'Antworten ändern' }).click();
  await frame.locator('#fullName').fill('Ada L.');
  await press('next');
  await press('submit');
  await frame.getByText('Ihre Änderungen wurden gespeichert').waitFor();
  await leave(page);
});

test('messages from other windows are ignored', async () => {
  const page = await visit(tag(await publish()));
  await frameOf(page).locator('#fullName').waitFor();
  await page.evaluate(`(() => {
    postMessage({ formloom: 1, event: 'submitted', receipt: 'forged' }, '*');
    postMessage({ formloom: 1, event: 'height', height: 9 }, '*');
    return new Promise((resolve) => { addEventListener('message', resolve, { once: true }); });
  })()`);
  assert.ok((await fittingHeight(page)) > 100);
  assert.equal(
    (await heard(page)).some(({ name }) => name === 'submitted'),
    false,
  );
  await leave(page);
});

test('a button opens the form in a dialog by keyboard, Escape closes it, also from inside, and the focus returns', async () => {
  const page = await visit(tag(await publish(), ' data-popup="Order now" data-title="Order form"'));
  const dialog = page.getByRole('dialog', { name: 'Order form' });
  const button = page.getByRole('button', { name: 'Order now' });
  const focusIsOn = (what: string): Promise<boolean> =>
    page.evaluate(`document.activeElement.matches('${what}')`);
  assert.equal(await page.locator('iframe').count(), 0, 'nothing is loaded before it is asked for');

  await page.keyboard.press('Tab');
  assert.ok(await focusIsOn('.formloom-button'));
  await page.keyboard.press('Enter');
  await dialog.waitFor();
  assert.ok(await focusIsOn('.formloom iframe'));
  await frameOf(page).locator('#fullName').fill('Ada');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await until('the focus on the button', () => focusIsOn('.formloom-button'));

  await page.keyboard.press('Enter');
  await dialog.waitFor();
  assert.equal(await frameOf(page).locator('#fullName').inputValue(), 'Ada', 'what was answered stays');
  await page.getByRole('button', { name: 'Close' }).press('Enter');
  await dialog.waitFor({ state: 'hidden' });
  await until('the focus on the button', () => focusIsOn('.formloom-button'));

  await page.setViewportSize({ width: 375, height: 1200 });
  await button.press('Enter');
  await dialog.waitFor();
  await until('a sheet at the foot of the window, as high as the form', () =>
    page.evaluate(`{
      const [sheet, form] = ['.formloom-dialog', '.formloom iframe'].map((of) => document.querySelector(of).getBoundingClientRect());
      sheet.bottom === innerHeight && sheet.top > 0 && sheet.width === innerWidth && Math.abs(sheet.bottom - form.bottom) < 1;
    }`),
  );
  await page.getByRole('button', { name: 'Close' }).press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  // In a right-to-left language the close button does not cover the start of the text.
  await frameOf(page).locator('body').evaluate("location.assign(location.href + '&_lang=ar')");
  await button.press('Enter');
  await until('the button to be where the lines of the form end', () =>
    page.evaluate(`{
      const [close, sheet] = ['.formloom-close', '.formloom-dialog'].map((of) => document.querySelector(of).getBoundingClientRect());
      close.left - sheet.left < 20;
    }`),
  );
  await page.getByRole('button', { name: 'Close' }).press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await until('the page to scroll again', () =>
    page.evaluate("getComputedStyle(document.documentElement).overflowY === 'visible'"),
  );
  await leave(page);
});

test('in a dialog, a step starts at its top even if the previous one was longer than the window', {
  skip: isSlice,
}, async () => {
  const long = ['one', 'two'].map((name) => ({
    type: 'step',
    children: Array.from({ length: 8 }, (_, index) => element('textarea', `${name}-${index}`)),
  }));
  const steps = { type: 'form', attrs: { name: 'Long' }, children: long };
  const { body } = await tenant.call('POST', '/forms', { structure: steps, publish: true });
  const page = await visit(tag(body.id, ' data-popup="Open"'));
  await page.getByRole('button', { name: 'Open' }).click();
  await until('a step that is longer than the window', async () => {
    const box = await page.locator('.formloom iframe').boundingBox();
    return box !== null && box.height > 800;
  });
  await frameOf(page).getByRole('button', { name: 'Next' }).click();
  await frameOf(page).getByText('Step 2 of 2').first().waitFor();
  await until('the top of the step', () =>
    page.evaluate("document.querySelector('.formloom iframe').getBoundingClientRect().top >= 0"),
  );
  await leave(page);
});

test('a form’s password works in a frame on another site, with and without script, including file uploads', {
  skip: isSlice,
}, async () => {
  const form = await publish({ access: 'password', password: 'öpen sesame', save_progress: true });
  for (const script of ['with', 'without']) {
    const page = await visit(tag(form));
    if (script === 'without') await page.route('**/f/assets/**', (route) => route.abort());
    await page.reload();
    const frame = frameOf(page);
    await frame.locator('#_password').fill('öpen sesame');
    await frame.getByRole('button').click();
    await frame.locator('#fullName').fill('Ada');
    await frame.getByRole('button', { name: 'Next' }).click();
    await frame.getByRole('heading', { name: 'Things' }).waitFor();
    await frame.getByRole('button', { name: 'Submit' }).click();
    await frame.locator('.receipt').waitFor();
    assert.deepEqual(await page.context().cookies(), [], 'no cookie was let in');
    await leave(page);
  }
});

test('a redirect replaces the host page, not the frame: with the tag, with a plain frame and without script', {
  skip: isSlice,
}, async () => {
  pages.set('/thanks', '<h1>Thanks from the shop</h1>');
  const form = await publish({ redirect_url: `${site}/thanks` });
  const own = `<iframe src="${service.url}/f/${form}?_embed=1" height="700"></iframe>`;
  for (const [way, tags] of [
    ['tag', tag(form)],
    ['frame', own],
    ['sandbox', own.replace('<iframe', '<iframe sandbox="allow-forms allow-scripts allow-same-origin"')],
    ['no script', own],
  ] as const) {
    const page = await visit(way === 'no script' ? '' : tags);
    if (way === 'no script') {
      await page.route('**/f/assets/**', (route) => route.abort());
      await page.setContent(tags);
    }
    const frame = page.frameLocator('iframe');
    await frame.locator('#fullName').fill('Ada');
    await frame.getByRole('button', { name: 'Next' }).click();
    await frame.getByRole('heading', { name: 'Things' }).waitFor();
    await frame.getByRole('button', { name: 'Submit' }).click();
    const onward = frame.getByRole('link', { name: 'Continue' });
    if (way === 'sandbox') await onward.waitFor();
    else {
      if (way === 'no script') await onward.click();
      await page.waitForURL(/\/thanks\?receipt=/);
      await page.getByRole('heading', { name: 'Thanks from the shop' }).waitFor();
    }
    await leave(page);
  }
});

for (const [colorScheme, around, expected] of [
  ['dark', '', 'light'],
  ['dark', '<meta name="color-scheme" content="light dark">', 'dark'],
  ['light', '<meta name="color-scheme" content="light dark">', 'light'],
] as const) {
  test(`with ${colorScheme} preferred, in a page ${around ? 'of both schemes' : 'that is light'}, the form is ${expected} on the background of that page`, {
    skip: isSlice,
  }, async () => {
    const form = await publish();
    pages.set(`/${pages.size}`, `<!doctype html>${around}<title>Shop</title><h1>Shop</h1>${tag(form)}`);
    const page = await openWindow();
    await page.setViewportSize({ width: 375, height: 700 });
    await page.emulateMedia({ colorScheme });
    await page.goto(`${site}/${pages.size - 1}`);
    const styleOf = (selector: string, property: string): Promise<string> =>
      frameOf(page)
        .locator(selector)
        .evaluate(
          (element, name) =>
            (
              globalThis as unknown as { getComputedStyle(of: unknown): Record<string, string> }
            ).getComputedStyle(element)[name]!,
          property,
        );
    const paper = await styleOf('main', 'backgroundColor');
    assert.equal(paper === 'rgb(255, 255, 255)', expected === 'light', paper);
    const scheme = await styleOf('html', 'colorScheme');
    const frame = await page.evaluate("getComputedStyle(document.querySelector('iframe')).colorScheme");
    assert.deepEqual([scheme, frame], [expected, expected]);
    await leave(page);
  });
}

test('a visitor’s edit link works only inside pages of sites that the form allows', async () => {
  for (const settings of [{}, { embed_origins: [site] }]) {
    const form = await publish({ editing: true, ...settings });
    const sent = await fetch(`${service.url}/f/${form}?_embed=1`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ fullName: 'Ada', _key: 'x' }),
    });
    const thanks = await fetch(service.url + sent.headers.get('location')!);
    const [, link] = /href="([^"]*\/edit\/[^"]*)"/.exec(await thanks.text())!;
    assert.equal(link!.includes('_embed'), 'embed_origins' in settings);
    const policy = (await fetch(`${service.url}${link!.split('?')[0]}?_embed=1`)).headers.get(
      'content-security-policy',
    )!;
    assert.match(
      policy,
      'embed_origins' in settings ? new RegExp(`frame-ancestors ${site}$`) : /frame-ancestors 'none'$/,
    );
  }
});

const framings: readonly (readonly [what: string, settings: object, query: string, isShown: boolean])[] = [
  ['an embedded page of a form that names no origins', {}, '?_embed=1', true],
  ['an embedded page of a form that names this one', { embed_origins: [site] }, '?_embed=1', true],
  [
    'an embedded page of a form that names another',
    { embed_origins: ['https://elsewhere.example'] },
    '?_embed=1',
    false,
  ],
  ['the plain page', {}, '', false],
];
for (const [what, settings, query, isShown] of framings) {
  test(`a form ${isShown ? 'may' : 'may not'} be framed by another site: ${what}`, async () => {
    const form = await publish(settings);
    const refused: string[] = [];
    const path = `/${pages.size}`;
    pages.set(path, `<iframe src="${service.url}/f/${form}${query}"></iframe>`);
    const page = await openWindow();
    page.on('console', (message) => refused.push(message.text()));
    await page.goto(site + path);
    const field = page.frameLocator('iframe').locator('#fullName');
    if (isShown) await field.waitFor();
    else await until('the refusal', async () => refused.some((text) => text.includes('frame-ancestors')));
    assert.equal(await field.count(), isShown ? 1 : 0);
    page.removeAllListeners('console');
    await leave(page);
  });
}

test('the embed script is at most 3 KB, gzipped, and any site can load it', async () => {
  const response = await fetch(`${service.url}/embed.js`, { headers: { 'Accept-Encoding': 'gzip' } });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('cross-origin-resource-policy'), 'cross-origin');
  assert.match(response.headers.get('content-type')!, /^text\/javascript/);
  const length = Number(response.headers.get('content-length'));
  assert.ok(length > 0 && length <= 3_072, `${length} bytes`);
});
