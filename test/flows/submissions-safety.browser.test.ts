import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Route } from 'playwright-core';
import { composite, element } from '../ast/forms.ts';
import { isSlice, looksAt } from '../cases.ts';
import { holdToast } from '../console-browser.ts';
import { until } from '../service.ts';
import { audit, leave, makeForm, person, service, show, submit, tenant } from './submissions-stage.ts';

/* Safety rules for the submission screens of a form: docs/rules.md C51, WCAG 2.2 AA. */

const payloads = [
  '"><img src=x onerror=alert(1)>',
  '</script><script>alert(2)</script>',
  '{{constructor.constructor("alert(3)")()}}',
];

test('answers, labels, options, file names and reference data are always shown as text and never run', {
  skip: isSlice,
}, async () => {
  const [attack] = payloads;
  const form = await makeForm([
    element('text', 'name', { label: `Name ${attack}` }),
    element('textarea', 'note', { label: payloads[1] }),
    element('radio', 'choice', { label: payloads[2], options: payloads }),
    element('url', 'site', { label: 'Site' }),
    element('file_upload', 'photo', { label: 'Photo' }),
    composite('rows', [element('text', 'cell', { label: attack })], { repeatable: true, label: payloads[1] }),
  ]);
  const data = new FormData();
  for (const [name, value] of [
    ['name', attack],
    ['note', payloads.join('\n')],
    ['choice', attack],
    ['site', 'https://example.com/"onmouseover="alert(4)'],
    ['rows[0][cell]', payloads[1]],
  ] as const)
    data.set(name, value!);
  data.append(
    'photo',
    new Blob(['<svg xmlns="http://www.w3.org/2000/svg" onload="alert(5)"/>'], { type: 'image/svg+xml' }),
    `${attack}.svg`,
  );
  const sent = await fetch(
    `${service.url}/f/${form}?${encodeURIComponent(attack!)}=${encodeURIComponent(payloads[1]!)}`,
    { method: 'POST', headers: { Accept: 'application/json' }, body: data },
  );
  assert.equal(sent.status, 201);
  const { id } = (await sent.json()) as { id: string };

  const page = await show(`/forms/${form}/submissions?open=${id}&q=alert`);
  const panel = page.getByRole('complementary', { name: 'Submission' });
  await panel.getByText(payloads[2]!).first().waitFor();
  await panel.getByRole('button', { name: 'Edit answers' }).click();
  await panel.getByRole('button', { name: 'Cancel' }).click();
  await panel.getByRole('button', { name: 'Edit reference data' }).click();
  await page.goto(`${service.url}/app/forms/${form}/summary`);
  await page.getByRole('heading', { name: payloads[2]! }).waitFor();
  for (const opener of await page.getByText('Show as a table').all()) await opener.click();
  assert.equal(
    await page.locator('img[src="x"], script:not([src]), [onerror], [onload], [onmouseover]').count(),
    0,
  );
  await leave(page);
});

/** The four forms of the panel, each with how to fill it in and the name of its save button. */
const edits: readonly { what: string; save: string; fill: (panel: Locator) => Promise<void> }[] = [
  {
    what: 'answers',
    save: 'Save answers',
    async fill(panel) {
      await panel.getByRole('button', { name: 'Edit answers' }).click();
      await panel.getByLabel('Name (required)').fill('Mine');
    },
  },
  {
    what: 'a note',
    save: 'Add note',
    fill: (panel) => panel.getByLabel('Write a note').fill('A secret note'),
  },
  {
    what: 'tags',
    save: 'Add',
    fill: (panel) => panel.getByLabel('Add a tag').fill('secret-tag'),
  },
  {
    what: 'reference data',
    save: 'Save',
    async fill(panel) {
      await panel.getByRole('button', { name: 'Edit reference data' }).click();
      await panel.getByLabel('Value').fill('changed by mistake');
    },
  },
];

test('discarding an edit sends no request and changes nothing in the database', {
  skip: isSlice,
}, async () => {
  const form = await makeForm();
  const id = await submit(form, { name: 'Ada' }, '?utm_source=spring');
  await submit(form, { name: 'Ben' });
  const read = async () => {
    const [submission, notes] = [`/submissions/${id}`, `/submissions/${id}/notes`];
    return [
      (await tenant.call('GET', submission)).body,
      (await tenant.call('GET', notes)).body,
      await service.services.database.query(
        'select updated_at, reference, tags from submissions where workspace_id = $1 and id = $2',
        [tenant.workspaceId, id],
      ),
    ];
  };
  const before = await read();
  const page = await show(`/forms/${form}/submissions?open=${id}`);
  const panel = page.getByRole('complementary', { name: 'Submission' });
  const writes: string[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'GET') writes.push(`${request.method()} ${request.postData()}`);
  });
  for (const { what, fill } of edits) {
    await fill(panel);
    await page.locator('.sheet-link').first().click();
    const question = page.getByRole('alertdialog', { name: 'Leave without saving?' });
    await question.getByRole('button', { name: 'Discard changes' }).click();
    await panel.getByRole('region', { name: 'Answers' }).getByText('Ben').waitFor();
    await page.locator('.sheet-link').nth(1).click();
    await panel.getByRole('region', { name: 'Answers' }).getByText('Ada').waitFor();
    assert.deepEqual(writes, [], what);
    assert.deepEqual(await read(), before, what);
  }
  await leave(page);
});

test('a form that is being sent is not sent again, however often it is submitted', {
  skip: isSlice,
}, async () => {
  const form = await makeForm();
  const id = await submit(form, { name: 'Ada' }, '?utm_source=spring');
  const page = await show(`/forms/${form}/submissions?open=${id}`);
  const panel = page.getByRole('complementary', { name: 'Submission' });
  for (const { what, save, fill } of edits) {
    const arrived = Promise.withResolvers<Route>();
    const writes: string[] = [];
    await page.route('**/api/v1/submissions/**', (route) => {
      if (route.request().method() === 'GET') return route.continue();
      writes.push(`${route.request().method()} ${route.request().postData()}`);
      return arrived.resolve(route);
    });
    await fill(panel);
    const button = panel.getByRole('button', { name: save, exact: true });
    // Submits twice before the screen renders again. The third submit comes when the first request is in
    // flight.
    await button.evaluate((element) => {
      const { form: owner } = element as unknown as { form: { requestSubmit(): void } };
      owner.requestSubmit();
      owner.requestSubmit();
    });
    const held = await arrived.promise;
    await panel
      .locator('form')
      .last()
      .evaluate((owner) => {
        (owner as unknown as { requestSubmit(): void }).requestSubmit();
      });
    await held.continue();
    await until(
      'the end of the request',
      async () => (await panel.locator('form:has([data-pending])').count()) === 0,
    );
    assert.equal(writes.length, 1, `${what}: ${writes.join(', ')}`);
    await page.unroute('**/api/v1/submissions/**');
  }
  await leave(page);
});

test('an edit keeps the answers it hides and says so until they are removed, and the focus returns to the button', async () => {
  const form = await makeForm([
    element('text', 'level', { label: 'Level' }),
    element('number', 'years', {
      label: 'Years',
      required: true,
      show_when: { element: 'level', is: 'equals', value: 'expert' },
    }),
  ]);
  const id = await submit(form, { level: 'expert', years: 7 });
  const page = await show(`/forms/${form}/submissions?open=${id}`);
  const panel = page.getByRole('complementary', { name: 'Submission' });
  const focused = panel.locator(':focus');
  const edit = panel.getByRole('button', { name: 'Edit answers' });
  await edit.focus();
  await page.keyboard.press('Enter');
  assert.equal(await panel.locator('input:focus').inputValue(), 'expert');
  const note = panel.getByText(
    'The other answers hide this question. Its answer is kept until you remove it.',
  );
  assert.equal(await note.count(), 0);
  await page.keyboard.type('no');
  await panel.getByLabel('Level').fill('novice');
  await note.waitFor();
  await panel.getByRole('button', { name: 'Save answers' }).click();
  await page.getByText('Saved. These hidden answers were kept: “Years”.').waitFor();
  await panel.getByRole('region', { name: 'Answers' }).getByText('7', { exact: true }).waitFor();
  await panel.locator('button:focus', { hasText: 'Edit answers' }).waitFor();

  await edit.press('Enter');
  await panel.getByLabel('Years').fill('');
  await note.waitFor({ state: 'detached' });
  await panel.getByRole('button', { name: 'Save answers' }).click();
  await page.getByText('Saved.', { exact: true }).waitFor();
  await panel.getByText('1 question without an answer').waitFor();
  await panel.getByRole('button', { name: /reference data$/ }).press('Enter');
  await panel.getByRole('button', { name: 'Cancel' }).press('Enter');
  assert.match((await focused.textContent())!, /reference data$/);

  // Text typed during a save is not discarded with the form.
  const arrived = Promise.withResolvers<Route>();
  await page.route('**/api/v1/submissions/*', (route) =>
    route.request().method() === 'PATCH' ? arrived.resolve(route) : route.continue(),
  );
  await edit.press('Enter');
  await panel.getByLabel('Level').fill('expert');
  await panel.getByLabel('Years').fill('1');
  await panel.getByRole('button', { name: 'Save answers' }).click();
  const held = await arrived.promise;
  await panel.getByLabel('Years').fill('12');
  await held.continue();
  await page.unroute('**/api/v1/submissions/*');
  await until('the first part to be saved', async () => {
    const { answers } = (await tenant.call('GET', `/submissions/${id}`)).body;
    return answers['years'] === 1;
  });
  await panel.getByRole('button', { name: 'Save answers' }).click();
  await panel.getByRole('region', { name: 'Answers' }).getByText('12', { exact: true }).waitFor();

  const next = Promise.withResolvers<Route>();
  await page.route('**/api/v1/submissions/*', (route) =>
    route.request().method() === 'PATCH' ? next.resolve(route) : route.continue(),
  );
  await panel.getByRole('button', { name: /reference data$/ }).press('Enter');
  await panel.getByLabel('Name').fill('campaign');
  await panel.getByLabel('Value').fill('spring');
  await panel.getByRole('button', { name: 'Save', exact: true }).click();
  const heldBack = await next.promise;
  await panel.getByLabel('Value').fill('spring sale');
  await heldBack.continue();
  await page.unroute('**/api/v1/submissions/*');
  const referenceOf = async () =>
    (await tenant.call('GET', `/submissions/${id}`)).body.metadata.reference['campaign'];
  await until('the first part to be saved', async () => (await referenceOf()) === 'spring');
  await panel.getByRole('button', { name: 'Save', exact: true }).click();
  // The history lists the change as well.
  await panel.getByRole('definition').filter({ hasText: 'spring sale' }).waitFor();
  await until('the rest to be saved', async () => (await referenceOf()) === 'spring sale');
  await leave(page);
});

test('quick changes of a submission are saved in order, and undoing one does not revert the next', async () => {
  const form = await makeForm([element('text', 'name', { label: 'Name' })]);
  const id = await submit(form, { name: 'Ada' });
  await tenant.call('PATCH', `/submissions/${id}`, { tags: ['one', 'two', 'three'] });
  const page = await show(`/forms/${form}/submissions?open=${id}`);
  const panel = page.getByRole('complementary', { name: 'Submission' });
  const first = Promise.withResolvers<Route>();
  await page.route(
    '**/api/v1/submissions/*',
    (route) => (route.request().method() === 'PATCH' ? first.resolve(route) : route.continue()),
    { times: 1 },
  );
  await panel.getByRole('button', { name: 'Remove tag one' }).click();
  await panel.getByRole('button', { name: 'Remove tag two' }).click();
  await (await first.promise).continue();
  await holdToast(page, '');
  const tagsOf = async () => {
    const { body } = await tenant.call('GET', `/submissions/${id}?include=tags`);
    return String((body as { tags?: string[] }).tags);
  };
  await until('both to be gone', async () => (await tagsOf()) === 'three');
  await page.locator('.toast').nth(1).waitFor();
  // Undos also run in order: the second waits for the first and restores only its own tag.
  const held = Promise.withResolvers<Route>();
  await page.route(
    '**/api/v1/submissions/*',
    (route) => (route.request().method() === 'PATCH' ? held.resolve(route) : route.continue()),
    { times: 1 },
  );
  await page.locator('.toast').first().getByRole('button', { name: 'Undo' }).click();
  const undoing = await held.promise;
  await page.locator('.toast').nth(1).getByRole('button', { name: 'Undo' }).click();
  await page.locator('.toast[aria-busy="true"]').nth(1).waitFor();
  assert.equal(await tagsOf(), 'three');
  await undoing.continue();
  await until('both to be back', async () => (await tagsOf()) === 'three,one,two');

  // Undo leaves a value alone that was changed again since. A tag stays, and so does a status.
  await page.locator('.toast').first().waitFor({ state: 'detached' });
  const four = panel.getByRole('button', { name: 'Remove tag four' });
  const tagFour = async () => {
    await panel.getByRole('combobox', { name: 'Add a tag' }).fill('four');
    await panel.getByRole('button', { name: 'Add', exact: true }).click();
    await four.waitFor();
  };
  await tagFour();
  await four.click();
  await four.waitFor({ state: 'detached' });
  await tagFour();
  await page.locator('.toast').nth(2).waitFor();
  await page.locator('.toast').first().getByRole('button', { name: 'Undo' }).click();
  await until('it to be over', async () => (await page.locator('.toast').count()) === 2);
  assert.equal(await tagsOf(), 'three,one,two,four');

  await panel.getByRole('button', { name: 'Mark as incomplete' }).click();
  await panel.getByRole('button', { name: 'Mark as completed' }).waitFor();
  await page.locator('.toast', { hasText: 'incomplete' }).getByRole('button', { name: 'Undo' }).click();
  await panel.getByRole('button', { name: 'Mark as incomplete' }).waitFor();
  const { body } = await tenant.call('GET', `/submissions/${id}`);
  assert.equal((body as { status: string }).status, 'completed');
  for (const status of ['incomplete', 'completed']) {
    await panel.getByRole('button', { name: `Mark as ${status}` }).click();
    await page.locator('.toast', { hasText: `Marked as ${status}.` }).waitFor();
  }
  await page.locator('.toast', { hasText: 'incomplete' }).getByRole('button', { name: 'Undo' }).click();
  await page.getByText('The status has been changed since.').waitFor();
  await leave(page);
});

test('axe reports no violations on the screens, light or dark, and nothing is cut off at 375 px', async () => {
  const form = await makeForm();
  const id = await submit(form, {
    name: 'Ada',
    email: 'ada@example.com',
    colour: 'Red',
    age: 36,
    note: 'Hello',
    guests: [{ guest: 'Tom' }],
  });
  await submit(form, { name: 'Ben' });
  const trashed = await submit(form, { name: 'Cleo' });
  await person.api('DELETE', `/submissions/${trashed}`);
  const where = JSON.stringify([{ on: 'answer', name: 'name', op: 'contains', value: 'Ada' }]);
  const filtered = new URLSearchParams({ where }).toString();
  const page = await show(`/forms/${form}/submissions?open=${id}&q=ada`);
  let turn = 0;
  const auditLooks = async (what: string): Promise<void> => {
    for (const colorScheme of looksAt(turn, ['light', 'dark'] as const)) {
      await page.emulateMedia({ colorScheme });
      await audit(page, `${what}, ${colorScheme}`);
    }
    turn += 1;
  };
  await page.getByRole('region', { name: 'Answers' }).waitFor();
  await auditLooks('table and panel');
  await page.getByRole('button', { name: 'Edit answers' }).click();
  await auditLooks('the form that edits answers');
  await page.goto(`${service.url}/app/forms/${form}/submissions?${filtered}`);
  await page.getByRole('button', { name: /^Edit filter/ }).click();
  await page.getByRole('group', { name: 'Edit filter', exact: true }).waitFor();
  await auditLooks('the editor of a filter');
  await page.goto(`${service.url}/app/forms/${form}/trash`);
  await page.getByRole('row', { name: /Cleo/ }).waitFor();
  await auditLooks('the trash');
  await page.goto(`${service.url}/app/forms/${form}/summary`);
  await page.locator('.standing-plot').first().waitFor();
  for (const opener of await page.getByText('Show as a table').all()) await opener.click();
  await auditLooks('the summary');

  await page.setViewportSize({ width: 375, height: 800 });
  const isWide = (): Promise<boolean> =>
    page.locator('html').evaluate((html) => html.scrollWidth > html.clientWidth);
  assert.equal(await isWide(), false);
  await page.goto(`${service.url}/app/forms/${form}/trash`);
  await page.getByRole('row', { name: /Cleo/ }).waitFor();
  assert.equal(await isWide(), false);
  await page.goto(`${service.url}/app/forms/${form}/submissions`);
  await page.locator('.sheet-link').first().click();
  await page.getByRole('dialog', { name: 'Submission' }).getByRole('region', { name: 'Answers' }).waitFor();
  await audit(page, 'the panel at 375 px');
  const tops = await page
    .locator('.panel-footer .button')
    .evaluateAll((buttons) => buttons.map((button) => button.getBoundingClientRect().top));
  assert.equal(new Set(tops).size, 1, 'the foot of the panel is one line');
  await page.getByRole('button', { name: 'Add reference data' }).click();
  assert.ok((await page.getByLabel('Name', { exact: true }).boundingBox())!.width > 300);
  await page.getByRole('button', { name: 'Cancel' }).click();
  assert.equal(await isWide(), false);
  await leave(page);
});

test('a browser without a language shows the table, and a table that cannot load says why and offers a retry', {
  skip: isSlice,
}, async () => {
  const form = await makeForm();
  await submit(form, { name: 'Ada' });
  const page = await show('/account');
  await page.addInitScript("Object.defineProperty(navigator, 'language', { value: 'c' })");
  await page.goto(`${service.url}/app/forms/${form}/submissions`);
  await page.locator('.sheet-link').waitFor();

  for (const path of ['columns', 'rows']) {
    const failing = `**/forms/*/${path}*`;
    await page.route(failing, (route) => route.fulfill({ status: 400, json: { error: 'bad_request' } }));
    await page.reload();
    const retry = page.getByRole('alert').getByRole('button', { name: 'Try again' });
    await retry.waitFor();
    await page.unroute(failing);
    await retry.press('Enter');
    await page.locator('.sheet-link').waitFor();
  }
  await page.context().close();
});
