import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { formatSubmissionReference } from '#ast/short-reference.ts';
import { openBrowser } from '#test/browser.ts';
import { shareService } from '#test/service.ts';
import { composite, element } from '../ast/forms.ts';

/*
 * A visitor without script fills in a form of every element type, with two steps, rows and files. They make
 * and correct mistakes and are thanked. The API and its file links return what was typed.
 */
const service = await shareService();
const tenant = await service.makeTenant();
const browser = await openBrowser();
after(() => browser.close());

const inputs = [
  'text',
  'textarea',
  'email',
  'phone',
  'url',
  'number',
  'date',
  'time',
  'datetime',
  'dropdown',
  'radio',
  'multiple_choice',
  'yes_no',
  'file_upload',
];
const structure = {
  type: 'form',
  attrs: { name: 'Application', description: 'Tell us about you.' },
  children: [
    {
      type: 'step',
      attrs: { title: 'You', layout: 'grid_2' },
      children: [
        element('heading', 'heading'),
        element('paragraph', 'paragraph', { label: 'A few words, and a <b>sign</b>.' }),
        element('divider', 'divider'),
        ...inputs.map((type) =>
          element(type, type, { help_text: `Help with ${type}`, required: type === 'email' }),
        ),
        composite('address', [element('text', 'street'), element('text', 'city', { col_span: 2 })], {
          layout: 'row',
        }),
      ],
    },
    {
      type: 'step',
      attrs: { title: 'Your team', description: 'Everyone who comes along.' },
      children: [
        composite(
          'team',
          [
            element('text', 'member', { required: true }),
            element('yes_no', 'veg'),
            element('file_upload', 'photo'),
          ],
          { repeatable: true, layout: 'grid_2' },
        ),
      ],
    },
  ],
};
const { body: form } = await tenant.call('POST', '/forms', {
  structure,
  publish: true,
  settings: { confirmation_message: 'We will write to you.' },
});

const field = (page: Page, name: string): Locator => page.locator(`[id="${name}"]`);
const file = (name: string, content: string) => ({
  name,
  mimeType: 'text/plain',
  buffer: Buffer.from(content),
});
const press = async (page: Page, name: string): Promise<void> => {
  await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name, exact: true }).click()]);
};

/** The values for single-line controls. */
const typed: Readonly<Record<string, string>> = {
  text: 'Ada "Lovelace" <ada>',
  textarea: 'First line\nSecond line',
  phone: '+44 20 7946 0958',
  url: 'https://example.com/ada',
  number: '-12.5',
  date: '2026-01-31',
  time: '14:30',
  datetime: '2026-02-28T09:15',
  street: '12 St James Square',
  city: 'London',
};

async function fillIn(page: Page): Promise<void> {
  for (const [name, value] of Object.entries(typed)) await field(page, name).fill(value);
  await field(page, 'dropdown').selectOption('Green');
  await page.locator('[name="radio"][value="Blue"]').check();
  for (const option of ['Red', 'Blue'])
    await page.locator(`[name="multiple_choice"][value="${option}"]`).check();
  await page.locator('[name="yes_no"][value="no"]').check();
}

/** Asserts that the page shows everything that fillIn entered. */
async function assertKept(page: Page): Promise<void> {
  for (const [name, value] of Object.entries(typed))
    assert.equal(await field(page, name).inputValue(), value, name);
  assert.equal(await field(page, 'dropdown').inputValue(), 'Green');
  assert.ok(await page.locator('[name="radio"][value="Blue"]').isChecked());
  assert.deepEqual(
    await Promise.all(
      ['Red', 'Green', 'Blue'].map((option) =>
        page.locator(`[name="multiple_choice"][value="${option}"]`).isChecked(),
      ),
    ),
    [true, false, true],
  );
  assert.ok(await page.locator('[name="yes_no"][value="no"]').isChecked());
}

test('without script, all types, rows and files work, mistakes can be corrected, and the visitor is thanked', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${form.public_url}?campaign=spring&ref=a%26b`);
  assert.equal(await page.title(), 'Step 1 of 2 – Application');
  assert.equal(await page.getByRole('progressbar').getAttribute('aria-valuetext'), 'Step 1 of 2');

  await fillIn(page);
  await field(page, 'file_upload').setInputFiles([
    file('cv.txt', 'my life'),
    file('letter.txt', 'dear sirs'),
  ]);
  // A mistake: the email is missing. The step and everything in it stay, including the files.
  await press(page, 'Next');
  assert.equal(await page.title(), 'Error: Step 1 of 2 – Application');
  const link = page.locator('[role="alert"] a');
  assert.equal(await link.getAttribute('href'), '#email');
  await assertKept(page);
  assert.equal(await field(page, 'email').getAttribute('aria-invalid'), 'true');
  await link.click();
  await page.keyboard.type('ada@example.com');
  assert.equal(
    await field(page, 'email').inputValue(),
    'ada@example.com',
    'the link of a message leads to its control',
  );
  // Removes one of the files.
  await page.locator('.held li', { hasText: 'letter.txt' }).getByRole('checkbox').check();
  await press(page, 'Next');

  // The next step focuses its heading, and Back shows the first step unchanged.
  assert.equal(await page.title(), 'Step 2 of 2 – Application');
  assert.equal(await page.locator(':focus').innerText(), 'Your team');
  await press(page, 'Back');
  await assertKept(page);
  await press(page, 'Next');
  await field(page, 'team[0][member]').fill('Grace');
  await field(page, 'team[0][photo]').setInputFiles(file('grace.txt', 'a face'));

  // Adds two rows. Each is a post that submits nothing.
  await press(page, 'Add another The team');
  const held = page.locator('.held .filename bdi');
  assert.deepEqual(await held.allTextContents(), ['cv.txt', 'grace.txt']);
  await field(page, 'team[1][member]').fill('Tom');
  await press(page, 'Add another The team');
  await page.locator('[name="team[2][veg]"][value="yes"]').check();
  await field(page, 'team[2][photo]').setInputFiles(file('third.txt', 'another face'));
  await press(page, 'Remove The team 2');
  assert.deepEqual(
    [await field(page, 'team[0][member]').inputValue(), await field(page, 'team[1][member]').inputValue()],
    ['Grace', ''],
  );
  assert.equal(await field(page, 'team[2][member]').count(), 0);
  assert.ok(await page.locator('[name="team[1][veg]"][value="yes"]').isChecked());
  assert.deepEqual(await held.allTextContents(), ['cv.txt', 'grace.txt', 'third.txt']);

  // Another mistake: a row without a name.
  await press(page, 'Submit');
  assert.equal(await link.getAttribute('href'), '#team[1][member]');
  await field(page, 'team[1][member]').fill('Ann');
  assert.equal((await tenant.call('GET', `/forms/${form.id}`)).body.submission_count, 0);

  await press(page, 'Submit');
  assert.match(page.url(), new RegExp(`/f/${form.id}/submitted\\?receipt=`));
  assert.equal(await page.title(), 'Thank you – Application');
  assert.match(await page.locator('main').innerText(), /We will write to you\./);
  const receipt = new URL(page.url()).searchParams.get('receipt')!;
  assert.equal(await page.locator('.receipt code').innerText(), formatSubmissionReference(receipt));

  const { body } = await tenant.call('GET', `/submissions/${receipt}`);
  const {
    file_upload: uploads,
    team,
    ...answers
  } = body.answers as {
    file_upload: { filename: string; url: string }[];
    team: { member: string; veg?: boolean; photo: { filename: string; url: string }[] }[];
  };
  const { number, ...texts } = typed;
  assert.deepEqual(answers, {
    ...texts,
    number: Number(number),
    email: 'ada@example.com',
    dropdown: 'Green',
    radio: 'Blue',
    multiple_choice: ['Red', 'Blue'],
    yes_no: false,
  });
  assert.deepEqual(body.metadata.reference, { campaign: 'spring', ref: 'a&b' });
  assert.deepEqual(
    team.map(({ member, veg }) => [member, veg]),
    [
      ['Grace', undefined],
      ['Ann', true],
    ],
  );
  const files = [...uploads, ...team.flatMap(({ photo }) => photo)];
  assert.deepEqual(
    await Promise.all(files.map(async ({ filename, url }) => [filename, await (await fetch(url)).text()])),
    [
      ['cv.txt', 'my life'],
      ['grace.txt', 'a face'],
      ['third.txt', 'another face'],
    ],
  );
  assert.equal(
    (await tenant.call('GET', '/submissions/search?q=lovelace%20grace%20spring')).body.data[0]?.id,
    receipt,
  );
  await context.close();
});

test('a form that closes while a visitor fills it in says so and stores nothing', async () => {
  const { body: closing } = await tenant.call('POST', '/forms', { structure, publish: true });
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(closing.public_url);
  await field(page, 'email').fill('ada@example.com');
  await tenant.call('PUT', `/forms/${closing.id}`, { structure, status: 'archived' });
  await press(page, 'Next');
  assert.equal(await page.locator('h2').innerText(), 'This form is closed');
  assert.equal((await tenant.call('GET', `/forms/${closing.id}`)).body.submission_count, 0);
  await context.close();
});

test('the page shows everything an author writes as text, and no script in it runs', async () => {
  const evil = '"><img src=x onerror=alert(1)><script>alert(1)</script>';
  const nodes = [
    ...inputs.map((type) =>
      element(type, type, {
        label: evil,
        help_text: evil,
        placeholder: evil,
        ...(['dropdown', 'radio', 'multiple_choice'].includes(type) && { options: [evil] }),
      }),
    ),
    element('heading', 'h', { label: evil }),
    element('paragraph', 'p', { label: evil }),
    composite('g', [element('text', 'c', { label: evil })], { label: evil, repeatable: true }),
  ];
  const { body: hostile } = await tenant.call('POST', '/forms', {
    structure: {
      type: 'form',
      attrs: { name: evil, description: evil },
      children: [{ type: 'step', attrs: { title: evil, description: evil }, children: nodes }],
    },
    publish: true,
    settings: { confirmation_message: evil },
  });
  const context = await browser.newContext();
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('dialog', (dialog) => {
    complaints.push(dialog.message());
    void dialog.dismiss();
  });
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(`${hostile.public_url}?${encodeURIComponent(evil)}=${encodeURIComponent(evil)}`);
  assert.equal(await page.locator('h1').innerText(), evil);
  await field(page, 'text').fill(evil);
  await field(page, 'file_upload').setInputFiles(file('<img src=x onerror=alert(1)>.txt', 'x'));
  await page.locator('button.add').click();
  await page.locator('.held').waitFor();
  assert.equal(await page.locator('.held .filename bdi').innerText(), '<img src=x onerror=alert(1)>.txt');
  await field(page, 'email').fill(evil);
  await page.locator('button.submit').click();
  await page.locator('[role="alert"]').waitFor();
  await field(page, 'email').fill('');
  await page.locator('button.submit').click();
  await page.locator('.receipt').waitFor();
  assert.equal(await page.locator('img, script:not([src^="/f/assets/"])').count(), 0);
  // The page with errors is a 422, which the browser's console reports as an error.
  assert.deepEqual(
    complaints.filter((text) => !/status of 422/.test(text)),
    [],
  );
  await context.close();
});
