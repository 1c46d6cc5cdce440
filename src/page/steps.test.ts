import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, element, stepsOf } from '#test/ast/forms.ts';
import { isSlice } from '#test/cases.ts';
import { filenameOf, openPaper, type Paper, publishForm, submissionOf } from '#test/paper.ts';
import { shareService } from '#test/service.ts';
import { asJson, openVisitor } from '#test/visitor.ts';

/** The steps of a form for a visitor without scripts: every test only presses the page's buttons. */

const service = await shareService();
const tenant = await service.makeTenant();

const when = (id: string, is: string, value?: unknown) => ({
  element: id,
  is,
  ...(value !== undefined && { value }),
});

const least = { element: 'least', is: 'at_most', other: 'most' };

const trip = stepsOf(
  { title: 'You' },
  [element('text', 'name', { required: true })],
  { title: 'Trip' },
  [element('radio', 'colour'), element('file_upload', 'ticket')],
  { title: 'End' },
  [element('textarea', 'notes')],
);

test('without a script, an answer that breaks a rule between two questions is refused at its step', async () => {
  const rule = { element: 'end', is: 'after', other: 'start' };
  const message = { error_message: 'End must be after start.' };
  const form = await publishForm(
    tenant,
    stepsOf(
      { title: 'Trip' },
      [element('date', 'start'), element('date', 'end', { valid_when: rule, ...message })],
      { title: 'End' },
      [element('number', 'most'), element('number', 'least', { valid_when: least })],
    ),
  );
  const first = await openPaper(service, `/f/${form}`);
  const refused = await first.press('next', { start: '2026-12-24', end: '2026-12-24' });
  assert.deepEqual([refused.status, refused.problems], [422, ['The end: End must be after start.']]);
  const second = await refused.press('next', { start: '2026-12-24', end: '2026-12-25' });
  assert.deepEqual(second.headings, ['End']);
  const again = await second.press('submit', { most: '1', least: '2' });
  const general = 'The least: This answer doesn’t fit your other answers. Change one of them.';
  assert.deepEqual([again.status, again.problems], [422, [general]]);
  const answers = { start: '2026-12-24', end: '2026-12-20' };
  const { status, body } = await openVisitor(service).submit(form, answers);
  assert.equal(status, 422);
  assert.deepEqual(body.errors, [
    { field: 'end', message: 'The end: End must be after start.', code: 'not_allowed' },
  ]);
});

test('without a script, a page shows the available options, rejects an unavailable one by label, and keeps the other answers', async () => {
  const form = await publishForm(
    tenant,
    stepsOf(
      { title: 'Trip' },
      [
        element('radio', 'country', { options: ['DE', 'FR'] }),
        element('radio', 'city', {
          options: [
            { id: 'b', label: 'Berlin', show_when: when('country', 'equals', 'DE') },
            { id: 'p', label: 'Paris', show_when: when('country', 'equals', 'FR') },
          ],
        }),
        element('text', 'name'),
      ],
      { title: 'End' },
      [element('text', 'notes')],
    ),
  );
  const open = ({ tags }: Paper): string[] =>
    tags.flatMap(({ attrs }) =>
      attrs['name'] === 'city' && attrs['value'] && !('disabled' in attrs) ? [attrs['value']] : [],
    );
  const first = await openPaper(service, `/f/${form}`);
  assert.deepEqual(open(first), []);
  const opened = await first.press('next', { country: 'DE', name: 'Ada' });
  assert.deepEqual([opened.headings, open(opened)], [['Trip'], ['b']], 'what an answer opens is looked at');
  const refused = await opened.press('next', { country: 'FR', city: 'b' });
  assert.deepEqual(
    [refused.status, refused.problems],
    [422, ['The city: “Berlin” isn’t available with your other answers. Choose another option.']],
  );
  assert.deepEqual(
    [open(refused), refused.values('name'), refused.values('country')],
    [['p'], ['Ada'], ['FR']],
  );
  const second = await refused.press('next', { city: 'p' });
  assert.deepEqual((await submissionOf(tenant, await second.press('submit'))).answers, {
    country: 'FR',
    city: 'p',
    name: 'Ada',
  });
});

test('Next validates its step, Back keeps answers without validation, and the last step submits everything', async () => {
  const form = await publishForm(tenant, trip);
  const first = await openPaper(service, `/f/${form}`);
  assert.deepEqual([first.headings, first.title], [['You'], 'Step 1 of 3 – Contact']);
  const refused = await first.press('next');
  assert.deepEqual([refused.status, refused.problems], [422, ['The name: Enter your full name']]);
  assert.equal(refused.title, 'Error: Step 1 of 3 – Contact');
  const second = await refused.press('next', { name: 'Ada' });
  assert.deepEqual([second.status, second.headings, second.title], [200, ['Trip'], 'Step 2 of 3 – Contact']);
  assert.equal(second.tags.find(({ attrs }) => 'autofocus' in attrs)?.text, 'Trip');
  const back = await second.press('back', { colour: 'Green' });
  assert.deepEqual(
    [back.headings, back.values('name'), back.values('colour')],
    [['You'], ['Ada'], ['Green']],
  );
  const third = await (await back.press('next')).press('next');
  assert.deepEqual(third.headings, ['End']);
  assert.deepEqual((await submissionOf(tenant, await third.press('submit', { notes: 'Bye' }))).answers, {
    name: 'Ada',
    colour: 'Green',
    notes: 'Bye',
  });
});

test('a step whose conditions hide all elements is skipped in both directions and not counted; a visible text counts as content', async () => {
  const isYes = { show_when: when('more', 'equals', true) };
  const inGroup = composite('group', [element('text', 'three', isYes)]);
  const form = await publishForm(
    tenant,
    stepsOf(
      { title: 'One' },
      [element('yes_no', 'more')],
      { title: 'Two' },
      [element('heading', 'head', isYes), element('text', 'two', { ...isYes, required: true }), inGroup],
      { title: 'Text' },
      [element('paragraph', 'said'), element('text', 'four', isYes)],
      { title: 'End' },
      [element('text', 'five')],
    ),
  );
  const first = await openPaper(service, `/f/${form}`);
  assert.equal(first.title, 'Step 1 of 3 – Contact');
  const text = await first.press('next', { more: 'no' });
  assert.deepEqual([text.headings, text.title], [['Text'], 'Step 2 of 3 – Contact']);
  assert.deepEqual((await text.press('back')).headings, ['One']);
  const second = await (await text.press('back')).press('next', { more: 'yes' });
  assert.deepEqual([second.headings, second.title], [['Two'], 'Step 2 of 4 – Contact']);
  const end = await text.press('next');
  assert.equal(end.title, 'Step 3 of 3 – Contact');
  assert.deepEqual((await submissionOf(tenant, await end.press('submit'))).answers, { more: false });
});

test('a file chosen in one step is submitted from another', async () => {
  const form = await publishForm(tenant, trip);
  const second = await (await openPaper(service, `/f/${form}`)).press('next', { name: 'Ada' });
  const third = await second.press('next', { ticket: [new File(['bytes'], 'ticket.txt')] });
  assert.equal(third.values('_file[ticket]').length, 1);
  const { answers } = await submissionOf(tenant, await third.press('submit'));
  assert.equal(filenameOf(answers.ticket), 'ticket.txt');
});

test('a valid file is kept if another answer of its step is invalid; an invalid file is not kept', async () => {
  const form = await publishForm(
    tenant,
    stepsOf({}, [
      element('text', 'name', { required: true }),
      element('file_upload', 'cv', { accept: ['.pdf'] }),
    ]),
  );
  const page = await openPaper(service, `/f/${form}`);
  const refused = await page.press('submit', { cv: [new File(['%PDF-1.7 x'], 'a.pdf')] });
  assert.deepEqual([refused.status, refused.values('_file[cv]').length], [422, 1]);
  const wrong = await page.press('submit', { name: 'Ada', cv: [new File(['x'], 'a.txt')] });
  assert.deepEqual([wrong.status, wrong.values('_file[cv]').length], [422, 0]);
  assert.match(wrong.problems[0] ?? '', /^The cv: /);
});

for (const [go, steps] of [
  ['back', 2],
  ['save', 2],
  ['add', 1],
] as const) {
  test(`a file that is too large is not kept, whichever button is pressed: ${go}`, {
    skip: isSlice && go !== 'save',
  }, async () => {
    const questions = [
      element('file_upload', 'ticket'),
      composite('team', [element('text', 'member')], { repeatable: true }),
    ];
    const form = await publishForm(
      tenant,
      steps === 2
        ? stepsOf({ title: 'You' }, [element('text', 'name')], { title: 'Trip' }, questions)
        : stepsOf({}, questions),
      { save_progress: true },
    );
    const first = await openPaper(service, `/f/${form}`);
    const page = steps === 2 ? await first.press('next', { name: 'Ada' }) : first;
    const large = new File(['x'.repeat(10 * 1024 * 1024 + 1)], 'large.txt');
    const next =
      go === 'add'
        ? await page.press('', { _add: 'team', ticket: [large] })
        : await page.press(go, { ticket: [large] });
    assert.deepEqual(next.values('_file[ticket]'), []);
    const { rows } = await service.services.database.query('select 1 from files where form_id = $1', [form]);
    assert.equal(rows.length, 0);
  });
}

test('a typed name becomes a signature image that is kept across all steps until another replaces it', async () => {
  const form = await publishForm(
    tenant,
    stepsOf(
      {},
      [
        element('signature', 'sign', { required: true }),
        composite('witnesses', [element('signature', 'by')], { repeatable: true }),
      ],
      {},
      [element('text', 'note', { required: true })],
    ),
  );
  const blank = await openPaper(service, `/f/${form}`);
  const missing = await blank.press('next');
  assert.deepEqual(missing.problems, ['The sign: Sign, or type your name']);
  const long = await missing.press('next', { sign: 'A'.repeat(201) });
  assert.deepEqual(long.problems, ['The sign: Use at most 200 characters']);
  assert.deepEqual(long.values('sign'), ['A'.repeat(201)]);
  const typed = { sign: ' Ada <b>&Co/Lovelace ', 'witnesses[0][by]': 'Anni' };
  const signed = await long.press('next', typed);
  const again = await signed.press('back');
  assert.deepEqual([again.values('sign'), again.values('_file[sign]').length], [[''], 1]);
  const replaced = await again.press('next', { sign: 'A. <b>&L/C' });
  assert.equal(replaced.values('_file[sign]').length, 1);
  const { answers } = await submissionOf(tenant, await replaced.press('submit', { note: 'x' }));
  const { sign, witnesses } = answers as {
    sign: { filename: string; content_type: string; url: string }[];
    witnesses: { by: { filename: string }[] }[];
  };
  assert.deepEqual([sign[0]!.filename, sign[0]!.content_type], ['A. <b>&L-C.svg', 'image/svg+xml']);
  assert.equal(sign.length, 1);
  assert.equal(witnesses[0]!.by[0]!.filename, 'Anni.svg');
  const picture = await (await fetch(sign[0]!.url)).text();
  assert.match(picture, /^<svg [^<]+<rect [^<]+<text [^<]+>A\. &lt;b&gt;&amp;L\/C<\/text><\/svg>$/);
});

test('a page with a removed or unknown step counts as the last step, and can be saved and submitted', async () => {
  const form = await publishForm(tenant, stepsOf({}, [element('text', 'name')]), { save_progress: true });
  const page = await openPaper(service, `/f/${form}`);
  assert.equal((await page.press('save', { name: 'Ada', _step: '99999999999' })).status, 200);
  const { answers } = await submissionOf(tenant, await page.press('submit', { name: 'Ada', _step: '7' }));
  assert.deepEqual(answers, { name: 'Ada' });
});

test('Save reports a problem with a file first, and saves the other answers when it is pressed again', async () => {
  const form = await publishForm(
    tenant,
    stepsOf({}, [element('text', 'name'), element('file_upload', 'cv')]),
    {
      save_progress: true,
    },
  );
  const large = new File(['x'.repeat(10 * 1024 * 1024 + 1)], 'large.txt');
  const refused = await (await openPaper(service, `/f/${form}`)).press('save', { name: 'Ada', cv: [large] });
  assert.equal(refused.status, 422);
  assert.match(refused.problems[0] ?? '', /larger than 10 MB/);
  const saved = await refused.press('save');
  const link = saved.tags.find(({ attrs }) => attrs['href']?.includes('/resume/'))!.attrs['href']!;
  assert.deepEqual((await openPaper(service, new URL(link).pathname)).values('name'), ['Ada']);
});

const conditional = stepsOf(
  { title: 'First' },
  [
    element('yes_no', 'eats'),
    element('text', 'dish', { required: true, show_when: when('eats', 'equals', true) }),
    element('paragraph', 'sorry', { show_when: when('eats', 'equals', false) }),
  ],
  { title: 'Second', id: 'second', show_when: when('eats', 'equals', true) },
  [element('text', 'drink')],
);

test('questions revealed by an answer are shown before the step ends, and are errors only if they are then left blank', async () => {
  const form = await publishForm(tenant, conditional);
  const again = await (await openPaper(service, `/f/${form}`)).press('next', { eats: 'yes' });
  assert.deepEqual([again.status, again.headings, again.problems], [200, ['First'], []]);
  assert.match(again.notice ?? '', /added more questions/);
  const missing = await again.press('next');
  assert.deepEqual([missing.status, missing.problems], [422, ['The dish: Enter an answer']]);
  const second = await missing.press('next', { dish: 'Soup' });
  assert.deepEqual(second.headings, ['Second']);
  assert.deepEqual((await submissionOf(tenant, await second.press('submit', { drink: 'Tea' }))).answers, {
    eats: true,
    dish: 'Soup',
    drink: 'Tea',
  });
});

test('a step that an answer makes unreachable is skipped, and answers in it are not stored', async () => {
  const form = await publishForm(tenant, conditional);
  const again = await (await openPaper(service, `/f/${form}`)).press('next', { eats: 'yes' });
  const second = await again.press('next', { dish: 'Soup' });
  const back = await second.press('back', { drink: 'Tea' });
  const changed = await back.press('next', { eats: 'no' });
  assert.match(changed.notice ?? '', /added more questions/);
  const last = await changed.press('next');
  assert.match(last.notice ?? '', /the last question/);
  assert.deepEqual((await submissionOf(tenant, await last.press('submit'))).answers, { eats: false });
});

test('an error in an earlier step is shown there when the last step is submitted', async () => {
  const form = await publishForm(tenant, trip);
  const third = await (await (await openPaper(service, `/f/${form}`)).press('next', { name: 'Ada' })).press(
    'next',
  );
  const sent = await third.press('submit', { name: '' });
  assert.deepEqual([sent.status, sent.headings], [422, ['You']]);
  assert.deepEqual(sent.problems, ['The name: Enter your full name']);
});

test('rows are added and removed in their step, and the page stays on it', async () => {
  const form = await publishForm(
    tenant,
    stepsOf({ title: 'A' }, [element('text', 'name')], { title: 'B' }, [
      composite('team', [element('text', 'member')], { repeatable: true }),
    ]),
  );
  const second = await (await openPaper(service, `/f/${form}`)).press('next');
  const more = await second.press('', { 'team[0][member]': 'Ada', _add: 'team' });
  assert.deepEqual([more.status, more.headings, more.values('team[0][member]')], [200, ['B'], ['Ada']]);
  assert.deepEqual(more.values('_row'), ['team[0]', 'team[1]']);
});

test('the progress bar never moves back on the way forward, even if an answer adds steps', async () => {
  const jump = { when: when('short', 'equals', true), to: 'end' };
  const form = await publishForm(
    tenant,
    stepsOf(
      { title: 'A' },
      [element('yes_no', 'long')],
      ...['B', 'C', 'D', 'E', 'F'].flatMap((title, at) => [
        at === 0 ? { title, jumps: [jump] } : { title, show_when: when('long', 'equals', true) },
        [element(at === 0 ? 'yes_no' : 'text', at === 0 ? 'short' : title)],
      ]),
    ),
  );
  const barOf = ({ tags }: Paper) => Number(tags.find(({ tag }) => tag === 'progress')?.attrs['value']);
  const first = await openPaper(service, `/f/${form}`);
  const second = await first.press('next', { long: 'yes' });
  assert.deepEqual([barOf(first), barOf(second)], [33, 33]);
  assert.equal(
    second.tags.find(({ attrs }) => attrs['role'] === 'progressbar')?.attrs['aria-valuetext'],
    'Step 2 of 6',
  );
});

test('a JSON post submits the form from any step, and so does a post without a step', async () => {
  const form = await publishForm(tenant, trip, { save_progress: true });
  const visitor = openVisitor(service);
  const inStep = await visitor.post(
    form,
    [
      ['_step', '0'],
      ['_go', 'next'],
      ['name', 'Ada'],
    ],
    asJson,
  );
  assert.equal(inStep.status, 201, inStep.text);
  assert.equal((await visitor.post(form, [['name', 'Ada']])).status, 303);
});

test("an unknown field becomes reference data, unless it comes from the form's own page, whose form has changed", async () => {
  const form = await publishForm(tenant, trip);
  const visitor = openVisitor(service);
  const resultOf = async (...more: [string, string][]): Promise<unknown> =>
    JSON.parse((await visitor.post(form, [['name', 'Ada'], ['strange', '1'], ...more], asJson)).text).errors;
  const fields: [string, string][] = [
    ['name', 'Ada'],
    ['strange', '1'],
    ['campaign', 'field'],
    ['submit', 'Send'],
    ['button', 'x'],
    ['_gotcha', ''],
    ['__proto__', 'p'],
  ];
  const sent = await visitor.post(form, fields, { ...asJson, query: '?campaign=address' });
  assert.equal(sent.status, 201, sent.text);
  const { metadata } = (await tenant.call('GET', `/submissions/${sent.body.id}`)).body;
  assert.deepEqual({ ...metadata.reference }, { strange: '1', campaign: 'address' });
  const own = await visitor.post(
    form,
    [
      ['name', 'Ada'],
      ['rest', 'x\0y'],
    ],
    asJson,
  );
  assert.deepEqual([own.status, own.body.errors[0]!.field], [422, 'rest']);
  const changed = 'This form has changed since you opened it. Check your answers, then submit again.';
  assert.deepEqual(await resultOf(['_step', '0'], ['_go', 'submit']), [
    { field: 'strange', message: changed, code: 'invalid' },
  ]);
});

test('a script saves the valid answers although a file is invalid, and reports the file', async () => {
  const form = await publishForm(
    tenant,
    stepsOf({}, [element('text', 'name'), element('file_upload', 'cv')]),
    { save_progress: true },
  );
  const large = new File(['x'.repeat(10 * 1024 * 1024 + 1)], 'large.txt');
  const visitor = openVisitor(service);
  const saved = await visitor.post(
    form,
    [
      ['name', 'Ada'],
      ['cv', large],
      ['_go', 'save'],
    ],
    asJson,
  );
  assert.equal(saved.status, 200, saved.text);
});

test('a hidden value comes from the URL, is kept through all steps, and is not shown', async () => {
  const form = await publishForm(
    tenant,
    stepsOf(
      { title: 'One' },
      [element('hidden', 'source', { required: true }), element('text', 'name')],
      { title: 'Nothing to see' },
      [element('hidden', 'campaign', { max_length: 5 })],
      { title: 'End' },
      [element('textarea', 'notes')],
    ),
    { review_step: true },
  );
  const first = await openPaper(service, `/f/${form}?source=%3Cb%3Espring&campaign=too+long&utm=mail`);
  assert.deepEqual([first.title, first.notice], ['Step 1 of 3 – Contact', undefined]);
  assert.deepEqual([first.values('source'), first.values('campaign')], [['<b>spring'], ['']]);
  assert.equal(JSON.stringify(first.tags.map(({ text }) => text)).includes('spring'), false);
  const end = await first.press('next');
  assert.deepEqual([end.headings, end.values('source')], [['End'], ['<b>spring']]);
  const review = await end.press('next', { notes: 'Bye' });
  assert.equal(
    review.tags
      .filter(({ tag }) => tag === 'dt')
      .map(({ text }) => text)
      .join(),
    'The name,The notes',
  );
  const { answers, metadata } = await submissionOf(tenant, await review.press('submit'));
  assert.deepEqual([answers, metadata.reference], [{ source: '<b>spring', notes: 'Bye' }, { utm: 'mail' }]);
  const { status, body } = await openVisitor(service).submit(form, { campaign: 'longer' });
  assert.deepEqual([status, body.errors?.[0]?.field], [422, 'campaign']);
});

test('with one question at a time, a hidden value has no page, and a row with only a hidden value is blank', async () => {
  const form = await publishForm(
    tenant,
    stepsOf({}, [
      element('hidden', 'source'),
      element('text', 'name'),
      element('hidden', 'campaign'),
      composite('guests', [element('hidden', 'badge'), element('text', 'guest', { required: true })], {
        repeatable: true,
      }),
    ]),
    { layout: 'question' },
  );
  const first = await openPaper(service, `/f/${form}?source=a&campaign=b&guests[0][badge]=7`);
  assert.equal(first.title, 'Question 1 of 2 – Contact');
  const last = await first.press('next');
  assert.deepEqual((await submissionOf(tenant, await last.press('submit'))).answers, {
    source: 'a',
    campaign: 'b',
  });
});

test('a consent stores the text that the visitor read, the version of the form and the time, whatever is sent', async () => {
  const form = await publishForm(
    tenant,
    stepsOf({}, [
      element('consent', 'terms', {
        required: true,
        statement: 'I agree to the [terms](https://a.example/terms).',
      }),
      element('consent', 'news', { statement: 'Write to me.' }),
      composite('guests', [element('text', 'guest'), element('consent', 'photos')], { repeatable: true }),
    ]),
    { editing: true },
  );
  const first = await openPaper(service, `/f/${form}?terms=yes`);
  assert.deepEqual([first.values('terms'), first.notice?.includes('The terms')], [[], true]);
  const refused = await first.press('submit');
  assert.deepEqual([refused.status, refused.problems], [422, ['The terms: Tick the box to agree']]);
  const taken = await refused.press('submit', {
    terms: 'yes',
    'guests[0][guest]': 'Bob',
    'guests[0][photos]': 'yes',
  });
  const { id, answers, created_at: at } = await submissionOf(tenant, taken);
  const stamp = { version: 1, at };
  const terms = { agreed: true, text: 'I agree to the [terms](https://a.example/terms).', ...stamp };
  const guests = [{ guest: 'Bob', photos: { agreed: true, text: 'Its statement', ...stamp } }];
  assert.deepEqual(answers, { terms, guests });

  // A member changes another answer, and sends the stored consents with it.
  const changed = await tenant.call(
    'PATCH',
    `/submissions/${id}`,
    { answers: { news: true, terms: { ...terms, text: 'Everything', at: 'never' }, guests } },
    { 'Content-Type': 'application/merge-patch+json' },
  );
  assert.equal(changed.status, 200, JSON.stringify(changed.body));
  const now = (await tenant.call('GET', `/submissions/${id}`)).body.answers as Record<
    string,
    { text: string; version: number; at: string }
  >;
  assert.deepEqual([now['terms'], now['guests']], [terms, guests]);
  assert.deepEqual(
    [now['news']!.text, now['news']!.version, now['news']!.at > at],
    ['Write to me.', 1, true],
  );

  // The visitor opens the link, sees both consents, and withdraws one.
  const edit = new URL(taken.location!, service.url).searchParams.get('edit');
  const again = await openPaper(service, `/f/${form}/edit/${edit}`);
  assert.deepEqual([again.values('terms'), again.values('news')], [['yes'], ['yes']]);
  const sent = await again.press('submit', { news: [] });
  assert.equal(sent.status, 303, sent.problems.join());
  assert.deepEqual((await tenant.call('GET', `/submissions/${id}`)).body.answers, { terms, guests });
});

test('sending a consent twice with one idempotency key creates one submission, and false is not a consent', async () => {
  const form = await publishForm(tenant, stepsOf({}, [element('consent', 'terms'), element('text', 'name')]));
  const key = { 'Content-Type': 'application/json', 'Idempotency-Key': 'consent' };
  const send = async (terms: unknown) =>
    openVisitor(service).fetch(`/f/${form}`, {
      method: 'POST',
      headers: key,
      body: JSON.stringify({ answers: { terms, name: 'Ada' } }),
    });
  const [one, two] = [await send(true), await send(true)];
  assert.deepEqual([one.status, two.status, two.body.id], [201, 201, one.body.id]);
  assert.equal((await send(false)).status, 409);
});
