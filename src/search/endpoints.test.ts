import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, element } from '#test/ast/forms.ts';
import { shareService, type Tenant } from '#test/service.ts';
import { makeForm, openVisitor } from '#test/visitor.ts';

const service = await shareService();
const visitor = openVisitor(service);
const tenant = await service.makeTenant();

const search = async (who: Tenant, query: Record<string, string>) =>
  (await who.call('GET', `/submissions/search?${new URLSearchParams(query).toString()}`)).body;
const find = async (who: Tenant, q: string, more: Record<string, string> = {}): Promise<string[]> =>
  (await search(who, { q, ...more })).data.map(({ id }) => id);

const elements = [
  element('text', 'subject'),
  element('textarea', 'text'),
  element('multiple_choice', 'topics'),
  element('number', 'amount'),
];

/** Creates a workspace with one form and these submissions, and returns their IDs by key. */
async function library<Name extends string>(
  submissions: Record<Name, object>,
  settings: object = {},
): Promise<{ who: Tenant; formId: string; ids: Record<Name, string> }> {
  const who = await service.makeTenant();
  const form = await makeForm(who, elements, { settings });
  const ids: Partial<Record<Name, string>> = {};
  for (const name of Object.keys(submissions) as Name[]) {
    const { status, body } = await visitor.submit(form.id, submissions[name]);
    assert.equal(status, 201, JSON.stringify(body));
    ids[name] = body.id;
  }
  return { who, formId: form.id, ids: ids as Record<Name, string> };
}

test('the response has the shape of a list: whole submissions and the pagination object', async () => {
  const { who, ids, formId } = await library({ only: { subject: 'Invoice' } });
  const body = await search(who, { q: 'invoice' });
  assert.deepEqual(body.pagination, { page: 1, per_page: 20, total_count: 1, total_pages: 1 });
  assert.deepEqual(body.data[0], (await who.call('GET', `/submissions/${ids.only}`)).body);
  assert.deepEqual(body.data[0], (await who.call('GET', `/forms/${formId}/submissions`)).body.data[0]);
});

test('an inflected word finds its base form, and the other way round', async () => {
  const { who, ids } = await library({
    base: { text: 'I want to run a shop' },
    inflected: { text: 'running shops' },
  });
  for (const q of ['runs', 'RUNNING', 'run', 'shopping run']) {
    assert.deepEqual((await find(who, q)).sort(), [ids.base, ids.inflected].sort(), q);
  }
});

test('all words must be present, in any order and any field', async () => {
  const { who, ids } = await library({
    both: { subject: 'apples', text: 'and pears' },
    one: { subject: 'apples' },
    spread: { text: 'pears', topics: ['Green'], subject: 'apples' },
  });
  assert.deepEqual((await find(who, 'pear apple')).sort(), [ids.both, ids.spread].sort());
  assert.deepEqual(await find(who, 'apple pear green'), [ids.spread]);
  assert.deepEqual(await find(who, 'apple plum'), []);
});

test('matches in the subject rank highest; equal matches come newest first', async () => {
  const { who, ids } = await library({
    subject: { subject: 'A budget for May', text: 'nothing else' },
    often: { subject: 'Other', text: 'budget budget budget budget budget budget budget budget' },
    once: { text: 'the budget' },
  });
  assert.deepEqual(await find(who, 'budget'), [ids.subject, ids.once, ids.often]);
});

test('two words in the subject rank above one, and one above none', async () => {
  const { who, ids } = await library({
    none: { text: 'garden party' },
    both: { subject: 'garden party' },
    one: { subject: 'garden garden garden', text: 'party' },
  });
  assert.deepEqual(await find(who, 'garden party'), [ids.both, ids.one, ids.none]);
});

test('the subject is the element named in the settings, or else the one with the ID subject, or else the first text', async () => {
  const who = await service.makeTenant();
  const first = element('text', 'first');
  const rows: [string, Parameters<typeof makeForm>[1], object, object, object][] = [
    [
      'settings',
      [first, element('textarea', 'note')],
      { subject_element: 'note' },
      { note: 'zebra' },
      { first: 'zebra' },
    ],
    ['by its id', [first, element('textarea', 'subject')], {}, { subject: 'zebra' }, { first: 'zebra' }],
    ['the first text', [element('textarea', 'note'), first], {}, { first: 'zebra' }, { note: 'zebra' }],
  ];
  for (const [name, nodes, settings, wins, loses] of rows) {
    const form = await makeForm(who, nodes, { settings });
    const winner = (await visitor.submit(form.id, wins)).body.id;
    const loser = (await visitor.submit(form.id, loses)).body.id;
    assert.deepEqual(await find(who, 'zebra', { form_id: form.id }), [winner, loser], name);
  }
});

test('all text is searched: options, rows, numbers, file names and reference data', async () => {
  const who = await service.makeTenant();
  const form = await makeForm(who, [
    element('dropdown', 'colour'),
    element('number', 'amount'),
    element('date', 'day'),
    element('email', 'mail'),
    element('yes_no', 'sure'),
    element('file_upload', 'cv'),
    composite('team', [element('text', 'member')], { repeatable: true }),
  ]);
  const { status } = await visitor.post(
    form.id,
    [
      ['colour', 'Green'],
      ['amount', '4711'],
      ['day', '2026-05-17'],
      ['mail', 'ada@example.com'],
      ['sure', 'yes'],
      ['team[0][member]', 'Grace'],
      ['team[1][member]', 'Hopper'],
      ['cv', new File(['x'], 'curriculum.txt')],
    ],
    { query: '?campaign=springtime' },
  );
  assert.equal(status, 303);
  for (const q of [
    'green',
    '4711',
    '2026-05-17',
    'ada@example.com',
    'grace hopper',
    'curriculum.txt',
    'springtime',
  ]) {
    assert.equal((await find(who, q)).length, 1, q);
  }
  assert.equal((await find(who, 'true')).length, 0);
});

test('form_id limits the search to one form; a form of another workspace or a deleted one returns 404', async () => {
  const who = await service.makeTenant();
  const [one, two] = [await makeForm(who, elements), await makeForm(who, elements)];
  const id = (await visitor.submit(one.id, { subject: 'needle' })).body.id;
  const other = (await visitor.submit(two.id, { subject: 'needle' })).body.id;
  assert.deepEqual(await find(who, 'needle'), [other, id]);
  assert.deepEqual(await find(who, 'needle', { form_id: one.id }), [id]);
  assert.deepEqual(await find(who, 'needle', { form_id: one.id.toUpperCase() }), [id]);
  const foreign = await makeForm(tenant, elements);
  await who.call('DELETE', `/forms/${two.id}`);
  for (const form_id of [foreign.id, two.id, '01a1fde4-6fce-7e1a-a75a-2f8f8cc3c4b1']) {
    const { error, message } = await search(who, { q: 'needle', form_id });
    assert.deepEqual([error, message], ['not_found', 'The resource does not exist.']);
  }
  assert.deepEqual(await find(who, 'needle'), [id]);
});

test('words and index markers of another workspace are never found', async () => {
  const { formId, who } = await library({ secret: { subject: 'confidential' } });
  const stranger = await service.makeTenant();
  await makeForm(stranger, elements);
  for (const q of [
    'confidential',
    `w${who.workspaceId}`,
    ` w${who.workspaceId}`,
    formId,
    'lenglish',
    `' w${who.workspaceId}'`,
  ]) {
    assert.equal((await search(stranger, { q })).pagination.total_count, 0, q);
  }
});

test('pages through ties return every match once, in a stable order with the exact total, and are empty past the end', async () => {
  const { who, ids } = await library(
    Object.fromEntries(Array.from({ length: 23 }, (_, index) => [`n${index}`, { text: `tied ${index}` }])),
  );
  const newestFirst = Object.values(ids).toReversed();
  const pages: string[] = [];
  for (let page = 1; page <= 3; page += 1) {
    const body = await search(who, { q: 'tied', page: String(page), per_page: '10' });
    assert.deepEqual(body.pagination, { page, per_page: 10, total_count: 23, total_pages: 3 });
    pages.push(...body.data.map(({ id }) => id));
  }
  assert.deepEqual(pages, newestFirst);
  const past = await search(who, { q: 'tied', page: '1000000000', per_page: '100' });
  assert.deepEqual([past.data, past.pagination.total_count], [[], 23]);
});

const harmless: readonly string[] = [
  '!!!',
  '\\',
  "'",
  '"',
  '(',
  ')',
  '&',
  '|',
  '<->',
  ':*',
  'a & ',
  "a' or '1'='1",
  '; drop table submissions',
  'the of and',
  '👍🏽',
  '\u202E',
  '%',
  '_',
  '*',
  'a:*',
  '-',
  'a -b',
  '<b>bold</b>',
  '\\u0000',
  '$q',
  '$1',
  ' ',
  '\uFFFF',
  '日本語',
  'x'.repeat(1_024),
  'e\u0301'.repeat(300),
  "' l",
  "a'b\\c",
];
test('any text is a valid query', async () => {
  for (const q of harmless.filter((text) => text.trim() !== '')) {
    const { status, body } = await tenant.call('GET', `/submissions/search?q=${encodeURIComponent(q)}`);
    assert.deepEqual([status, body.data], [200, []], q);
  }
});

test('a word beside characters that are special in the database is still found', async () => {
  const { who, ids } = await library({
    quoted: { text: "it's O'Brien & Sons: rock-climbing, C:\\path (50%)" },
  });
  for (const q of [
    "O'Brien",
    'sons & brien',
    'rock-climbing',
    'climbing',
    '"brien sons"',
    '!brien',
    'climb | nothing'.split(' | ')[0]!,
  ]) {
    assert.deepEqual(await find(who, q), [ids.quoted], q);
  }
});

const refused: Record<string, string> = {
  'no q': '',
  'an empty q': '?q=',
  'a q of white space': '?q=%20%09',
  'a q over 1 KB': `?q=${'x'.repeat(1_025)}`,
  'a q of 600 two-byte letters': `?q=${encodeURIComponent('é'.repeat(600))}`,
  'a q with NUL': '?q=a%00b',
  'two of q': '?q=a&q=b',
  'a list as q': '?q[]=a',
  'a broken form_id': '?q=a&form_id=42',
  'page 0': '?q=a&page=0',
  'per_page 101': '?q=a&per_page=101',
  'an unknown parameter': '?q=a&status=completed',
};
for (const [name, query] of Object.entries(refused)) {
  test(`${name}: 400 bad_request names the parameter`, async () => {
    const { status, body } = await tenant.call('GET', `/submissions/search${query}`);
    assert.deepEqual(
      [status, body.error, body.errors?.length],
      [400, 'bad_request', body.errors?.length],
      JSON.stringify(body),
    );
    assert.ok(body.errors.length > 0);
  });
}

test('each form is searched in its language, and one query searches all languages', async () => {
  const who = await service.makeTenant();
  const make = async (language: string | undefined, text: string): Promise<string> => {
    const form = await makeForm(who, elements, { settings: { ...(language && { language }) } });
    return (await visitor.submit(form.id, { text })).body.id;
  };
  const german = await make('german', 'Wir verkaufen alte Häuser');
  const french = await make('french', 'nos vieilles maisons');
  const simple = await make('simple', 'The Runs');
  const english = await make(undefined, 'runs');
  assert.deepEqual(await find(who, 'Haus'), [german]);
  assert.deepEqual(await find(who, 'maison'), [french]);
  assert.deepEqual(await find(who, 'running'), [english]);
  assert.deepEqual(
    await find(who, 'the'),
    [simple],
    'a word that says nothing in English says something in no language',
  );
  assert.deepEqual((await find(who, 'runs')).sort(), [english, simple].sort());
});

test('a form whose language changes still finds its older submissions', async () => {
  const who = await service.makeTenant();
  const form = await makeForm(who, elements);
  const older = (await visitor.submit(form.id, { text: 'houses' })).body.id;
  const { status } = await who.call('PUT', `/forms/${form.id}`, {
    structure: form.structure,
    settings: { language: 'german' },
  });
  assert.equal(status, 200);
  const newer = (await visitor.submit(form.id, { text: 'Häuser' })).body.id;
  assert.deepEqual(await find(who, 'house'), [older]);
  assert.deepEqual(await find(who, 'Haus'), [newer]);
});

test('a submission is found as soon as its submit is answered, and not after its form is deleted', async () => {
  const who = await service.makeTenant();
  const form = await makeForm(who, elements);
  for (let count = 1; count <= 20; count += 1) {
    await visitor.submit(form.id, { text: 'immediately' });
    assert.equal((await search(who, { q: 'immediate' })).pagination.total_count, count);
  }
  await who.call('DELETE', `/forms/${form.id}`);
  assert.deepEqual(await find(who, 'immediate'), []);
});
