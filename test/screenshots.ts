import assert from 'node:assert/strict';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { composite, element } from '#ast/testing.ts';
import { prepareSetup } from '#workspaces/setup.ts';
import { type ConsolePerson, signIn } from './console.ts';
import { openConsoleBrowser } from './console-browser.ts';
import { openReceiver } from './receiver.ts';
import { openService, until } from './service.ts';
import { makeForm, openVisitor, type Part } from './visitor.ts';

/* npm run screenshots: every screen at 1280 and 375 px, light and dark, into screenshots/, for a person to look at. */

const folder = fileURLToPath(new URL('../screenshots/', import.meta.url));
type Look = { width: number; colorScheme: 'light' | 'dark' };
const looks: readonly Look[] = [1280, 375].flatMap((width) => [
  { width, colorScheme: 'light' },
  { width, colorScheme: 'dark' },
]);

const step = (attrs: object, children: unknown[]) => ({ type: 'step', attrs, children });
const levels = ['Beginner', 'Intermediate', 'Advanced'];
const workshop = {
  type: 'form',
  attrs: { name: 'Weaving workshop', description: 'Three days at the loom, in June.' },
  children: [
    step({ title: 'About you', layout: 'grid_2' }, [
      element('heading', 'intro', { label: 'Who are you?' }),
      element('paragraph', 'note', { label: 'We use this to plan the groups, and for nothing else.' }),
      element('text', 'name', { label: 'Full name', required: true }),
      element('email', 'email', { label: 'Email address', required: true }),
      element('phone', 'phone', { label: 'Phone', help_text: 'Only for the day of your arrival.' }),
      element('dropdown', 'level', { label: 'Experience', options: levels }),
      element('multiple_choice', 'colours', { label: 'Yarn colours' }),
      element('number', 'years', { label: 'Years of weaving' }),
    ]),
    step({ title: 'Your visit', description: 'Everything that we prepare for you.' }, [
      element('date', 'arrival', { label: 'Arrival' }),
      element('yes_no', 'lunch', { label: 'Lunch included?' }),
      composite('guests', [element('text', 'guest')], { label: 'Guest', repeatable: true }),
      element('textarea', 'wishes', { label: 'Wishes' }),
      element('file_upload', 'photo', { label: 'A photo of your loom' }),
    ]),
  ],
};

const names = ['Ada Lovelace', 'Grace Hopper', 'Anni Albers', 'Gunta Stölzl', 'Joseph-Marie Jacquard'];
/** The answers of one visitor, as a browser posts them; some questions stay open. */
const answersOf = (index: number): Part[] => {
  const parts: Record<string, string> = {
    name: names[index % names.length]!,
    email: `visitor-${index}@example.org`,
    level: levels[(index * index) % 3]!,
    colours: ['Red', 'Green', 'Blue'][index % 3]!,
    years: String((index * 7) % 23),
    arrival: `2026-06-${String(1 + (index % 28)).padStart(2, '0')}`,
    lunch: index % 4 === 0 ? 'no' : 'yes',
    'guests[0][guest]': index % 2 === 0 ? 'Tom' : '',
    wishes: index % 5 === 0 ? 'A place at the window, please: I weave better in daylight.' : '',
  };
  return Object.entries(parts).filter(([, value]) => value !== '');
};

const onePixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const picture = new File([Buffer.from(onePixel, 'base64')], 'my-loom.png', { type: 'image/png' });

const service = await openService();
const browser = await openConsoleBrowser(service);
const visitor = openVisitor(service);
const receiver = await openReceiver();
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });

/** A screen: its file's name, its address, what shows that it is there, and what is done before the picture. */
type Screen = readonly [name: string, path: string, ready: string, act?: (page: Page) => Promise<unknown>];

/** Walks through screens in one look, as somebody or nobody, and writes a picture of each. */
async function walk(screens: readonly Screen[], look: Look, person?: ConsolePerson): Promise<void> {
  const { width, colorScheme } = look;
  const viewport = { width, height: 800 };
  const page = await browser.open('/healthz', person, { colorScheme, viewport, reducedMotion: 'reduce' });
  for (const [name, path, ready, act] of screens) {
    await page.goto(service.url + path);
    await page.locator(ready).first().waitFor();
    await act?.(page);
    await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
    await page.evaluate(settled);
    // What was opened covers the window, not the page.
    await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`), fullPage: !act });
    browser.assertQuiet();
  }
  await page.context().close();
}

/** Runs in the browser: the fonts are there, and those of the animations that end have ended. */
const settled = `Promise.allSettled([document.fonts.ready, ...document.getAnimations()
  .filter(({ effect }) => effect.getComputedTiming().iterations !== Infinity).map(({ finished }) => finished)])
  .then(() => null)`;

const h1 = (text: string): string => `h1:has-text("${text}")`;
const press =
  (name: string, then = '[role="dialog"]') =>
  async (page: Page): Promise<void> => {
    await page.getByRole('button', { name, exact: true }).first().click();
    await page.locator(then).first().waitFor();
  };

// The set-up page is there until somebody has an account, so its pictures are taken before there is anything else.
const token = (await prepareSetup(service.services.database))!;
for (const look of looks) await walk([['set-up', `/app/setup?token=${token}`, h1('Set up Formloom')]], look);

const tenant = await service.makeTenant();
const { workspaceId } = tenant;
const owner = await signIn(service, { name: 'Anni Albers', workspaceId });
await signIn(service, { name: 'Otti Berger', role: 'editor', workspaceId });
const newcomer = await signIn(service, { name: 'Gunta Stölzl' });

/** The workshop with its answers, one of them with a file, and a webhook with a delivery of either end. */
async function seed(): Promise<{ form: string; webhook: string; failed: string; thanks: string }> {
  const settings = { confirmation_message: 'We will write to you within a week.' };
  const { body } = await tenant.call('POST', '/forms', { structure: workshop, settings, publish: true });
  const form = body.id;
  for (let index = 0; index < 38; index += 1)
    assert.equal((await visitor.post(form, answersOf(index))).status, 303);
  const path = `/workspaces/${workspaceId}/forms/${form}/webhooks`;
  const sent = { url: receiver.url, events: ['submission.created'] };
  const { id: webhook } = (await owner.call<{ id: string }>('POST', path, sent)).body;
  receiver.replyWith({ status: 404, body: 'No such hook' }, { status: 200, body: 'Thank you' });
  await visitor.post(form, answersOf(38));
  await receiver.waitFor(1);
  const last = await visitor.post(form, [...answersOf(40), ['photo', picture]]);
  const failed = await until('both deliveries to settle', async () => {
    type Log = { data: { id: string; status: string }[] };
    const { data } = (await owner.call<Log>('GET', `${path}/${webhook}/deliveries`)).body;
    const isSettled = data.length === 2 && data.every(({ status }) => status !== 'Retrying');
    return isSettled && data.find(({ status }) => status === 'Failed')?.id;
  });
  const listed = await tenant.call('GET', `/forms/${form}/submissions?per_page=3`);
  for (const { id } of listed.body.data.slice(1))
    await owner.call('DELETE', `/workspaces/${workspaceId}/forms/${form}/submissions/${id}`);
  const thanks = new URL(last.headers.get('location')!, service.url);
  return { form, webhook, failed, thanks: thanks.pathname + thanks.search };
}
const { form, webhook, failed, thanks } = await seed();
const quiet = (await makeForm(tenant, [element('text', 'name')])).id;
const draft = (await makeForm(tenant, [element('email', 'email')], { publish: false })).id;

const outside: readonly Screen[] = [
  ['sign-in', '/app/sign-in', h1('Sign in')],
  ['page', `/f/${form}`, h1('Weaving workshop')],
  ['page-errors', `/f/${form}`, h1('Weaving workshop'), press('Submit', '[role="alert"]')],
  ['page-confirmation', thanks, h1('Thank you')],
  ['api-docs', '/api/v1/docs', 'h1'],
];
const newWorkspace: readonly Screen[] = [['forms-empty', '/app/', 'text=Make your first form']];

const forms = `/app/w/${workspaceId}/forms`;
const settings = `/app/w/${workspaceId}/settings`;
const inForm = `/app/forms/${form}`;
const openFirst = async (page: Page): Promise<void> => {
  await page.locator('.sheet-link').first().click();
  await page.getByRole('region', { name: 'Answers' }).waitFor();
};
const filtered = new URLSearchParams({
  where: JSON.stringify([{ on: 'answer', name: 'wishes', op: 'filled' }]),
}).toString();
const inside: readonly Screen[] = [
  ['forms', forms, 'table'],
  ['forms-create', forms, 'table', press('Create form')],
  ['submissions', `${inForm}/submissions`, '.sheet-row'],
  ['submission', `${inForm}/submissions`, '.sheet-link', openFirst],
  ['trash', `${inForm}/trash`, '.trash-row'],
  ['submissions-filter', `${inForm}/submissions?${filtered}`, '.filter-chip', press('Add filter')],
  ['summary', `${inForm}/summary`, 'canvas'],
  ['webhooks-empty', `/app/forms/${quiet}/webhooks`, 'text=No webhooks yet'],
  ['webhooks', `${inForm}/webhooks`, 'text=Last 24 hours'],
  ['webhook-log', `${inForm}/webhooks/${webhook}`, 'tbody tr'],
  ['delivery', `${inForm}/webhooks/${webhook}?delivery=${failed}`, 'text=The receiver answered 404'],
  ['keys', `${settings}/keys`, 'table'],
  ['keys-create', `${settings}/keys`, 'table', press('Create key')],
  ['members', `${settings}/members`, 'table'],
  ['general', `${settings}/general`, h1('General')],
  ['account', '/app/account', h1('Your account')],
];

const show = (view: string) => (page: Page) =>
  page.getByRole('navigation', { name: 'Views of this form' }).getByRole('button', { name: view }).click();
const inBuilder: readonly Screen[] = [
  ['builder', inForm, '.canvas-main'],
  ...['Preview', 'Settings', 'Share', 'History', 'JSON'].map(
    (view) => [`builder-${view.toLowerCase()}`, inForm, '.canvas-main', show(view)] as const,
  ),
  ['builder-publish', `/app/forms/${draft}`, '.canvas-main', press('Publish')],
];
// Below 768 px the builder is a notice.
const inNarrowBuilder: readonly Screen[] = [['builder', inForm, 'text=The builder needs a wider window']];

for (const look of looks) {
  const how = `${look.width} px, ${look.colorScheme}`;
  test(`outside the console, ${how}`, () => walk(outside, look));
  test(`a new workspace, ${how}`, () => walk(newWorkspace, look, newcomer));
  test(`the console, ${how}`, () => walk(inside, look, owner));
  test(`the builder, ${how}`, () => walk(look.width < 768 ? inNarrowBuilder : inBuilder, look, owner));
}
