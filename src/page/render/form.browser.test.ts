import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { checkAnswers } from '#ast/answers/check-answers.ts';
import { createWorkBudget } from '#ast/basics/work.ts';
import { composite, element, formOf } from '#test/ast/forms.ts';
import { openBrowser } from '#test/browser.ts';
import { isSlice, looksAt } from '#test/cases.ts';
import { findBarriers } from '#test/console-browser.ts';
import { everyElement, inputTypes, viewOf } from '#test/page/read-page.ts';
import { until } from '#test/service.ts';
import { headersForStyle, plainPageHeaders } from '../post/problem-page.ts';
import { plainPageStyle } from '../theme/page-style.ts';
import { wordsByLocale } from '../words/choose-locale.ts';
import { elementStylesOfForm } from './elements/element-renderers.ts';
import { renderForm } from './form.ts';
import { renderConfirmation, renderNotice } from './notices.ts';

const team = composite(
  'team',
  [
    element('text', 'member', { required: true }),
    element('date', 'born'),
    element('yes_no', 'veg', { col_span: 2 }),
  ],
  { layout: 'grid_2', repeatable: true },
);
const layouts = ['row', 'grid_2', 'grid_3', 'grid_4'].map((layout) =>
  composite(
    layout,
    [element('datetime', `${layout}_a`), element('dropdown', `${layout}_b`, { col_span: 4 })],
    { layout },
  ),
);
const longWord = 'Donaudampfschifffahrtsgesellschaftskapitaen'.repeat(3);
const form = formOf(
  ...everyElement,
  ...layouts,
  team,
  element('radio', 'long', { label: longWord, options: [longWord] }),
);

const values = {
  email: 'x',
  dropdown: 'Green',
  multiple_choice: ['Red'],
  team: [{ member: 'Ada' }, { veg: true }],
};
const checked = checkAnswers(form, values, new Map(), {
  reference: {},
  today: '2026-01-31',
  work: createWorkBudget(),
});
assert.ok(!checked.ok);
const files = new Map([['file_upload', [{ token: 't', filename: `${longWord}.pdf`, size: 2_000 }]]]);

// Includes the style rules of the types on the page, as it is served.
const look = { ...plainPageStyle, style: elementStylesOfForm(form) };
const pages: Readonly<Record<string, string>> = {
  blank: renderForm(viewOf(form, { look })),
  errors: renderForm(viewOf(form, { look, values, errors: checked.errors, files })),
  rightToLeft: renderForm(viewOf(form, { look, values, language: 'ar', files })),
  added: renderForm(viewOf(form, { look, values, focus: 'team[1]' })),
  confirmation: renderConfirmation({
    formName: 'Contact',
    message: undefined,
    receipt: '0199e5b0',
    language: 'en',
    words: wordsByLocale.en,
  }),
  notice: renderNotice({ title: 'This form is closed', message: 'Come back in May.', language: 'en' }),
};

/** Posted bodies, newest last. */
const posts: string[] = [];

const server = createServer((request, response) => {
  const page = pages[request.url?.slice(1) ?? ''];
  request.setEncoding('utf8');
  let body = '';
  request.on('data', (chunk: string) => {
    body += chunk;
  });
  request.on('end', () => {
    if (request.method === 'POST') posts.push(body);
    response
      .writeHead(
        page || request.method === 'POST' ? 200 : 404,
        page?.includes(look.style) ? headersForStyle(look) : plainPageHeaders,
      )
      .end(page ?? '');
  });
});
await new Promise<void>((resolve) => {
  server.listen(0, '127.0.0.1', resolve);
});
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const browser = await openBrowser();
after(async () => {
  await browser.close();
  server.close();
});

/** The page that the previous check left open; undefined if that check failed. */
let left: Page | undefined;

/** Opens a test page for one check, and fails it if the console shows a message. */
async function visit(name: string, width: number, check: (page: Page) => Promise<void>): Promise<void> {
  const page = left ?? (await browser.newPage());
  left = undefined;
  const complaints: string[] = [];
  page.removeAllListeners('console').on('console', (message) => complaints.push(message.text()));
  await page.setViewportSize({ width, height: 800 });
  await page.emulateMedia({ colorScheme: null, forcedColors: null, reducedMotion: null });
  await page.goto(`${origin}/${name}`);
  // The browser moves the focus a moment after the page has loaded.
  if (pages[name]?.includes(' autofocus')) await page.locator(':focus').waitFor();
  await check(page);
  assert.deepEqual(complaints, []);
  left = page;
}

type Media = NonNullable<Parameters<Page['emulateMedia']>[0]>;
const looks: readonly (readonly [viewport: { width: number; height: number }, media: Media])[] = [
  [{ width: 1280, height: 900 }, { colorScheme: 'light' }],
  [{ width: 1280, height: 900 }, { colorScheme: 'dark' }],
  [{ width: 375, height: 800 }, { colorScheme: 'light' }],
  [
    { width: 768, height: 1000 },
    { colorScheme: 'dark', forcedColors: 'active', reducedMotion: 'reduce' },
  ],
];

for (const [turn, name] of Object.keys(pages).entries()) {
  test(`${name} has no WCAG 2.0 to 2.2 AA findings, light or dark, wide or narrow, and no horizontal scrolling from 320 px to 1920 px`, async () => {
    await visit(name, 1280, async (page) => {
      for (const [viewport, media] of looksAt(turn, looks)) {
        await page.setViewportSize(viewport);
        await page.emulateMedia(media);
        assert.deepEqual(await findBarriers(page), [], JSON.stringify({ viewport, ...media }));
      }
      for (const width of [320, 640, 768, 900, 1280, 1920]) {
        await page.setViewportSize({ width, height: 800 });
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
      }
    });
  });
}

test('touch targets are at least 44 px high, and text fields use a font of at least 16 px', {
  skip: isSlice,
}, async () => {
  await visit('errors', 375, async (page) => {
    const small =
      await page.evaluate(`[...document.querySelectorAll('button:not(.unseen), select, textarea, .option, .drop, .labelled > input')]
      .filter((target) => target.checkVisibility() && target.getBoundingClientRect().height < 44 || parseFloat(getComputedStyle(target).fontSize) < 16)
      .map((target) => target.outerHTML)`);
    assert.deepEqual(small, []);
  });
});

test('grids have columns from 640 px, and one column below', { skip: isSlice }, async () => {
  const columns = `['grid_2', 'grid_3', 'grid_4'].map((name) =>
    getComputedStyle(document.querySelector('.group > .' + name)).gridTemplateColumns.split(' ').length)`;
  await visit('blank', 639, async (page) => {
    for (const [width, expected] of [
      [639, [1, 1, 1]],
      [640, [2, 3, 2]],
      [900, [2, 3, 4]],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      assert.deepEqual(await page.evaluate(columns), expected);
    }
  });
});

/**
 * Returns the ID of the focused element, and whether it or its row has a focus ring. Undefined at the end of
 * the page.
 */
const focused = `(() => {
  const target = document.activeElement;
  if (target === document.body) return undefined;
  const { outlineStyle, outlineWidth } = getComputedStyle(target.closest('.option') ?? target);
  return { id: target.id, hasRing: outlineStyle === 'solid' && parseFloat(outlineWidth) >= 3 };
})()`;

test('the keyboard reaches every question, and each element it reaches shows a focus ring', async () => {
  await visit('errors', 1280, async (page) => {
    const reached = new Map<string, boolean>();
    for (let presses = 0; presses < 300; presses += 1) {
      await page.keyboard.press('Tab');
      const found = await page.evaluate<{ id: string; hasRing: boolean } | undefined>(focused);
      if (!found) break;
      reached.set(found.id, found.hasRing && (reached.get(found.id) ?? true));
    }
    const bare = [...reached].filter(([, hasRing]) => !hasRing);
    assert.deepEqual(bare, []);
    // In a radio group, the keyboard reaches the selected button, or the first one.
    for (const type of inputTypes) assert.ok(reached.has(type), type);
  });
});

test('after a failed submit the summary has the focus, and its links lead to the controls', async () => {
  await visit('errors', 1280, async (page) => {
    assert.equal(await page.evaluate('document.activeElement.getAttribute("role")'), 'alert');
    for (const name of ['email', 'team[1][member]']) {
      await page.locator(`a[href="#${name}"]`).click();
      await until(
        'the focus on the control',
        async () => (await page.evaluate('document.activeElement.id')) === name,
      );
      const label = page.locator(`label[for="${name}"]`);
      assert.ok((await label.boundingBox())!.y >= 0, 'the label is in sight as well');
    }
  });
});

test('after a row is added, its first field has the focus', { skip: isSlice }, async () => {
  await visit('added', 1280, async (page) => {
    assert.equal(await page.evaluate('document.activeElement.id'), 'team[1][member]');
  });
});

test('without a script, the Enter key submits, and each button of a row posts its action', async () => {
  const page = await browser.newPage({ javaScriptEnabled: false });
  const press = async (act: (page: Page) => Promise<void>): Promise<string> => {
    const before = posts.length;
    await page.goto(`${origin}/added`);
    await act(page);
    await page.waitForURL(`${origin}/f/1`);
    assert.equal(posts.length, before + 1);
    return posts.at(-1)!;
  };
  const entered = await press((page) => page.locator('[id="team[1][member]"]').press('Enter'));
  assert.doesNotMatch(entered, /name="_(?:add|remove)"/);
  assert.match(entered, /name="team\[0\]\[member\]"\r\n\r\nAda\r\n/);
  assert.match(entered, /name="_row"\r\n\r\nteam\[1\]\r\n/);
  const added = await press((page) => page.getByRole('button', { name: 'Add another' }).click());
  assert.match(added, /name="_add"\r\n\r\nteam\r\n/);
  const removed = await press((page) => page.getByRole('button', { name: 'Remove The team 1' }).click());
  assert.match(removed, /name="_remove"\r\n\r\nteam\[0\]\r\n/);
  await page.close();
});
