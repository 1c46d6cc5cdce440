import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkSettings, dropStaleSettings } from '#ast/settings.ts';
import { composite, element, formOf, problemsOf, stepsOf } from '#test/ast/forms.ts';
import { openPaper, type Paper, publishForm, submissionOf } from '#test/paper.ts';
import { shareService } from '#test/service.ts';

/** Texts that show answers (`{{id}}`), on pages without scripts and in the rest of the service. */

const service = await shareService();
const tenant = await service.makeTenant();

const textsOf = ({ tags }: Paper, ...names: readonly string[]): string[] =>
  tags.filter(({ tag }) => names.includes(tag)).map(({ text }) => text.replaceAll('\n', ' ').trim());

const greeting = stepsOf(
  { title: 'You' },
  [
    element('text', 'name'),
    element('date', 'born'),
    element('number', 'cost'),
    element('multiple_choice', 'meals'),
    element('yes_no', 'abroad'),
    element('text', 'visa', { show_when: { element: 'abroad', is: 'equals', value: true } }),
    composite(
      'guests',
      [element('text', 'guest'), element('email', 'mail', { label: 'Mail of {{guest}}' })],
      {
        label: 'Guest of {{name}}',
        repeatable: true,
      },
    ),
  ],
  {
    title: 'Stay of {{name}}',
    description: 'Born **{{born}}**, [{{ meals }}](https://example.com/{{name}})',
  },
  [
    element('text', 'why', {
      label: '{{name}}, why {{cost}}?',
      help_text: '- visa: {{visa}}\n- **{{name}}**',
      required: true,
    }),
    // A heading asks for no answer, so its `require_when` is not read.
    element('heading', 'hello', { label: 'Hello {{name}}', require_when: true }),
    element('paragraph', 'text', { label: 'Abroad: {{abroad}}.' }),
  ],
);

test('later texts show answers formatted for people, also in rows, and show nothing for blank or hidden answers', async () => {
  const form = await publishForm(tenant, greeting, { locale: 'de' });
  const first = await openPaper(service, `/f/${form}`);
  assert.ok(textsOf(first, 'legend').includes('Guest of'), 'nothing is answered yet');
  const second = await first.press('next', {
    name: 'Ada',
    born: '1999-04-30',
    cost: '12345,5',
    meals: ['Red', 'Blue'],
    abroad: 'no',
    visa: 'secret',
    'guests[0][guest]': 'Anni',
  });
  assert.deepEqual(second.headings, ['Stay of Ada']);
  const all = textsOf(second, 'p', 'label', 'h3', 'li', 'legend').join(' | ');
  for (const text of [
    'Born 30. April 1999, Red und Blue',
    'Ada, why 12.345,5?',
    'Hello Ada',
    'Abroad: Nein.',
    'visa: |',
    'Guest of Ada 1',
    'Mail of Anni',
  ]) {
    assert.ok(all.includes(text), `${text} in ${all}`);
  }
  const refused = await second.press('submit');
  assert.match(refused.problems[0]!, /^Ada, why 12\.345,5\? /);
});

test('an answer is shown as text on one line: no markup, no formatting, no other answers', async () => {
  const form = await publishForm(tenant, greeting, {
    confirmation_message: 'Thanks **{{name}}**, {{why}}.',
    theme: { confirmation_title: 'Bye {{cost}}' },
  });
  const hostile = '<img src=x> **bold** [x](https://evil.example) {{cost}} "\'&';
  const second = await (await openPaper(service, `/f/${form}`)).press('next', { name: hostile, cost: '5' });
  assert.deepEqual(second.headings, [`Stay of ${hostile}`]);
  assert.equal(second.tags.filter(({ tag }) => tag === 'img').length, 0);
  const links = second.tags.filter(({ tag }) => tag === 'a').map(({ attrs }) => attrs['href']);
  assert.deepEqual(links, ['https://example.com/{{name}}'], 'addresses show no answers');
  assert.deepEqual(
    second.tags.filter(({ tag }) => tag === 'b').map(({ text }) => text),
    ['', hostile],
  );
  const sent = await second.press('submit', { why: 'a\u2028b' });
  assert.ok(!decodeURIComponent(sent.location!).includes('evil'), 'the address shows no answer');
  const thanks = await openPaper(service, sent.location!);
  assert.ok(textsOf(thanks, 'p').includes(`Thanks ${hostile}, a b.`));
  assert.deepEqual([textsOf(thanks, 'h1'), thanks.title], [['Bye 5'], 'Bye 5 – Contact']);
  const later = await openPaper(service, sent.location!.replace(/_told=[^&]*/, '_told=AAAA'));
  assert.ok(textsOf(later, 'p').includes('Thanks , .'), 'nothing without what was given at the submit');
  await submissionOf(tenant, sent);
});

test('the server calculates a score, which is shown on the next step and selects the confirmation or redirect', async () => {
  const options = [{ id: 'a', label: 'Good', points: 5 }, 'bad'];
  const quiz = stepsOf(
    {},
    [
      element('radio', 'mood', { options }),
      element('number', 'bonus'),
      element('calculation', 'secret', { formula: '{bonus} * 1000', hidden: true }),
    ],
    {},
    [
      element('calculation', 'score', {
        formula: 'points({mood}) + {bonus}',
        decimals: 1,
        suffix: ' points',
      }),
      element('text', 'more', { label: 'Why {{score}}?' }),
    ],
  );
  const at = (least: number) => ({ element: 'score', is: 'at_least', value: least });
  const form = await publishForm(tenant, quiz, {
    confirmation_message: 'Thanks.',
    redirect_url: 'https://all.example/',
    confirmations: [
      { when: at(100), redirect_url: 'https://best.example/' },
      { when: at(10), title: 'Won', message: 'You have {{score}}.' },
      { when: { element: 'mood', is: 'equals', value: 'bad' }, message: 'Oh.' },
    ],
  });
  const send = async (answers: Record<string, string>) => {
    const second = await (await openPaper(service, `/f/${form}`)).press('next', answers);
    return [second, await second.press('submit', { score: '1', secret: '1' })] as const;
  };
  const [second, sent] = await send({ mood: 'a', bonus: '5.25' });
  assert.deepEqual(textsOf(second, 'output'), ['10.3 points']);
  assert.ok(textsOf(second, 'label').includes('Why 10.3 points?'));
  const won = await openPaper(service, sent.location!);
  assert.deepEqual(
    [textsOf(won, 'h1'), textsOf(won, 'p').includes('You have 10.3 points.')],
    [['Won'], true],
  );
  const { answers } = await submissionOf(tenant, sent);
  assert.deepEqual(answers, { mood: 'a', bonus: 5.25, secret: 5250, score: 10.3 });
  // Changing the URL does not reveal another confirmation.
  const other = await openPaper(service, sent.location!.replace(/_told=[^&]*/, '_told=AAAA'));
  assert.ok(textsOf(other, 'p').includes('Thanks.'));
  const [, best] = await send({ bonus: '100' });
  assert.match(best.location!, /^https:\/\/best\.example\/\?receipt=/);
  const [, rest] = await send({ bonus: '1' });
  assert.match(rest.location!, /^https:\/\/all\.example\/\?receipt=/);
  const [, bad] = await send({ mood: 'bad' });
  assert.ok(textsOf(await openPaper(service, bad.location!), 'p').includes('Oh.'));
  const policy = (await fetch(`${service.url}/f/${form}`)).headers.get('content-security-policy') ?? '';
  assert.match(policy, /form-action 'self' https:\/\/all\.example https:\/\/best\.example;/);
});

test("columns, fields, payloads and errors of the API show the question's label in place of its answer", async () => {
  const form = await publishForm(tenant, greeting);
  const post = async (answers: object): Promise<{ id: string; errors?: { message: string }[] }> => {
    const posted = await fetch(`${service.url}/f/${form}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ answers }),
    });
    return (await posted.json()) as { id: string };
  };
  const refused = await post({ name: 'Ada' });
  assert.match(refused.errors?.[0]?.message ?? '', /^\[The name\], why \[The cost\]\? /);
  const { id } = await post({ name: 'Ada', why: 'So' });
  const { body } = await tenant.call('GET', `/submissions/${id}`);
  assert.equal(body.metadata.fields['why']?.label, '[The name], why [The cost]?');
  assert.equal(body.metadata.fields['mail']?.label, 'Mail of [The guest]');
});

test('an invalid answer to a question in the confirmation message is reported as invalid', async () => {
  const structure = stepsOf({}, [element('file_upload', 'photo'), element('text', 'name')]);
  const form = await publishForm(tenant, structure, { confirmation_message: '{{photo}} of {{name}}' });
  for (const photo of ['x', ['x'], [{ filename: 7 }], [null], { toString: 1 }]) {
    const posted = await fetch(`${service.url}/f/${form}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ answers: { photo, name: { toString: 1 } } }),
    });
    assert.equal(posted.status, 422, JSON.stringify(photo));
    const { errors } = (await posted.json()) as { errors: { field: string }[] };
    assert.deepEqual(errors.map(({ field }) => field).toSorted(), ['name', 'photo']);
  }
});

const refusals: readonly (readonly [what: string, children: readonly object[], message: RegExp])[] = [
  [
    'an unknown element',
    [element('text', 'a', { label: '{{unknown}}' })],
    /^"label" of "a" shows the answer to "unknown", which is not an element of the form\./,
  ],
  ['itself', [element('text', 'a', { help_text: '{{a}}' })], /which is not asked before this text/],
  [
    'an element that comes later',
    [element('text', 'a', { label: '{{b}}' }), element('text', 'b')],
    /which is not asked before this text/,
  ],
  [
    'a heading',
    [element('heading', 'h'), element('text', 'a', { label: '{{h}}' })],
    /which has no answer\.$/,
  ],
  [
    'an answer in a placeholder',
    [element('text', 'a'), element('text', 'b', { placeholder: 'Like {{a}}' })],
    /^"placeholder" of "b" cannot show answers\. Remove \{\{a\}\}\.$/,
  ],
  [
    'an answer in an error message',
    [element('text', 'a'), element('text', 'b', { error_message: 'Not {{a}}!' })],
    /^"error_message" of "b" cannot show answers/,
  ],
  [
    'a row outside that row',
    [composite('g', [element('text', 'c')], { repeatable: true }), element('text', 'a', { label: '{{c}}' })],
    /which has an answer in each row of "g"/,
  ],
];
for (const [what, children, message] of refusals) {
  test(`a text that shows ${what} is rejected with its path`, () => {
    const [problem] = problemsOf(stepsOf({}, children));
    assert.match(problem?.message ?? '', message);
    assert.equal(problem?.path[0], 0);
    assert.equal(problem.path.length, 2);
  });
}

test('more than 500 references to answers are rejected, and an invalid ID stays text', () => {
  const many = (count: number) =>
    stepsOf({}, [
      element('text', 'a'),
      element('text', 'b', { label: 'x' }),
      element('paragraph', 'p', { label: '{{a}}'.repeat(200) }),
      element('paragraph', 'q', { label: '{{a}}'.repeat(200) }),
      element('paragraph', 'r', { label: '{{a}}'.repeat(count) }),
    ]);
  assert.deepEqual(problemsOf(many(100)), []);
  assert.match(problemsOf(many(101))[0]?.message ?? '', /at most 500 answers/);
  assert.deepEqual(problemsOf(stepsOf({}, [element('text', 'a', { label: '{{}} {{-1}} {{ x y }}' })])), []);
});

test('a confirmation message may show only questions of its form; references to removed questions are deleted', () => {
  const form = formOf(element('text', 'name'));
  const refused = checkSettings({ confirmation_message: 'Hi {{other}}' }, form);
  assert.ok(!refused.ok && refused.errors[0]?.field === 'confirmation_message');
  const title = checkSettings({ theme: { confirmation_title: '{{other}}!' } }, form);
  assert.ok(!title.ok && title.errors[0]?.field === 'theme.confirmation_title');
  assert.ok(checkSettings({ confirmation_message: 'Hi {{name}}' }, form).ok);
  assert.deepEqual(dropStaleSettings(form, { confirmation_message: 'Hi {{gone}}{{name}}' }), {
    confirmation_message: 'Hi {{name}}',
  });
});
