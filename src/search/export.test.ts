import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readXlsx } from 'hucre/xlsx';
import { element } from '#test/ast/forms.ts';
import { signIn } from '#test/console.ts';
import { until } from '#test/service.ts';
import { detail, elements, makeForm, person, service, submit, tenant } from '#test/submissions.ts';
import { createKey } from '#workspaces/keys.ts';

test('the export of a view is CSV for Excel and RFC 4180 readers, without cells that could be formulas', async () => {
  const form = await makeForm([
    element('text', 'name', { label: 'Status' }),
    element('textarea', 'note', { label: 'Note' }),
    element('textarea', 'more', { label: 'Note' }),
    element('number', 'age', { label: 'Age' }),
  ]);
  const notes = [
    "=cmd|' /C calc'!A0",
    '@SUM(1)',
    '\t=1',
    '＝1',
    '+49 30 1',
    ' "-2',
    "'tis",
    'a,"b"\nc 😀 007',
    '-5',
  ];
  for (const [index, note] of notes.entries())
    await submit(form, { name: `Row ${index}`, note, age: -index });
  const { status, headers, body } = await person.api<string>(
    'GET',
    `/forms/${form}/submissions/export?format=csv&for=spreadsheets`,
  );
  assert.equal(status, 200);
  assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8');
  assert.match(
    headers.get('content-disposition')!,
    /^attachment; filename="Contact \d{4}-\d{2}-\d{2}\.csv"$/,
  );
  const records = parseCsv(body);
  assert.deepEqual(records[0], [
    'Submission ID',
    'Status',
    'Created at',
    'Completed at',
    'Status (name)',
    'Note (note)',
    'Note (more)',
    'Age',
    'Reference',
  ]);
  const cells = records.slice(1).map((record) => record[5]!);
  for (const cell of cells) assert.doesNotMatch(cell, /^[\s"]*[=+\-@＝]/u);
  assert.deepEqual(
    cells.map((cell) => cell.replace(/^'/, '')),
    notes.map((note) => note.trim()).toReversed(),
  );
  assert.deepEqual(
    records.slice(1).map((record) => record[7]),
    notes.map((_, index) => String(-index)).toReversed(),
  );

  const filtered = parseCsv(
    (await person.api<string>('GET', `/forms/${form}/submissions/export?format=csv&q=tis`)).body,
  );
  assert.equal(filtered.length, 2);
});

test('the XLSX export stores texts as texts and numbers as numbers', async () => {
  const form = await makeForm();
  await submit(form, {
    name: '=1+1 \u0007!',
    age: 3.5,
    colour: 'Red',
    guests: [{ guest: 'Tom' }, { guest: 'Ann' }],
  });
  const response = await fetch(`${service.url}/api/v1/forms/${form}/submissions/export?format=xlsx`, {
    headers: { Authorization: `Bearer ${tenant.key}` },
  });
  const book = await readXlsx(new Uint8Array(await response.arrayBuffer()));
  const [head, row] = book.sheets[0]!.rows;
  const cell = (title: string): unknown => row![head!.indexOf(title)];
  assert.deepEqual(['Name', 'Colour', 'Age', 'Guests'].map(cell), [
    '=1+1 \u0007!',
    'Red',
    3.5,
    'Guest: Tom\nGuest: Ann',
  ]);
  assert.ok(cell('Created at') instanceof Date);
});

test('the NDJSON export has one line of JSON per submission, with the answers in API format', async () => {
  const form = await makeForm();
  const answers = { name: '=1+1', age: 3.5, guests: [{ guest: 'Tom' }] };
  const id = await submit(form, answers, '?campaign=spring');
  await submit(form, { name: 'Ben' });
  const { headers, body } = await person.api<string>(
    'GET',
    `/forms/${form}/submissions/export?format=ndjson`,
  );
  assert.equal(headers.get('content-type'), 'application/x-ndjson');
  const lines = body.split('\n');
  assert.equal(lines.pop(), '', 'the last line ends as well');
  const [newest, first] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(newest!['answers'], { name: 'Ben' });
  assert.deepEqual(
    [first!['id'], first!['status'], first!['answers'], first!['reference']],
    [id, 'completed', answers, { campaign: 'spring' }],
  );
});

test('the export has all columns, or the columns that the person sees, in that order', async () => {
  const form = await makeForm([
    element('text', 'a', { label: 'A' }),
    element('text', 'b', { label: 'B' }),
    element('text', 'c', { label: 'C' }),
    element('text', 'd', { label: 'D' }),
  ]);
  await submit(form, { a: '1', b: '2', c: '3', d: '4' });
  const heads = async (columns: string): Promise<string[]> =>
    parseCsv(
      (await person.api<string>('GET', `/forms/${form}/submissions/export?format=csv&columns=${columns}`))
        .body,
    )[0]!.slice(4, -1);
  assert.deepEqual(await heads('shown'), ['A', 'B', 'C', 'D'], 'while nothing is arranged');
  await person.call('PUT', `/forms/${form}/arrangement`, {
    order: ['c', '$status', 'a'],
    hidden: ['b', '$reference'],
    widths: {},
    pinned: 0,
    is_tall: false,
  });
  assert.deepEqual(await heads('shown'), ['C', 'D', 'A'], 'what is new follows its neighbour');
  assert.deepEqual(await heads('all'), ['A', 'B', 'C', 'D']);
  const { body } = await person.api<string>(
    'GET',
    `/forms/${form}/submissions/export?format=ndjson&columns=shown`,
  );
  assert.deepEqual(Object.keys((JSON.parse(body) as { answers: object }).answers), ['c', 'd', 'a']);
});

test('a viewer can read and export but change nothing; strangers and other forms get a 404', async () => {
  const form = await makeForm();
  const id = await submit(form, { name: 'Ada' });
  const viewer = await signIn(service, { workspaceId: tenant.workspaceId, role: 'viewer' });
  const stranger = await signIn(service);
  const readsOf = (of: string) =>
    ['rows', 'columns', 'submissions/export?format=csv', 'summary'].map((path) => `/forms/${of}/${path}`);
  const reads = [...readsOf(form), `/submissions/${id}/view`, `/submissions/${id}/timeline`];
  const changes: [string, string, object][] = [
    ['PATCH', `/submissions/${id}`, { answers: { name: 'Eve' } }],
    ['DELETE', `/submissions/${id}`, {}],
    ['POST', `/forms/${form}/submissions/deletions`, { ids: [id], expected: 1 }],
  ];
  for (const path of reads) {
    assert.equal((await viewer.api('GET', path)).status, 200, path);
    assert.equal((await stranger.api('GET', path)).status, 404, path);
  }
  for (const [method, path, body] of changes) {
    assert.equal((await viewer.api(method, path, body)).status, 403, path);
    assert.equal((await stranger.api(method, path, body)).status, 404, path);
  }
  assert.deepEqual((await detail(id)).answers, { name: 'Ada' });
  const foreign = await service.makeTenant();
  const foreignForm = await makeForm(elements, foreign);
  for (const path of readsOf(foreignForm)) assert.equal((await person.api('GET', path)).status, 404, path);
});

test('an API key exports all columns, because it has no table settings, and only forms in its scope', async () => {
  const form = await makeForm();
  await submit(form, { name: 'Ada' });
  const path = `/forms/${form}/submissions/export?format=ndjson`;
  assert.equal((await tenant.call('GET', `${path}&columns=shown`)).status, 200);
  const where = encodeURIComponent(JSON.stringify({ element: 'name', is: 'equals', value: 'ada' }));
  const lines = await fetch(`${service.url}/api/v1${path}&where=${where}`, {
    headers: { Authorization: `Bearer ${tenant.key}` },
  });
  assert.equal((await lines.text()).split('\n').length, 2);
  const elsewhere = await createKey(service.services.database, {
    workspaceId: tenant.workspaceId,
    name: 'elsewhere',
    formIds: [await makeForm()],
  });
  const headers = { Authorization: `Bearer ${elsewhere.key}` };
  assert.equal((await tenant.call('GET', path, undefined, headers)).status, 404);
});

/** Parses RFC 4180 independently, so that the writer is not checked by its own code. */
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

test('a workspace can run two exports at the same time; a third must retry and starts when one of them ends', async () => {
  const form = await makeForm([element('text', 'name'), element('textarea', 'note')]);
  // More than the socket buffers hold, so that an unread export stays in progress.
  const note = 'x'.repeat(65_000);
  for (let index = 0; index < 200; index += 1) await submit(form, { name: 'Ada', note });
  const begin = (): Promise<Response> =>
    fetch(`${service.url}/api/v1/forms/${form}/submissions/export?format=ndjson`, {
      headers: { Authorization: `Bearer ${tenant.key}` },
    });
  const [first, second] = [await begin(), await begin()];
  assert.deepEqual([first.status, second.status], [200, 200]);
  const third = await begin();
  assert.equal(third.status, 429);
  assert.equal(third.headers.get('retry-after'), '10');
  assert.match(await third.text(), /This workspace is already running 2 exports\./);
  await first.body!.cancel();
  await until('a place to be free', async () => {
    const again = await begin();
    await again.body!.cancel();
    return again.status === 200;
  });
  await second.body!.cancel();
});

test('a CSV without formula protection has every text as it was entered', async () => {
  const form = await makeForm([element('textarea', 'note', { label: '=Note' })]);
  const notes = ['+49 30 1', '=1+1', "'tis", '-5', '@a,"b"\nc'];
  for (const note of notes) await submit(form, { note });
  const { body } = await person.api<string>('GET', `/forms/${form}/submissions/export?format=csv`);
  const [head, ...records] = parseCsv(body);
  assert.deepEqual([head![0], head![4]], ['Submission ID', '=Note']);
  assert.deepEqual(
    records.map((record) => record[4]),
    notes.toReversed(),
  );
});
