import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId, now } from '#kit/clock.ts';
import { composite, element, structure } from '#test/ast/forms.ts';
import { shareService } from '#test/service.ts';
import { makeForm, openVisitor } from '#test/visitor.ts';
import { trashSubmissions } from './changes/trash.ts';
import { toChangedBy } from './differences.ts';
import { indexSubmission } from './search-text/document.ts';
import { insertSubmission } from './submission-record.ts';
import { addToSubmissionCount } from './submission-rows.ts';

const service = await shareService();
const tenant = await service.makeTenant();
const other = await service.makeTenant();
const visitor = openVisitor(service);

const absent = '01a1fde4-6fce-7e1a-a75a-2f8f8cc3c4b1';
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const idsOf = (body: { data: { id: string }[] }): string[] => body.data.map(({ id }) => id);

/** Submits this many times in sequence, and returns the IDs, newest first. */
async function submitTimes(formId: string, times: number): Promise<string[]> {
  const ids: string[] = [];
  for (let count = 0; count < times; count += 1)
    ids.unshift((await visitor.submit(formId, { a: `answer ${count}` })).body.id);
  return ids;
}

/** Inserts an incomplete submission directly, without a page. */
async function insertIncomplete(formId: string): Promise<string> {
  const id = newId();
  await insertSubmission(service.services.database, {
    workspace_id: tenant.workspaceId,
    id,
    form_id: formId,
    version: 1,
    live_version: null,
    status: 'incomplete',
    answers: '{}',
    reference: '{}',
    respondent: null,
    has_files: false,
    created_at: now(),
    completed_at: null,
    form_language: null,
    verified: null,
    ...indexSubmission({ subject: '', body: '' }, 'english'),
  });
  return id;
}

test('parallel submissions to a form do not wait for its count, and the total includes all of them', async () => {
  const form = await makeForm(tenant, [element('text', 'a')]);
  const { database } = service.services;
  const row = { workspace_id: tenant.workspaceId, form_id: form.id, status: 'incomplete' } as const;
  const clients = await Promise.all([1, 2, 3, 4].map(() => database.connect()));
  for (const client of clients) {
    await client.query(`begin; set local lock_timeout = '1s'`);
    await addToSubmissionCount(client, { ...row, change: 1 });
  }
  for (const client of clients) {
    await client.query('commit');
    client.release();
  }
  const { body } = await tenant.call('GET', `/forms/${form.id}/submissions`);
  assert.equal(body.pagination.total_count, clients.length);
});

test('get: the response has every field of the specification and no others', async () => {
  const form = await makeForm(tenant, [
    element('text', 'a', { label: 'Question', required: true }),
    element('yes_no', 'b'),
  ]);
  const { body: sent } = await visitor.submit(form.id, { a: 'x', b: true }, '?campaign=spring');
  const { status, body } = await tenant.call('GET', `/submissions/${sent.id}`);
  assert.equal(status, 200);
  const { created_at, completed_at, ...rest } = body;
  assert.deepEqual(rest, {
    id: sent.id,
    form_id: form.id,
    status: 'completed',
    answers: { a: 'x', b: true },
    metadata: {
      fields: {
        a: { label: 'Question', type: 'text', required: true },
        b: { label: 'The b', type: 'yes_no', required: false },
      },
      form_name: 'Contact',
      reference: { campaign: 'spring' },
    },
  });
  assert.match(created_at, timestamp);
  assert.equal(completed_at, created_at);
});

test('fields and form name are those of the answered version', async () => {
  const form = await makeForm(tenant, [element('text', 'a', { label: 'Before' })]);
  const { body: first } = await visitor.submit(form.id, { a: 'x' });
  const changed = structure(element('text', 'a', { label: 'After' }), element('text', 'b'));
  await tenant.call('PUT', `/forms/${form.id}`, { structure: { ...changed, attrs: { name: 'Renamed' } } });
  const { body: second } = await visitor.submit(form.id, { b: 'y' });
  const [newer, older] = (await tenant.call('GET', `/forms/${form.id}/submissions`)).body.data;
  assert.deepEqual(
    [
      older!.id,
      older!.metadata.form_name,
      older!.metadata.fields['a']!.label,
      Object.keys(older!.metadata.fields),
    ],
    [first.id, 'Contact', 'Before', ['a']],
  );
  assert.deepEqual(
    [
      newer!.id,
      newer!.metadata.form_name,
      newer!.metadata.fields['a']!.label,
      Object.keys(newer!.metadata.fields),
    ],
    [second.id, 'Renamed', 'After', ['a', 'b']],
  );
  assert.deepEqual((await tenant.call('GET', `/submissions/${first.id}`)).body, older);
});

test('metadata lists a repeatable composite and the questions of its rows', async () => {
  const form = await makeForm(tenant, [
    composite('team', [element('text', 'member', { required: true })], { repeatable: true }),
    element('heading', 'h'),
  ]);
  const { body } = await visitor.submit(form.id, { team: [{ member: 'Ada' }] });
  const { fields } = (await tenant.call('GET', `/submissions/${body.id}`)).body.metadata;
  assert.deepEqual(fields, {
    team: { label: 'The team', type: 'composite', required: false },
    member: { label: 'The member', type: 'text', required: true },
  });
});

test('list: pages are newest first with the exact total; past the end they return 200 and are empty', async () => {
  const form = await makeForm(tenant, [element('text', 'a')]);
  const ids = await submitTimes(form.id, 25);
  const list = async (query: string) =>
    (await tenant.call('GET', `/forms/${form.id}/submissions${query}`)).body;
  const first = await list('');
  assert.deepEqual(idsOf(first), ids.slice(0, 20));
  assert.deepEqual(first.pagination, { page: 1, per_page: 20, total_count: 25, total_pages: 2 });
  assert.deepEqual(idsOf(await list('?page=2')), ids.slice(20));
  assert.deepEqual(idsOf(await list('?page=4&per_page=7')), ids.slice(21));
  for (const past of ['?page=3', '?page=1000000000&per_page=100']) {
    const { data, pagination } = await list(past);
    assert.deepEqual([data, pagination.total_count], [[], 25]);
  }
});

test('pages of any size, read from the nearer end, make up the whole list without the trash', async () => {
  const form = await makeForm(tenant, [element('text', 'a')]);
  const ids = await submitTimes(form.id, 12);
  const { database } = service.services;
  const trashed = [ids[0]!, ids[5]!, ids[11]!];
  await trashSubmissions(database, {
    workspace_id: tenant.workspaceId,
    form_id: form.id,
    ids: trashed,
    change_ids: trashed.map(() => newId()),
    ...toChangedBy(null),
    now: now(),
  });
  const counted = {
    workspace_id: tenant.workspaceId,
    form_id: form.id,
    status: 'completed',
  } as const;
  await addToSubmissionCount(database, { ...counted, change: -trashed.length });
  const left = ids.filter((id) => !trashed.includes(id));
  for (const filter of ['', '&status=completed']) {
    for (const size of [1, 2, 4, 5, 8, 9]) {
      const pages: string[] = [];
      for (let page = 1; page <= Math.ceil(left.length / size); page += 1) {
        const path = `/forms/${form.id}/submissions?per_page=${size}&page=${page}${filter}`;
        pages.push(...idsOf((await tenant.call('GET', path)).body));
      }
      assert.deepEqual(pages, left, `${size} on a page ${filter}`);
    }
  }
});

test('a form without submissions has an empty list, with a total of 0 and 0 pages', async () => {
  const form = await makeForm(tenant, [element('text', 'a')]);
  const { status, body } = await tenant.call('GET', `/forms/${form.id}/submissions?status=completed`);
  assert.deepEqual(
    [status, body],
    [200, { data: [], pagination: { page: 1, per_page: 20, total_count: 0, total_pages: 0 } }],
  );
});

test('status filters both list and total; an incomplete submission has no completed_at', async () => {
  const form = await makeForm(tenant, [element('text', 'a')]);
  const completed = await submitTimes(form.id, 3);
  // Within one millisecond the order of IDs is random: newest first, ties by ID.
  const incomplete = [await insertIncomplete(form.id), await insertIncomplete(form.id)]
    .toSorted()
    .toReversed();
  for (const [query, ids] of [
    ['', [...incomplete, ...completed]],
    ['?status=completed', completed],
    ['?status=incomplete', incomplete],
  ] as const) {
    const { body } = await tenant.call('GET', `/forms/${form.id}/submissions${query}`);
    assert.deepEqual([idsOf(body), body.pagination.total_count], [ids, ids.length], query);
  }
  assert.equal((await tenant.call('GET', `/submissions/${incomplete[0]}`)).body.completed_at, null);
  assert.equal((await tenant.call('GET', `/forms/${form.id}`)).body.submission_count, 5);
});

test('a list includes the latest writes of other requests, and its total always matches its rows', async () => {
  const form = await makeForm(tenant, [element('text', 'a')]);
  const writer = submitTimes(form.id, 60);
  for (let seen = 0; seen < 60; ) {
    const { body } = await tenant.call('GET', `/forms/${form.id}/submissions?per_page=100`);
    assert.equal(body.data.length, body.pagination.total_count);
    assert.ok(body.data.length >= seen);
    seen = body.data.length;
  }
  await writer;
});

test('files in answers have a signed link, also in rows, and each read signs a new one', async () => {
  const form = await makeForm(tenant, [
    element('file_upload', 'cv'),
    composite('guests', [element('file_upload', 'photo')], { repeatable: true }),
  ]);
  const { body } = await visitor.post(
    form.id,
    [
      ['cv', new File(['one'], 'one.txt', { type: 'text/plain' })],
      ['cv', new File(['two!'], 'two.txt')],
      ['guests[0][photo]', new File(['three'], 'three.txt')],
    ],
    { headers: { Accept: 'application/json' } },
  );
  const { answers } = (await tenant.call('GET', `/submissions/${body.id}`)).body as unknown as {
    answers: { cv: Record<string, unknown>[]; guests: { photo: Record<string, unknown>[] }[] };
  };
  assert.deepEqual(
    answers.cv.map(({ filename, size, content_type }) => [filename, size, content_type]),
    [
      ['one.txt', 3, 'text/plain'],
      ['two.txt', 4, 'application/octet-stream'],
    ],
  );
  assert.deepEqual(Object.keys(answers.cv[0]!), ['id', 'filename', 'size', 'content_type', 'url']);
  const url = String(answers.guests[0]!.photo[0]!['url']);
  assert.ok(url.startsWith(`${service.url}/files/${tenant.workspaceId}/`));
  assert.equal(await (await fetch(url)).text(), 'three');
});

test('a submission and a form of another workspace are answered exactly like missing ones', async () => {
  const form = await makeForm(tenant, [element('text', 'a')]);
  const [id] = await submitTimes(form.id, 1);
  for (const [path, missing] of [
    [`/submissions/${id}`, `/submissions/${absent}`],
    [`/forms/${form.id}/submissions`, `/forms/${absent}/submissions`],
  ] as const) {
    const [foreign, none] = [await other.call('GET', path), await other.call('GET', missing)];
    assert.deepEqual([foreign.status, foreign.body], [404, none.body]);
    assert.deepEqual([...foreign.headers.keys()], [...none.headers.keys()]);
  }
});

test('a submission of a deleted form returns 404 immediately', async () => {
  const form = await makeForm(tenant, [element('text', 'a')]);
  const [id] = await submitTimes(form.id, 1);
  await tenant.call('DELETE', `/forms/${form.id}`);
  for (const path of [`/submissions/${id}`, `/forms/${form.id}/submissions`])
    assert.equal((await tenant.call('GET', path)).status, 404);
});

const refused = {
  'page 0': `/forms/${absent}/submissions?page=0`,
  'per_page 101': `/forms/${absent}/submissions?per_page=101`,
  'an unknown status': `/forms/${absent}/submissions?status=open`,
  'an unknown parameter': `/forms/${absent}/submissions?sort=asc`,
  'an operator': `/forms/${absent}/submissions?status[$ne]=completed`,
  'a parameter twice': `/forms/${absent}/submissions?page=1&page=2`,
  'a broken form id': '/forms/42/submissions',
  'a broken submission id': '/submissions/42',
  'an id with more behind it': `/submissions/${absent}x`,
  'an id in another notation': `/submissions/urn:uuid:${absent}`,
  'a parameter where there is none': `/submissions/${absent}?fields=answers`,
};
for (const [name, path] of Object.entries(refused)) {
  test(`${name} returns 400 bad_request before the lookup`, async () => {
    const { status, body } = await tenant.call('GET', path);
    assert.deepEqual([status, body.error], [400, 'bad_request']);
  });
}

test('an ID in capital letters is the same ID', async () => {
  const form = await makeForm(tenant, [element('text', 'a')]);
  const [id] = await submitTimes(form.id, 1);
  assert.equal((await tenant.call('GET', `/submissions/${id!.toUpperCase()}`)).body.id, id);
});
