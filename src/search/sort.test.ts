import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TablePage } from '#submissions/shapes.ts';
import { composite, element } from '#test/ast/forms.ts';
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

const options = [
  { id: 'z', label: 'Amber' },
  { id: 'a', label: 'Zinc' },
];
const questions = [
  element('text', 'name', { label: 'Name' }),
  element('number', 'age', { label: 'Age' }),
  element('radio', 'metal', { label: 'Metal', options }),
  element('multiple_choice', 'metals', { label: 'Metals', options }),
  element('yes_no', 'member', { label: 'Member' }),
  element('date', 'day', { label: 'Day' }),
  element('matrix', 'grid', { label: 'Grid', rows: ['One'], options: ['Yes', 'No'] }),
  composite('guests', [element('text', 'guest', { label: 'Guest' })], { repeatable: true, label: 'Guests' }),
];

async function filled(answers: readonly object[]): Promise<string> {
  const form = await makeForm(questions);
  for (const each of answers) await submit(form, each);
  return form;
}

const sorted = async (form: string, sort: string, rest = ''): Promise<unknown[]> =>
  namesOf(await list(form, `?sort=${encodeURIComponent(sort)}${rest}`));

test('rows are sorted by any column, ascending or descending, with unanswered rows last and ties newest first', async () => {
  const form = await filled([
    {
      name: 'ada',
      age: 9,
      metal: 'z',
      member: true,
      day: '2026-02-01',
      guests: [{ guest: 'x' }, { guest: 'y' }],
    },
    { name: 'Ärger', age: 10, metal: 'a', metals: ['z'], member: false, day: '2025-12-31' },
    { name: 'Bea', age: -2.5, metals: ['a', 'z'], guests: [{ guest: 'x' }] },
    { name: 'Zoe', age: 9 },
  ]);
  assert.deepEqual(await sorted(form, 'name'), ['ada', 'Ärger', 'Bea', 'Zoe']);
  assert.deepEqual(await sorted(form, '-name'), ['Zoe', 'Bea', 'Ärger', 'ada']);
  assert.deepEqual(await sorted(form, 'age'), ['Bea', 'Zoe', 'ada', 'Ärger']);
  assert.deepEqual(await sorted(form, '-age'), ['Ärger', 'Zoe', 'ada', 'Bea']);
  assert.deepEqual(await sorted(form, 'metal'), ['ada', 'Ärger', 'Zoe', 'Bea']);
  assert.deepEqual(await sorted(form, '-metals'), ['Bea', 'Ärger', 'Zoe', 'ada']);
  assert.deepEqual(await sorted(form, '-member'), ['ada', 'Ärger', 'Zoe', 'Bea']);
  assert.deepEqual(await sorted(form, 'day'), ['Ärger', 'ada', 'Zoe', 'Bea']);
  assert.deepEqual(await sorted(form, '-guests'), ['ada', 'Bea', 'Zoe', 'Ärger']);
  assert.deepEqual(await sorted(form, '$created'), ['ada', 'Ärger', 'Bea', 'Zoe']);
  assert.deepEqual(await sorted(form, '-$created'), ['Zoe', 'Bea', 'Ärger', 'ada']);
});

test('the received order uses the completion of a submission, and the last save of an incomplete one', async () => {
  const form = await makeForm(questions);
  const ids = new Map<string, string>();
  for (const name of ['Begun first', 'At once', 'Left', 'Never again'])
    ids.set(name, await submit(form, { name }));
  const at = (name: string, completed: string | null, updated: string) =>
    service.services.database.query(
      `update submissions set completed_at = $3::timestamptz, updated_at = $4, status = case when $3::timestamptz is null then 'incomplete' else status end
       where workspace_id = $1 and id = $2`,
      [tenant.workspaceId, ids.get(name), completed, updated],
    );
  // The first submission was saved early and completed last; the second one got a tag even later.
  await at('Begun first', '2026-03-05T10:00:00Z', '2026-03-05T10:00:00Z');
  await at('At once', '2026-03-02T10:00:00Z', '2026-03-09T10:00:00Z');
  await at('Left', null, '2026-03-04T10:00:00Z');
  await at('Never again', null, '2026-03-01T10:00:00Z');
  const received = ['Begun first', 'Left', 'At once', 'Never again'];
  assert.deepEqual(await sorted(form, '-$received'), received);
  assert.deepEqual(await sorted(form, '$received'), received.toReversed());
  assert.deepEqual(await sorted(form, '-$received', '&per_page=2&page=2'), received.slice(2));
  assert.deepEqual(await sorted(form, '-$received', '&status=incomplete'), ['Left', 'Never again']);
  const days = 'received_from=2026-03-02T10:00:00Z&received_to=2026-03-05T10:00:00Z';
  assert.deepEqual(await sorted(form, '-$received', `&${days}`), ['Left', 'At once']);
  assert.deepEqual(namesOf(await list(form, `?${days}`)), ['Left', 'At once']);
  const begun = await list(form, `?cursor=*&per_page=3&sort=-$received`);
  const { next_cursor } = begun as { next_cursor?: string };
  const rest = await list(form, `?cursor=${next_cursor}&per_page=3&sort=-$received`);
  assert.deepEqual([...namesOf(begun), ...namesOf(rest)], received);
  for (const [index, name] of received.entries()) {
    const { previous_id, next_id } = await detail(ids.get(name)!, '?sort=-$received');
    assert.deepEqual(
      [previous_id, next_id],
      [ids.get(received[index - 1] ?? '') ?? null, ids.get(received[index + 1] ?? '') ?? null],
      name,
    );
  }
});

test('a second column breaks ties, and properties of a submission are sortable too', async () => {
  const form = await filled([
    { name: 'Ada', age: 1 },
    { name: 'Bea', age: 2 },
    { name: 'Cleo', age: 1 },
  ]);
  assert.deepEqual(await sorted(form, '-age,-name'), ['Bea', 'Cleo', 'Ada']);
  assert.deepEqual(await sorted(form, '-age,name'), ['Bea', 'Ada', 'Cleo']);
  const [cleo, , ada] = (await list(form)).data;
  await change(cleo!.id, { tags: ['vip'] });
  await change(ada!.id, { status: 'incomplete' });
  assert.deepEqual(await sorted(form, '$tags'), ['Cleo', 'Bea', 'Ada']);
  assert.deepEqual(await sorted(form, '-$status,name'), ['Ada', 'Bea', 'Cleo']);
  assert.deepEqual(await sorted(form, '-$updated'), ['Ada', 'Cleo', 'Bea']);
  assert.deepEqual(await sorted(form, '-$completed'), ['Cleo', 'Bea', 'Ada']);
});

test('the sort order applies to filters, search, exports, and the previous and next submission', async () => {
  const form = await filled([
    { name: 'Ada runs', age: 3 },
    { name: 'Bea walks', age: 2 },
    { name: 'Cleo runs', age: 1 },
    { name: 'Dora runs', age: 5 },
  ]);
  assert.deepEqual(await sorted(form, 'age', '&q=running'), ['Cleo runs', 'Ada runs', 'Dora runs']);
  const where = encodeURIComponent('{"element":"age","is":"less_than","value":5}');
  assert.deepEqual(await sorted(form, '-age', `&where=${where}`), ['Ada runs', 'Bea walks', 'Cleo runs']);
  const [, ada] = (await list(form, '?sort=age&q=running')).data;
  const beside = await detail(ada!.id, '?sort=age&q=running');
  const nameOf = async (id: string | null) => (await detail(id!)).answers['name'];
  assert.deepEqual(
    [await nameOf(beside.previous_id), await nameOf(beside.next_id)],
    ['Cleo runs', 'Dora runs'],
  );
  const alone = await detail(ada!.id, '?sort=-age');
  assert.deepEqual(
    [await nameOf(alone.previous_id), await nameOf(alone.next_id)],
    ['Dora runs', 'Bea walks'],
  );
  const file = await fetch(`${service.url}/api/v1/forms/${form}/submissions/export?format=ndjson&sort=age`, {
    headers: { Authorization: `Bearer ${tenant.key}` },
  });
  const names = (await file.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).answers.name as string);
  assert.deepEqual(names, ['Cleo runs', 'Bea walks', 'Ada runs', 'Dora runs']);
});

test('a sorted list read by cursor has no gaps and no repeats during writes', async () => {
  const answers = Array.from({ length: 12 }, (_, index) => ({
    name: `${'Ñú '.repeat(30)}${index}`,
    ...(index % 3 > 0 && { age: index % 3 }),
  }));
  const form = await filled(answers);
  for (const sort of ['-age,name', 'name,-age', '$status,age', '-name,-$completed']) {
    const whole = (await list(form, `?sort=${sort}&per_page=100`)).data.map(({ id }) => id);
    const read: string[] = [];
    let cursor: string | null = '*';
    while (cursor !== null) {
      const page: TablePage = await list(form, `?sort=${sort}&per_page=5&cursor=${cursor}`);
      read.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor ?? null;
      if (read.length === 5) await submit(form, { name: 'late' });
    }
    assert.deepEqual(
      read.filter((id) => whole.includes(id)),
      whole,
      sort,
    );
  }
  const { next_cursor: given } = await list(form, '?sort=age&per_page=5&cursor=*');
  const other = await person.api('GET', `/forms/${form}/rows?sort=-age&per_page=5&cursor=${given}`);
  assert.equal(other.status, 400);
  const [mark, page, total] = Buffer.from(given!, 'base64url').toString().split(' ');
  for (const wrong of [
    '["x"]',
    '[0,null,"\\u0000",2,null,null,"01a1fde4-6fce-7e1a-a75a-2f8f8cc3c4b1"]',
    '[0,"1",null,2,null,null,"x"]',
    '[0,1e999,null,2,null,null,"01a1fde4-6fce-7e1a-a75a-2f8f8cc3c4b1"]',
    '[0,1,null,2,null,null,["01a1fde4-6fce-7e1a-a75a-2f8f8cc3c4b1"]]',
  ]) {
    const place = Buffer.from(wrong).toString('base64url');
    const forged = Buffer.from(`${mark} ${page} ${total} ${place}`).toString('base64url');
    assert.equal(
      (await person.api('GET', `/forms/${form}/rows?sort=age&per_page=5&cursor=${forged}`)).status,
      400,
    );
  }
});

test('an invalid sort column is rejected with the reason', async () => {
  const form = await filled([]);
  for (const wrong of ['unknown', 'grid', 'name,age,day', 'name,-name', '$nothing', 'guest'])
    assert.equal((await person.api('GET', `/forms/${form}/rows?sort=${wrong}`)).status, 400, wrong);
});
