import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutToBytes } from '#ast/basics/text.ts';
import { composite, element } from '#test/ast/forms.ts';
import { shareService } from '#test/service.ts';
import { asJson, listFiles, makeForm, openVisitor, type Part } from '#test/visitor.ts';
import { submitAnswers } from './submit.ts';

const service = await shareService();
const tenant = await service.makeTenant();
const visitor = openVisitor(service);
const { database } = service.services;

const read = async (id: string) => (await tenant.call('GET', `/submissions/${id}`)).body;
const total = async (formId: string): Promise<number> =>
  (await tenant.call('GET', `/forms/${formId}/submissions`)).body.pagination.total_count;
const countRows = async (table: string, formId: string): Promise<number> =>
  (await database.query<{ count: number }>(`select count(*) from ${table} where form_id = $1`, [formId]))
    .rows[0]!.count;

/** Every type with its answer as JSON, as values of an HTML form, and as stored (docs/rules.md 10). */
const kinds: readonly { type: string; sent: unknown; typed: readonly string[]; stored?: unknown }[] = [
  { type: 'text', sent: ' Ada "& <Lovelace> ', typed: [' Ada "& <Lovelace> '], stored: 'Ada "& <Lovelace>' },
  { type: 'textarea', sent: 'one\ntwo', typed: ['one\r\ntwo'] },
  { type: 'email', sent: 'ada@example.com ', typed: ['ada@example.com '], stored: 'ada@example.com' },
  { type: 'phone', sent: '+44 20 7946 0958', typed: ['+44 20 7946 0958'] },
  { type: 'url', sent: 'https://example.com/a?b=c#d', typed: ['https://example.com/a?b=c#d'] },
  { type: 'number', sent: -12.5, typed: ['-12.5'] },
  { type: 'date', sent: '2028-02-29', typed: ['2028-02-29'] },
  { type: 'time', sent: '23:59', typed: ['23:59'] },
  { type: 'datetime', sent: '2026-01-31T14:30', typed: ['2026-01-31T14:30'] },
  { type: 'dropdown', sent: 'Green', typed: ['Green'] },
  { type: 'radio', sent: 'Blue', typed: ['Blue'] },
  { type: 'multiple_choice', sent: ['Red', 'Blue'], typed: ['Red', 'Blue'] },
  { type: 'yes_no', sent: false, typed: ['no'] },
];
const everyKind = kinds.map(({ type }) => element(type, type));
const storedAnswers = Object.fromEntries(kinds.map(({ type, sent, stored }) => [type, stored ?? sent]));
const typedParts: Part[] = kinds.flatMap(({ type, typed }) => typed.map((value) => [type, value] as const));

test('answers of every type are stored alike from JSON, a urlencoded form and a multipart form', async () => {
  const form = await makeForm(tenant, everyKind);
  const answers = Object.fromEntries(kinds.map(({ type, sent }) => [type, sent]));
  const visits = [
    await visitor.submit(form.id, answers),
    await visitor.post(form.id, typedParts, asJson),
    await visitor.post(form.id, typedParts, { ...asJson, multipart: true }),
  ];
  for (const { status, body } of visits) {
    assert.equal(status, 201, JSON.stringify(body));
    assert.deepEqual((await read(body.id)).answers, storedAnswers);
  }
});

test('rows of a repeatable composite are a list of objects, from JSON and HTML; children of a plain composite are top-level', async () => {
  const form = await makeForm(tenant, [
    composite('team', [element('text', 'member'), element('number', 'age')], { repeatable: true }),
    composite('address', [element('text', 'city')]),
  ]);
  const sent = { team: [{ member: 'Ada', age: 36 }, { member: 'Bob' }], city: 'London' };
  const json = await visitor.submit(form.id, sent);
  const html = await visitor.post(
    form.id,
    [
      ['team[0][member]', 'Ada'],
      ['team[0][age]', '36'],
      ['team[2][member]', 'Bob'],
      ['city', 'London'],
    ],
    asJson,
  );
  for (const { status, body } of [json, html]) {
    assert.equal(status, 201, JSON.stringify(body));
    assert.deepEqual((await read(body.id)).answers, sent);
  }
});

test('blank optional answers are not stored, whatever their form', async () => {
  const form = await makeForm(tenant, everyKind);
  const blank = await visitor.submit(form.id, { text: '  ', number: null, multiple_choice: [], email: '' });
  assert.deepEqual((await read(blank.body.id)).answers, {});
});

const wrong: readonly { name: string; type: string; answer: unknown; required?: boolean }[] = [
  { name: 'text that is a number', type: 'text', answer: 5 },
  { name: 'text of several lines', type: 'text', answer: 'a\nb' },
  { name: 'text over 64 KB', type: 'textarea', answer: 'a'.repeat(65_537) },
  { name: 'an object for text', type: 'text', answer: { a: 1 } },
  { name: 'an email address without a host', type: 'email', answer: 'ada@' },
  { name: 'a phone number of letters', type: 'phone', answer: 'call me' },
  { name: 'an address that runs script', type: 'url', answer: 'javascript:alert(1)' },
  { name: 'a number as text', type: 'number', answer: '5' },
  { name: 'a day that does not exist', type: 'date', answer: '2026-02-30' },
  { name: 'a time past midnight', type: 'time', answer: '24:00' },
  { name: 'a date for a date and time', type: 'datetime', answer: '2026-01-31' },
  { name: 'an option that is not listed', type: 'dropdown', answer: 'Purple' },
  { name: 'a list for a single choice', type: 'radio', answer: ['Red'] },
  { name: 'one option for several', type: 'multiple_choice', answer: 'Red' },
  { name: 'an option twice', type: 'multiple_choice', answer: ['Red', 'Red'] },
  { name: 'yes in words', type: 'yes_no', answer: 'yes' },
  { name: 'nothing for a required answer', type: 'text', answer: '   ', required: true },
  {
    name: 'a file named in JSON',
    type: 'file_upload',
    answer: [{ id: 'x', filepath: '/etc/passwd', url: 'file:///etc/passwd' }],
  },
  { name: 'a file named by its path', type: 'file_upload', answer: '/etc/passwd' },
];
test('an invalid answer returns a 422 that names its field and says what to do, and nothing is stored', async () => {
  for (const { name, type, answer, required = false } of wrong) {
    const form = await makeForm(tenant, [element(type, 'asked', { required })]);
    const { status, body } = await visitor.submit(form.id, { asked: answer });
    assert.deepEqual(
      [status, body.error, body.errors?.map(({ field }) => field)],
      [422, 'validation_error', ['asked']],
      name,
    );
    assert.match(body.errors[0]!.message, /^The asked: .+\.$/, name);
    assert.equal(await countRows('submissions', form.id), 0, name);
  }
});

const foreign: readonly { name: string; body: unknown; fields: readonly string[] }[] = [
  { name: 'an unknown question', body: { answers: { unknown: 1 } }, fields: ['unknown'] },
  {
    name: 'names of the language itself',
    body: '{"answers":{"__proto__":{"polluted":1},"constructor":1,"toString":1}}',
    fields: ['__proto__', 'constructor', 'toString'],
  },
  { name: 'columns of the table', body: { answers: {}, id: 'x', status: 'incomplete' }, fields: ['id'] },
  { name: 'no answers', body: {}, fields: ['answers'] },
  { name: 'answers that are a list', body: { answers: [] }, fields: ['answers'] },
  { name: 'a list', body: [], fields: ['answers'] },
  { name: 'a content element', body: { answers: { heading: 'x' } }, fields: ['heading'] },
];
for (const { name, body: sent, fields } of foreign) {
  test(`${name}: 422 with the names of the fields, and nothing is stored`, async () => {
    const form = await makeForm(tenant, [element('text', 'known'), element('heading', 'heading')]);
    const { status, body } = await visitor.fetch(`/f/${form.id}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: typeof sent === 'string' ? sent : JSON.stringify(sent),
    });
    assert.deepEqual([status, body.errors?.map(({ field }) => field)], [422, fields], JSON.stringify(body));
    assert.equal(await total(form.id), 0);
    assert.ok(!('polluted' in {}));
  });
}

test('all problems of a submission are returned together, in the order of the form', async () => {
  const form = await makeForm(tenant, [
    element('email', 'mail'),
    element('number', 'n'),
    element('text', 'must', { required: true }),
  ]);
  const { body } = await visitor.submit(form.id, { n: 'x', mail: 'y', extra: 1 });
  assert.deepEqual(
    body.errors.map(({ field }) => field),
    ['mail', 'n', 'must', 'extra'],
  );
});

test('the 201 has the ID, the status, the times and the confirmation message', async () => {
  const form = await makeForm(tenant, [element('text', 'a')], {
    settings: { confirmation_message: 'Thank you' },
  });
  const { status, body } = await visitor.submit(form.id, { a: 'x' });
  assert.equal(status, 201);
  assert.deepEqual(Object.keys(body), [
    'id',
    'form_id',
    'status',
    'created_at',
    'completed_at',
    'confirmation_message',
    'next',
  ]);
  const stored = await read(body.id);
  assert.deepEqual(
    [stored.status, stored.form_id, stored.created_at],
    ['completed', form.id, body.created_at],
  );
});

test('URL parameters become reference data unchanged, the first of repeated ones; those that begin with _ do not', async () => {
  const form = await makeForm(tenant, [element('text', 'a')]);
  const { body } = await visitor.submit(
    form.id,
    { a: 'x' },
    '?ref=A%20%26%20B&campaign=spring&ref=second&constructor=p&empty=&__proto__=own',
  );
  const { reference } = (await read(body.id)).metadata;
  assert.deepEqual(Object.entries(reference), [
    ['ref', 'A & B'],
    ['campaign', 'spring'],
    ['constructor', 'p'],
    ['empty', ''],
  ]);
});

test('a NUL character is rejected in an answer, a name, a parameter and a urlencoded field', async () => {
  const form = await makeForm(tenant, [element('text', 'a')]);
  const visits = [
    await visitor.submit(form.id, { a: 'x\u0000y' }),
    await visitor.submit(form.id, { 'a\u0000': 'x' }),
    await visitor.submit(form.id, { a: '\ud800' }),
    await visitor.submit(form.id, { a: 'x' }, '?ref=%00'),
    await visitor.post(form.id, [['a', 'x\u0000y']], asJson),
    await visitor.post(form.id, [['a', 'x\u0000y']], { ...asJson, multipart: true }),
  ];
  assert.deepEqual(
    visits.map(({ status }) => status),
    [422, 422, 422, 400, 422, 422],
  );
  assert.equal(await total(form.id), 0);
});

test('any other text is stored unchanged, except for Unicode NFC and trimmed spaces', async () => {
  const form = await makeForm(tenant, [element('textarea', 'a')]);
  const texts = [
    ['\uFFFE\uFEFFx', '\uFFFE\uFEFFx'],
    ['a\u202Eevil', 'a\u202Eevil'],
    ['\u202Eevil', 'evil'],
    ['e\u0301'.repeat(500), 'é'.repeat(500)],
    ['👩‍👩‍👧‍👦\u2028x\u2029', '👩‍👩‍👧‍👦\u2028x'],
    ["'; drop table forms; --", "'; drop table forms; --"],
    ['\\u0000 \\ "', '\\u0000 \\ "'],
    ['𝕏', '𝕏'],
  ];
  for (const [text, stored] of texts as [string, string][]) {
    for (const { body } of [
      await visitor.submit(form.id, { a: text }),
      await visitor.post(form.id, [['a', text]], asJson),
    ]) {
      assert.equal((await read(body.id)).answers['a'], stored);
    }
  }
});

test('an element ID may equal the name of a built-in object method', async () => {
  const form = await makeForm(tenant, [element('text', 'toString'), element('text', 'hasOwnProperty')]);
  const answers = { toString: 'a', hasOwnProperty: 'b' };
  for (const { status, body } of [
    await visitor.submit(form.id, answers),
    await visitor.post(form.id, Object.entries(answers), asJson),
  ]) {
    assert.equal(status, 201);
    assert.deepEqual((await read(body.id)).answers, answers);
  }
});

test('a response limit is exact under forty parallel submits', async () => {
  const form = await makeForm(tenant, [element('text', 'a')], { settings: { max_submissions: 7 } });
  const visits = await Promise.all(Array.from({ length: 40 }, () => visitor.submit(form.id, { a: 'x' })));
  const byStatus = Object.groupBy(visits, ({ status }) => status);
  assert.deepEqual([byStatus[201]?.length, byStatus[410]?.length], [7, 33]);
  assert.deepEqual([await total(form.id), await countRows('submissions', form.id)], [7, 7]);
});

test('after 200 parallel mixed submits, counts, lists and search agree, and rejected submits left nothing', async () => {
  const forms = await Promise.all(
    Array.from({ length: 3 }, () => makeForm(tenant, [element('text', 'a', { required: true })])),
  );
  const visits = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      visitor.submit(forms[index % 3]!.id, index % 4 === 3 ? {} : { a: 'concurrence' }),
    ),
  );
  assert.deepEqual(
    Object.fromEntries(
      Object.entries(Object.groupBy(visits, ({ status }) => status)).map(([status, list]) => [
        status,
        list?.length,
      ]),
    ),
    { 201: 150, 422: 50 },
  );
  for (const form of forms) {
    const expected = visits
      .filter(({ body }) => body.form_id === form.id)
      .map(({ body }) => body.id)
      .sort()
      .toReversed();
    const { body } = await tenant.call('GET', `/forms/${form.id}/submissions?per_page=100`);
    assert.deepEqual(
      body.data.map(({ id }) => id),
      expected,
    );
    assert.equal(body.pagination.total_count, expected.length);
    assert.equal((await tenant.call('GET', `/forms/${form.id}`)).body.submission_count, expected.length);
    const found = await tenant.call('GET', `/submissions/search?q=concurrence&form_id=${form.id}`);
    assert.equal(found.body.pagination.total_count, expected.length);
  }
});

test('a rejected submit leaves no row, no event and no bytes', async () => {
  const form = await makeForm(tenant, [
    element('file_upload', 'file'),
    element('text', 'must', { required: true }),
  ]);
  const before = await listFiles(service);
  for (let count = 0; count < 5; count += 1) {
    const { status } = await visitor.post(form.id, [['file', new File(['bytes'], 'a.txt')]], asJson);
    assert.equal(status, 422);
  }
  assert.deepEqual(await listFiles(service), before);
  for (const table of ['submissions', 'files', 'events', 'search_documents', 'submission_counts'])
    assert.equal(await countRows(table, form.id), 0, table);
});

test('fifteen long answers with only distinct words are stored and found', async () => {
  const ids = Array.from({ length: 15 }, (_, index) => `t${index}`);
  const form = await makeForm(
    tenant,
    ids.map((id) => element('textarea', id)),
  );
  const answers = Object.fromEntries(
    ids.map((id, part) => [id, Array.from({ length: 7_000 }, (_, index) => `w${part}x${index}`).join(' ')]),
  );
  const { status, body } = await visitor.submit(form.id, answers);
  assert.equal(status, 201);
  assert.equal(
    (await tenant.call('GET', `/submissions/search?q=w0x6999&form_id=${form.id}`)).body.data[0]?.id,
    body.id,
  );
});

/** PostgreSQL splits these into several words each, and its limit applies to the result (1 MB). */
const dense: Record<string, (index: number) => string> = {
  'web addresses': (index) => `${index.toString(36)}.de/?${index.toString(36)}`,
  'hyphenated words': (index) => `a-${index.toString(36)}`,
  'words too long to be indexed': (index) => `${index}${'x'.repeat(2_100)}`,
  'words of letters and digits': (index) => `ab${index.toString(36)}cd1efgh-${index}`,
  'Chinese characters': (index) =>
    String.fromCodePoint(
      ...Array.from({ length: 40 }, (_, at) => 0x4e00 + (((index * 40 + at) ** 2 * 13) % 20_000)),
    ),
};
for (const [name, word] of Object.entries(dense)) {
  test(`answers full of ${name} are stored, however many words the index makes of them`, async () => {
    const ids = Array.from({ length: 5 }, (_, index) => `t${index}`);
    const form = await makeForm(
      tenant,
      ids.map((id) => element('textarea', id)),
    );
    let words = '';
    for (let index = 0; words.length < 5 * 65_000; index += 1) words += `${word(index)} `;
    const answers = Object.fromEntries(
      ids.map((id, index) => [id, cutToBytes(words.slice(index * 65_000), 65_000)]),
    );
    const { status, body } = await visitor.submit(form.id, answers);
    assert.equal(status, 201, JSON.stringify(body));
    // PostgreSQL builds a vector of more than 1 MB without an error, but its terms are then damaged.
    const { rows } = await service.services.database.query(
      `select lexeme from search_documents d, unnest(d.terms)
       where submission_id = $1 and lexeme !~ '^[0-9a-f]+(f[0-9a-f-]{36}$|[a-z]{3}[ !~])' limit 3`,
      [body.id],
    );
    assert.deepEqual(rows, []);
  });
}

test('a form deleted after its lookup rejects the submit with 404, and no row is stored', async () => {
  const form = await makeForm(tenant, [element('text', 'a')]);
  const live = (await service.services.liveForms.find(form.id))!;
  await tenant.call('DELETE', `/forms/${form.id}`);
  const late = () =>
    submitAnswers(service.services, { live, raw: { a: 'x' }, files: new Map(), reference: {} });
  await assert.rejects(late, { code: 'not_found' });
  assert.equal(await countRows('submissions', form.id), 0);
});

test('an Idempotency-Key returns the same submission for a repeated request, and 409 for another request', async () => {
  const form = await makeForm(tenant, [element('text', 'a', { required: true })]);
  const send = async (a: string, key: string, formId = form.id) => {
    const answer = await fetch(`${service.url}/f/${formId}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
      body: JSON.stringify({ answers: { a } }),
    });
    return { status: answer.status, body: (await answer.json()) as { id: string; error: string } };
  };
  const answers = await Promise.all(Array.from({ length: 10 }, () => send('x', 'order-1')));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
  assert.equal(new Set(answers.map(({ body }) => body.id)).size, 1);
  const other = await send('y', 'order-1');
  assert.deepEqual([other.status, other.body.error], [409, 'conflict']);
  assert.equal((await send('y', 'order-2')).status, 201);
  assert.equal((await send('x', 'two words')).status, 400);
  assert.equal(await total(form.id), 2);
  const elsewhere = await makeForm(tenant, [element('text', 'a')]);
  assert.equal((await send('z', 'order-1', elsewhere.id)).status, 201);
});
