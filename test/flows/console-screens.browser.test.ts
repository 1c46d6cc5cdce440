import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSlice, looksAt } from '#test/cases.ts';
import { type ConsolePerson, signIn } from '#test/console.ts';
import { findBarriers, heading, openConsoleBrowser, payloads } from '#test/console-browser.ts';
import { shareService, until } from '#test/service.ts';
import { element, structure } from '../ast/forms.ts';

/* Every screen of a workspace: accessibility, injected scripts and load size. */

const service = await shareService();
const console = await openConsoleBrowser(service);
const owner = await signIn(service, { name: `Ada ${payloads[0]}` });
const { workspaceId } = owner;

/** Sets names that contain markup and scripts wherever a person can write one. */
async function fillWithPayloads(person: ConsolePerson): Promise<void> {
  const accepted = await Promise.all([
    person.api('PATCH', '/workspace', { name: `Acme ${payloads[1]}` }),
    ...payloads.flatMap((payload) => [
      person.api('POST', '/keys', { name: payload }),
      person.api('POST', '/forms', {
        structure: { ...structure(element('text', 'a')), attrs: { name: payload, description: payload } },
      }),
    ]),
  ]);
  for (const name of payloads) await signIn(service, { workspaceId, role: 'viewer', name });
  assert.deepEqual(
    accepted.filter(({ status }) => status >= 300).map(({ body }) => body),
    [],
  );
}
await fillWithPayloads(owner);

const screens: readonly [path: string, title: string][] = [
  [`/app/w/${workspaceId}/forms`, 'Forms'],
  [`/app/w/${workspaceId}/submissions`, 'All submissions'],
  [`/app/w/${workspaceId}/settings/general`, 'General'],
  [`/app/w/${workspaceId}/settings/members`, 'Members'],
  [`/app/w/${workspaceId}/settings/keys`, 'API keys'],
  [`/app/w/${workspaceId}/settings/domains`, 'Domains'],
  [`/app/w/${workspaceId}/settings/retention`, 'Retention'],
  [`/app/w/${workspaceId}/settings/people`, 'People'],
  [`/app/w/${workspaceId}/settings/activity`, 'Audit log'],
  ['/app/account', 'Your account'],
  ['/app/forms/01890000-0000-7000-8000-000000000000', 'Not found'],
  ['/app/nowhere', 'Page not found'],
];

const looks = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [1280, 375].map((width) => ({ colorScheme, width })),
);

test('on every screen, light and dark, at 1280 and 375 px, axe finds nothing, no sideways scroll appears and no injected script runs', async () => {
  const page = await console.open(screens[0]![0], owner);
  for (const [turn, [path, title]] of screens.entries()) {
    await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);
    await heading(page, title);
    await page.getByText('Loading…').first().waitFor({ state: 'detached' });
    // Loads the screen once for all variants, because loading is most of the cost.
    for (const { colorScheme, width } of looksAt(turn, looks)) {
      const where = `${path}, ${colorScheme}, ${width} px`;
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      assert.deepEqual(await findBarriers(page), [], where);
      const overflow = await page.evaluate<number>('document.body.scrollWidth - document.body.clientWidth');
      assert.equal(overflow, 0, `${where} scrolls sideways`);
    }
    assert.equal(await page.evaluate('window.pwned'), undefined, path);
  }
  await console.leave(page);
});

test('axe finds nothing on sign-in, in open dialogs and menus, or in the Ctrl+K search that opens screens by name', async () => {
  const page = await console.open('/app/sign-in');
  await heading(page, 'Sign in to Formloom');
  assert.deepEqual(await findBarriers(page), []);
  await page.context().addCookies(owner.cookies);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto(service.url + screens[0]![0]);
  await page.getByRole('button', { name: 'Create form' }).click();
  await page.getByRole('dialog').waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /^Workspace/ }).click();
  await page.getByRole('menu').waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await page.keyboard.press('Escape');
  await page.getByRole('menu').waitFor({ state: 'detached' });
  await page.setViewportSize({ width: 375, height: 700 });
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog', { name: 'Search' }).getByRole('option').first().waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await page.keyboard.type('audit');
  await page.getByRole('option', { name: 'Audit log' }).waitFor();
  await page.keyboard.press('Enter');
  await heading(page, 'Audit log');
  await console.leave(page);
});

test('names with markup or scripts are shown as text, also in confirmation dialogs', {
  skip: isSlice,
}, async () => {
  const page = await console.open(screens[0]![0], owner);
  for (const payload of payloads) await page.getByRole('link', { name: payload, exact: true }).waitFor();
  for (const payload of looksAt(0, payloads)) {
    await page.getByRole('button', { name: `Actions for ${payload}` }).press('Enter');
    await page.getByRole('menuitem', { name: 'Delete' }).press('Enter');
    await page.getByRole('alertdialog').getByText(payload, { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    // A dialog that fades out still exists and would be found beside the next one.
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    await page.getByRole('menu', { includeHidden: true }).waitFor({ state: 'detached' });
  }
  assert.equal(await page.evaluate('window.pwned'), undefined);
  await console.leave(page);
  console.assertQuiet();
});

test('the first load takes less than 250 KB of script and nothing from other hosts', async () => {
  // Starts from a page without scripts, so that nothing is loaded yet.
  const first = await console.open('/healthz', owner, { isNew: true });
  const scripts: Promise<number>[] = [];
  const hosts = new Set<string>();
  first.on('requestfinished', (request) => {
    hosts.add(new URL(request.url()).host);
    if (request.resourceType() === 'script')
      scripts.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
  });
  await first.goto(service.url + screens[0]![0]);
  await heading(first, 'Forms');
  await first.getByRole('table').waitFor();
  const bytes = (await Promise.all(scripts)).reduce((sum, size) => sum + size, 0);
  assert.ok(bytes > 50_000 && bytes < 250 * 1024, `${bytes} bytes`);
  assert.deepEqual([...hosts], [new URL(service.url).host]);
  await first.context().close();
});

test('a chosen theme is kept, and the page is drawn without layout shifts', { skip: isSlice }, async () => {
  const page = await console.open(screens[0]![0], owner, { colorScheme: 'light' });
  const ground = (): Promise<string> =>
    page.evaluate<string>('getComputedStyle(document.body.parentElement).backgroundColor');
  const light = await ground();
  await page.getByRole('button', { name: /Ada/ }).click();
  await page.getByRole('menuitem', { name: 'Dark' }).click();
  await until('the dark ground', async () => (await ground()) !== light);
  const dark = await ground();
  await page.addInitScript(
    'new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.moved = (window.moved ?? 0) + entry.value; }).observe({ type: "layout-shift", buffered: true })',
  );
  await page.reload();
  await page.getByRole('table').waitFor();
  assert.equal(await ground(), dark);
  const moved = await page.evaluate<number | undefined>('window.moved');
  assert.ok((moved ?? 0) < 0.02, `moved by ${moved}`);
  await page.context().close();
});

test('a screen says that the service is unavailable, and loads automatically when it is back', {
  skip: isSlice,
}, async () => {
  const person = await signIn(service, { name: 'Ida' });
  const page = await console.open(`/app/w/${person.workspaceId}/settings/keys`, person);
  await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
  await page.route(/\/api\/v1\/|\/readyz$/, (route) => route.abort());
  for (const link of ['Members', 'Forms']) {
    await page.getByRole('link', { name: link, exact: true }).first().click();
    await page.getByText('It will load when the service responds again.').first().waitFor();
  }
  await page.unrouteAll();
  await page.getByText('Create your first form.').waitFor();
  // A browser knows that it is offline. Requests then fail immediately instead of waiting.
  await page.context().setOffline(true);
  await page.getByRole('link', { name: 'All submissions' }).first().click();
  await page.getByText('It will load when the service responds again.').first().waitFor();
  await page.context().setOffline(false);
  await page.getByRole('heading', { level: 1, name: 'All submissions' }).waitFor();
  // A slow request also shows a message.
  const held = Promise.withResolvers<void>();
  await page.route('**/api/v1/members*', (route) => held.promise.then(() => route.continue()));
  await page.getByRole('link', { name: 'Members' }).first().click();
  await page.getByText('This is taking longer than usual').first().waitFor();
  held.resolve();
  await page.getByRole('table').first().waitFor();
  await console.leave(page);
});

test('a person is found across forms, one submission can be left out, and typing the confirmation erases the others with a receipt', async () => {
  const person = await signIn(service, { name: 'Grace' });
  const { body: form } = await person.api<{ id: string }>('POST', '/forms', {
    structure: {
      ...structure(element('email', 'mail'), element('text', 'name')),
      attrs: { name: 'Contact' },
    },
    publish: true,
  });
  for (const name of ['Ada', 'Ada again', 'A friend of hers'])
    await person.api('POST', `/forms/${form.id}/submissions`, { answers: { mail: 'ada@example.org', name } });
  const page = await console.open(`/app/w/${person.workspaceId}/settings/people`, person);
  await page.getByLabel('Email address, number or answer').fill(' ADA@example.org ');
  await page.getByRole('button', { name: 'Find person' }).click();
  await page.getByText('Contact: 3').waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await page
    .getByRole('row', { name: /Submission/ })
    .getByRole('checkbox')
    .first()
    .click({ force: true });
  await page.getByRole('button', { name: 'Erase 2 …' }).click();
  const dialog = page.getByRole('alertdialog');
  await dialog.getByLabel(/to confirm/).fill('ADA@example.org');
  assert.deepEqual(await findBarriers(page), []);
  await dialog.getByRole('button', { name: 'Erase permanently' }).click();
  await page.getByText(/^2 submissions\. Backups/).waitFor();
  await page.getByRole('cell', { name: 'Download', exact: true }).waitFor();
  const { body: left } = await person.api<{ data: object[] }>('GET', `/forms/${form.id}/submissions`);
  assert.equal(left.data.length, 1);
  assert.doesNotMatch(page.url(), /example/, 'an id may have the letters ada, no id has these');
  const invited = { email: 'grace@example.org', name: 'Grace' };
  const message = { subject: 'Hello', message: 'Please.', send: false };
  const sent = await person.api('POST', `/forms/${form.id}/invitations`, {
    invitations: [invited],
    ...message,
  });
  assert.equal(sent.status, 201);
  await page.getByLabel('Email address, number or answer').fill('ada@example.org');
  await page.getByRole('button', { name: 'Find person' }).click();
  await page.getByRole('button', { name: 'Erase 1 …' }).waitFor();
  const held = Promise.withResolvers<void>();
  await page.route('**/api/v1/people?*', (route) => held.promise.then(() => route.continue()));
  await page.getByLabel('Email address, number or answer').fill('grace@example.org');
  await page.getByRole('button', { name: 'Find person' }).click();
  await page.getByText('Searching all data').waitFor();
  assert.equal(
    await page.getByRole('button', { name: /^Erase/ }).count(),
    0,
    'the previous person cannot be erased',
  );
  held.resolve();
  await page.getByRole('table').getByRole('link', { name: 'Contact' }).first().click();
  await page.waitForURL(`**/forms/${form.id}/invitations`);
  await console.leave(page);
});
