import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, element, stepsOf } from '#test/ast/forms.ts';
import { openPaper, type Paper, publishForm, submissionOf } from '#test/paper.ts';
import { shareService } from '#test/service.ts';

/** The review step, and one question at a time, for a visitor without scripts. */

const service = await shareService();
const tenant = await service.makeTenant();

const isShownFor = (id: string, value: unknown) => ({ show_when: { element: id, is: 'equals', value } });

const trip = stepsOf(
  { title: 'You' },
  [
    element('text', 'name', { required: true }),
    element('date', 'born'),
    element('yes_no', 'abroad', { label: 'From abroad?' }),
  ],
  { title: 'Papers', show_when: { element: 'abroad', is: 'equals', value: true } },
  [element('text', 'visa')],
  { title: 'Stay' },
  [
    element('number', 'cost'),
    element('multiple_choice', 'meals'),
    element('file_upload', 'ticket'),
    element('text', 'why', isShownFor('cost', 7)),
    composite('guests', [element('text', 'guest')], { label: 'Guest', repeatable: true }),
  ],
);

/** Returns the questions and answers of the review list, with the lines of each answer joined. */
function listed({ tags }: Paper): [question: string, answer: string][] {
  const questions = tags.filter(({ tag }) => tag === 'dt').map(({ text }) => text);
  const answers = tags.filter(({ tag }) => tag === 'dd').filter((_dd, index) => index % 2 === 0);
  return questions.map((question, index) => [question, answers[index]!.text.replaceAll('\n', ' ').trim()]);
}

const fillIn = async (form: string, query = ''): Promise<Paper> => {
  const first = await openPaper(service, `/f/${form}${query}`);
  const last = await first.press('next', { name: '<b>Ada</b> & Co', born: '1999-04-30', abroad: 'no' });
  return last.press('next', {
    cost: '1234',
    meals: ['Red', 'Blue'],
    ticket: [new File(['bytes'], 'ticket.txt')],
    'guests[0][guest]': 'Anni',
  });
};

test('after the last step, every answer is listed in readable form and can be submitted', async () => {
  const form = await publishForm(tenant, trip, { review_step: true });
  const review = await fillIn(form);
  assert.deepEqual([review.status, review.headings], [200, ['Check your answers']]);
  assert.equal(review.title, 'Check your answers – Step 3 of 3 – Contact');
  assert.equal(review.tags.find(({ attrs }) => 'autofocus' in attrs)?.text, 'Check your answers');
  assert.deepEqual(listed(review), [
    ['The name', '<b>Ada</b> & Co'],
    ['The born', 'April 30, 1999'],
    ['From abroad?', 'No'],
    ['The cost', '1,234'],
    ['The meals', 'Red Blue'],
    ['The ticket', 'ticket.txt 1 kB'],
    ['The guest', 'Anni'],
  ]);
  const titles = review.tags.filter(({ tag }) => tag === 'h3' || tag === 'h4').map(({ text }) => text);
  assert.deepEqual(titles, ['You', 'Stay', 'Guest 1']);
  const buttons = review.tags.filter(({ tag, attrs }) => tag === 'button' && !('hidden' in attrs));
  assert.deepEqual(
    buttons.filter(({ attrs }) => attrs['class'] !== 'change').map(({ text }) => text),
    ['Submit', 'Add another Guest', 'Back', 'Submit'],
  );
  const { answers } = await submissionOf(tenant, await review.press('submit'));
  assert.equal(answers.born, '1999-04-30');
});

test('in the review, a matrix is a table and a typed signature is the name', async () => {
  const form = await publishForm(
    tenant,
    stepsOf({ title: 'All' }, [
      element('matrix', 'service', { rows: ['Food', 'Room'], options: ['Good', 'Bad'] }),
      element('signature', 'sign'),
    ]),
    { review_step: true },
  );
  const first = await openPaper(service, `/f/${form}`);
  const review = await first.press('next', { 'service[Food]': 'Good', sign: 'Ada Lovelace' });
  // The steps before it, with the matrix itself, are hidden on the same page.
  const cells = review.tags.filter(({ tag }) => tag === 'th' || tag === 'td').map(({ text }) => text);
  assert.deepEqual(cells.slice(-2), ['Food', 'Good']);
  assert.ok(review.tags.some(({ tag, text }) => tag === 'p' && text === 'Ada Lovelace'));
});

test('Change opens a question and returns to the list; newly shown questions follow, and invalid answers stay', async () => {
  const form = await publishForm(tenant, trip, { review_step: true });
  const review = await fillIn(form);
  const there = await review.press('change:abroad');
  assert.deepEqual(there.headings, ['You']);
  assert.equal(there.tags.find(({ attrs }) => 'autofocus' in attrs)?.attrs['id'], 'abroad');
  const refused = await there.press('next', { name: '' });
  assert.deepEqual([refused.status, refused.headings], [422, ['You']]);
  const opened = await refused.press('next', { name: 'Bo', abroad: 'yes' });
  assert.deepEqual(opened.headings, ['Papers'], 'a step that the visitor has not seen');
  const again = await opened.press('next', { visa: 'A1' });
  assert.deepEqual(again.headings, ['Check your answers']);
  assert.deepEqual(listed(again).slice(0, 4), [
    ['The name', 'Bo'],
    ['The born', 'April 30, 1999'],
    ['From abroad?', 'Yes'],
    ['The visa', 'A1'],
  ]);
  const seven = await (await again.press('change:cost')).press('next', { cost: '7' });
  assert.deepEqual([seven.headings, seven.notice?.slice(0, 12)], [['Stay'], 'Your answers']);
  const row = await (await seven.press('next')).press('change:guests[0][guest]');
  assert.equal(row.tags.find(({ attrs }) => 'autofocus' in attrs)?.attrs['id'], 'guests[0][guest]');
  const back = await (await row.press('back')).press('submit');
  assert.equal((await submissionOf(tenant, back)).answers.name, 'Bo');
});

test('a jump to the end leads to the review list, which marks questions without an answer', async () => {
  const steps = stepsOf({ title: 'A', jumps: [{ to: 'end' }] }, [element('text', 'name')], { title: 'B' }, [
    element('text', 'other'),
  ]);
  const form = await publishForm(tenant, steps, { review_step: true });
  const review = await (await openPaper(service, `/f/${form}`)).press('next');
  assert.deepEqual(listed(review), [['The name', 'No answer']]);
  assert.equal((await review.press('submit')).status, 303);
});

for (const [locale, title, date] of [
  ['de', 'Prüfen Sie Ihre Antworten', '30. April 1999'],
  ['ar', 'راجع إجاباتك', '30 أبريل 1999'],
  ['ja', '回答を確認してください', '1999年4月30日'],
] as const) {
  test(`${locale}: the review list is in the language of the page`, async () => {
    const form = await publishForm(tenant, trip, { review_step: true, locale });
    const review = await fillIn(form);
    assert.deepEqual(review.headings, [title]);
    assert.equal(listed(review)[1]?.[1], date);
  });
}

test('with one question at a time, each has a page, texts and groups stay together, and hidden questions are skipped', async () => {
  const steps = stepsOf(
    { title: 'You', layout: 'grid_2', description: 'Who comes?' },
    [
      element('heading', 'hello'),
      element('text', 'name', { required: true }),
      element('radio', 'kind'),
      element('paragraph', 'reasons'),
      element('text', 'why', isShownFor('kind', 'Red')),
    ],
    { jumps: [{ when: { element: 'kind', is: 'equals', value: 'Green' }, to: 'end' }] },
    [composite('guests', [element('text', 'guest'), element('email', 'mail')], { repeatable: true })],
    { title: 'Last' },
    [element('number', 'cost')],
  );
  const form = await publishForm(tenant, steps, { layout: 'question' });
  const first = await openPaper(service, `/f/${form}`);
  assert.deepEqual([first.title, first.headings], ['Question 1 of 4 – Contact', ['You']]);
  const shown = ({ tags }: Paper) => {
    const at = tags.findIndex(({ tag, attrs }) => tag === 'section' && !('hidden' in attrs));
    const after = tags.slice(at + 1);
    return after
      .slice(0, after.findIndex(({ tag }) => tag === 'section') >>> 0)
      .filter(({ tag, attrs }) => tag === 'label' && attrs['for'] !== undefined)
      .map(({ text }) => text);
  };
  assert.deepEqual(shown(first), ['The name (required)']);
  assert.equal((await first.press('next')).status, 422);
  const second = await first.press('next', { name: 'Ada' });
  assert.equal(second.tags.find(({ attrs }) => 'autofocus' in attrs)?.attrs['id'], 'kind');
  const third = await second.press('next', { kind: 'Red' });
  assert.deepEqual([shown(third), third.title], [['The why'], 'Question 3 of 5 – Contact']);
  const passed = await second.press('next', { kind: 'Blue' });
  assert.deepEqual(shown(passed), ['The guest', 'The mail']);
  const last = await passed.press('next', { 'guests[0][guest]': 'Anni' });
  assert.deepEqual([shown(last), last.headings], [['The cost'], ['Last']]);
  assert.deepEqual(shown(await last.press('back')), ['The guest', 'The mail']);
  const jumped = await second.press('next', { kind: 'Green' });
  const { answers } = await submissionOf(tenant, await jumped.press('submit'));
  assert.deepEqual(answers, { name: 'Ada', kind: 'Green' });
});

test('invalid values of `layout` and `review_step` are rejected with the allowed values', async () => {
  const { status, body } = await tenant.call('POST', '/forms', {
    structure: trip,
    settings: { layout: 'slides', review_step: 'yes' },
  });
  assert.equal(status, 422);
  assert.deepEqual(
    body.errors.map(({ field, message }: { field?: string; message: string }) => [field, message]),
    [
      ['review_step', '"review_step" must be true or false.'],
      ['layout', '"layout" must be one of "page", "question".'],
    ],
  );
});
