import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, element } from '#test/ast/forms.ts';
import { shareService } from '#test/service.ts';
import { makeForm, openVisitor, type Part } from '#test/visitor.ts';

// Every ID that the form language allows works wherever an element is named (docs/form-language.md).
const ids = [
  '1',
  'q.1',
  '2',
  'a:b',
  '_own',
  'übung',
  '日本語',
  'x-_.:9',
  'toString',
  '6f1c1c8e-8f6e-4d55-9a7f-0d7e4c0b9d11',
];
const service = await shareService();
const tenant = await service.makeTenant();
const visitor = openVisitor(service);

const [number, dotted] = ['10', '2.5'];
const form = await makeForm(
  tenant,
  [
    ...ids.map((id) => element('text', id, { label: `Label ${ids.indexOf(id)}` })),
    element('number', number),
    element('number', dotted),
    element('calculation', 'sum.1', { formula: `{${number}} + {2.5}*2` }),
    element('text', 'shown.by', { show_when: { element: 'q.1', is: 'answered' } }),
    element('paragraph', 'hello', { label: ids.map((id) => `{{${id}}}`).join('|') }),
    composite('rep.1', [element('text', '1.kid'), element('file_upload', 'f:1')], { repeatable: true }),
    element('matrix', 'm.1', { rows: ['Tea'], options: ['Good', 'Bad'] }),
    element('radio', 'r.1', { options: ['Red'], other: true }),
  ],
  { settings: { save_progress: true, confirmation_message: `Thanks {{q.1}} and {{1}}: {{sum.1}}` } },
);
const answers = {
  ...Object.fromEntries(ids.map((id) => [id, `word ${ids.indexOf(id)}`])),
  [number]: 3,
  [dotted]: 4,
  'shown.by': 'seen',
  'rep.1': [{ '1.kid': 'Ann' }, { '1.kid': 'Bo' }],
  'm.1': { Tea: 'Good' },
  'r.1': 'Own words',
};
const stored = { ...answers, 'sum.1': 11 };
const read = async (id: string) => (await tenant.call('GET', `/submissions/${id}`)).body;

test('JSON, urlencoded and multipart posts accept any element ID, also in rows, matrices and custom options', async () => {
  const json = await visitor.submit(form.id, answers);
  assert.equal(json.status, 201, json.text);
  assert.equal(
    (json.body as unknown as { confirmation_message: string }).confirmation_message,
    'Thanks word 1 and word 0: 11',
  );
  assert.deepEqual((await read(json.body.id)).answers, stored);
  const parts: Part[] = [
    ...ids.map((id): Part => [id, `word ${ids.indexOf(id)}`]),
    [number, '3'],
    [dotted, '4'],
    ['shown.by', 'seen'],
    ['rep.1[0][1.kid]', 'Ann'],
    ['rep.1[1][1.kid]', 'Bo'],
    ['m.1[Tea]', 'Good'],
    ['_other[r.1]', 'Own words'],
  ];
  for (const multipart of [false, true]) {
    const sent = await visitor.post(form.id, parts, { multipart, headers: { Accept: 'application/json' } });
    assert.equal(sent.status, 201, sent.text);
    assert.deepEqual((await read(sent.body.id)).answers, stored);
  }
  const file = new File(['hello'], 'a.txt', { type: 'text/plain' });
  const sent = await visitor.post(form.id, [...parts, ['rep.1[1][f:1]', file]], {
    headers: { Accept: 'application/json' },
  });
  assert.equal(sent.status, 201, sent.text);
  const rows = (await read(sent.body.id)).answers['rep.1'] as { 'f:1'?: { filename: string }[] }[];
  assert.equal(rows[1]!['f:1']![0]!.filename, 'a.txt');
});

test('with any element ID, the page renders, accepts prefill from its URL and shows answers in texts', async () => {
  const query = new URLSearchParams({
    ...Object.fromEntries(ids.map((id) => [id, `say ${id}`])),
    'rep.1[0][1.kid]': 'Cy',
    ref: 'x',
  });
  const { status, text } = await visitor.fetch(`/f/${form.id}?${query.toString()}`);
  assert.equal(status, 200);
  for (const id of ids) assert.match(text, new RegExp(`value="say ${id.replaceAll('.', '\\.')}"`), id);
  assert.match(text, /name="rep\.1\[0\]\[1\.kid\]"[^>]*value="Cy"/);
});

test('where, sort, summary, export and the search operator accept any element ID', async () => {
  const { body: sent } = await visitor.submit(form.id, { ...answers, 'q.1': 'needle', 'a:b': 'haystack' });
  const list = async (query: Record<string, string>) =>
    (await tenant.call('GET', `/forms/${form.id}/submissions?${new URLSearchParams(query).toString()}`)).body;
  for (const [id, value] of [
    ['q.1', 'needle'],
    ['a:b', 'haystack'],
    ['_own', 'word 4'],
    ['übung', 'word 5'],
  ] as const) {
    const { data } = await list({ where: JSON.stringify({ element: id, is: 'equals', value }) });
    assert.ok(
      data.some((each) => each.id === sent.id),
      id,
    );
    const found = await tenant.call(
      'GET',
      `/submissions/search?${new URLSearchParams({ q: `${id}:"${value}"` }).toString()}`,
    );
    assert.equal(found.status, 200, id);
    assert.ok(
      found.body.data.some((each) => each.id === sent.id),
      `search ${id}`,
    );
  }
  for (const id of ids) {
    const sorted = await tenant.call(
      'GET',
      `/forms/${form.id}/rows?${new URLSearchParams({ sort: `-${id}` }).toString()}`,
    );
    assert.equal(sorted.status, 200, `${id}: ${sorted.body.message}`);
  }
  const summary = await tenant.call('GET', `/forms/${form.id}/summary`);
  assert.equal(summary.status, 200);
  const csv = await fetch(`${service.url}/api/v1/forms/${form.id}/submissions/export?format=csv`, {
    headers: { Authorization: `Bearer ${tenant.key}` },
  });
  const file = await csv.text();
  assert.equal(csv.status, 200);
  const copy = await makeForm(
    tenant,
    ids.map((id) => element('text', id, { label: `Label ${ids.indexOf(id)}` })),
  );
  const heads = `${ids.join(',')}\r\n${ids.map((_id, index) => `cell ${index}`).join(',')}\r\n`;
  for (const text of [file, heads]) {
    const preview = await tenant.call('POST', `/forms/${copy.id}/submissions/imports/preview`, {
      kind: 'csv',
      text,
    });
    assert.equal(preview.status, 200, preview.body.message);
    for (const id of ids)
      assert.ok(JSON.stringify(preview.body).includes(`:"${id}"`), `${id}: ${JSON.stringify(preview.body)}`);
  }
});

test('webhook filters, invitations and conditions accept any element ID', async () => {
  const key = await tenant.makeFullKey();
  const full = (path: string, body: unknown) =>
    tenant.call('POST', path, body, { Authorization: `Bearer ${key}` });
  for (const id of ids) {
    const hook = await full(`/forms/${form.id}/webhooks`, {
      url: 'https://example.org/hook',
      events: ['submission.created'],
      filter: { element: id, is: 'answered', value: null },
    });
    assert.equal(hook.status, 201, `${id}: ${hook.body.message}`);
  }
  const invited = await full(`/forms/${form.id}/invitations`, {
    invitations: [{ email: 'a@example.org', prefill: Object.fromEntries(ids.map((id) => [id, 'x'])) }],
  });
  assert.ok(invited.status < 300, JSON.stringify(invited.body));
});
