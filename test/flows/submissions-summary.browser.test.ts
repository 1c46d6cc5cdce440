import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { addVisits, type VisitKind } from '#submissions/visit-counter.ts';
import { element, stepsOf } from '../ast/forms.ts';
import { isSlice } from '../cases.ts';
import { lookAround, press, tabTo, type } from '../console-browser.ts';
import { until } from '../service.ts';
import { insertMany } from '../submissions/scene.ts';
import {
  audit,
  elements,
  leave,
  makeForm,
  rowNames,
  service,
  show,
  submit,
  tenant,
} from './submissions-stage.ts';

/* The summary of a form in the browser: filters, comparison, figures, links, print. */

const survey = [
  element('radio', 'plan', { label: 'Plan', options: ['Free', { id: 'pro', label: 'Pro' }, 'Team'] }),
  element('scale', 'likely', { label: 'Would you recommend us?' }),
  element('rating', 'pleased', { label: 'How pleased are you?', levels: 5 }),
  element('scale', 'effort', { label: 'How easy was it?', from: 1, to: 7 }),
  element('radio', 'often', { label: 'How often?', options: ['Never', 'Sometimes', 'Often', 'Always'] }),
  element('dropdown', 'country', {
    label: 'Country',
    options: [
      'Albania',
      'Brazil',
      'Chad',
      'Denmark',
      'Egypt',
      'Fiji',
      'Ghana',
      'Haiti',
      'India',
      'Japan',
      'Kenya',
      'Laos',
      'Mali',
      'Nepal',
    ],
  }),
  element('yes_no', 'again', { label: 'Again?' }),
  element('matrix', 'parts', {
    label: 'Parts',
    rows: [
      { id: 's', label: 'Speed' },
      { id: 'p', label: 'Price' },
    ],
    options: ['Bad', 'Fair', 'Good'],
  }),
  element('number', 'seats', { label: 'Seats' }),
  element('date', 'since', { label: 'Customer since' }),
  element('text', 'topic', { label: 'Topic' }),
  element('radio', 'unasked', { label: 'Anything else?' }),
  element('number', 'spare', { label: 'Spare number' }),
];

const people = [
  {
    plan: 'Free',
    likely: 10,
    pleased: 5,
    effort: 7,
    often: 'Often',
    country: 'Nepal',
    again: true,
    parts: { s: 'Good', p: 'Fair' },
    seats: 3,
    since: '2025-01-31',
    topic: 'Speed',
  },
  {
    plan: 'Free',
    likely: 3,
    pleased: 2,
    effort: 2,
    often: 'Never',
    country: 'Nepal',
    again: false,
    parts: { s: 'Bad', p: 'Good' },
    seats: 120,
    since: '2025-04-01',
    topic: 'speed',
  },
  {
    plan: 'pro',
    likely: 9,
    pleased: 4,
    effort: 6,
    often: 'Often',
    country: 'Mali',
    again: true,
    parts: { s: 'Good', p: 'Bad' },
    seats: 40,
    since: '2025-09-09',
    topic: 'Price',
  },
  {
    plan: 'pro',
    likely: 7,
    pleased: 5,
    effort: 5,
    often: 'Always',
    country: 'Nepal',
    again: true,
    seats: 77,
    since: '2025-12-01',
  },
] as const;

async function makeSurvey(): Promise<string> {
  const form = await makeForm(survey);
  for (const answers of people) await submit(form, answers);
  return form;
}

const cardOf = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
const linesOf = async (page: Page, name: string): Promise<string[]> =>
  (await cardOf(page, name).getByRole('listitem').allInnerTexts()).map(oneLine);

test('results are shared by link, with a warning about personal data, and revoked', {
  skip: isSlice,
}, async () => {
  const form = await makeForm([
    element('yes_no', 'again', { label: 'Again?' }),
    element('email', 'email', { label: 'Email' }),
  ]);
  await submit(form, { again: true, email: 'ada@example.org' });
  const page = await show(`/forms/${form}/summary`);
  await page.getByRole('button', { name: 'Share results' }).click();
  const dialog = page.getByRole('dialog', { name: 'Share results' });
  await dialog.getByText('No links yet').waitFor();
  await dialog.getByRole('button', { name: 'Create link' }).click();
  const create = page.getByRole('dialog', { name: 'Create link' });
  await create.getByLabel('Title').fill('Feedback');
  await create.getByText('Table', { exact: true }).click();
  assert.deepEqual(
    [await create.getByLabel('Again?').isChecked(), await create.getByLabel('Email').isChecked()],
    [true, false],
  );
  await create.getByText('Email', { exact: true }).click();
  await create.getByText('Everyone with the link can read personal data').waitFor();
  await create.getByRole('button', { name: 'Create link' }).click();
  await dialog.getByText('Table · Personal data').waitFor();
  const { data } = (await tenant.call('GET', `/forms/${form}/shares`)).body;
  const { url } = data[0] as unknown as { url: string };
  await dialog.getByText(url).waitFor();
  assert.match(await (await fetch(url)).text(), /ada@example\.org/);
  const edit = page.getByRole('dialog', { name: 'Edit link' });
  await dialog.getByRole('button', { name: 'Edit “Feedback”' }).click();
  assert.equal(await edit.getByLabel('Email').isChecked(), true);
  await edit.getByText('Email', { exact: true }).first().click();
  await edit.getByLabel('Title').fill('Our feedback');
  await edit.getByLabel('Password').fill('open sesame');
  await edit.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('Table · Password', { exact: true }).waitFor();
  assert.equal((await fetch(url)).status, 403);
  await dialog.getByRole('button', { name: 'Edit “Our feedback”' }).click();
  await edit.getByRole('button', { name: /Password protection/ }).click();
  await page.getByRole('option', { name: 'Remove the password' }).click();
  await edit.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('Table', { exact: true }).waitFor();
  assert.doesNotMatch(await (await fetch(url)).text(), /ada@example\.org/);
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke link' }).click();
  await dialog.getByText('No links yet').waitFor();
  assert.equal((await fetch(url)).status, 404);
  await leave(page);
});

test('the summary is filtered by an answer, by status and by time; the URL keeps it, and links add to it', async () => {
  const form = await makeSurvey();
  const page = await show(`/forms/${form}/summary`);
  const total = (count: number) =>
    until(
      `${count} submissions`,
      async () => oneLine(await page.locator('.figure').first().innerText()) === `Submissions ${count}`,
    );
  await total(4);
  await page.getByRole('button', { name: 'Add filter' }).click();
  await page.getByRole('menuitem', { name: 'Plan' }).click();
  await page.getByRole('checkbox', { name: 'Free' }).press('Space');
  await press(page, 'Enter');
  await page.getByRole('button', { name: 'Edit filter: Plan is any of Free' }).waitFor();
  await total(2);
  assert.deepEqual(await linesOf(page, 'How often?'), [
    'Never 1 50%',
    'Sometimes 0 0%',
    'Often 1 50%',
    'Always 0 0%',
  ]);
  await page.reload();
  await total(2);
  await audit(page, 'the filtered summary');
  await cardOf(page, 'How often?').getByRole('link', { name: 'Often' }).click();
  await page.locator('.filter-chip', { hasText: 'How often? is any of Often' }).waitFor();
  await page.locator('.filter-chip', { hasText: 'Plan is any of Free' }).waitFor();
  await until('one row', async () => (await rowNames(page)).length === 1);
  await page.goBack();
  await total(2);
  await page.getByRole('button', { name: 'Any status' }).click();
  await page.getByRole('option', { name: 'Incomplete' }).click();
  await page.getByRole('heading', { name: 'No submissions match these filters' }).waitFor();
  assert.equal(new URL(page.url()).searchParams.get('status'), 'incomplete');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await total(4);
  await page.getByRole('button', { name: 'Any time' }).click();
  await page.getByRole('option', { name: 'Today' }).click();
  await until('a first day in the URL', () => Promise.resolve(new URL(page.url()).searchParams.has('from')));
  await total(4);
  await leave(page);
});

test('scales and options keep their order, long lists say that they are sorted, and scales have their usual figure', {
  skip: isSlice,
}, async () => {
  const form = await makeSurvey();
  const page = await show(`/forms/${form}/summary`);
  await cardOf(page, 'Plan').waitFor();
  assert.deepEqual(await linesOf(page, 'How often?'), [
    'Never 1 25%',
    'Sometimes 0 0%',
    'Often 2 50%',
    'Always 1 25%',
  ]);
  const country = cardOf(page, 'Country');
  await country.getByText('Most frequent first.').waitFor();
  assert.deepEqual(await linesOf(page, 'Country'), ['Nepal 3 75%', 'Mali 1 25%']);
  await page.emulateMedia({ media: 'print' });
  await country.getByText('Laos').waitFor();
  assert.equal(await country.getByText('Show 12 more').isVisible(), false);
  await page.emulateMedia({ media: 'screen' });
  await country.getByText('Show 12 more').click();
  await country.getByText('Laos').waitFor();
  const figures = [
    [
      'Would you recommend us?',
      '+25 NPS, 4 answers, average 7.25',
      'Net promoter score: percentage of promoters (9 and 10) minus percentage of detractors (0 to 6).',
    ],
    [
      'How pleased are you?',
      '75% CSAT, 4 answers, average 4',
      'Customer satisfaction: percentage of answers on the two highest of five levels.',
    ],
    [
      'How easy was it?',
      '5 CES, 4 answers',
      'Customer effort score: average of the answers on the scale from 1 to 7.',
    ],
  ] as const;
  for (const [label, figure, how] of figures) {
    assert.equal(oneLine(await cardOf(page, label).locator('.element-figure').innerText()), figure);
    await cardOf(page, label).getByText(how).waitFor();
  }
  const folded = page.getByText('2 questions without answers');
  await folded.waitFor();
  assert.equal(await page.getByText('Spare number').isVisible(), false);
  await folded.click();
  await page.getByText('Spare number').waitFor();
  for (const [width, columns] of [
    [1280, 2],
    [375, 1],
  ] as const) {
    await page.setViewportSize({ width, height: 800 });
    const tracks = await page.evaluate<string>(
      `getComputedStyle(document.querySelector('.element-cards')).gridTemplateColumns`,
    );
    assert.equal(tracks.split(' ').length, columns, `${width} px`);
  }
  // A link that is half under the header would look too small.
  await page.evaluate('scrollTo(0, 0)');
  await lookAround(page)('the summary of a survey');
  await leave(page);
});

test('two groups are compared by keyboard: every card has the counts and shares of both, also as a table', {
  skip: isSlice,
}, async () => {
  const form = await makeSurvey();
  const page = await show(`/forms/${form}/summary`);
  await cardOf(page, 'Plan').waitFor();
  await tabTo(page, 'button', 'Compare two groups');
  await press(page, 'Enter');
  await until(
    'the focus on the question',
    async () => (await page.locator('.compare-bar .field button:focus').count()) === 1,
  );
  const status = page.locator('.compare-groups');
  await status.getByText('2 submissions').first().waitFor();
  assert.equal(oneLine(await status.innerText()), 'A Free: Free: 2 submissions B Pro: Pro: 2 submissions');
  assert.deepEqual(await linesOf(page, 'How often?'), [
    'Never A Free: 1 50% B Pro: 0 0%',
    'Sometimes A Free: 0 0% B Pro: 0 0%',
    'Often A Free: 1 50% B Pro: 1 50%',
    'Always A Free: 0 0% B Pro: 1 50%',
  ]);
  const figures = await cardOf(page, 'Would you recommend us?')
    .locator('.element-figure strong')
    .allInnerTexts();
  assert.deepEqual(figures, ['0', '+50']);
  await cardOf(page, 'Would you recommend us?').getByText('Show as a table').click();
  const rows = await cardOf(page, 'Would you recommend us?').getByRole('row').allInnerTexts();
  assert.deepEqual(
    [rows[0], rows.at(-1)],
    ['Answer\tA: Free\tShare of A\tB: Pro\tShare of B', '10\t1\t50%\t0\t0%'],
  );
  await cardOf(page, 'Parts').getByRole('heading', { name: 'Speed' }).waitFor();
  await cardOf(page, 'Customer since').getByRole('row', { name: 'Jan 2025 1 50% 0 0%' }).waitFor();
  await page.reload();
  await status.getByText('2 submissions').first().waitFor();
  await lookAround(page)('two groups');

  // A link leads to the submissions of the group; the other answer of a group swaps both.
  await cardOf(page, 'How often?').getByRole('listitem').nth(3).getByRole('link').click();
  await page.locator('.filter-chip', { hasText: 'Plan is any of Pro' }).waitFor();
  await page.locator('.filter-chip', { hasText: 'How often? is any of Always' }).waitFor();
  await until('one row', async () => (await rowNames(page)).length === 1);
  await page.goBack();
  await page.getByRole('button', { name: /Group A/ }).click();
  await page.getByRole('option', { name: 'Pro' }).click();
  await until('the groups swapped', async () => oneLine(await status.innerText()).startsWith('A Pro'));
  await page.getByRole('button', { name: /Compare by/ }).click();
  await type(page, 'Again');
  await press(page, 'Enter');
  await until('groups by the other question', async () =>
    oneLine(await status.innerText()).startsWith('A Yes: Yes: 3'),
  );
  await page.getByRole('button', { name: 'Stop comparing' }).press('Enter');
  await until(
    'the focus on the button',
    async () =>
      (await page.getByRole('button', { name: 'Compare two groups' }).and(page.locator(':focus')).count()) ===
      1,
  );
  assert.equal(new URL(page.url()).searchParams.has('compare'), false);
  await leave(page);
});

test('a large summary covers the newest answers first, says so, and covers all on request', {
  skip: isSlice,
}, async () => {
  const form = await makeForm();
  const count = 10_020;
  await insertMany(service.services.database, {
    workspaceId: tenant.workspaceId,
    formId: form,
    version: 1,
    answers: { name: 'Ada', colour: 'Red' },
    since: new Date('2026-01-01T10:00:00Z'),
    count,
  });
  const page = await show(`/forms/${form}/summary`);
  const card = page.getByRole('region', { name: 'Colour' });
  await card.getByText('10,000 answers from 10,000 submissions').waitFor();
  await page.getByText('based on the newest 10,000 of 10,020 submissions').waitFor();
  await audit(page, 'the summary of the newest');
  await tabTo(page, 'button', 'Include all');
  await press(page, 'Enter');
  await card.getByText('10,020 answers from 10,020 submissions').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Include all' }).count(), 0);
  await leave(page);
});

test('a bar of the summary links to the submissions it counts, and the whole summary prints', {
  skip: isSlice,
}, async () => {
  const form = await makeForm([
    ...elements,
    element('text', 'fruit', { label: 'Fruit' }),
    element('date', 'day', { label: 'Day' }),
    element('consent', 'terms', { label: 'Terms', statement: 'I agree.' }),
    element('matrix', 'pleased', {
      label: 'Pleased',
      rows: [{ id: 'r', label: 'Room' }],
      options: ['Good', 'Bad'],
    }),
  ]);
  await submit(form, { name: 'Ada', colour: 'Red', age: 36, fruit: 'Pear', day: '2026-01-31', terms: true });
  await submit(form, { name: 'Ben', colour: 'Blue', age: 17, fruit: 'pear ', day: '2026-03-01' });
  await submit(form, {
    name: 'Cleo',
    colour: 'Blue',
    age: 990,
    fruit: 'Fig',
    pleased: { r: 'Bad' },
    guests: [{ guest: 'Tom' }],
  });
  const page = await show(`/forms/${form}/summary`);
  const card = (name: string) => page.getByRole('region', { name, exact: true });
  await page.getByText('Hidden because they contain personal data: Name, Email.').waitFor();
  const lines = await card('Colour').getByRole('listitem').allInnerTexts();
  assert.deepEqual(
    lines.map((line) => line.replaceAll(/\s+/g, ' ').trim()),
    ['Red 1 33%', 'Green 0 0%', 'Blue 2 67%'],
  );
  const leads = async (link: ReturnType<Page['locator']>, chip: string, expected: readonly string[]) => {
    await link.click();
    await page.locator('.filter-chip', { hasText: chip }).waitFor();
    await until(`the rows ${expected.join()}`, async () => (await rowNames(page)).join() === expected.join());
    await page.goBack();
    await card('Colour').waitFor();
  };
  await leads(card('Colour').getByRole('link', { name: 'Blue' }), 'Colour is any of Blue', ['Cleo', 'Ben']);
  await leads(card('Fruit').getByRole('link', { name: 'Pear' }).first(), 'Fruit is “Pear”', ['Ben', 'Ada']);
  await leads(card('Day').getByRole('link', { name: 'Jan 2026' }), 'Day is 2026-01-31', ['Ada']);
  await leads(card('Terms').getByRole('link', { name: 'Agreed' }), 'Terms is answered', ['Ada']);
  await leads(card('Guests').getByRole('link', { name: '1', exact: true }), 'Guests is 1', ['Cleo']);
  await leads(card('Guest').getByRole('link', { name: '1 answer' }), 'Guest is answered', ['Cleo']);
  await leads(card('Pleased').getByRole('cell').getByRole('link'), 'Pleased (Room) is any of Bad', ['Cleo']);
  await leads(card('Age').locator('.standing-bar a').first(), 'Age is between 17 and 36', ['Ben', 'Ada']);
  await page.getByRole('link', { name: '3', exact: true }).last().click();
  await until('all rows', async () => (await rowNames(page)).length === 3);
  await page.goBack();

  await page.evaluate(`print = () => { document.title = 'printed'; }`);
  await page.getByRole('button', { name: 'Print' }).click();
  assert.equal(await page.title(), 'printed');
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await page.getByText(/^Contact\. Any time\. Printed on/).waitFor();
  assert.equal(await page.locator('button:visible, .form-header:visible, summary:visible').count(), 0);
  const look = await page.evaluate(`(() => {
    const { backgroundColor, breakInside } = getComputedStyle(document.querySelector('.element-card'));
    return [backgroundColor, breakInside];
  })()`);
  assert.deepEqual(look, ['rgb(255, 255, 255)', 'avoid']);
  await leave(page);
});

test('the summary shows views, starts and submissions, and at which step visitors stopped', {
  skip: isSlice,
}, async () => {
  const made = await tenant.call('POST', '/forms', {
    structure: stepsOf(
      { title: 'About you and the people who travel with you' },
      [element('text', 'name', { label: 'Name' }), element('email', 'email', { label: 'Email' })],
      {},
      [element('textarea', 'note', { label: 'Note' })],
    ),
    publish: true,
  });
  const form = made.body.id;
  const counts: readonly (readonly [kind: VisitKind, name: string, count: number])[] = [
    ['view', '', 1_200],
    ['start', '', 480],
    ['scripted_start', '', 360],
    ['completion', '', 240],
    ['step', 'name', 1_200],
    ['onward', 'name', 300],
    ['step', 'note', 300],
    ['onward', 'note', 240],
    ['question', 'email', 150],
    ['question', 'note', 50],
    ['time', '50', 240],
  ];
  await addVisits(service.services.database, {
    workspace_ids: counts.map(() => tenant.workspaceId),
    form_ids: counts.map(() => form),
    days: counts.map(() => '2026-01-31'),
    kinds: counts.map(([kind]) => kind),
    names: counts.map(([, name]) => name),
    counts: counts.map(([, , count]) => count),
  });
  const page = await show(`/forms/${form}/summary`);
  await page.getByText('Median completion time: 2 minutes.').waitFor();
  await page
    .getByText('For 25% of the starts, scripts did not run, so only submitted data is known.')
    .waitFor();
  await page.getByText('Show as a table').click();
  const linesOf = async (name: string) =>
    (await page.getByRole('list', { name }).getByRole('listitem').allInnerTexts()).map((text) =>
      text.replaceAll(/\s+/g, ' ').trim(),
    );
  for (const width of [1280, 375]) {
    await page.setViewportSize({ width, height: 800 });
    assert.deepEqual(await linesOf('From view to submission'), [
      'Viewed 1,200 100%',
      'Started 480 40%',
      'Submitted 240 20%',
    ]);
    assert.deepEqual(await linesOf('Drop-off by step'), [
      '1. About you and the people who travel with you 1,200 reached 900 dropped off, 75%',
      '2. Step 2 300 reached 60 dropped off, 20%',
    ]);
    assert.deepEqual(await linesOf('Where visitors stopped'), ['Email 150 75%', 'Note 50 25%']);
    const all = page.getByRole('region', { name: 'Where visitors stopped' }).getByRole('row');
    assert.deepEqual(await all.allInnerTexts(), [
      'Question\tStopped here',
      '1. Name\t0',
      '2. Email\t150',
      '3. Note\t50',
    ]);
  }
  await lookAround(page)('the summary of visits');
  await leave(page);
});
