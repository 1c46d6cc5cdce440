import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extractText, getDocumentProxy } from 'unpdf';
import type { QuizResult } from '#ast/answers/quiz.ts';
import { composite, element, stepsOf } from '#test/ast/forms.ts';
import { shareService } from '#test/service.ts';
import { asJson, openVisitor } from '#test/visitor.ts';

const service = await shareService();
const visitor = openVisitor(service);
const tenant = await service.makeTenant();

const settings = { quiz_results: 'answers', certificate_name_element: 'name', locale: 'en' };
const quiz = stepsOf({ title: 'You' }, [element('text', 'name', { label: 'Name' })], { title: 'Geography' }, [
  element('radio', 'capital', {
    label: 'What is the capital of France, {{name}}?',
    options: ['Lyon', 'Paris'],
    correct: ['Paris'],
    points: 3,
    explanation: 'Since **987**, SECRET-EXPLANATION.',
  }),
  composite('rivers', [
    element('multiple_choice', 'german', {
      label: 'Rivers in Germany',
      options: [
        { id: 'r', label: 'Rhine', points: 1 },
        { id: 'e', label: 'Elbe', points: 1 },
        { id: 't', label: 'Thames', points: -1 },
      ],
      correct: ['r', 'e'],
      points: 2,
    }),
    element('score', 'river_score', { label: 'Rivers', counts: 'section' }),
  ]),
  element('text', 'longest', { label: 'The longest river', correct: ['SECRET-NILE', 'amazon'] }),
  element('number', 'bones', { label: 'Bones', correct: [271828] }),
  element('yes_no', 'flat', { label: 'The earth is flat.', correct: [false] }),
  element('date', 'wall', { label: 'Fall of the wall', correct: ['1989-11-09'] }),
  element('radio', 'why', {
    label: 'Why?',
    correct: ['Red'],
    show_when: { element: 'flat', is: 'equals', value: true },
  }),
  element('score', 'score', { label: 'Score', pass_mark: 5 }),
]);

async function makeQuiz(own: object = {}, structure: unknown = quiz): Promise<string> {
  const { status, body } = await tenant.call('POST', '/forms', {
    structure,
    settings: { ...settings, ...own },
    publish: true,
  });
  assert.equal(status, 201, JSON.stringify(body));
  return body.id;
}

const best = {
  name: 'Ada',
  capital: 'Paris',
  german: ['e', 'r'],
  longest: ' AMAZON ',
  bones: 271828,
  flat: false,
  wall: '1989-11-09',
};

type Result = { id: string; quiz?: QuizResult; certificate_url?: string; pdf_url?: string };
async function submit(form: string, answers: object): Promise<Result> {
  const { status, body, text } = await visitor.submit(form, answers);
  assert.equal(status, 201, text);
  return body;
}
/** Returns the text of a certificate, which has one page. */
async function readCertificate(address: string): Promise<string> {
  const response = await fetch(address.replace(/^.*?(?=\/f\/)/, service.url));
  assert.equal(response.headers.get('content-type'), 'application/pdf');
  const pdf = await getDocumentProxy(new Uint8Array(await response.arrayBuffer()));
  assert.equal(pdf.numPages, 1);
  return (await extractText(pdf, { mergePages: true })).text;
}
const scoresOf = ({ quiz: result }: Result): unknown =>
  result?.scores.map(({ id, points, of, passed }) => [id, points, of, passed]);

test('answers are scored: right ones get all points, other choices the points of their options', async () => {
  const form = await makeQuiz();
  assert.deepEqual(scoresOf(await submit(form, best)), [
    ['river_score', 2, 2, undefined],
    ['score', 9, 9, true],
  ]);
  const partial = await submit(form, {
    name: 'Bob',
    german: ['r'],
    flat: true,
    why: 'Blue',
    capital: 'Lyon',
  });
  assert.deepEqual(scoresOf(partial), [
    ['river_score', 1, 2, undefined],
    ['score', 1, 10, false],
  ]);
  assert.deepEqual(scoresOf(await submit(form, { german: ['r', 'e', 't'] })), [
    ['river_score', 1, 2, undefined],
    ['score', 1, 9, false],
  ]);
});

test('a score that a client sends is ignored, also for the choice of the confirmation', async () => {
  const form = await makeQuiz({
    confirmation_message: 'Failed with {{score}}.',
    confirmations: [
      { when: { element: 'score', is: 'at_least', value: 5 }, message: 'Well done: {{score}}!' },
    ],
  });
  for (const [answers, message, points] of [
    [{ score: 1000 }, 'Failed with 0.', 0],
    [{ ...best, score: 1000 }, 'Well done: 9!', 9],
  ] as const) {
    const { body } = await visitor.submit(form, answers);
    assert.equal((body as unknown as Record<string, unknown>)['confirmation_message'], message);
    const { body: stored } = await tenant.call('GET', `/submissions/${body.id}`);
    assert.equal(stored.answers['score'], points);
  }
  const posted = await visitor.post(form, [['score', '1000']], asJson);
  assert.deepEqual(scoresOf(posted.body as unknown as Result)?.[1 as never], ['score', 0, 9, false]);
});

test('right answers, their points and explanations never reach visitors before they submit', async () => {
  const form = await makeQuiz({ save_progress: true, editing: true, layout: 'page', review_step: true });
  const secrets = /SECRET|amazon|271828|1989-11-09|"correct"|explanation|"points"/i;
  const texts = [
    (await visitor.fetch(`/f/${form}`)).text,
    (await visitor.fetch(`/f/${form}?_embed=1`)).text,
    (await visitor.fetch(`/f/${form}`, asJson)).text,
    (
      await visitor.post(form, [
        ['_go', 'next'],
        ['_step', '0'],
        ['name', 'Ada'],
      ])
    ).text,
    (
      await visitor.post(form, [
        ['_go', 'next'],
        ['_step', '1'],
        ['bones', 'many'],
        ['name', 'Ada'],
      ])
    ).text,
    (await visitor.submit(form, { bones: 'many', capital: 'Rome', nonsense: 1 })).text,
  ];
  const saved = await visitor.post(
    form,
    [
      ['_go', 'save'],
      ['name', 'Ada'],
      ['capital', 'Paris'],
    ],
    asJson,
  );
  assert.equal(saved.status, 200, saved.text);
  const resume = new URL((saved.body as unknown as { resume_url: string }).resume_url).pathname;
  texts.push((await visitor.fetch(resume)).text);
  for (const text of texts) assert.doesNotMatch(text, secrets);
  const { body } = await tenant.call('GET', `/forms/${form}/submissions?status=incomplete`);
  assert.deepEqual((body.data as unknown as { answers: unknown }[])[0]?.answers, {
    name: 'Ada',
    capital: 'Paris',
  });
});

test('with quiz_results none, no response and no page after the submission tells the result', async () => {
  const form = await makeQuiz({ quiz_results: 'none', certificate_name_element: null, editing: true });
  const { text, body } = await visitor.submit(form, best);
  const { next, edit_url } = body as unknown as { next: string; edit_url: string };
  const edit = new URL(edit_url).pathname;
  const pages = [text, (await visitor.fetch(next)).text, (await visitor.fetch(edit)).text];
  for (const page of pages) assert.doesNotMatch(page, /SECRET|explanation|Your result|passed|"scores"/i);
});

test('the confirmation shows scores and right answers without a script, and links to the certificate', async () => {
  const form = await makeQuiz();
  const sent = await visitor.post(form, [
    ['name', 'Ada'],
    ['capital', 'Lyon'],
    ['german', 'r'],
    ['german', 'e'],
    ['longest', 'Amazon'],
    ['bones', '271828'],
    ['flat', 'no'],
  ]);
  const page = (await visitor.fetch(sent.headers.get('location')!)).text;
  for (const part of [
    'Your result',
    '5 of 9 points',
    'Passed',
    'What is the capital of France, Ada?',
    '<strong>Wrong</strong>',
    'Your answer</span> <bdi>Lyon</bdi>',
    'Right answer</span> <bdi>Paris</bdi>',
    'Since <b>987</b>',
    '<strong>Right</strong>',
    'Your answer</span> <bdi>No answer</bdi>',
  ])
    assert.ok(page.includes(part), `${part} in ${page}`);
  const [, path] = /href="([^"]*certificate=true[^"]*)"/.exec(page) ?? [];
  const text = await readCertificate(path!.replaceAll('&amp;', '&'));
  assert.match(text, /Certificate.*Ada.*has successfully completed.*Contact.*Score: 5 \/ 9/s);
  // The token opens only what the form offers.
  assert.equal((await visitor.fetch(path!.split('?')[0]!)).status, 404);
});

test('a quiz in two languages, with shuffled questions one at a time, explains in the language of the visitor', async () => {
  const question = element('radio', 'q', {
    label: 'Colour?',
    correct: ['Red'],
    explanation: 'SECRET-ENGLISH',
    shuffle: true,
    translations: { de: { label: 'Farbe?', options: { Red: 'Rot' }, explanation: 'SECRET-GERMAN' } },
  });
  const score = element('score', 's', { label: 'Score', translations: { de: { label: 'Punkte' } } });
  const one = stepsOf({ title: 'One', shuffle: true }, [question, element('text', 'note'), score]);
  const structure = { ...one, attrs: { ...one.attrs, languages: ['en', 'de'] } };
  const form = await makeQuiz({ layout: 'question', certificate_name_element: null }, structure);
  for (const language of ['en', 'de'])
    assert.doesNotMatch((await visitor.fetch(`/f/${form}?_lang=${language}`)).text, /SECRET/);
  const sent = await visitor.post(form, [['q', 'Red']], { query: '?_lang=de' });
  const page = (await visitor.fetch(sent.headers.get('location')!)).text;
  for (const part of ['Punkte', '1 von 1 Punkt', 'Farbe?', 'Richtig', '<bdi>Rot</bdi>', 'SECRET-GERMAN'])
    assert.ok(page.includes(part), `${part} in ${page}`);
});

test('a text is right in another case, width or Unicode form, with a curly apostrophe or more spaces', async () => {
  const question = element('text', 'q', { correct: ["Newton's law", 'Straße', 'Å'] });
  const form = await makeQuiz({}, stepsOf({}, [element('text', 'name'), question, element('score', 's')]));
  for (const [q, points] of [
    ['Newton’s  LAW', 1],
    ['Ｎｅｗｔｏｎ＇ｓ　ｌａｗ', 1],
    ['STRASSE', 1],
    ['a\u030a', 1],
    ['A', 0],
    ['Newtons law', 0],
  ] as const)
    assert.equal((await submit(form, { q })).quiz?.scores[0]!.points, points, q);
});

test('labels of scores show answers, and without questions there is no result', async () => {
  const elements = [
    element('text', 'name'),
    element('radio', 'q', { correct: ['Red'], hide_when: { element: 'name', is: 'equals', value: 'Bob' } }),
    element('score', 's', { label: 'Score of {{name}}' }),
  ];
  const form = await makeQuiz({}, stepsOf({}, elements));
  const { quiz: result, certificate_url } = await submit(form, { name: 'Eve', q: 'Red' });
  assert.equal(result?.scores[0]!.label, 'Score of Eve');
  assert.match(await readCertificate(certificate_url!), /Score of Eve: 1 \/ 1/);
  assert.equal((await submit(form, { name: 'Bob' })).quiz, undefined);
});

test('a member who completes saved answers gets their score, and visitors do not', async () => {
  const form = await makeQuiz({ save_progress: true });
  const parts = [
    ['_go', 'save'],
    ['name', 'Ada'],
    ['capital', 'Paris'],
    ['score', '77'],
  ] as const;
  const saved = await visitor.post(form, parts, asJson);
  const { body: list } = await tenant.call('GET', `/forms/${form}/submissions?status=incomplete`);
  const [{ id }] = list.data as unknown as [{ id: string }];
  // An edit stores the score of incomplete answers too.
  await tenant.call('PATCH', `/submissions/${id}`, { answers: { bones: 271828 } });
  const resume = new URL((saved.body as unknown as { resume_url: string }).resume_url).pathname;
  assert.doesNotMatch((await visitor.fetch(resume)).text, /"(river_)?score":\d|name="(river_)?score"/);
  await tenant.call('PATCH', `/submissions/${id}`, { answers: { bones: null } });
  const { status, body } = await tenant.call('PATCH', `/submissions/${id}`, { status: 'completed' });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(body.answers, { name: 'Ada', capital: 'Paris', river_score: 0, score: 3 });
});

test('only a completed submission that reached every pass mark has a certificate', async () => {
  const form = await makeQuiz();
  const [passed, failed] = [await submit(form, best), await submit(form, { name: 'Bob' })];
  assert.equal(failed.certificate_url, undefined);
  assert.equal(failed.pdf_url, undefined);
  assert.equal((await fetch(passed.certificate_url!.replace(/^.*(?=\/f\/)/, service.url))).status, 200);
  const get = async (id: string): Promise<number> =>
    (await tenant.call('GET', `/submissions/${id}/pdf?certificate=true`)).status;
  assert.deepEqual([await get(passed.id), await get(failed.id)], [200, 404]);
  assert.equal((await tenant.call('GET', `/submissions/${passed.id}/pdf?certificate=diploma`)).status, 400);
  const without = await makeQuiz({ certificate_name_element: null });
  assert.equal(await get((await submit(without, best)).id), 404);
  const { name: _name, ...nameless } = best;
  const unnamed = await submit(form, nameless);
  assert.deepEqual([unnamed.certificate_url, await get(unnamed.id)], [undefined, 404]);
});

test('a long or hostile name leaves a certificate of one page', async () => {
  const form = await makeQuiz();
  for (const name of ['W '.repeat(1000), '山'.repeat(1000), '<b>Eve</b> {{capital}}']) {
    const { certificate_url } = await submit(form, { ...best, name });
    assert.ok((await readCertificate(certificate_url!)).includes(name.slice(0, 20)), name.slice(0, 20));
  }
});

test('an edit scores again, and a later version of the form does not', async () => {
  const form = await makeQuiz({ editing: true });
  const { id } = await submit(form, best);
  const scoreOf = async (): Promise<unknown> =>
    (await tenant.call('GET', `/submissions/${id}`)).body.answers['score'];
  const changed = JSON.parse(JSON.stringify(quiz).replace('"correct":["Paris"]', '"correct":["Lyon"]'));
  assert.equal((await tenant.call('PUT', `/forms/${form}`, { structure: changed })).status, 200);
  assert.equal(await scoreOf(), 9);
  const { river_score: _rivers, ...others } = { river_score: 0, ...best };
  const answers = { ...others, bones: 1, score: 50 };
  const edited = await tenant.call('PATCH', `/submissions/${id}`, { answers });
  assert.equal(edited.status, 200, JSON.stringify(edited.body));
  assert.equal(await scoreOf(), 8);
});

test('a repeated submit is one submission', async () => {
  const form = await makeQuiz();
  const send = () =>
    visitor.fetch(`/f/${form}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'quiz-1' },
      body: JSON.stringify({ answers: best }),
    });
  const [first, second] = [await send(), await send()];
  assert.deepEqual([second.status, second.body.id], [201, first.body.id]);
});

test('lists filter and sort by the score, and the summary has the pass rate', async () => {
  const form = await makeQuiz();
  await submit(form, best);
  await submit(form, {});
  const filter = encodeURIComponent(JSON.stringify({ element: 'score', is: 'at_least', value: 5 }));
  const { body } = await tenant.call('GET', `/forms/${form}/submissions?where=${filter}`);
  assert.equal((body.data as unknown as unknown[]).length, 1);
  const { body: rows } = await tenant.call('GET', `/forms/${form}/rows?sort=-score`);
  const points = (rows.data as unknown as { answers: { score: number } }[]).map(
    ({ answers }) => answers.score,
  );
  assert.deepEqual(points, [9, 0], JSON.stringify(rows));
  const { body: summary } = await tenant.call('GET', `/forms/${form}/summary`);
  const { elements } = summary as unknown as { elements: { id: string; metric?: object; numbers: object }[] };
  const { metric, numbers } = elements.find(({ id }) => id === 'score')!;
  assert.deepEqual(metric, { name: 'pass_rate', value: 50, answers: 2 });
  assert.deepEqual(numbers, { min: 0, max: 9, mean: 4.5 });
});

test('invalid parts of a quiz are refused with the place', async () => {
  const refused = async (elements: unknown[]): Promise<string> => {
    const structure = stepsOf({ title: 'One' }, elements);
    const { status, body } = await tenant.call('POST', '/forms', { structure });
    assert.equal(status, 422);
    return (body as unknown as { errors: { message: string }[] }).errors
      .map(({ message }) => message)
      .join(' ');
  };
  const possible = /"correct" of "q" must contain only possible answers/;
  for (const [type, attrs, message] of [
    ['radio', { correct: ['Purple'] }, possible],
    ['number', { correct: ['2'] }, /must contain only values of the type number/],
    ['yes_no', { correct: ['yes'] }, /must contain only values of the type boolean/],
    ['date', { correct: ['9.11.1989'] }, possible],
    ['text', { correct: [' '] }, possible],
    ['text', { correct: [{}] }, /must contain only values of the type string/],
    ['multiple_choice', { correct: ['Red', 'Purple'] }, possible],
    ['radio', { correct: [] }, /must be a list of 1 to 500 answers/],
    ['radio', { correct: 'Red' }, /must be a list of 1 to 500 answers/],
    ['radio', { correct: ['Red', 'Red'] }, /must not repeat an answer/],
    ['radio', { correct: ['Red'], points: 0 }, /"points" of "q" must be a whole number from 1 to/],
    ['radio', { correct: ['Red'], points: 1.5 }, /"points" of "q" must be a whole number from 1 to/],
    ['score', { pass_mark: 0 }, /"pass_mark" of "q" must be a whole number from 1 to/],
    ['score', { counts: 'page' }, /"counts" of "q" must be one of "form", "section"/],
  ] as const)
    assert.match(await refused([element(type, 'q', attrs)]), message);
  const later = /which is scored after the form is submitted/;
  const about = { element: 'score', is: 'at_least', value: 1 };
  for (const other of [
    element('text', 'x', { show_when: about }),
    element('text', 'x', { label: 'You have {{score}} points' }),
    element('calculation', 'x', { formula: '{score} * 2' }),
  ])
    assert.match(await refused([element('score', 'score'), other]), later);
  const options = [
    { id: 'a', label: 'A', points: 1 },
    { id: 'b', label: 'B' },
  ];
  assert.match(
    await refused([
      element('radio', 'q', { options, correct: ['a'] }),
      element('calculation', 'x', { formula: 'points({q})' }),
    ]),
    /would reveal its right answer/,
  );
  const rows = { repeatable: true };
  assert.match(
    await refused([composite('g', [element('score', 's')], rows)]),
    /cannot be inside a repeatable/,
  );
  assert.match(
    await refused([composite('g', [element('radio', 'q', { correct: ['Red'] })], rows)]),
    /"correct" of "q" cannot be set inside a repeatable composite/,
  );
});

test('validation warns about a quiz that cannot be passed, has no score, or can be corrected', async () => {
  const rules = async (elements: unknown[], own: object = {}): Promise<unknown> => {
    const structure = stepsOf({ title: 'One' }, elements);
    const { body } = await tenant.call('POST', '/forms/validate', { structure, settings: own });
    return (body as unknown as { warnings: { rule: string }[] }).warnings.map(({ rule }) => rule);
  };
  const question = element('radio', 'q', { correct: ['Red'], points: 3 });
  const score = (attrs: object = {}) => element('score', 's', { ...attrs });
  assert.deepEqual(await rules([question, score({ pass_mark: 3 })]), []);
  assert.deepEqual(await rules([question, score({ pass_mark: 4 })]), ['unreachable-pass-mark']);
  assert.deepEqual(await rules([score()]), ['score-without-questions']);
  assert.deepEqual(await rules([question]), ['quiz-without-score']);
  assert.deepEqual(await rules([element('text', 'n')], { certificate_name_element: 'n' }), [
    'certificate-without-score',
  ]);
  for (const limited of [
    element('text', 'q', { correct: ['long'], max_length: 3 }),
    element('number', 'q', { correct: [5], max: 4 }),
  ])
    assert.deepEqual(await rules([limited, score()]), ['impossible-right-answer']);
  for (const own of [{ quiz_results: 'answers' }, {}])
    assert.deepEqual(await rules([question, score()], { ...own, editing: true }), ['editable-quiz']);
  assert.deepEqual(await rules([question, score()], { quiz_results: 'none', editing: true }), []);
});
