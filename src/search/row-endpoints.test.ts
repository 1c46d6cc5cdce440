import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FormNode } from '#ast/form/tree.ts';
import { formatSubmissionReference } from '#ast/short-reference.ts';
import type { BulkChange } from '#submissions/changes/bulk.ts';
import type { LinkedFile, SubmissionDetail, TableColumns } from '#submissions/shapes.ts';
import { element, structure } from '#test/ast/forms.ts';
import { until } from '#test/service.ts';
import {
  change,
  detail,
  list,
  makeForm,
  namesOf,
  person,
  service,
  submit,
  tenant,
} from '#test/submissions.ts';
import { asJson, openVisitor } from '#test/visitor.ts';

test('the table shows pages, newest first, with the exact total, by status, date and search', async () => {
  const form = await makeForm();
  for (const name of ['Ada runs', 'Ben walks', 'Cleo runs', 'Dora']) await submit(form, { name });
  const all = await list(form, '?per_page=3');
  assert.deepEqual(namesOf(all), ['Dora', 'Cleo runs', 'Ben walks']);
  assert.deepEqual(all.pagination, { page: 1, per_page: 3, total_count: 4, total_pages: 2 });
  assert.deepEqual(namesOf(await list(form, '?per_page=3&page=2')), ['Ada runs']);

  const [dora] = all.data;
  await change(dora!.id, { status: 'incomplete' });
  assert.deepEqual(namesOf(await list(form, '?status=incomplete')), ['Dora']);
  assert.equal((await list(form, '?status=completed')).pagination.total_count, 3);

  const found = await list(form, '?q=running&status=completed');
  assert.deepEqual(namesOf(found), ['Cleo runs', 'Ada runs']);
  assert.deepEqual(
    found.data.map((row) => row.hits),
    [['runs'], ['runs']],
  );
  assert.deepEqual(
    [found.pagination.total_count, (await list(form, '?q=running&status=incomplete')).pagination.total_count],
    [2, 0],
  );

  const since = all.data[1]!.created_at;
  assert.deepEqual(namesOf(await list(form, `?created_from=${since}`)), ['Dora', 'Cleo runs']);
  const before = await list(form, `?created_to=${since}&status=completed`);
  assert.deepEqual([namesOf(before), before.pagination.total_count], [['Ben walks', 'Ada runs'], 2]);
  assert.deepEqual(namesOf(await list(form, `?created_to=${since}&q=run`)), ['Ada runs']);
  const past = await list(form, '?q=run&page=9');
  assert.deepEqual([past.data, past.pagination.total_count], [[], 2]);
});

test('the short reference finds only its submission, in any spelling and within the filters', async () => {
  const form = await makeForm();
  for (const name of ['Ada', 'Ben']) await submit(form, { name });
  const [ben, ada] = (await list(form)).data;
  const reference = formatSubmissionReference(ada!.id);
  for (const q of [reference, reference.toLowerCase().replace('-', ' ')]) {
    const found = await list(form, `?${new URLSearchParams({ q }).toString()}`);
    assert.deepEqual([namesOf(found), found.pagination.total_count], [['Ada'], 1], q);
  }
  assert.deepEqual(namesOf(await list(form, `?q=${reference}&status=incomplete`)), []);
  assert.deepEqual(namesOf(await list(form, `?q=${reference}&created_from=${ben!.created_at}`)), []);
  // A ten-letter word is an ordinary query.
  await submit(form, { name: 'strawberry' });
  assert.deepEqual(namesOf(await list(form, '?q=strawberry')), ['strawberry']);
});

test('the table of a form supports the search operators, and a query without words keeps the order by time', async () => {
  const form = await makeForm();
  for (const name of ['Ada runs fast', 'Ben fast, Ada runs', 'Cleo runs', 'Dora'])
    await submit(form, { name });
  const [dora, cleo] = (await list(form)).data;
  await change(dora!.id, { status: 'incomplete', tags: ['vip'] });
  await change(cleo!.id, { tags: ['vip'] });
  const find = async (q: string): Promise<unknown[]> =>
    namesOf(await list(form, `?${new URLSearchParams({ q }).toString()}`));
  const rows: readonly [q: string, ...found: string[]][] = [
    ['"runs fast"', 'Ada runs fast'],
    ['runs -cle*', 'Ben fast, Ada runs', 'Ada runs fast'],
    ['name:cleo', 'Cleo runs'],
    ['-name:runs', 'Dora'],
    ['status:incomplete', 'Dora'],
    ['tag:vip', 'Dora', 'Cleo runs'],
    ['runs tag:vip', 'Cleo runs'],
    ['after:2020-01-01 -runs', 'Dora'],
    ['runs before:2020-01-01'],
    ['status:incomplete status:completed'],
  ];
  for (const [q, ...found] of rows) assert.deepEqual(await find(q), found, q);
  assert.deepEqual(namesOf(await list(form, '?q=status:incomplete&status=completed')), []);
  const { previous_id, next_id } = await detail(cleo!.id, '?q=tag:vip');
  assert.deepEqual([previous_id, next_id], [dora!.id, null]);
  // An operator with an invalid value is searched as text.
  assert.deepEqual(await find('after:soon'), []);
});

test('a list too long to serialize in one turn arrives complete, with and without compression', async () => {
  const form = await makeForm();
  const letters = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'é'];
  for (const letter of letters) await submit(form, { name: letter.repeat(32_000) });
  for (const path of ['submissions', 'rows', 'rows?q=none'])
    for (const coding of ['identity', 'gzip', 'br', 'zstd']) {
      const answer = await fetch(`${service.url}/api/v1/forms/${form}/${path}`, {
        headers: { Authorization: `Bearer ${tenant.key}`, 'Accept-Encoding': coding },
      });
      const { data } = (await answer.json()) as { data: { answers: { name: string } }[] };
      assert.deepEqual(
        data.map(({ answers: { name } }) => [name[0], name.length]),
        path === 'rows?q=none' ? [] : letters.toReversed().map((letter) => [letter, 32_000]),
        `${path} ${coding}`,
      );
      if (path !== 'rows?q=none')
        assert.deepEqual(
          [answer.headers.get('content-length'), answer.headers.get('content-encoding')],
          [null, coding === 'identity' ? null : coding],
        );
    }
});

test('columns are the union of the answered versions, in form order, and removed questions keep their position', async () => {
  const form = await makeForm([element('text', 'name'), element('text', 'old'), element('number', 'age')]);
  await submit(form, { name: 'Ada', old: 'x' });
  const unused = structure(
    element('text', 'name'),
    element('text', 'never_answered'),
    element('number', 'age'),
  );
  const now = structure(
    element('number', 'age'),
    element('text', 'name', { label: 'Full name' }),
    element('text', 'fresh'),
  );
  for (const version of [unused, now])
    assert.equal((await tenant.call('PUT', `/forms/${form}`, { structure: version })).status, 200);
  const { body } = await person.api<TableColumns>('GET', `/forms/${form}/columns`);
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

test('a question answered only in submissions begun before its version is also a column', async () => {
  const [name, fresh] = [element('text', 'name'), element('text', 'fresh')];
  const settings = { save_progress: true };
  const created = await tenant.call('POST', '/forms', {
    structure: structure(name),
    publish: true,
    settings,
  });
  const form = created.body.id;
  const visitor = openVisitor(service);
  const key = /name="_key" value="([^"]+)"/.exec((await visitor.fetch(`/f/${form}`)).text)![1]!;
  const send = async (...parts: (readonly [string, string])[]) =>
    (await visitor.post(form, [['_key', key], ['name', 'Ada'], ...parts], asJson)).status;
  const change = async (...elements: unknown[]) =>
    (await tenant.call('PUT', `/forms/${form}`, { structure: structure(...(elements as FormNode[])) }))
      .status;
  assert.equal(await send(['_go', 'save']), 200);
  assert.equal(await change(name, fresh), 200);
  assert.equal(await send(['fresh', 'x']), 201);
  assert.equal(await change(name), 200);
  const { body } = await person.api<TableColumns>('GET', `/forms/${form}/columns`);
  assert.deepEqual(
    body.data.map(({ id, is_retired }) => [id, is_retired]),
    [
      ['name', false],
      ['fresh', true],
    ],
  );
});

test('the detail has the answered version, and the previous and next submission in the view', async () => {
  const form = await makeForm();
  const ids: string[] = [];
  for (const name of ['Run one', 'Other', 'Run two', 'Run three']) ids.push(await submit(form, { name }));
  await tenant.call('PUT', `/forms/${form}`, {
    structure: structure(element('text', 'name', { label: 'Renamed' })),
  });

  const shown = await detail(ids[2]!);
  assert.deepEqual(shown.structure.children[0]!.children[0]!.attrs, {
    id: 'name',
    label: 'Name',
    required: true,
  });
  assert.equal(shown.is_live_version, false);
  assert.deepEqual([shown.previous_id, shown.next_id], [ids[3], ids[1]]);
  const searched = await detail(ids[2]!, '?q=run');
  assert.deepEqual([searched.previous_id, searched.next_id, searched.hits], [ids[3], ids[0], ['Run']]);
  const first = await detail(ids[0]!, '?status=completed');
  assert.deepEqual([first.previous_id, first.next_id], [ids[1], null]);
});

test('an image has the content type of its bytes, which decides whether the console shows it, and a signed link', async () => {
  const form = await makeForm();
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
  const data = new FormData();
  data.set('name', 'Ada');
  data.append('photo', new Blob([png], { type: 'image/png' }), 'a".png');
  data.append('photo', new Blob([svg], { type: 'image/svg+xml' }), 'b.svg');
  data.append('photo', new Blob(['<script>alert(1)</script>'], { type: 'image/png' }), 'c.png');
  const sent = await fetch(`${service.url}/f/${form}`, {
    method: 'POST',
    headers: { Accept: 'application/json' },
    body: data,
  });
  const { id } = (await sent.json()) as { id: string };
  const photos = (await detail(id)).answers['photo'] as unknown as LinkedFile[];
  // The console shows images by this type, which comes from their bytes.
  assert.deepEqual(
    photos.map(({ content_type }) => content_type === 'image/png'),
    [true, false, false],
  );
  const shown = await fetch(photos[0]!.url);
  assert.equal(shown.status, 200);
  assert.deepEqual(Buffer.from(await shown.arrayBuffer()), png);
  assert.equal(shown.headers.get('content-type'), 'image/png');
  assert.equal(shown.headers.get('content-security-policy'), "sandbox; default-src 'none'");
  assert.equal(shown.headers.get('x-content-type-options'), 'nosniff');
  assert.equal((await fetch(photos[0]!.url.replace(/signature=.{8}/, 'signature=AAAAAAAA'))).status, 403);
});

test('invalid parameters return 400, and nothing is listed', async () => {
  const form = await makeForm();
  for (const query of ['?q=%00', '?status=all', '?created_from=yesterday', '?page=0', '?sort=unknown']) {
    assert.equal((await person.api('GET', `/forms/${form}/rows${query}`)).status, 400, query);
  }
});

test('previous and next submissions, the export and a bulk deletion respect the filter', async () => {
  const mine = await makeForm();
  for (const [name, age] of [
    ['Ada', 1],
    ['Ben', 2],
    ['Cleo', 1],
  ] as const)
    await submit(mine, { name, age });
  const where = JSON.stringify({ element: 'age', is: 'at_most', value: 1 });
  const query = `?where=${encodeURIComponent(where)}`;
  const [cleo, ada] = (await list(mine, query)).data;
  const { body } = await person.api<SubmissionDetail>('GET', `/submissions/${cleo!.id}/view${query}`);
  assert.deepEqual([body.previous_id, body.next_id], [null, ada!.id]);

  const file = await person.api<string>('GET', `/forms/${mine}/submissions/export${query}&format=csv`);
  assert.deepEqual([file.status, file.body.trim().split('\r\n').length], [200, 3]);

  const removal = await person.api<BulkChange>('POST', `/forms/${mine}/submissions/deletions`, {
    filter: { where },
    expected: 2,
  });
  assert.deepEqual([removal.status, removal.body.kind], [202, 'trash']);
  await until('the removal', async () => {
    const found = await person.api<BulkChange>(
      'GET',
      `/forms/${mine}/submissions/deletions/${removal.body.id}`,
    );
    return found.body.finished_at !== null;
  });
  assert.deepEqual(namesOf(await list(mine)), ['Ben']);
  const left = await tenant.call('GET', `/forms/${mine}/submissions`);
  assert.equal(left.body.pagination.total_count, 1);
});
