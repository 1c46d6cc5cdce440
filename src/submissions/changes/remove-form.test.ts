import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sweepFiles } from '#files/stored-files.ts';
import { element } from '#test/ast/forms.ts';
import { isSlice } from '#test/cases.ts';
import { openReceiver } from '#test/receiver.ts';
import { openService, until } from '#test/service.ts';
import { asJson, listFiles, makeForm, openVisitor } from '#test/visitor.ts';
import { createWebhook } from '#webhooks/webhooks.ts';
import { addVisits } from '../visit-counter.ts';

const service = await openService();
const tenant = await service.makeTenant();
const visitor = openVisitor(service);
const { database } = service.services;

/** All tables with a form_id, and those whose rows belong to a submission or a job. */
const { rows: tables } = await database.query<{ name: string }>(
  "select table_name as name from information_schema.columns where column_name = 'form_id' and table_schema in ('public', 'cell')",
);

/** Returns the remaining rows of a form by table; empty if there are none. */
async function leftOf(formId: string): Promise<Record<string, number>> {
  const left: Record<string, number> = {};
  const note = async (name: string, sql: string, values: unknown[]): Promise<void> => {
    const { rowCount } = await database.query(sql, values);
    if (rowCount) left[name] = rowCount;
  };
  for (const { name } of tables) await note(name, `select from ${name} where form_id = $1`, [formId]);
  await note('forms', 'select from forms where id = $1', [formId]);
  await note('jobs', "select from jobs where payload ->> 'form_id' = $1", [formId]);
  await note(
    'search_documents',
    'select from search_documents d where not exists (select from submissions s where s.id = d.submission_id)',
    [],
  );
  return left;
}

/**
 * Waits until nothing is left. Triggers the sweep and the job immediately, which otherwise takes ten seconds
 * and a minute.
 */
const removed = (formId: string): Promise<boolean> =>
  until('the form to go', async () => {
    await sweepFiles(service.services);
    await database.query("update jobs set run_at = now() where kind = 'form.remove' and lease_token is null");
    service.services.wakeQueue();
    return Object.keys(await leftOf(formId)).length === 0;
  });

test('the checked tables are complete', () => {
  assert.deepEqual(
    [
      'deliveries',
      'events',
      'files',
      'form_lookup',
      'form_versions',
      'search_documents',
      'submission_counts',
      'submissions',
      'visit_counts',
      'webhooks',
    ].filter((name) => !tables.some((table) => table.name === name)),
    [],
  );
});

test('a deleted form is removed with all its data, in any number of batches', async () => {
  const form = await makeForm(tenant, [element('text', 'a')]);
  const kept = await makeForm(tenant, [element('text', 'a')]);
  for (const { id } of [form, kept]) await visitor.submit(id, { a: 'removable' });
  await addVisits(database, {
    workspace_ids: [tenant.workspaceId],
    form_ids: [form.id],
    days: ['2026-01-31'],
    kinds: ['view'],
    names: [''],
    counts: [1],
  });
  // Fills three batches in one statement.
  await database.query(
    `with copies as (
       insert into submissions (workspace_id, id, form_id, version, status, answers, reference, has_files, created_at, updated_at, completed_at)
       select workspace_id, gen_random_uuid(), form_id, version, status, answers, reference, has_files, created_at, updated_at, completed_at
       from submissions, generate_series(1, 1200) where form_id = $1 returning workspace_id, form_id, status)
     insert into submission_counts (workspace_id, form_id, status, slot, count)
     select workspace_id, form_id, status, 31, count(*) from copies group by 1, 2, 3
     on conflict (workspace_id, form_id, status, slot) do update set count = submission_counts.count + excluded.count`,
    [form.id],
  );
  assert.equal((await tenant.call('GET', `/forms/${form.id}`)).body.submission_count, 1201);
  assert.equal((await tenant.call('DELETE', `/forms/${form.id}`)).status, 204);
  assert.equal((await tenant.call('GET', '/submissions/search?q=removable')).body.pagination.total_count, 1);
  await removed(form.id);
  assert.equal((await tenant.call('GET', `/forms/${kept.id}`)).body.submission_count, 1);
});

test('each completed submission of a deleted form triggers submission.deleted once before the form is gone', async () => {
  const receiver = await openReceiver();
  const form = await makeForm(tenant, [element('text', 'a')]);
  await createWebhook(service.services, {
    workspaceId: tenant.workspaceId,
    formId: form.id,
    url: receiver.url,
    events: ['submission.deleted'],
  });
  const ids: string[] = [];
  for (let count = 0; count < 30; count += 1)
    ids.push((await visitor.submit(form.id, { a: `${count}` })).body.id);
  await database.query("update submissions set status = 'incomplete', completed_at = null where id = $1", [
    ids.pop(),
  ]);
  await tenant.call('DELETE', `/forms/${form.id}`);
  await receiver.waitFor(29);
  const received = receiver.requests.map(
    ({ body }) =>
      JSON.parse(body.toString()) as {
        event: string;
        form: object;
        submission: { id: string; responses: object };
      },
  );
  assert.deepEqual(received.map(({ submission }) => submission.id).sort(), ids.sort());
  assert.deepEqual([...new Set(received.map(({ event }) => event))], ['submission.deleted']);
  assert.deepEqual(received[0]!.form, { id: form.id, name: 'Contact', workspace_id: tenant.workspaceId });
  await removed(form.id);
  assert.equal(receiver.requests.length, 29);
});

test('files of a deleted form are deleted with it: links answer 404 immediately, then bytes and rows are removed', async () => {
  const form = await makeForm(tenant, [element('file_upload', 'file')]);
  const before = await listFiles(service);
  const { body } = await visitor.post(form.id, [['file', new File(['bytes'], 'a.txt')]], asJson);
  const { answers } = (await tenant.call('GET', `/submissions/${body.id}`)).body as unknown as {
    answers: { file: { url: string }[] };
  };
  const link = answers.file[0]!.url;
  assert.equal((await fetch(link)).status, 200);
  await tenant.call('DELETE', `/forms/${form.id}`);
  assert.equal((await fetch(link)).status, 404);
  await removed(form.id);
  assert.deepEqual(await listFiles(service), before);
});

for (const uploaders of [0, 5]) {
  test(`deleting a form while fifty visitors submit, ${uploaders} with files, leaves nothing; each submit is accepted before or gets a 404`, {
    skip: isSlice && uploaders === 0,
  }, async () => {
    for (let round = 0; round < (isSlice ? 2 : 4); round += 1) {
      const form = await makeForm(tenant, [element('text', 'a'), element('file_upload', 'file')]);
      const statuses = new Set<number>();
      const visit = async (withFile: boolean): Promise<void> => {
        // 503: fifty parallel requests may exceed the waiting time for a connection. The visitors retry.
        for (let status = 201; status === 201 || status === 503; ) {
          const answer = withFile
            ? visitor.post(form.id, [['file', new File(['bytes'], 'a.txt')]], asJson)
            : visitor.submit(form.id, { a: 'x' });
          ({ status } = await answer);
          if (status !== 503) statuses.add(status);
        }
      };
      const visitors = Array.from({ length: 50 }, (_, index) => visit(index < uploaders));
      await until(
        'some submissions',
        async () => (await tenant.call('GET', `/forms/${form.id}`)).body.submission_count > 20,
      );
      assert.equal((await tenant.call('DELETE', `/forms/${form.id}`)).status, 204);
      await Promise.all(visitors);
      assert.deepEqual([...statuses].sort(), [201, 404]);
      await removed(form.id);
    }
    assert.deepEqual(await listFiles(service), []);
  });
}
