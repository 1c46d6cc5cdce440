import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { readXlsx } from 'hucre/xlsx';
import { composite, element, structure } from '#ast/testing.ts';
import { startQueue } from '#kit/queue/worker.ts';
import { removeManyBatch, removeManyJob } from '#submissions/changes/remove-many.ts';
import { type ConsolePerson, signIn } from '#test/console.ts';
import { openService, type Tenant, until } from '#test/service.ts';
import type { Removal, SubmissionDetail, Summary, TableColumns, TablePage } from './shapes.ts';

const service = await openService();
const tenant = await service.makeTenant();
const person = await signIn(service, { workspaceId: tenant.workspaceId, role: 'editor' });
const { database, log, wakeQueue } = service.services;

const queue = startQueue({
  database,
  log,
  handlers: { [removeManyJob]: { perLane: 1, run: (job) => removeManyBatch({ database, wakeQueue }, job) } },
});
after(() => queue.stop());

const elements = [
  element('text', 'name', { required: true, label: 'Name' }),
  element('radio', 'colour', { label: 'Colour' }),
  element('number', 'age', { label: 'Age' }),
  element('file_upload', 'photo', { label: 'Photo' }),
  composite('guests', [element('text', 'guest', { label: 'Guest' })], { repeatable: true, label: 'Guests' }),
];

async function makeForm(children: unknown[] = elements, owner: Tenant = tenant): Promise<string> {
  const made = await owner.call('POST', '/forms', { structure: structure(...children), publish: true });
  assert.equal(made.status, 201);
  return made.body.id;
}

async function submit(form: string, answers: object, reference = ''): Promise<string> {
  const response = await fetch(`${service.url}/f/${form}${reference}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify({ answers }),
  });
  const body = (await response.json()) as { id: string };
  assert.equal(response.status, 201, JSON.stringify(body));
  return body.id;
}

const pathOf = (form: string, rest = ''): string => `/workspaces/${tenant.workspaceId}/forms/${form}/submissions${rest}`;

async function list(form: string, query = '', who: ConsolePerson = person): Promise<TablePage> {
  const { status, body } = await who.call<TablePage>('GET', pathOf(form, query));
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

const namesOf = (page: TablePage): unknown[] => page.data.map((row) => row.answers['name']);

async function detail(form: string, id: string, query = ''): Promise<SubmissionDetail> {
  const { status, body } = await person.call<SubmissionDetail>('GET', pathOf(form, `/${id}${query}`));
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

test('the table shows pages, newest first, with the exact total, by status, date and search', async () => {
  const form = await makeForm();
  for (const name of ['Ada runs', 'Ben walks', 'Cleo runs', 'Dora']) await submit(form, { name });
  const all = await list(form, '?per_page=3');
  assert.deepEqual(namesOf(all), ['Dora', 'Cleo runs', 'Ben walks']);
  assert.deepEqual(all.pagination, { page: 1, per_page: 3, total_count: 4, total_pages: 2 });
  assert.deepEqual(namesOf(await list(form, '?per_page=3&page=2')), ['Ada runs']);

  const [dora] = all.data;
  const status = await person.call('PUT', pathOf(form, `/${dora!.id}/status`), { status: 'incomplete', seen: dora!.updated_at });
  assert.equal(status.status, 204);
  assert.deepEqual(namesOf(await list(form, '?status=incomplete')), ['Dora']);
  assert.equal((await list(form, '?status=completed')).pagination.total_count, 3);

  const found = await list(form, '?q=running&status=completed');
  assert.deepEqual(namesOf(found), ['Cleo runs', 'Ada runs']);
  assert.deepEqual(found.data.map((row) => row.hits), [['runs'], ['runs']]);
  assert.deepEqual([found.pagination.total_count, (await list(form, '?q=running&status=incomplete')).pagination.total_count], [2, 0]);

  const since = all.data[1]!.created_at;
  assert.deepEqual(namesOf(await list(form, `?created_from=${since}`)), ['Dora', 'Cleo runs']);
  const before = await list(form, `?created_to=${since}&status=completed`);
  assert.deepEqual([namesOf(before), before.pagination.total_count], [['Ben walks', 'Ada runs'], 2]);
  assert.deepEqual(namesOf(await list(form, `?created_to=${since}&q=run`)), ['Ada runs']);
  const past = await list(form, '?q=run&page=9');
  assert.deepEqual([past.data, past.pagination.total_count], [[], 2]);
});

test('columns are the union of the versions that were answered, in form order, each question where it used to be', async () => {
  const form = await makeForm([element('text', 'name'), element('text', 'old'), element('number', 'age')]);
  await submit(form, { name: 'Ada', old: 'x' });
  const unused = structure(element('text', 'name'), element('text', 'never_answered'), element('number', 'age'));
  const now = structure(element('number', 'age'), element('text', 'name', { label: 'Full name' }), element('text', 'fresh'));
  for (const version of [unused, now]) assert.equal((await tenant.call('PUT', `/forms/${form}`, { structure: version })).status, 200);
  const { body } = await person.call<TableColumns>('GET', pathOf(form, '/columns'));
  assert.deepEqual(
    body.data.map(({ id, label, is_retired }) => [id, label, is_retired]),
    [
      ['age', 'The age', false],
      ['name', 'Full name', false],
      ['old', 'The old', true],
      ['fresh', 'The fresh', false],
    ],
  );
});

test('the detail has the version that was answered, and its neighbours in the view', async () => {
  const form = await makeForm();
  const ids: string[] = [];
  for (const name of ['Run one', 'Other', 'Run two', 'Run three']) ids.push(await submit(form, { name }));
  await tenant.call('PUT', `/forms/${form}`, { structure: structure(element('text', 'name', { label: 'Renamed' })) });

  const shown = await detail(form, ids[2]!);
  assert.deepEqual(shown.structure.children[0]!.children[0]!.attrs, { id: 'name', label: 'Name', required: true });
  assert.equal(shown.is_live_version, false);
  assert.deepEqual([shown.previous_id, shown.next_id], [ids[3], ids[1]]);
  const searched = await detail(form, ids[2]!, '?q=run');
  assert.deepEqual([searched.previous_id, searched.next_id, searched.hits], [ids[3], ids[0], ['Run']]);
  const first = await detail(form, ids[0]!, '?status=completed');
  assert.deepEqual([first.previous_id, first.next_id], [ids[1], null]);
});

test('a change names its problems by field, and a stale one is a 412', async () => {
  const form = await makeForm();
  const id = await submit(form, { name: 'Ada' }, '?utm=mail');
  const { updated_at: seen } = await detail(form, id);
  const wrong = await person.call('PUT', pathOf(form, `/${id}/answers`), { answers: { age: 'x' }, seen });
  assert.deepEqual([wrong.status, wrong.body.errors.map((item) => item.field)], [422, ['name', 'age']]);
  assert.equal((await person.call('PUT', pathOf(form, `/${id}/answers`), { answers: { name: 'Grace' }, seen })).status, 204);
  assert.equal((await person.call('PUT', pathOf(form, `/${id}/reference`), { reference: {}, seen })).status, 412);
  const { updated_at } = await detail(form, id);
  assert.equal((await person.call('PUT', pathOf(form, `/${id}/reference`), { reference: { utm: 'web' }, seen: updated_at })).status, 204);
  const after = await detail(form, id);
  assert.deepEqual([after.answers, after.reference], [{ name: 'Grace' }, { utm: 'web' }]);
});

test('images are shown in the page, and nothing else is; both only to members', async () => {
  const form = await makeForm();
  const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
  const data = new FormData();
  data.set('name', 'Ada');
  data.append('photo', new Blob([png], { type: 'image/png' }), 'a".png');
  data.append('photo', new Blob([svg], { type: 'image/svg+xml' }), 'b.svg');
  data.append('photo', new Blob(['<script>alert(1)</script>'], { type: 'image/png' }), 'c.png');
  const sent = await fetch(`${service.url}/f/${form}`, { method: 'POST', headers: { Accept: 'application/json' }, body: data });
  const { id } = (await sent.json()) as { id: string };
  const photos = (await detail(form, id)).answers['photo'] as unknown as { id: string; url: string; preview_url?: string }[];
  assert.deepEqual(photos.map((photo) => photo.preview_url !== undefined), [true, false, false]);
  assert.equal((await fetch(photos[1]!.url)).status, 200);

  const preview = await fetch(`${service.url}${photos[0]!.preview_url}`, { headers: { Cookie: person.cookie } });
  assert.equal(preview.status, 200);
  assert.deepEqual(Buffer.from(await preview.arrayBuffer()), png);
  assert.equal(preview.headers.get('content-type'), 'image/png');
  assert.match(preview.headers.get('content-disposition')!, /^inline; filename=/);
  assert.equal(preview.headers.get('content-security-policy'), "sandbox; default-src 'none'");
  assert.equal(preview.headers.get('x-content-type-options'), 'nosniff');
  for (const photo of photos.slice(1)) {
    assert.equal((await person.call('GET', pathOf(form, `/${id}/files/${photo.id}/preview`))).status, 404);
  }
  assert.equal((await fetch(`${service.url}${photos[0]!.preview_url}`)).status, 401);
});

test('all of a filter are removed when the typed number is theirs; what is not of the filter stays', async () => {
  const form = await makeForm();
  for (const name of ['Spam one', 'Spam two', 'Good']) await submit(form, { name });
  const start = (expected: number) => person.call<Removal & { message: string }>('POST', pathOf(form, '/removals'), { view: { q: 'spam' }, expected });
  const wrong = await start(3);
  assert.deepEqual([wrong.status, wrong.body.message], [409, 'You confirmed 3, but now there are 2. Nothing was deleted.']);
  const { status, body } = await start(2);
  assert.deepEqual([status, body.total], [202, 2]);
  await until('the removal', async () => (await person.call<Removal>('GET', pathOf(form, `/removals/${body.id}`))).body.finished_at !== null);
  assert.deepEqual(namesOf(await list(form)), ['Good']);
  const [good] = (await list(form)).data;
  const both = { ids: [good!.id], view: {}, expected: 1 };
  assert.equal((await person.call('POST', pathOf(form, '/removals'), both)).status, 422);
});

test('the export of a view is CSV that Excel and RFC 4180 readers take, without a cell that could be a formula', async () => {
  const form = await makeForm([element('text', 'name', { label: 'Status' }), element('textarea', 'note', { label: 'Note' }), element('textarea', 'more', { label: 'Note' }), element('number', 'age', { label: 'Age' })]);
  const notes = ["=cmd|' /C calc'!A0", '@SUM(1)', '\t=1', '＝1', '+49 30 1', ' "-2', "'tis", 'a,"b"\nc 😀 007', '-5'];
  for (const [index, note] of notes.entries()) await submit(form, { name: `Row ${index}`, note, age: -index });
  const { status, headers, body } = await person.call<string>('GET', pathOf(form, '/export?format=csv&bom=yes'));
  assert.equal(status, 200);
  assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8');
  assert.match(headers.get('content-disposition')!, /^attachment; filename="Contact \d{4}-\d{2}-\d{2}\.csv"$/);
  const records = parseCsv(body);
  assert.deepEqual(records[0], ['Submission ID', 'Status', 'Created at', 'Completed at', 'Status (name)', 'Note (note)', 'Note (more)', 'Age', 'Reference']);
  const cells = records.slice(1).map((record) => record[5]!);
  for (const cell of cells) assert.doesNotMatch(cell, /^[\s"]*[=+\-@＝]/u);
  assert.deepEqual(cells.map((cell) => cell.replace(/^'/, '')), notes.toReversed());
  assert.deepEqual(records.slice(1).map((record) => record[7]), notes.map((_, index) => String(-index)).toReversed());

  const filtered = parseCsv((await person.call<string>('GET', pathOf(form, '/export?format=csv&q=tis'))).body);
  assert.equal(filtered.length, 2);
});

test('the export as XLSX holds texts as texts and numbers as numbers', async () => {
  const form = await makeForm();
  await submit(form, { name: '=1+1 \u0007', age: 3.5, colour: 'Red', guests: [{ guest: 'Tom' }, { guest: 'Ann' }] });
  const response = await fetch(`${service.url}/app/api${pathOf(form, '/export?format=xlsx')}`, { headers: { Cookie: person.cookie } });
  const book = await readXlsx(new Uint8Array(await response.arrayBuffer()));
  const [head, row] = book.sheets[0]!.rows;
  const cell = (title: string): unknown => row![head!.indexOf(title)];
  assert.deepEqual(['Name', 'Colour', 'Age', 'Guests'].map(cell), ['=1+1 \uFFFD', 'Red', 3.5, 'Guest: Tom\nGuest: Ann']);
  assert.ok(cell('Created at') instanceof Date);
});

test('the summary counts days in the asked time zone, completion, and the answers to each question', async () => {
  const form = await makeForm();
  await submit(form, { name: 'Ada', colour: 'Red', age: 1, guests: [{ guest: 'Tom' }, { guest: 'Ann' }] });
  await submit(form, { name: 'Ben', colour: 'Red', age: 3 });
  const last = await submit(form, { name: 'Cleo' });
  const { updated_at } = await detail(form, last);
  await person.call('PUT', pathOf(form, `/${last}/status`), { status: 'incomplete', seen: updated_at });
  await database.query(`update submissions set created_at = '2026-01-01T23:30:00Z' where id = $1`, [last]);

  const { body } = await person.call<Summary>('GET', pathOf(form, '/summary?time_zone=Europe/Berlin'));
  assert.deepEqual([body.completed, body.incomplete, body.completion_rate, body.sampled], [2, 1, 2 / 3, 3]);
  assert.deepEqual(body.days[0], { day: '2026-01-02', completed: 0, incomplete: 1 });
  const of = (id: string) => body.elements.find((item) => item.id === id)!;
  assert.deepEqual(of('colour').bars, [
    { label: 'Red', count: 2 },
    { label: 'Green', count: 0 },
    { label: 'Blue', count: 0 },
  ]);
  assert.deepEqual([of('age').numbers, of('age').bars], [{ min: 1, max: 3, mean: 2 }, [{ label: '1', count: 1 }, { label: '2', count: 0 }, { label: '3', count: 1 }]]);
  assert.deepEqual(of('name').texts.map(({ text }) => text), ['Cleo', 'Ben', 'Ada']);
  assert.deepEqual([of('guests').answered, of('guest').answered, of('guest').group], [1, 2, 'Guests']);
  const zone = await person.call('GET', pathOf(form, '/summary?time_zone=Nowhere/City'));
  assert.equal(zone.status, 400);
});

test('a viewer reads and exports, and changes nothing; strangers and other forms get a 404', async () => {
  const form = await makeForm();
  const id = await submit(form, { name: 'Ada' });
  const viewer = await signIn(service, { workspaceId: tenant.workspaceId, role: 'viewer' });
  const stranger = await signIn(service);
  const seen = (await detail(form, id)).updated_at;
  const reads = ['', '/columns', '/export?format=csv', '/summary?time_zone=UTC', `/${id}`, '/removals'];
  const changes: [string, string, object][] = [
    ['PUT', `/${id}/answers`, { answers: { name: 'Eve' }, seen }],
    ['PUT', `/${id}/reference`, { reference: {}, seen }],
    ['PUT', `/${id}/status`, { status: 'incomplete', seen }],
    ['DELETE', `/${id}`, {}],
    ['POST', '/removals', { ids: [id], expected: 1 }],
  ];
  for (const path of reads) {
    assert.equal((await viewer.call('GET', pathOf(form, path))).status, 200, path);
    assert.equal((await stranger.call('GET', pathOf(form, path))).status, 404, path);
  }
  for (const [method, path, body] of changes) {
    assert.equal((await viewer.call(method, pathOf(form, path), body)).status, 403, path);
    assert.equal((await stranger.call(method, pathOf(form, path), body)).status, 404, path);
  }
  const other = await makeForm();
  for (const [method, path, body] of changes.slice(0, 4)) {
    assert.equal((await person.call(method, pathOf(other, path), body)).status, 404, path);
  }
  assert.deepEqual((await detail(form, id)).answers, { name: 'Ada' });
  const foreign = await service.makeTenant();
  const foreignForm = await makeForm(elements, foreign);
  for (const path of reads) assert.equal((await person.call('GET', pathOf(foreignForm, path))).status, 404, path);
});

test('what is not understood is a 400, and nothing is listed', async () => {
  const form = await makeForm();
  for (const query of ['?q=', '?q=%00', '?status=all', '?created_from=yesterday', '?page=0', '?sort=name']) {
    assert.equal((await person.call('GET', pathOf(form, query))).status, 400, query);
  }
});

/** A reader of RFC 4180 of its own, so that the writer is not checked by itself. */
function parseCsv(text: string): string[][] {
  const records: string[][] = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/y;
  let record: string[] = [];
  const source = text.replace(/^\uFEFF/, '');
  while (field.lastIndex < source.length) {
    const match = field.exec(source);
    assert.ok(match, 'the CSV is well formed');
    record.push(match[1]?.replaceAll('""', '"') ?? match[2]!);
    if (match[3] !== ',') {
      records.push(record);
      record = [];
    }
  }
  return records;
}
