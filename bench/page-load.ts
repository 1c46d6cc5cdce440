import type { Browser, Page } from 'playwright-core';
import { openBrowser } from '#test/browser.ts';
import { twentyElements } from '#test/flows/page-script-form.ts';
import { makeLogo, makePhoto } from '#test/gallery/pictures.ts';
import { openInstance } from '#test/process.ts';
import { callApi } from '#test/service.ts';

/*
 * npm run bench -- page-load  measures how a public page of 20 elements loads in a real Chromium, on a phone
 *                             and a desktop: plain, and in a theme with a cover, a logo and its own font;
 *                             and the slowest of its interactions (INP) at a fourth of this machine's speed
 * DATABASE_URL=…              uses this database instead of the embedded one
 * Each figure is the median of five loads with an empty cache.
 */
const rounds = 5;

/**
 * A device and its connection. `slowdown` divides the speed of this machine; times in ms, rates in bits per
 * second.
 */
type Profile = {
  name: string;
  slowdown: number;
  latencyMs: number;
  down: number;
  up: number;
  width: number;
  density: number;
};

const profiles: readonly Profile[] = [
  // Lighthouse's mobile profile ("slow 4G").
  {
    name: 'phone, slow 4G',
    slowdown: 4,
    latencyMs: 150,
    down: 1_638_400,
    up: 750_000,
    width: 375,
    density: 2,
  },
  { name: 'phone, slow 3G', slowdown: 6, latencyMs: 400, down: 400_000, up: 400_000, width: 375, density: 2 },
  { name: 'desk, no limit', slowdown: 1, latencyMs: 0, down: -8, up: -8, width: 1280, density: 1 },
];

/**
 * The result of one load, with times in ms since navigation start. `blocked` counts what exceeds 50 ms in
 * each long task.
 */
type Load = {
  firstByte: number;
  firstPaint: number;
  largestPaint: number;
  blocked: number;
  shift: number;
  bytes: number;
  requests: number;
  /** From the first interaction until the script runs. */
  ready: number;
};

const observe = `
  window.seen = { largest: 0, blocked: 0, shift: 0 };
  const watch = (type, each) => new PerformanceObserver((list) => list.getEntries().forEach(each)).observe({ type, buffered: true });
  watch('largest-contentful-paint', (entry) => { seen.largest = entry.startTime; });
  watch('longtask', (entry) => { seen.blocked += Math.max(0, entry.duration - 50); });
  watch('layout-shift', (entry) => { seen.shift += entry.value; });`;

const report = `({
  firstByte: performance.getEntriesByType('navigation')[0].responseStart,
  firstPaint: performance.getEntriesByName('first-contentful-paint')[0].startTime,
  largestPaint: seen.largest, blocked: seen.blocked, shift: seen.shift,
})`;

async function loadOnce(browser: Browser, url: string, profile: Profile): Promise<Load> {
  const context = await browser.newContext({
    viewport: { width: profile.width, height: 800 },
    deviceScaleFactor: profile.density,
    locale: 'en-US',
  });
  const page = await context.newPage();
  const traffic = await slowDown(page, profile);
  await page.addInitScript(observe);
  await page.goto(url, { waitUntil: 'networkidle' });
  const seen = await page.evaluate<Omit<Load, 'bytes' | 'requests' | 'ready'>>(report);
  const first = { ...traffic };
  const touched = performance.now();
  await page.mouse.move(5, 5);
  await page.mouse.move(9, 9);
  await page.locator('[aria-live=polite]').waitFor({ state: 'attached' });
  const ready = performance.now() - touched;
  await context.close();
  return { ...seen, ...first, ready };
}

/** Throttles the page as the profile says, and counts bytes and requests. */
async function slowDown(page: Page, profile: Profile): Promise<{ bytes: number; requests: number }> {
  const traffic = { bytes: 0, requests: 0 };
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    traffic.bytes += encodedDataLength;
    traffic.requests += 1;
  });
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: profile.latencyMs,
    downloadThroughput: profile.down / 8,
    uploadThroughput: profile.up / 8,
  });
  await session.send('Emulation.setCPUThrottlingRate', { rate: profile.slowdown });
  return traffic;
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]!;

function describe(profile: Profile, loads: readonly Load[]): string {
  const of = (figure: keyof Load): number => median(loads.map((load) => load[figure]));
  const ms = (figure: keyof Load): string => `${Math.round(of(figure))} ms`;
  return [
    profile.name.padEnd(16),
    `first byte ${ms('firstByte')}`,
    `FCP ${ms('firstPaint')}`,
    `LCP ${ms('largestPaint')}`,
    `blocked ${ms('blocked')}`,
    `CLS ${of('shift')}`,
    `${of('bytes')} bytes in ${of('requests')} requests`,
    `ready ${ms('ready')} after the first touch`,
  ].join(' · ');
}

/** Records each interaction: the time from the key or click to the next paint, in steps of 8 ms. */
const observeInteractions = `
  window.interactions = {};
  new PerformanceObserver((list) => list.getEntries().forEach(({ interactionId, duration, name }) => {
    if (interactionId > 0) interactions[interactionId] = Math.max(interactions[interactionId] ?? 0, duration);
  })).observe({ type: 'event', buffered: true, durationThreshold: 16 });`;

/** Fills the form with keys and clicks, and submits it with errors. @returns all interactions over 16 ms. */
async function interact(browser: Browser, url: string): Promise<number[]> {
  const context = await browser.newContext({ viewport: { width: 375, height: 800 }, locale: 'en-US' });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  await page.addInitScript(observeInteractions);
  await page.goto(url, { waitUntil: 'networkidle' });
  await page.locator('[name=text]').pressSequentially('Ada');
  await page.locator('[name=email]').pressSequentially('ada@example');
  await page.locator('[name=phone]').pressSequentially('+49 30 1234567');
  await page.locator('[name=number]').pressSequentially('12');
  await page.locator('[name=textarea]').pressSequentially('Some words.');
  for (const label of await page
    .locator('label:has(input[type=radio]), label:has(input[type=checkbox])')
    .all())
    await label.click();
  await page.locator('form button:not([type=button])').last().click();
  await page.locator('[name=surname]').pressSequentially('Lovelace');
  await page.locator('form button:not([type=button])').last().click();
  const seen = await page.evaluate<number[]>(
    'new Promise((resolve) => setTimeout(() => resolve(Object.values(interactions)), 200))',
  );
  await context.close();
  return seen;
}

const structure = {
  type: 'form',
  attrs: { name: 'Twenty elements' },
  children: [{ type: 'step', attrs: { title: 'Everything' }, children: twentyElements }],
};

const database = process.env['DATABASE_URL'];
const instance = await openInstance(database === undefined ? {} : { DATABASE_URL: database });
try {
  await instance.start();
  const workspace = await instance.cli<{ id: string }>('workspace create', 'Bench', '--plan', 'enterprise');
  const { key } = await instance.cli<{ key: string }>(
    'key create',
    '--workspace',
    workspace.id,
    '--name',
    'Bench',
  );
  const make = async (settings: object): Promise<string> => {
    const { body } = await callApi(instance.url, key, 'POST', '/forms', {
      structure,
      settings,
      publish: true,
    });
    return `${instance.url}/f/${body.id}`;
  };
  const put = async (picture: Buffer): Promise<string> =>
    (await callApi(instance.url, key, 'POST', '/images', picture)).body.id;
  const cover = await makePhoto([3600, 1440]);
  const theme = {
    color: '#7a1f8a',
    font: 'figtree',
    cover: await put(cover),
    logo: await put(await makeLogo('#7a1f8a')),
  };
  const pages = { plain: await make({}), themed: await make({ theme }) };
  process.stdout.write(`The cover is a JPEG of ${Math.round(cover.length / 1000)} KB.\n`);
  const browser = await openBrowser();
  for (const [name, url] of Object.entries(pages)) {
    await loadOnce(browser, url, profiles.at(-1)!);
    for (const profile of profiles) {
      const loads: Load[] = [];
      for (let round = 0; round < rounds; round += 1) loads.push(await loadOnce(browser, url, profile));
      process.stdout.write(`${name} · ${describe(profile, loads)}\n`);
    }
    const worst: number[] = [];
    for (let round = 0; round < rounds; round += 1) worst.push(Math.max(...(await interact(browser, url))));
    process.stdout.write(
      `${name} · slowest interaction at a slowdown of 4: ${worst.join(', ')} ms, median ${median(worst)} of 100 ms\n`,
    );
  }
  await browser.close();
} finally {
  await instance.close();
}
