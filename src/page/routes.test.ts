import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { test } from 'node:test';
import { formatSubmissionReference } from '#ast/short-reference.ts';
import { sweepFiles } from '#files/stored-files.ts';
import { composite, element } from '#test/ast/forms.ts';
import { byId, readMarkup, type Tag } from '#test/page/read-page.ts';
import { sendRaw } from '#test/raw.ts';
import { openService, until } from '#test/service.ts';
import { slowness } from '#test/slowness.ts';
import { asJson, listFiles, makeForm, openVisitor, type Part, type Visit } from '#test/visitor.ts';
import { plainPageHeaders } from './post/problem-page.ts';

const service = await openService();
const tenant = await service.makeTenant();
const visitor = openVisitor(service);
const { database } = service.services;

const total = async (formId: string): Promise<number> =>
  (await tenant.call('GET', `/forms/${formId}`)).body.submission_count;
const answersOf = async (id: string): Promise<Record<string, unknown>> =>
  (await tenant.call('GET', `/submissions/${id}`)).body.answers;
const fileRows = async (): Promise<number> =>
  (await database.query<{ count: number }>('select count(*) from files')).rows[0]!.count;
/** Lists everything that a rejected post could leave behind. */
const traces = async (): Promise<unknown> => [await listFiles(service), await fileRows()];

const contact = [
  element('text', 'name', { required: true }),
  element('email', 'mail'),
  element('multiple_choice', 'topics'),
];
const withFile = [element('text', 'name', { required: true }), element('file_upload', 'cv')];
const withRows = [
  element('text', 'name'),
  composite('team', [element('text', 'member'), element('file_upload', 'photo')], { repeatable: true }),
];
const textFile = (content = 'bytes', name = 'a.txt'): File =>
  new File([content], name, { type: 'text/plain' });

// The page ----------------------------------------------------------------------------------------------------

test('the page of a form has its security headers, posts to its own URL and keeps the parameters', async () => {
  const form = await makeForm(tenant, contact);
  const { status, headers, text } = await visitor.fetch(`/f/${form.id}?ref=a%26b`);
  assert.equal(status, 200);
  for (const [name, value] of Object.entries(plainPageHeaders)) assert.equal(headers.get(name), value, name);
  const page = readMarkup(text);
  assert.equal(page.find(({ tag }) => tag === 'form')!.attrs['action'], `/f/${form.id}?ref=a%26b`);
  assert.equal(byId(page, 'name').attrs['name'], 'name');
});

test('options show their remaining capacity; a full option is disabled, and a late visitor is informed', async () => {
  const form = await makeForm(tenant, [
    element('radio', 'workshop', {
      label: 'Workshop',
      options: [
        { id: 'w', label: 'Weaving', capacity: 2 },
        { id: 'd', label: 'Dyeing', capacity: 5 },
        'None',
      ],
    }),
    element('dropdown', 'meal', { options: [{ id: 'v', label: 'Vegan', capacity: 1 }] }),
    element('email', 'email', { label: 'Email', unique: true }),
  ]);
  const drawn = (text: string): string[] => {
    const page = readMarkup(text);
    const radios = page.filter(({ attrs }) => attrs['name'] === 'workshop' && attrs['value'] !== '');
    const labels = page.filter(({ attrs }) => attrs['class'] === 'option');
    const entry = page.find(({ tag, attrs }) => tag === 'option' && attrs['value'] === 'v')!;
    const state = ({ attrs }: Tag): string =>
      ['disabled', 'checked'].filter((name) => name in attrs).join(' ');
    return [
      ...radios.map((radio, index) =>
        `${labels[index]!.text.replaceAll(/\s+/g, ' ').trim()} ${state(radio)}`.trim(),
      ),
      `${entry.text} ${state(entry)}`.trim(),
    ];
  };
  const see = async () => drawn((await visitor.fetch(`/f/${form.id}`)).text);
  assert.deepEqual(await see(), [
    'Weaving 2 places left',
    'Dyeing 5 places left',
    'None',
    'Vegan (1 place left)',
  ]);
  const sent = { workshop: 'w', meal: 'v', email: 'ada@example.com' };
  assert.equal((await visitor.submit(form.id, sent)).status, 201);
  assert.deepEqual(await see(), [
    'Weaving 1 place left',
    'Dyeing 5 places left',
    'None',
    'Vegan (No places left) disabled',
  ]);
  assert.equal((await visitor.submit(form.id, { workshop: 'w' })).status, 201);
  const late = await visitor.post(form.id, [
    ['workshop', 'w'],
    ['email', 'ADA@example.com'],
    ['_step', '0'],
  ]);
  assert.equal(late.status, 422);
  assert.deepEqual(drawn(late.text).slice(0, 2), ['Weaving No places left checked', 'Dyeing 5 places left']);
  assert.match(late.text, /“Weaving” has no places left\. Choose another option\./);
  assert.match(late.text, /This answer has already been used\. Enter a different one/);
  const { status, body } = await visitor.submit(form.id, sent);
  assert.deepEqual([status, body.errors.map(({ field }) => field)], [422, ['workshop', 'meal', 'email']]);
  await tenant.call(
    'DELETE',
    `/submissions/${(await tenant.call('GET', `/forms/${form.id}/submissions`)).body.data[0]!.id}`,
  );
  assert.equal((await see())[0], 'Weaving 1 place left');
});

test('HEAD is answered like GET without the page, and other methods return 405 with Allow', async () => {
  const form = await makeForm(tenant, contact);
  const head = await visitor.fetch(`/f/${form.id}`, { method: 'HEAD' });
  assert.deepEqual(
    [head.status, head.text, head.headers.get('content-security-policy')],
    [200, '', plainPageHeaders['Content-Security-Policy']],
  );
  for (const [path, allow] of [
    [`/f/${form.id}`, 'GET, HEAD, POST, OPTIONS'],
    [`/f/${form.id}/submitted`, 'GET, HEAD'],
  ]) {
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const { status, headers } = await visitor.fetch(path!, { method });
      assert.deepEqual([status, headers.get('allow')], [405, allow], `${method} ${path}`);
    }
  }
});

test('an invalid ID and an unknown path return a 404 page', async () => {
  for (const path of [
    '/f/42',
    '/f/01a1fde4-6fce-7e1a-a75a-2f8f8cc3c4b1',
    '/f/%zz',
    '/f/..%2f..%2fetc',
    `/f/${'x'.repeat(3_000)}`,
  ]) {
    const { status, text, headers } = await visitor.fetch(path);
    assert.equal(status, 404, path);
    assert.match(text, /<h1>Form not found<\/h1>/);
    assert.equal(headers.get('content-security-policy'), plainPageHeaders['Content-Security-Policy']);
  }
});

// Submitting --------------------------------------------------------------------------------------------------

test('submitting a form redirects with 303 to its confirmation page with a receipt', async () => {
  const form = await makeForm(tenant, contact, {
    settings: { confirmation_message: 'We <read> it & answer' },
  });
  const { status, headers } = await visitor.post(
    form.id,
    [
      ['name', 'Ada'],
      ['topics', 'Red'],
      ['topics', 'Blue'],
    ],
    { query: '?next=//evil.example' },
  );
  assert.equal(status, 303);
  const location = headers.get('location')!;
  const [, receipt] = new RegExp(`^/f/${form.id}/submitted\\?receipt=([0-9a-f-]{36})$`).exec(location) ?? [];
  assert.deepEqual(await answersOf(receipt!), { name: 'Ada', topics: ['Red', 'Blue'] });
  const thanks = await visitor.fetch(location);
  assert.equal(thanks.status, 200);
  assert.match(thanks.text, /We &lt;read&gt; it &amp; answer/);
  assert.ok(thanks.text.includes(`>${formatSubmissionReference(receipt!)}</code>`));
  assert.equal(thanks.headers.get('cache-control'), 'no-store');
});

test('the confirmation page requires a receipt; other requests redirect to the form', async () => {
  const form = await makeForm(tenant, contact);
  for (const query of ['', '?receipt=', '?receipt=%3Cscript%3E', '?receipt=a&receipt=b']) {
    const { status, headers } = await visitor.fetch(`/f/${form.id}/submitted${query}`);
    assert.deepEqual([status, headers.get('location')], [303, `/f/${form.id}`], query);
  }
});

test('a form with errors returns a 422 page: its summary links to each error, every answer is kept, and nothing is stored', async () => {
  const form = await makeForm(tenant, contact);
  const { status, text } = await visitor.post(form.id, [
    ['name', ' '],
    ['mail', '"><script>alert(1)</script>'],
    ['topics', 'Blue'],
  ]);
  assert.equal(status, 422);
  const page = readMarkup(text);
  assert.deepEqual(
    page
      .filter(({ tag, attrs }) => tag === 'a' && attrs['href']?.startsWith('#'))
      .map(({ attrs }) => attrs['href']),
    ['#name', '#mail'],
  );
  assert.match(page.find(({ tag }) => tag === 'title')!.text, /^Error: /);
  assert.equal(byId(page, 'mail').attrs['value'], '"><script>alert(1)</script>');
  assert.equal(byId(page, 'mail').attrs['aria-invalid'], 'true');
  assert.deepEqual(
    page
      .filter(({ attrs }) => attrs['name'] === 'topics' && 'checked' in attrs)
      .map(({ attrs }) => attrs['value']),
    ['Blue'],
  );
  assert.equal(await total(form.id), 0);
});

test('a client that accepts JSON gets JSON, for form posts and for JSON posts', async () => {
  const form = await makeForm(tenant, contact);
  for (const multipart of [false, true]) {
    const bad = await visitor.post(form.id, [['mail', 'x']], { ...asJson, multipart });
    assert.deepEqual([bad.status, bad.body.errors.map(({ field }) => field)], [422, ['name', 'mail']]);
    assert.equal((await visitor.post(form.id, [['name', 'Ada']], { ...asJson, multipart })).status, 201);
  }
  const closed = await visitor.post('01a1fde4-6fce-7e1a-a75a-2f8f8cc3c4b1', [['name', 'Ada']], asJson);
  assert.deepEqual([closed.status, closed.body.error], [404, 'not_found']);
});

const bodies: readonly [name: string, contentType: string | undefined, body: string, status: number][] = [
  ['plain text', 'text/plain', 'name=Ada', 415],
  ['no type', undefined, 'name=Ada', 415],
  ['XML', 'application/xml', '<a/>', 415],
  ['JSON under another name', 'application/json-patch+json', '{"answers":{"name":"Ada"}}', 415],
  ['broken JSON', 'application/json', '{"answers":', 400],
  ['JSON as a form', 'application/x-www-form-urlencoded', '{"answers":{"name":"Ada"}}', 422],
  ['a form as JSON', 'application/json', 'name=Ada', 400],
  ['a form as multipart', 'multipart/form-data', 'name=Ada', 400],
  ['JSON with a space before its name', ' application/json', '{"answers":{}}', 422],
  ['JSON with a tab behind its name', 'application/json\t;x', '{"answers":{}}', 422],
  [
    'JSON in UTF-16',
    'application/json; charset=utf-16',
    Buffer.from('{"answers":{"name":"Ada"}}', 'utf16le').toString('latin1'),
    400,
  ],
];
for (const [name, contentType, body, status] of bodies) {
  test(`a body of ${name} returns ${status}, and nothing is stored`, async () => {
    const form = await makeForm(tenant, contact);
    const head = `POST /f/${form.id} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${contentType === undefined ? '' : `Content-Type: ${contentType}\r\n`}`;
    const answer = await sendRaw(
      service.url,
      `${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    assert.equal(answer.status, status, answer.text.slice(0, 300));
    assert.equal(await total(form.id), 0);
  });
}

// Opening and closing times
// -----------------------------------------------------------------------------------

const [past, future] = ['2020-01-01T00:00:00Z', '2120-01-01T00:00:00Z'];
const states: readonly [
  name: string,
  make: { publish?: boolean; settings?: object },
  change: object | undefined,
  status: number,
][] = [
  ['a draft that was never published', { publish: false }, undefined, 404],
  ['one that was taken back to draft', {}, { status: 'draft' }, 410],
  ['an archived one', {}, { status: 'archived' }, 410],
  ['one restored from the archive and published', {}, { status: 'published' }, 200],
  ['one that is closed', { settings: { access: 'closed' } }, undefined, 410],
  ['one that opens later', { settings: { opens_at: future } }, undefined, 403],
  ['one that has opened', { settings: { opens_at: past, closes_at: future } }, undefined, 200],
  ['one that has closed', { settings: { closes_at: past } }, undefined, 410],
  ['one for invited people', { settings: { access: 'invited' } }, undefined, 403],
  ['one behind a password', { settings: { access: 'password' } }, undefined, 403],
];
for (const [name, make, change, status] of states) {
  test(`${name}: ${status} for its page, form posts and JSON, and ${status === 200 ? 'it takes' : 'it takes no'} submissions`, async () => {
    const form = await makeForm(tenant, contact, make);
    if (change)
      assert.equal(
        (await tenant.call('PUT', `/forms/${form.id}`, { structure: form.structure, ...change })).status,
        200,
      );
    const page = await visitor.fetch(`/f/${form.id}`);
    assert.equal(page.status, status);
    assert.match(page.text, /<h1>/);
    const [html, json] = [
      await visitor.post(form.id, [['name', 'Ada']]),
      await visitor.submit(form.id, { name: 'Ada' }),
    ];
    assert.deepEqual([html.status, json.status], status === 200 ? [303, 201] : [status, status]);
    assert.equal(await total(form.id), status === 200 ? 2 : 0);
  });
}

// Rows --------------------------------------------------------------------------------------------------------

const rowsOn = (visit: Visit): string[] =>
  readMarkup(visit.text)
    .filter(({ attrs }) => attrs['name'] === '_row')
    .map(({ attrs }) => attrs['value']!);
const valueOf = (visit: Visit, name: string): string | undefined =>
  byId(readMarkup(visit.text), name).attrs['value'];

test('adding or removing a row posts the page: answers stay in their rows, and nothing is validated or stored', async () => {
  const form = await makeForm(tenant, [element('text', 'must', { required: true }), ...withRows.slice(1)]);
  const filled: Part[] = [
    ['_row', 'team[0]'],
    ['team[0][member]', 'Ada'],
    ['_row', 'team[1]'],
    ['team[1][member]', 'Bob'],
  ];
  const added = await visitor.post(form.id, [...filled, ['_add', 'team']]);
  assert.equal(added.status, 200);
  assert.deepEqual(rowsOn(added), ['team[0]', 'team[1]', 'team[2]']);
  assert.deepEqual(
    [valueOf(added, 'team[0][member]'), valueOf(added, 'team[1][member]'), valueOf(added, 'team[2][member]')],
    ['Ada', 'Bob', ''],
  );
  assert.ok('autofocus' in byId(readMarkup(added.text), 'team[2][member]').attrs);
  const removed = await visitor.post(form.id, [...filled, ['_remove', 'team[0]']]);
  assert.deepEqual(
    [removed.status, rowsOn(removed), valueOf(removed, 'team[0][member]')],
    [200, ['team[0]'], 'Bob'],
  );
  assert.equal(await total(form.id), 0);
});

test('requests for missing rows, unknown groups and a 101st row have no effect', async () => {
  const form = await makeForm(tenant, withRows);
  for (const control of [
    ['_remove', 'team[7]'],
    ['_remove', 'unknown[0]'],
    ['_remove', 'team[x]'],
    ['_add', 'unknown'],
    ['_add', '__proto__'],
    ['_row', 'team[9999]'],
  ] as const) {
    const { status } = await visitor.post(form.id, [
      ['team[0][member]', 'Ada'],
      ['_remove', 'team[5]'],
      control,
    ]);
    assert.equal(status, 200, control.join(' '));
  }
  const full = await visitor.post(form.id, [
    ...Array.from({ length: 100 }, (_, index) => ['_row', `team[${index}]`] as const),
    ['_add', 'team'],
  ]);
  assert.equal(rowsOn(full).length, 100);
  const over = await visitor.post(form.id, [['team[100][member]', 'x']], asJson);
  assert.deepEqual([over.status, over.body.errors.map(({ field }) => field)], [422, ['team[100][member]']]);
});

// Files -------------------------------------------------------------------------------------------------------

test('a file is received with its answers, in a plain question and in a row, and belongs to the submission', async () => {
  const form = await makeForm(tenant, [...withFile, ...withRows.slice(1)]);
  const { body, status } = await visitor.post(
    form.id,
    [
      ['name', 'Ada'],
      ['cv', textFile('one', 'one.txt')],
      ['cv', textFile('two', 'two.txt')],
      ['team[1][photo]', textFile('three', 'three.txt')],
    ],
    asJson,
  );
  assert.equal(status, 201, JSON.stringify(body));
  const { cv, team } = (await answersOf(body.id)) as {
    cv: { filename: string }[];
    team: { photo: { filename: string }[] }[];
  };
  assert.deepEqual(
    [cv.map(({ filename }) => filename), team.map(({ photo }) => photo[0]!.filename)],
    [['one.txt', 'two.txt'], ['three.txt']],
  );
});

test('an untouched file input sends an empty part without a file name, which is not a file', async () => {
  const form = await makeForm(tenant, withFile);
  const { status, body } = await visitor.post(
    form.id,
    [
      ['name', 'Ada'],
      ['cv', new File([], '')],
    ],
    asJson,
  );
  assert.deepEqual([status, await answersOf(body.id)], [201, { name: 'Ada' }]);
});

const large = Buffer.alloc(10 * 1024 * 1024 + 1);
const badFiles: Record<string, { parts: Part[]; field: string; message: RegExp }> = {
  'a file of 10 MB and a byte': {
    parts: [['cv', new File([large], 'large.bin')]],
    field: 'cv',
    message: /"large\.bin" is larger than 10 MB/,
  },
  'eleven files': {
    parts: Array.from({ length: 11 }, (_, index) => ['cv', textFile(String(index))]),
    field: 'cv',
    message: /at most 10 files/,
  },
  'a file for a text question': {
    parts: [['name', textFile()]],
    field: 'name',
    message: /doesn’t accept files/,
  },
  'a file for no question': {
    parts: [['unknown', textFile()]],
    field: 'unknown',
    message: /doesn’t accept files/,
  },
  'a file for a row of nothing': {
    parts: [['cv[0][cv]', textFile()]],
    field: 'cv[0][cv]',
    message: /doesn’t accept files/,
  },
  'text for a file question': {
    parts: [['cv', '/etc/passwd']],
    field: 'cv',
    message: /send the file itself/,
  },
};
for (const [name, { parts, field, message }] of Object.entries(badFiles)) {
  test(`${name}: a 422 names the field, as a page and as JSON, and nothing is stored`, async () => {
    const form = await makeForm(tenant, withFile);
    const before = await traces();
    const all: Part[] = [['name', 'Ada'], ...parts];
    const json = await visitor.post(form.id, all, { ...asJson, multipart: true });
    assert.deepEqual([json.status, json.body.errors?.[0]?.field], [422, field], JSON.stringify(json.body));
    assert.match(json.body.errors[0]!.message, message);
    const page = await visitor.post(form.id, all, { multipart: true });
    assert.equal(page.status, 422);
    assert.deepEqual(await traces(), before);
    assert.equal(await total(form.id), 0);
  });
}

test('a field that is labeled as JSON is still text', async () => {
  const form = await makeForm(tenant, withFile);
  const part = (type: string, value: string): string =>
    `--b\r\nContent-Disposition: form-data; name="name"\r\nContent-Type: ${type}\r\n\r\n${value}\r\n--b--\r\n`;
  const send = (body: string) =>
    visitor.fetch(`/f/${form.id}`, {
      method: 'POST',
      headers: { 'Content-Type': 'multipart/form-data; boundary=b', ...asJson.headers },
      body,
    });
  const { status, body } = await send(part('application/json', '{"a":[1]}'));
  assert.deepEqual([status, await answersOf(body.id)], [201, { name: '{"a":[1]}' }]);
});

// Kept files
// --------------------------------------------------------------------------------------------------

/** Returns the tokens of kept files on a page, as the parts that a browser sends back. */
const keptFilesOn = (visit: Visit): Part[] =>
  readMarkup(visit.text)
    .filter(({ attrs }: Tag) => attrs['name']?.startsWith('_file['))
    .map(({ attrs }) => [attrs['name']!, attrs['value']!] as const);

/** Uploads files and presses the button that adds a row. */
async function keepFiles(
  formId: string,
  parts: readonly Part[],
): Promise<{ visit: Visit; keptFiles: Part[] }> {
  const visit = await visitor.post(formId, [...parts, ['_add', 'team']], { multipart: true });
  assert.equal(visit.status, 200);
  return { visit, keptFiles: keptFilesOn(visit) };
}

test('a file chosen before a row was added is submitted with it, and moves up when an earlier row is removed', async () => {
  const form = await makeForm(tenant, withRows);
  const { visit, keptFiles } = await keepFiles(form.id, [
    ['_row', 'team[0]'],
    ['_row', 'team[1]'],
    ['team[1][photo]', textFile('face', 'face.txt')],
  ]);
  assert.match(visit.text, /face\.txt/);
  assert.deepEqual(
    keptFiles.map(([name]) => name),
    ['_file[team[1][photo]]'],
  );
  const removed = await visitor.post(
    form.id,
    [['_row', 'team[1]'], ['team[1][member]', 'Bob'], ...keptFiles, ['_remove', 'team[0]']],
    { multipart: true },
  );
  const moved = keptFilesOn(removed);
  assert.deepEqual(
    moved.map(([name]) => name),
    ['_file[team[0][photo]]'],
  );
  const { status, body } = await visitor.post(form.id, [['team[0][member]', 'Bob'], ...moved], {
    ...asJson,
    multipart: true,
  });
  assert.equal(status, 201, JSON.stringify(body));
  const { team } = (await answersOf(body.id)) as {
    team: { member: string; photo: { filename: string; url: string }[] }[];
  };
  assert.deepEqual([team.length, team[0]!.member, team[0]!.photo[0]!.filename], [1, 'Bob', 'face.txt']);
  assert.equal(await (await fetch(team[0]!.photo[0]!.url)).text(), 'face');
});

test('kept files stay in order on a page with errors, and a removed file disappears', async () => {
  const form = await makeForm(tenant, [
    element('text', 'must', { required: true }),
    element('file_upload', 'cv'),
    ...withRows.slice(1),
  ]);
  const { keptFiles } = await keepFiles(form.id, [
    ['cv', textFile('1', 'one.txt')],
    ['cv', textFile('2', 'two.txt')],
    ['cv', textFile('3', 'three.txt')],
  ]);
  const refused = await visitor.post(form.id, [...keptFiles, ['_drop', keptFiles[1]![1]]], {
    multipart: true,
  });
  assert.deepEqual([refused.status, keptFilesOn(refused)], [422, [keptFiles[0], keptFiles[2]]]);
  const { body } = await visitor.post(
    form.id,
    [['must', 'x'], ...keptFilesOn(refused), ['cv', textFile('4', 'four.txt')]],
    { ...asJson, multipart: true },
  );
  const { cv } = (await answersOf(body.id)) as { cv: { filename: string }[] };
  assert.deepEqual(
    cv.map(({ filename }) => filename),
    ['one.txt', 'three.txt', 'four.txt'],
  );
});

test('in a field for one file, a new file replaces the kept one', async () => {
  const form = await makeForm(tenant, [element('file_upload', 'cv', { max_files: 1 }), ...withRows.slice(1)]);
  const { keptFiles } = await keepFiles(form.id, [['cv', textFile('1', 'one.txt')]]);
  const sent = await visitor.post(form.id, [...keptFiles, ['cv', textFile('2', 'two.txt')]], {
    ...asJson,
    multipart: true,
  });
  const { cv } = (await answersOf(sent.body.id)) as { cv: { filename: string }[] };
  assert.deepEqual(
    cv.map(({ filename }) => filename),
    ['two.txt'],
  );
});

test('kept files count: ten of them and another one are too many', async () => {
  const form = await makeForm(tenant, [element('file_upload', 'cv'), ...withRows.slice(1)]);
  const { keptFiles } = await keepFiles(
    form.id,
    Array.from({ length: 10 }, (_, index) => ['cv', textFile(String(index))] as const),
  );
  const { status, body } = await visitor.post(form.id, [...keptFiles, ['cv', textFile()]], asJson);
  assert.deepEqual(
    [status, body.errors],
    [422, [{ field: 'cv', message: 'Choose at most 10 files.', code: 'invalid' }]],
  );
});

test('a token is valid for its form, its question and one submission, and cannot be forged', async () => {
  const form = await makeForm(tenant, [
    element('file_upload', 'cv'),
    element('file_upload', 'other'),
    ...withRows.slice(1),
  ]);
  const twin = await makeForm(tenant, [element('file_upload', 'cv'), ...withRows.slice(1)]);
  const { keptFiles } = await keepFiles(form.id, [['cv', textFile()]]);
  const token = keptFiles[0]![1] as string;
  const [fileId, signature] = token.split('.');
  const submitted = async (formId: string, parts: readonly Part[]) =>
    visitor.post(formId, parts, { ...asJson, multipart: true });
  for (const [formId, name, given] of [
    [twin.id, '_file[cv]', token],
    [form.id, '_file[other]', token],
    [form.id, '_file[cv]', `${fileId}.`],
    [form.id, '_file[cv]', `${fileId}.${'A'.repeat(43)}`],
    [form.id, '_file[cv]', `01a1fde4-6fce-7e1a-a75a-2f8f8cc3c4b1.${signature}`],
    [form.id, '_file[cv]', '../../etc/passwd'],
  ] as const) {
    const { status, body } = await submitted(formId, [[name, given]]);
    assert.deepEqual([status, body.errors.length], [422, 1], `${name} ${given}`);
  }
  const first = await submitted(form.id, keptFiles);
  assert.equal(first.status, 201);
  const second = await submitted(form.id, keptFiles);
  assert.deepEqual(
    [second.status, second.body.errors],
    [422, [{ field: 'cv', message: 'A file is no longer available. Choose it again.', code: 'invalid' }]],
  );
});

test('of several parallel submits with one kept file, one gets it and the others get an error', async () => {
  const form = await makeForm(tenant, [element('file_upload', 'cv'), ...withRows.slice(1)]);
  const { keptFiles } = await keepFiles(form.id, [['cv', textFile()]]);
  const visits = await Promise.all(
    Array.from({ length: 6 }, () => visitor.post(form.id, keptFiles, { ...asJson, multipart: true })),
  );
  assert.deepEqual(
    [
      visits.filter(({ status }) => status === 201).length,
      visits.filter(({ status }) => [409, 422].includes(status)).length,
    ],
    [1, 5],
  );
  assert.equal(await total(form.id), 1);
});

test('a file that is kept for over a day is deleted, and the visitor is asked to choose it again', async () => {
  const form = await makeForm(tenant, [element('file_upload', 'cv'), ...withRows.slice(1)]);
  const before = await traces();
  const { keptFiles } = await keepFiles(form.id, [['cv', textFile()]]);
  await database.query("update files set created_at = now() - interval '25 hours' where form_id = $1", [
    form.id,
  ]);
  await sweepFiles(service.services);
  assert.deepEqual(await traces(), before);
  const { status, text } = await visitor.post(form.id, keptFiles, { multipart: true });
  assert.equal(status, 422);
  assert.match(text, /The cv: A file is no longer available\. Choose it again\./);
  assert.deepEqual(keptFilesOn({ text } as Visit), []);
});

// Requests that no browser sends
// ------------------------------------------------------------------------------

const field = (name: string, value = 'x', more = ''): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
const end = '--b--\r\n';
const malformed: Record<string, { body: string; type?: string }> = {
  'no boundary': { body: field('name') + end, type: 'multipart/form-data' },
  'an empty boundary': { body: field('name') + end, type: 'multipart/form-data; boundary=' },
  'another boundary': { body: field('name') + end, type: 'multipart/form-data; boundary=other' },
  'an empty body': { body: '' },
  'only the end': { body: end },
  'a cut header': { body: '--b\r\nContent-Disposition: form-da' },
  'a cut field': { body: field('name').slice(0, -2) },
  'a cut file': { body: field('cv', 'x'.repeat(100_000), '; filename="a.txt"').slice(0, -50) },
  'no end': { body: field('name') + field('cv', 'x', '; filename="a.txt"') },
  'a part without a name': { body: `--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n${end}` },
  'a part with an empty name': { body: field('') + end },
  'a file with an empty name': { body: field('', 'x', '; filename="a.txt"') + end },
  'a part without headers': { body: `--b\r\n\r\nx\r\n${end}` },
  'a header without a colon': { body: `--b\r\nContent-Disposition form-data\r\n\r\nx\r\n${end}` },
  'a header of a million letters': {
    body: `--b\r\nX-Long: ${'x'.repeat(1_000_000)}\r\nContent-Disposition: form-data; name="name"\r\n\r\nx\r\n${end}`,
  },
  'a thousand headers': { body: `--b\r\n${'X-A: 1\r\n'.repeat(1_000)}\r\nx\r\n${end}` },
  'a name of the language itself': { body: field('__proto__') + end },
  'a header of the language itself': { body: `--b\r\n__proto__: x\r\nconstructor: y\r\n\r\nx\r\n${end}` },
  'a file by a name of the language itself': { body: field('constructor', 'x', '; filename="a"') + end },
  'a name of 10,000 letters': { body: field('n'.repeat(10_000)) + end },
  'six thousand fields': { body: field('mail').repeat(6_000) + end },
  'six thousand files': { body: field('cv', 'x', '; filename="a.txt"').repeat(6_000) + end },
  'a multipart in a multipart': {
    body: `--b\r\nContent-Disposition: form-data; name="cv"\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Disposition: file; filename="a"\r\n\r\nx\r\n--c--\r\n${end}`,
  },
  'a NUL in a name': { body: field('na\u0000me') + end },
};
for (const [name, { body, type = 'multipart/form-data; boundary=b' }] of Object.entries(malformed)) {
  test(`a multipart body with ${name}: a 4xx within a second, nothing stored, and the next visitor is served`, async () => {
    const form = await makeForm(tenant, withFile);
    const before = await traces();
    const start = performance.now();
    const { status, text } = await visitor.fetch(`/f/${form.id}`, {
      method: 'POST',
      headers: { 'Content-Type': type, ...asJson.headers },
      body,
    });
    assert.ok([400, 413, 415, 422].includes(status), `${status} ${text}`);
    assert.ok(performance.now() - start < 1_000 * slowness());
    assert.deepEqual(await traces(), before);
    assert.equal((await visitor.post(form.id, [['name', 'Ada']], { multipart: true })).status, 303);
    assert.equal(await total(form.id), 1);
  });
}

/** Begins a multipart post and stops in the middle of its file, after the server has begun to store it. */
async function beginUpload(formId: string) {
  const files = (await listFiles(service)).length;
  const sending = request(`${service.url}/f/${formId}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'multipart/form-data; boundary=b',
      'Transfer-Encoding': 'chunked',
      ...asJson.headers,
    },
  });
  sending.on('error', () => {});
  sending.write(
    `${field('name', 'Ada')}--b\r\nContent-Disposition: form-data; name="cv"; filename="a.txt"\r\n\r\n${'x'.repeat(200_000)}`,
  );
  await until('the first bytes on the disk', async () => (await listFiles(service)).length > files);
  return sending;
}

test('a visitor who leaves during an upload leaves nothing behind', async () => {
  const form = await makeForm(tenant, withFile);
  const before = await traces();
  (await beginUpload(form.id)).destroy();
  await until('everything to be gone', async () => JSON.stringify(await traces()) === JSON.stringify(before));
  assert.equal(await total(form.id), 0);
});

test('a form that is deleted during an upload answers 404 at its end, and keeps nothing', async () => {
  const form = await makeForm(tenant, withFile);
  const before = await traces();
  const sending = await beginUpload(form.id);
  assert.equal((await tenant.call('DELETE', `/forms/${form.id}`)).status, 204);
  sending.end(`\r\n${end}`);
  const [response] = (await once(sending, 'response')) as [{ statusCode: number; resume(): void }];
  response.resume();
  assert.equal(response.statusCode, 404);
  await until('everything to be gone', async () => JSON.stringify(await traces()) === JSON.stringify(before));
});

test('files of more than 120 MB in total are rejected by their Content-Length, or cut off without one', async () => {
  const form = await makeForm(tenant, withFile);
  const before = await traces();
  const head = (length: string): string =>
    `POST /f/${form.id} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\nContent-Type: multipart/form-data; boundary=b\r\n${length}\r\n\r\n`;
  const first = `--b\r\nContent-Disposition: form-data; name="cv"; filename="a"\r\n\r\n`;
  const chunk = Buffer.concat([Buffer.from('80000\r\n'), Buffer.alloc(0x80000, 'x'), Buffer.from('\r\n')]);
  function* announced(): Generator<string | Buffer> {
    yield head('Content-Length: 200000000') + first;
    for (;;) yield chunk;
  }
  let sent = 0;
  function* unannounced(): Generator<string | Buffer> {
    yield `${head('Transfer-Encoding: chunked')}${first.length.toString(16)}\r\n${first}\r\n`;
    for (; ; sent += 0x80000) yield chunk;
  }
  const refused = await sendRaw(service.url, announced());
  assert.equal(refused.status, 413);
  assert.match(refused.body, /larger than 120 MB in total/);
  await sendRaw(service.url, unannounced());
  assert.ok(sent < 140_000_000, `${sent} bytes were taken`);
  await until('everything to be gone', async () => JSON.stringify(await traces()) === JSON.stringify(before));
});

test('a failing disk ends the post with a 500, closes the connection, and stores nothing', async () => {
  const form = await makeForm(tenant, withFile);
  const before = await traces();
  const { storage } = service.services;
  const put = storage.put.bind(storage);
  storage.put = () =>
    Promise.reject(Object.assign(new Error('no space left on /dev/sda1'), { code: 'ENOSPC' }));
  try {
    const { status, headers, text } = await visitor.post(
      form.id,
      [
        ['name', 'Ada'],
        ['cv', textFile('x'.repeat(1_000_000))],
      ],
      asJson,
    );
    assert.deepEqual([status, headers.get('connection')], [500, 'close']);
    assert.doesNotMatch(text, /sda1|ENOSPC/);
  } finally {
    storage.put = put;
  }
  assert.deepEqual(await traces(), before);
  assert.equal(
    (
      await visitor.post(form.id, [
        ['name', 'Ada'],
        ['cv', textFile()],
      ])
    ).status,
    303,
  );
});

test('a JSON post without an answers object, with other properties or with invalid answers returns 422 with the reason', async () => {
  const form = await makeForm(tenant, [element('number', 'age')]);
  const send = (body: unknown) =>
    visitor.fetch(`/f/${form.id}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  for (const body of [null, [], [{ answers: {} }], 'answers', 1, {}]) {
    const { status, body: refused } = await send(body);
    assert.deepEqual(
      [status, refused.errors],
      [422, [{ field: 'answers', message: '"answers" is required.', code: 'required' }]],
    );
  }
  const more = await send({ answers: { age: 1 }, [`reply_${'x'.repeat(200)}`]: 1 });
  assert.deepEqual([more.status, more.body.errors[0]!.field], [422, `reply_${'x'.repeat(74)}`]);
  const wrong = await send({ answers: { age: 'old' } });
  assert.deepEqual([wrong.status, wrong.body.errors.map(({ field }) => field)], [422, ['age']]);
  assert.equal((await send({ answers: { age: 1 } })).status, 201);
});
