import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FormNode } from '#ast/form/tree.ts';
import { composite, element, structure } from '#test/ast/forms.ts';
import { type Body, shareService, type Tenant } from '#test/service.ts';
import { makeForm, openVisitor } from '#test/visitor.ts';
import { createKey } from '#workspaces/keys.ts';

const service = await shareService();
const visitor = openVisitor(service);

type Page = Omit<Body, 'data'> & {
  data: readonly (Body & { hits?: unknown })[];
  search?: { is_partial: boolean; corrections: unknown[] };
};
const search = async (who: Tenant, query: Record<string, string>): Promise<Page> =>
  (await who.call('GET', `/submissions/search?${new URLSearchParams(query).toString()}`)).body;

const who = await service.makeTenant();
const makeNamed = async (name: string, elements: readonly FormNode[]) => {
  const form = await makeForm(who, elements);
  const named = { ...form.structure, attrs: { name } };
  return (await who.call('PUT', `/forms/${form.id}`, { structure: named })).body;
};
const contact = await makeNamed('Contact us', [
  element('text', 'subject'),
  element('textarea', 'message'),
  element('email', 'mail'),
  element('yes_no', 'newsletter'),
  element('number', 'amount'),
  element('radio', 'colour', { options: ['Red', { id: 'g', label: 'Dark green' }] }),
  element('matrix', 'pleased', {
    rows: ['Loom', 'Warp & weft'],
    options: [{ id: 'v', label: 'Verily' }, 'Hardly'],
  }),
  composite('team', [element('text', 'member'), element('email', 'address')], { repeatable: true }),
]);
const order = await makeNamed('Order', [element('text', 'subject'), element('textarea', 'message')]);

const mixed = { options: ['a "quoted", ] text', { id: 'xl', label: 'Huge' }] };
const ids: Record<string, string> = {};
for (const [name, form, answers] of [
  [
    'ada',
    contact,
    {
      subject: 'Shuttle stuck',
      message: 'It is stuck fast',
      mail: 'ada@mail.acme.com',
      newsletter: true,
      amount: 42,
      colour: 'g',
    },
  ],
  [
    'bob',
    contact,
    {
      subject: 'Loom',
      message: 'fast, it stuck; a refund',
      mail: 'bob@acme.org',
      newsletter: false,
      colour: 'Red',
      pleased: { Loom: 'v', 'Warp & weft': 'Hardly' },
    },
  ],
  [
    'cyd',
    contact,
    { subject: 'Website', message: 'green webs', team: [{ member: 'Lovelace', address: 'cyd.x@zeta.de' }] },
  ],
  ['dan', order, { subject: 'Order', message: 'stuck like ada, or so they say' }],
] as const) {
  const { body } = await visitor.submit(form.id, answers);
  ids[name] = body.id;
}
await who.call('PATCH', `/submissions/${ids['ada']}`, { tags: ['vip', 'to do'] });
await who.call('PATCH', `/submissions/${ids['bob']}`, { tags: ['vip'] });

const names = (body: { data: readonly { id: string }[] }): string[] =>
  body.data.map(({ id }) => Object.entries(ids).find(([, known]) => known === id)![0]);

const rows: readonly [q: string, ...found: string[]][] = [
  ['stuck', 'ada', 'dan', 'bob'],
  // Phrases: consecutive words in any inflection, within one answer.
  ['"stuck fast"', 'ada'],
  ['"sticks fast"'],
  ['"refunds"', 'bob'],
  ['"fast stuck"'],
  ['"fast it stuck"', 'bob'],
  // Options are searched by their labels.
  ['"dark green"', 'ada'],
  ['stuck -"dark green"', 'dan', 'bob'],
  ['"green dark"'],
  // Excluded words.
  ['stuck -refund', 'ada', 'dan'],
  ['stuck -"stuck fast"', 'dan', 'bob'],
  ['-stuck', 'cyd'],
  ['-stuck -web*'],
  // Prefixes, of words as written and as indexed.
  ['web*', 'cyd'],
  ['shut* stu*', 'ada'],
  ['refunding*', 'bob'],
  // Email addresses.
  ['acme', 'bob', 'ada'],
  ['acme.org', 'bob'],
  ['email:ada@mail.acme.com', 'ada'],
  ['email:@acme.com', 'ada'],
  ['email:acme.com', 'ada'],
  ['email:ada', 'ada'],
  ['email:cyd.x', 'cyd'],
  ['email:ACME -email:org', 'ada'],
  ['-email:acme -form:order', 'cyd'],
  // Forms.
  ['stuck form:"Contact us"', 'ada', 'bob'],
  ['stuck form:contact', 'ada', 'bob'],
  [`stuck form:${order.id}`, 'dan'],
  ['stuck -form:order', 'ada', 'bob'],
  ['form:order', 'dan'],
  ['form:order form:contact stuck', 'ada', 'dan', 'bob'],
  // Status, times and tags.
  ['stuck status:completed', 'ada', 'dan', 'bob'],
  ['stuck -status:completed'],
  ['status:completed -status:completed'],
  ['stuck after:2020-01-01', 'ada', 'dan', 'bob'],
  ['stuck before:2020-01-01'],
  ['stuck -before:2020-01-01', 'ada', 'dan', 'bob'],
  ['tag:vip', 'bob', 'ada'],
  ['tag:vip tag:"to do"', 'ada'],
  ['tag:vip -tag:"to do"', 'bob'],
  ['stuck tag:vip', 'ada', 'bob'],
  // Elements by ID.
  ['subject:stuck', 'ada'],
  ['message:stuck', 'ada', 'dan', 'bob'],
  ['message:"fast it stuck"', 'bob'],
  ['stuck -subject:stuck', 'dan', 'bob'],
  ['newsletter:yes', 'ada'],
  ['newsletter:no', 'bob'],
  ['amount:42', 'ada'],
  ['colour:red', 'bob'],
  ['colour:"dark green"', 'ada'],
  ['colour:green', 'ada'],
  ['pleased:verily', 'bob'],
  ['pleased[Loom]:verily', 'bob'],
  ['pleased[Warp & weft]:hardly', 'bob'],
  ['pleased[Loom]:hardly'],
  ['stuck -pleased[Loom]:verily', 'ada', 'dan'],
  ['colour[Loom]:red'],
  ['team:lovelace', 'cyd'],
  // An unknown element ID is a word like any other.
  ['nothing:stuck'],
  ['stuck:fast', 'ada', 'bob'],
];
for (const [q, ...found] of rows)
  test(`${q} finds ${found.join(', ') || 'nothing'}`, async () => {
    const body = await search(who, { q });
    assert.deepEqual(names(body), found, JSON.stringify(body));
    assert.equal(body.pagination.total_count, found.length);
  });

test('a query of words alone returns only the fields of the specification; a query with operators also returns its interpretation', async () => {
  assert.deepEqual(Object.keys(await search(who, { q: 'stuck' })), ['data', 'pagination']);
  assert.deepEqual((await search(who, { q: 'stuck -refund' })).search, {
    is_partial: false,
    corrections: [],
  });
});

const harmless = [
  `email:'; -'x`,
  'email:a\\b*',
  'email:((([a|',
  'email:@',
  `-"a'b\\c"`,
  `"' | '"`,
  `subject:'a\\`,
  `tag:{a,"b"}`,
  'team:$.**',
  '-subject:"\uFFFF & !"',
  `email:${'a.'.repeat(400)}`,
  `"${'never before seen '.repeat(50)}"`,
];
test('characters that are special in the database have no effect within an operator', async () => {
  for (const q of harmless) {
    const { status, body } = await who.call(
      'GET',
      `/submissions/search?${new URLSearchParams({ q }).toString()}`,
    );
    assert.equal(status, 200, `${q}: ${JSON.stringify(body)}`);
    if (!q.startsWith('-')) assert.deepEqual(body.data, [], q);
  }
});

test('an operator with an invalid value is searched as text, and never rejected', async () => {
  const logs = await service.makeTenant();
  const form = await makeForm(logs, [element('textarea', 'note')]);
  for (const note of ['status:open', 'before:2026', 'after:x', 'form:nowhere', 'status:"not yet"'])
    await visitor.submit(form.id, { note });
  for (const q of ['status:open', 'before:2026', 'after:x', 'form:nowhere']) {
    const { data } = await search(logs, { q });
    assert.deepEqual(
      data.map(({ answers }) => answers['note']),
      [q],
    );
  }
  for (const q of [
    'status:done',
    'form:',
    'form:"no such form"',
    '-status:done',
    'a*',
    'before:',
    'email:',
  ]) {
    const { status } = await logs.call('GET', `/submissions/search?${new URLSearchParams({ q }).toString()}`);
    assert.equal(status, 200, q);
  }
});

test('status and tags are matched by their current values, whatever changed since the submission', async () => {
  const form = await makeNamed('Cloth', [element('text', 'note'), element('radio', 'size', mixed)]);
  const { body } = await visitor.submit(form.id, { note: 'calico', size: 'xl' });
  const path = `/submissions/${body.id}`;
  const total = async (q: string) => (await search(who, { q })).pagination.total_count;
  const found = async () =>
    Promise.all(
      ['incomplete', 'completed']
        .map((status) => total(`calico status:${status}`))
        .concat(['new', 'old', "it's # \\ odd"].map((tag) => total(`calico tag:"${tag}"`))),
    );
  assert.deepEqual(await found(), [0, 1, 0, 0, 0]);
  await who.call('PATCH', path, { status: 'incomplete', tags: ['old', "it's # \\ odd"] });
  assert.deepEqual(await found(), [1, 0, 0, 1, 1]);
  await who.call('DELETE', path);
  assert.deepEqual(await found(), [0, 0, 0, 0, 0]);
  await who.call('POST', `${path}/restore`);
  assert.deepEqual(await found(), [1, 0, 0, 1, 1]);
  await who.call('PATCH', path, { status: 'completed', tags: ['new'] });
  assert.deepEqual(await found(), [0, 1, 1, 0, 0]);
  await who.call('PATCH', path, { tags: [] });
  assert.deepEqual(await found(), [0, 1, 0, 0, 0]);
  // The options mix plain texts and options with IDs.
  assert.equal(await total('size:huge'), 1);
});

test('pages of a query with operators return each match once, with the total', async () => {
  const pages = [];
  for (const page of ['1', '2', '3', '4']) {
    const body = await search(who, { q: 'stuck status:completed', page, per_page: '1' });
    assert.deepEqual(body.pagination, { page: Number(page), per_page: 1, total_count: 3, total_pages: 3 });
    pages.push(...names(body));
  }
  assert.deepEqual(pages, ['ada', 'dan', 'bob']);
});

test('hits name the position of each matched word, with the text around it', async () => {
  const { data } = await search(who, { q: '"stuck fast" email:acme colour:green team:x', include: 'hits' });
  assert.deepEqual(data, []);
  const found = await search(who, { q: '"stuck fast" email:acme colour:green', include: 'hits' });
  assert.deepEqual(found.data[0]!.hits, [
    { path: ['answers', 'subject'], words: ['stuck'], excerpt: 'Shuttle stuck' },
    { path: ['answers', 'message'], words: ['stuck', 'fast'], excerpt: 'It is stuck fast' },
    { path: ['answers', 'mail'], words: ['acme'], excerpt: 'ada@mail.acme.com' },
    { path: ['answers', 'colour'], words: ['green'], excerpt: 'Dark green' },
  ]);
  const nested = await search(who, { q: 'love*', include: 'hits' });
  assert.deepEqual(nested.data[0]!.hits, [
    { path: ['answers', 'team', 0, 'member'], words: ['Lovelace'], excerpt: 'Lovelace' },
  ]);
});

test('hits follow the language in which a submission was answered', async () => {
  const form = await makeForm(who, [element('textarea', 'message')]);
  const attrs = { name: 'Rooms', languages: ['en', 'de'] };
  await who.call('PUT', `/forms/${form.id}`, { structure: { ...form.structure, attrs } });
  await visitor.submit(form.id, { message: 'Wir haben alte Häuser' }, '?_lang=de');
  const found = await search(who, { q: 'Haus', include: 'hits' });
  assert.deepEqual(found.data[0]?.hits, [
    { path: ['answers', 'message'], words: ['Häuser'], excerpt: 'Wir haben alte Häuser' },
  ]);
});

test('an unknown word is replaced by the nearest one only on request, and only if nothing is found', async () => {
  for (const [q, from, to] of [
    ['lovelase', 'lovelase', 'lovelace'],
    ['Olvelace', 'Olvelace', 'lovelace'],
    ['kovelace', 'kovelace', 'lovelace'],
    ['ovelace', 'ovelace', 'lovelace'],
    ['slovelace', 'slovelace', 'lovelace'],
    ['luvelace', 'luvelace', 'lovelace'],
    ['form:contact lvelace', 'lvelace', 'lovelace'],
  ] as const) {
    assert.deepEqual((await search(who, { q })).data, [], q);
    const body = await search(who, { q, typos: 'true' });
    assert.deepEqual([names(body), body.search?.corrections], [['cyd'], [{ from, to }]], q);
  }
  const plain = await search(who, { q: 'lovelace', typos: 'true' });
  assert.deepEqual([names(plain), plain.search], [['cyd'], undefined]);
  assert.deepEqual((await search(who, { q: 'zzzzzz', typos: 'true' })).data, []);
});

const suggest = async (q: string, more: Record<string, string> = {}) => {
  const query = new URLSearchParams({ q, ...more }).toString();
  const { body } = await who.call('GET', `/submissions/search/suggestions?${query}`);
  return body as unknown as Suggested;
};
type Suggested = { begin: number; end: number; data: { text: string }[] };

test('suggestions complete a query while it is typed', async () => {
  const texts = async (q: string): Promise<string[]> => (await suggest(q)).data.map(({ text }) => text);
  assert.deepEqual(await texts('sta'), ['status:']);
  assert.deepEqual(await texts('new'), ['newsletter:']);
  assert.deepEqual(await texts('stuck status:'), ['completed', 'incomplete', 'waiting']);
  assert.deepEqual(await texts('form:con'), ['"Contact us"']);
  assert.deepEqual(await texts('tag:'), ['vip', '"to do"']);
  assert.deepEqual(await texts('love'), ['lovelace']);
  assert.deepEqual(await texts('team:love'), ['lovelace']);
  assert.deepEqual(await texts('stuck '), []);
  const { begin, end } = await suggest('stuck form:con now', { at: '14' });
  assert.deepEqual([begin, end], [11, 14]);
});

test('a key for certain forms gets no suggestions or results from other forms', async () => {
  const { key } = await createKey(service.services.database, {
    workspaceId: who.workspaceId,
    name: 'orders',
    formIds: [order.id],
  });
  const read = async (path: string) => {
    const answer = await fetch(`${service.url}/api/v1/submissions/search${path}`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    return (await answer.json()) as Page;
  };
  assert.deepEqual(names(await read('?q=stuck+-refund')), ['dan']);
  assert.deepEqual(names(await read('?q=-refund')), ['dan']);
  assert.deepEqual(names(await read('?q=-form:order+-refund')), []);
  assert.deepEqual((await read('?q=form:contact')).data, []);
  assert.deepEqual((await read('?q=lovelase&typos=true')).data, []);
  for (const q of ['love', 'form:con', 'tag:', 'newsl'])
    assert.deepEqual((await read(`/suggestions?q=${q}`)).data, [], q);
});

test('a deleted form is neither searched nor suggested', async () => {
  const gone = await makeNamed('Gone', [element('text', 'vanished')]);
  await visitor.submit(gone.id, { vanished: 'quicksilver' });
  await who.call('DELETE', `/forms/${gone.id}`);
  for (const q of ['quicks* -stuck', '-stuck vanished:quicksilver', 'status:completed after:2020-01-01'])
    assert.ok(
      (await search(who, { q })).data.every(({ form_id }) => form_id !== gone.id),
      q,
    );
  for (const q of ['quick', 'vanis', 'form:gon']) assert.deepEqual((await suggest(q)).data, [], q);
});

test('an option is found by its label in every language of the form, as words and as a phrase, also in rows and matrices', async () => {
  const someone = await service.makeTenant();
  const options = ['Red', { id: 'g', label: 'Dark green' }];
  const translations = { de: { options: { g: 'Dunkles Moos' } } };
  const created = await someone.call('POST', '/forms', {
    structure: {
      ...structure(
        element('radio', 'colour', { options, translations }),
        element('multiple_choice', 'colours', { options, translations }),
        element('matrix', 'each', { rows: ['Warp'], options, translations }),
        composite('parts', [element('radio', 'dye', { options, translations })], { repeatable: true }),
        element('text', 'other'),
      ),
      attrs: { name: 'Dyes', languages: ['en', 'de'] },
    },
    publish: true,
  });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const chosen = [
    { colour: 'g' },
    { colours: ['Red', 'g'] },
    { each: { Warp: 'g' } },
    { parts: [{ dye: 'g' }] },
  ];
  for (const answers of [...chosen, { colour: 'Red', other: 'g' }])
    await visitor.submit(created.body.id, answers);
  const count = async (q: string): Promise<number> =>
    (await someone.call('GET', `/submissions/search?q=${encodeURIComponent(q)}`)).body.pagination.total_count;
  for (const q of ['green', 'moos', '"dark green"', '"dunkles moos"', '"DUNKLES Moos"', '"dark gréen"'])
    assert.equal(await count(q), chosen.length, q);
  assert.equal(await count('"moos dunkles"'), 0);
  const accented = await someone.call('POST', '/forms', {
    structure: structure(element('radio', 'tint', { options: ['Red', { id: 'f', label: 'Vert foncé' }] })),
    publish: true,
  });
  await visitor.submit(accented.body.id, { tint: 'f' });
  for (const q of ['"vert fonce"', '"VERT FONCÉ"']) assert.equal(await count(q), 1, q);
});
