import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { AxeResults } from 'axe-core';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { composite, element, structure } from '#ast/testing.ts';
import type { FormNode } from '#ast/tree.ts';
import type { BuilderForm } from '#console/forms/shapes.ts';
import { openBrowser } from '#test/browser.ts';
import { type ConsolePerson, signIn } from '#test/console.ts';
import { openService, until } from '#test/service.ts';

/* The builder in a real browser, on the built console (dist/web): conventions B1-B6 of research/features. */

const service = await openService();
const tenant = await service.makeTenant();
const { workspaceId } = tenant;
const ada = await signIn(service, { workspaceId, name: 'Ada', role: 'editor' });
const bob = await signIn(service, { workspaceId, name: 'Bob', role: 'editor' });
const browser = await openBrowser();
after(() => browser.close());

const problems: string[] = [];

/** Opens the builder of a form as a person; whatever the browser complains about fails the test that looks. */
async function openBuilder(
  form: string,
  person: ConsolePerson = ada,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  await context.addCookies(person.cookies);
  const page = await context.newPage();
  page.setDefaultTimeout(5_000);
  page.on('pageerror', (error) => problems.push(error.message));
  page.on(
    'console',
    (message) =>
      message.type() === 'error' &&
      !/Failed to load resource/.test(message.text()) &&
      problems.push(message.text()),
  );
  await page.goto(`${service.url}/app/forms/${form}`);
  await page.locator('.canvas-main').waitFor();
  return page;
}

async function make(sent: object, publish = false): Promise<string> {
  const { status, body } = await tenant.call('POST', '/forms', { structure: sent, publish });
  assert.equal(status, 201);
  return body.id;
}

const read = async (form: string): Promise<BuilderForm> =>
  (await ada.call<BuilderForm>('GET', `/workspaces/${workspaceId}/forms/${form}/builder`)).body;
const draftOf = async (form: string): Promise<FormNode> => (await read(form)).draft.structure as FormNode;
const labels = (form: FormNode): string[] =>
  form.children!.flatMap((step) => step.children!.map((node) => String(node.attrs!['label'])));

const said = (page: Page): Promise<string | null> => page.locator('[data-announcer]').textContent();
const part = (page: Page, words: string): Locator => page.locator(`.canvas-main [aria-label^="${words}"]`);
const saved = (page: Page): Promise<void> =>
  page.locator('[data-save-state="saved"]', { hasText: 'Saved' }).waitFor();
// Scripts for the page are texts: the types here know no document.
const focused = (page: Page): Promise<string | null> =>
  page.evaluate(`(() => {
    let active = document.activeElement;
    while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
    return active?.getAttribute('aria-label') ?? active?.tagName ?? null;
  })()`);

/** Adds an element with the keyboard's menu and gives it a label. */
async function insert(page: Page, search: string, label: string): Promise<void> {
  await page.keyboard.press('/');
  await page.getByRole('dialog', { name: 'Add an element' }).waitFor();
  await page.keyboard.type(search);
  await page.locator('.insert-list [data-focused]').waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.canvas-main .written').waitFor();
  await page.keyboard.type(label);
  await page.keyboard.press('Enter');
  await part(page, `“${label}”`).waitFor();
}

const empty = {
  type: 'form',
  attrs: { name: 'Empty' },
  children: [{ type: 'step', attrs: { title: 'One' }, children: [] }],
};

test('by keyboard alone: a form is built, undone, redone, moved, and survives a reload', async () => {
  const form = await make(empty);
  const page = await openBuilder(form);
  for (let tabs = 0; (await focused(page)) !== '“Empty” (Form), Form'; tabs += 1) {
    assert.ok(tabs < 80, 'Tab reaches the canvas');
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('ArrowDown');
  assert.equal(await focused(page), '“One” (Step), position 1 of 1');
  await insert(page, 'email', 'Your email');
  assert.equal(await focused(page), '“Your email” (Email), position 1 of 1, step 1');
  await insert(page, 'group', 'Address');
  await insert(page, 'short', 'Street');
  assert.equal(await focused(page), '“Street” (Short text), position 1 of 1, in Address, step 1');

  await page.keyboard.press(' ');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  assert.equal(await said(page), '“Street” (Short text), position 1 of 3, step 1');
  await page.keyboard.press('Escape');
  assert.equal(await said(page), 'Put back: position 1 of 1, in Address, step 1');
  await page.keyboard.press(' ');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press(' ');
  assert.equal(await said(page), 'Dropped: “Street” (Short text), position 3 of 3, step 1');

  await page.keyboard.press('Control+d');
  assert.equal(await focused(page), '“Street” (Short text), position 4 of 4, step 1');
  await page.keyboard.press('Delete');
  await page.keyboard.press('Control+z');
  await page.keyboard.press('Control+z');
  await page.keyboard.press('Control+z');
  assert.equal(await focused(page), '“Street” (Short text), position 1 of 1, in Address, step 1');
  await page.keyboard.press('Control+Shift+z');
  await page.keyboard.press('Control+s');
  await saved(page);

  await page.reload();
  await part(page, '“Street”').waitFor();
  const draft = await draftOf(form);
  assert.deepEqual(labels(draft), ['Your email', 'Address', 'Street']);
  assert.deepEqual(
    draft.children![0]!.children!.map(({ attrs }) => attrs!['id']),
    ['your_email', 'address', 'street'],
  );
  assert.equal(
    (await tenant.call('GET', `/forms/${form}`)).body.structure.children[0]!.children.length,
    0,
    'live is untouched',
  );
  await page.context().close();
});

test('by mouse: the palette adds and drags into a group, a handle moves, a label is written, options are pasted', async () => {
  const form = await make(
    structure(
      element('text', 'first', { label: 'First' }),
      composite('group', [element('text', 'inner', { label: 'Inner' })], { label: 'Group' }),
    ),
  );
  const page = await openBuilder(form);
  await page.getByRole('button', { name: 'Dropdown', exact: true }).click();
  await page.keyboard.type('Colour');
  await page.keyboard.press('Enter');

  const drag = async (from: Locator, to: Locator, atBottom: boolean): Promise<void> => {
    await to.scrollIntoViewIfNeeded();
    const source = (await from.boundingBox())!;
    const target = (await to.boundingBox())!;
    await page.mouse.move(source.x + source.width / 2, source.y + source.height / 2);
    await page.mouse.down();
    const y = target.y + (atBottom ? target.height - 10 : 4);
    await page.mouse.move(target.x + 60, y, { steps: 6 });
    await page.locator('.drop-line').waitFor();
    await page.mouse.up();
  };
  await drag(page.getByRole('button', { name: 'Email', exact: true }), part(page, '“Inner”'), true);
  assert.equal(await said(page), 'Email added, position 2 of 2, in Group, step 1');
  await page.keyboard.press('Enter');

  await part(page, '“Colour”').click();
  await drag(page.getByRole('button', { name: /^Move: Space/ }), part(page, '“First”'), false);
  assert.equal(await said(page), 'Moved: position 1 of 3, step 1');

  await part(page, '“First”').dblclick();
  await page.keyboard.type('Your name');
  await page.keyboard.press('Enter');

  await part(page, '“Colour”').click();
  await page.getByRole('button', { name: 'Paste a list' }).click();
  await page.getByLabel('Options, one a line').fill('- Red\n- Green\n\n1. Blue\nRed');
  await page.getByRole('button', { name: 'Use 3 options' }).click();
  await page.getByText('Required', { exact: true }).click();
  await saved(page);
  await until(
    'the last change to be saved',
    async () => (await draftOf(form)).children![0]!.children![0]!.attrs!['required'] === true,
  );

  const [colour, name, group] = (await draftOf(form)).children![0]!.children!;
  assert.deepEqual(
    [colour!.attrs!['label'], colour!.attrs!['options']],
    ['Colour', ['Red', 'Green', 'Blue']],
  );
  assert.equal(name!.attrs!['label'], 'Your name');
  assert.deepEqual(
    group!.children!.map(({ type }) => type),
    ['text', 'email'],
  );
  await page.context().close();
});

test('by touch: the handle drags, the body scrolls', async () => {
  const form = await make(
    structure(
      element('text', 'a', { label: 'First' }),
      element('text', 'b', { label: 'Second' }),
      element('text', 'c', { label: 'Third' }),
    ),
  );
  const page = await openBuilder(form, ada, { hasTouch: true });
  await part(page, '“Third”').tap();
  const touch = await page.context().newCDPSession(page);
  const drag = async (from: Locator, to: Locator): Promise<void> => {
    const source = (await from.boundingBox())!;
    const target = (await to.boundingBox())!;
    const points = Array.from({ length: 8 }, (_, step) => ({
      x: source.x + source.width / 2 + ((target.x + 40 - source.x - source.width / 2) * step) / 7,
      y: source.y + source.height / 2 + ((target.y + 4 - source.y - source.height / 2) * step) / 7,
    }));
    await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [points[0]!] });
    for (const point of points)
      await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: [point] });
    await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  };
  await drag(page.getByRole('button', { name: /^Move: Space/ }), part(page, '“First”'));
  assert.equal(await said(page), 'Moved: position 1 of 3, step 1');
  await drag(part(page, '“Second”'), part(page, '“Third”'));
  await saved(page);
  await until(
    'the move to be saved',
    async () => labels(await draftOf(form)).join() === 'Third,First,Second',
  );
  await page.context().close();
});

test('two editors on one form: nothing is overwritten unseen; keep mine, take theirs, and copy each do what they say', async () => {
  for (const resolution of ['Keep mine', 'Take theirs', 'Copy mine as a new form']) {
    const form = await make(structure(element('text', 'a', { label: 'Original' })));
    const mine = await openBuilder(form);
    const theirs = await openBuilder(form, bob);
    const rename = async (page: Page, label: string): Promise<void> => {
      await part(page, '“Original”').click();
      await page.getByRole('textbox', { name: 'Label' }).fill(label);
    };
    await rename(theirs, 'Of Bob');
    await saved(theirs);
    await rename(mine, 'Of Ada');
    const dialog = mine.getByRole('alertdialog', { name: 'This form was changed elsewhere' });
    await dialog.getByText('Label: “Of Bob” → “Of Ada”').waitFor();
    assert.match((await dialog.textContent())!, /Bob saved it/);
    assert.deepEqual(labels(await draftOf(form)), ['Of Bob'], 'nothing was overwritten');

    await dialog.getByRole('button', { name: resolution }).click();
    await dialog.waitFor({ state: 'detached' });
    await saved(mine);
    assert.deepEqual(labels(await draftOf(form)), [resolution === 'Keep mine' ? 'Of Ada' : 'Of Bob']);
    if (resolution === 'Take theirs') {
      await mine.keyboard.press('Control+z');
      await part(mine, '“Of Ada”').waitFor();
    }
    if (resolution === 'Copy mine as a new form') {
      const { body } = await tenant.call('GET', '/forms?per_page=1');
      assert.deepEqual(labels(await draftOf(body.data[0]!.id)), ['Of Ada']);
    }
    await mine.context().close();
    await theirs.context().close();
  }
});

test('a service that is away: the work is kept in this browser, and saved after a reload', async () => {
  const form = await make(structure(element('text', 'a', { label: 'Original' })));
  const page = await openBuilder(form);
  await page.route('**/draft', (route) => route.abort());
  await part(page, '“Original”').click();
  await page.getByRole('textbox', { name: 'Label' }).fill('Written offline');
  await page.getByText('Offline, kept in this browser').first().waitFor();
  page.on('dialog', (dialog) => void dialog.accept());
  await page.unroute('**/draft');
  await page.reload();
  await part(page, '“Written offline”').waitFor();
  await saved(page);

  // Leaving the screen with the last change unsaved, and coming back at once.
  await part(page, '“Written offline”').click();
  await page.getByRole('textbox', { name: 'Label' }).fill('Written in haste');
  await page.getByRole('link', { name: 'All forms' }).click();
  await page.goBack();
  await part(page, '“Written in haste”').click();
  await page.getByRole('textbox', { name: 'Label' }).fill('Written offline');
  await saved(page);
  await until(
    'the way back to be saved',
    async () => labels(await draftOf(form)).join() === 'Written offline',
  );
  assert.deepEqual(labels(await draftOf(form)), ['Written offline']);
  await page.context().close();
});

test('publish: blocking errors lead to their element; then it is live, filled in, its ids are locked, and a version comes back', async () => {
  const form = await make(structure(element('text', 'name', { label: 'Your name' })));
  const page = await openBuilder(form);
  const publish = page.getByRole('banner').getByRole('button', { name: 'Publish' });
  await part(page, '“Your name”').click();
  await page.getByRole('textbox', { name: 'Label' }).fill('');
  await publish.click();
  const blocked = page.getByRole('dialog', { name: 'Publish this form' });
  await blocked.getByRole('button', { name: /A required attribute is missing: "label"/ }).click();
  await page.getByRole('textbox', { name: 'Label' }).fill('Name');
  await publish.click();
  await blocked.getByRole('button', { name: 'Publish' }).click();
  await page.getByText('Published. Visitors see this form now.').waitFor();

  await page.goto(`${service.url}/f/${form}?source=poster`);
  await page.getByLabel('Name').fill('Grace');
  await page.getByRole('button', { name: 'Submit' }).click();
  await page.getByText('Thank you', { exact: true }).waitFor();
  const { body } = await tenant.call('GET', `/forms/${form}/submissions`);
  assert.deepEqual(body.data[0]!.answers, { name: 'Grace' });

  await page.goto(`${service.url}/app/forms/${form}`);
  await part(page, '“Name”').click();
  assert.equal(await page.getByRole('textbox', { name: 'Id' }).getAttribute('readonly'), '');
  await part(page, '“Name”').press('Delete');
  await page.getByRole('alertdialog').getByText('1 submission answers it.').waitFor();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await insertInto(page, 'long', 'Message');
  await publish.click();
  const changes = page.getByRole('dialog', { name: 'Publish changes' });
  assert.deepEqual(await changes.locator('.differences li').allTextContents(), [
    'Added“Message” (Long text)',
    'Removed“Name” (Short text)',
  ]);
  await changes.getByRole('button', { name: 'Publish' }).click();
  await changes.waitFor({ state: 'detached' });

  await page.getByRole('button', { name: 'History' }).click();
  await page.locator('.versions-item', { hasText: 'Version 2' }).getByRole('button').click();
  await page.getByRole('button', { name: 'Restore into the working copy' }).click();
  await part(page, '“Name”').waitFor();
  await saved(page);
  await until('the restored copy to be saved', async () => labels(await draftOf(form)).join() === 'Name');
  assert.equal(
    (await tenant.call('GET', `/forms/${form}`)).body.structure.children[0]!.children[0]!.attrs['label'],
    'Message',
  );
  await page.context().close();
});

async function insertInto(page: Page, search: string, label: string): Promise<void> {
  await part(page, '“One”').focus();
  await insert(page, search, label);
}

test('a change over the API beside a working copy is offered, compared, and taken over; undo brings mine back', async () => {
  const form = await make(structure(element('text', 'a', { label: 'Original' })));
  const first = await openBuilder(form);
  await part(first, '“Original”').click();
  await first.getByRole('textbox', { name: 'Label' }).fill('Mine');
  await saved(first);
  await first.context().close();
  await tenant.call('PUT', `/forms/${form}`, {
    structure: structure(element('text', 'a', { label: 'From the API' })),
  });

  const page = await openBuilder(form);
  await page.getByText('The live form was changed beside this working copy').waitFor();
  await part(page, '“Mine”').waitFor();
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByText('Label: “Mine” → “From the API”').waitFor();
  await page.getByRole('button', { name: 'Take over the live form' }).click();
  await part(page, '“From the API”').waitFor();
  await page.keyboard.press('Control+z');
  await part(page, '“Mine”').waitFor();

  // And once more while the builder is open: what was compared is not what is live.
  await saved(page);
  await tenant.call('PUT', `/forms/${form}`, {
    structure: structure(element('text', 'a', { label: 'Again' })),
  });
  await page.getByRole('banner').getByRole('button', { name: 'Publish' }).click();
  const dialog = page.getByRole('dialog', { name: 'Publish this form' });
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await dialog.getByText('The live form was changed after you compared with it.').waitFor();
  await dialog.getByText('Publishing replaces those changes').waitFor();
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(
    (await tenant.call('GET', `/forms/${form}`)).body.structure.children[0]!.children[0]!.attrs['label'],
    'Mine',
  );
  await page.context().close();
});

test('preview: the real page, filled in and checked, and nothing is stored; JSON: edited, located, applied, undone', async () => {
  const form = await make(structure(element('text', 'name', { label: 'Name', required: true })));
  const page = await openBuilder(form);
  await page.getByRole('button', { name: 'Preview' }).click();
  const preview = page.frameLocator('iframe[title="Preview of the form"]');
  await preview.getByRole('button', { name: 'Submit' }).click();
  await preview.getByRole('link', { name: 'Name: an answer is required.' }).waitFor();
  await preview.getByLabel('Name').fill('Ada');
  await preview.getByRole('button', { name: 'Submit' }).click();
  await preview.getByText('Thank you', { exact: true }).waitFor();
  assert.equal((await read(form)).form.submission_count, 0);
  await page.getByRole('button', { name: 'Phone, 375 px' }).click();
  assert.equal((await page.locator('.preview-frame').boundingBox())!.width, 375);

  await page.getByRole('button', { name: 'JSON' }).click();
  const text = page.getByLabel('The form as JSON');
  await text.fill('{"type":"form"');
  await page.getByText('It cannot be applied').waitFor();
  await text.fill(
    JSON.stringify(
      structure(element('text', 'name', { label: 'From JSON' }), {
        type: 'text',
        attrs: { id: 'b' },
        children: [],
      }),
    ),
  );
  await page.getByText('Step 1, element 2:').waitFor();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('button', { name: 'Design' }).click();
  await part(page, '“From JSON”').waitFor();
  await page.getByRole('button', { name: 'Undo (Ctrl+Z)' }).click();
  await part(page, '“Name”').waitFor();
  await page.context().close();
});

test('with 200 elements an interaction is answered within 100 ms', async (t) => {
  const elements = Array.from({ length: 200 }, (_, index) =>
    element(index % 5 === 0 ? 'radio' : 'text', `e${index}`, { label: `Element ${index}` }),
  );
  const page = await openBuilder(await make(structure(...elements)));
  await part(page, '“Element 100”').click();
  // From the key to the paint of what it changed.
  const measure = (): Promise<number[]> =>
    page.evaluate(`(async () => {
      const canvas = document.querySelector('.canvas-sheet > [data-theme]').shadowRoot;
      const times = [];
      for (const key of ['ArrowDown', 'd', 'Delete', ' ', 'ArrowDown', 'ArrowDown', ' ', 'ArrowUp']) {
        const start = performance.now();
        canvas.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, ctrlKey: key === 'd', bubbles: true, composed: true, cancelable: true }));
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
        times.push(performance.now() - start);
      }
      return times;
    })()`);
  await measure();
  assert.match((await said(page))!, /^Dropped: “Element 10\d”/, 'the keys did something');
  const times = (await measure()).sort((one, other) => one - other);
  const middle = times[Math.floor(times.length / 2)]!;
  t.diagnostic(`ms from key to paint: ${times.map(Math.round).join(', ')}`);
  assert.ok(middle < 100, `the middle one of ${times.map(Math.round).join(', ')} ms`);
  await page.context().close();
});

const payload = '<img src=x onerror="window.hit=1">"><script>window.hit=1</script>{{7*7}}';
const axe = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

for (const colorScheme of ['light', 'dark'] as const) {
  test(`axe finds nothing in any view, ${colorScheme}, and markup in every text is text`, async () => {
    const step = {
      type: 'step',
      attrs: { title: payload, description: payload },
      children: [
        element('text', 'a', { label: payload, help_text: payload, placeholder: payload }),
        element('radio', 'b', { label: payload, options: [payload, 'x'] }),
        composite('c', [element('text', 'd', { label: payload })], { label: payload, repeatable: true }),
        { type: 'nonsense', attrs: { label: payload }, children: [] },
      ],
    };
    const form = await make(structure(element('text', 'z')));
    const hostile = { type: 'form', attrs: { name: payload, description: payload }, children: [step] };
    await ada.call('PUT', `/workspaces/${workspaceId}/forms/${form}/draft`, {
      revision: 0,
      base_version: 1,
      structure: hostile,
    });
    const page = await openBuilder(form, ada, { colorScheme });
    await page.evaluate(axe);
    const found: string[] = [];
    const check = async (where: string): Promise<void> => {
      const results = await page.evaluate<AxeResults>(`(async () => {
        const passing = document.getAnimations().filter(({ effect }) => effect.getTiming().iterations !== Infinity);
        await Promise.all(passing.map(({ finished }) => finished));
        return axe.run({ exclude: ['iframe'] }, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] });
      })()`);
      for (const { id, nodes } of results.violations)
        found.push(`${where}: ${id} at ${nodes.map(({ target }) => JSON.stringify(target)).join(' and ')}`);
    };
    await check('design');
    await part(page, '“<img').nth(2).click();
    await check('an element');
    await page.keyboard.press('/');
    await page.getByRole('dialog', { name: 'Add an element' }).waitFor();
    await check('the insert menu');
    await page.keyboard.press('Escape');
    await page.getByRole('banner').getByRole('button', { name: 'Publish' }).click();
    await check('publish');
    await page.keyboard.press('Escape');
    for (const view of ['Preview', 'Settings', 'Share', 'History', 'JSON']) {
      await page
        .getByRole('navigation', { name: 'Views of this form' })
        .getByRole('button', { name: view })
        .click();
      await page.locator('[aria-busy]').waitFor({ state: 'detached' });
      await check(view);
    }
    assert.deepEqual(found, []);
    assert.equal(await page.evaluate(`'hit' in window`), false);
    await page.context().close();
  });
}

test('below 768 px a notice leads to the other screens; a viewer looks and cannot change', async () => {
  const form = await make(structure(element('text', 'a', { label: 'Name' })));
  const phone = await browser.newContext({ viewport: { width: 375, height: 700 } });
  await phone.addCookies(ada.cookies);
  const narrow = await phone.newPage();
  await narrow.goto(`${service.url}/app/forms/${form}`);
  await narrow.getByText('The builder needs a wider window').waitFor();
  assert.equal(await narrow.getByRole('main').getByRole('link').count(), 3);
  await phone.close();

  const viewer = await signIn(service, { workspaceId, role: 'viewer' });
  const page = await openBuilder(form, viewer);
  await page.getByText('You may look, not change.').waitFor();
  await part(page, '“Name”').click();
  for (const key of ['Delete', 'Control+d', ' ', 'ArrowUp', 'Enter']) await page.keyboard.press(key);
  await part(page, '“Name”').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Publish' }).count(), 0);
  await page.keyboard.press('Control+s');
  assert.equal((await read(form)).draft.revision, 0);
  await page.context().close();
});

test('the browser had nothing to complain about', () => {
  assert.deepEqual(problems, []);
});
