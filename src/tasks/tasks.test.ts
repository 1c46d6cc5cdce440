import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '#kit/clock.ts';
import { transaction } from '#kit/database.ts';
import type { Job } from '#kit/queue.ts';
import { element } from '#test/ast/forms.ts';
import { callApi, openService } from '#test/service.ts';
import { makeForm } from '#test/visitor.ts';
import { createKey } from '#workspaces/keys.ts';
import { cancelTask, createTask, type NewTask, runTaskStep } from './run-tasks.ts';
import type { Task } from './shapes.ts';

const service = await openService();
const { database } = service.services;
const tenant = await service.makeTenant();
const { workspaceId } = tenant;
const form = await makeForm(tenant, [element('text', 'a')]);
const other = await makeForm(tenant, [element('text', 'a')]);
const by = { kind: 'operator', id: '' } as const;

/** Stores a task whose job has no handler on the server. */
async function start(task: Partial<NewTask> = {}): Promise<{ id: string; isStored: boolean }> {
  const id = newId();
  const isStored = await transaction(database, (client) =>
    createTask(
      client,
      { workspaceId, id, kind: 'submissions.import', formId: form.id, by, total: 3, ...task },
      { kind: 'test.task', lane: id },
    ),
  );
  return { id, isStored };
}

/** Claims the job of a task for this test. */
async function claim(id: string): Promise<Job> {
  const leaseToken = newId();
  const { rows } = await database.query<{ kind: string; lane: string }>(
    'update jobs set lease_token = $2 where id = $1 returning kind, lane',
    [id, leaseToken],
  );
  return { ...rows[0]!, workspaceId, id, payload: {}, leaseToken, failures: 0, lostClaims: 0 };
}

const listAs = async (key: string, query = ''): Promise<Task[]> =>
  ((await callApi(service.url, key, 'GET', `/tasks${query}`)).body as unknown as { data: Task[] }).data;
const context = { database, wakeQueue: () => {} };

test('a step stores its progress once, and a worker without the lease changes nothing', async () => {
  const items = [{ n: 1 }, { n: 2 }, { n: 3 }];
  const { id } = await start({ items });
  const seen: object[] = [];
  const step = (job: Job) =>
    runTaskStep<{ n: number }>(context, job, 2, async (_client, { items: taken }) => {
      seen.push(taken);
      return { done: taken.length };
    });
  const first = await claim(id);
  await claim(id);
  await assert.rejects(step(first), { name: 'LeaseLost' });
  const find = async () => (await tenant.call('GET', `/tasks/${id}`)).body as unknown as Task;
  assert.deepEqual([(await find()).done, (await find()).state], [0, 'running']);
  await step(await claim(id));
  await step(await claim(id));
  assert.deepEqual(seen, [items.slice(0, 2), items.slice(0, 2), items.slice(2)]);
  const { state, done, ended_at } = await find();
  assert.deepEqual([state, done, ended_at !== null], ['finished', 3, true]);
  const { rowCount } = await database.query('select from jobs where id = $1', [id]);
  assert.equal(rowCount, 0);
});

test('a failed step leaves its items to the next step', async () => {
  const { id } = await start({ items: [{ n: 1 }] });
  const failing = runTaskStep(context, await claim(id), 5, async () => {
    throw new Error('broken');
  });
  await assert.rejects(failing, /broken/);
  await runTaskStep(context, await claim(id), 5, async (_client, { items, isLast }) => {
    assert.deepEqual([items, isLast], [[{ n: 1 }], true]);
    return { refused: 1, problems: [{ line: 1, message: 'No.' }] };
  });
  const { body } = await tenant.call('GET', `/tasks/${id}`);
  const { refused, problems } = body as unknown as Task;
  assert.deepEqual([refused, problems], [1, [{ line: 1, message: 'No.' }]]);
});

test('the job of a canceled task completes without a step, and a parked job gives the reason its task failed', async () => {
  const { id } = await start();
  await cancelTask(database, { workspace_id: workspaceId, id, now: new Date() });
  await runTaskStep(context, await claim(id), 1, () => assert.fail('The task was cancelled.'));
  const { id: parked } = await start();
  await database.query("update jobs set run_at = 'infinity', parked_at = now() where id = $1", [parked]);
  const states = async (query: string) =>
    (await listAs(tenant.key, query)).map((task) => [task.id, task.state, task.failed_reason !== null]);
  assert.deepEqual(await states('?state=cancelled'), [[id, 'cancelled', false]]);
  assert.deepEqual(await states('?state=failed'), [[parked, 'failed', true]]);
  assert.deepEqual(await states('?state=running'), []);
});

test('a key sees only tasks of its workspace, of its forms and of kinds that it may read', async () => {
  const { id: foreign } = await start({ formId: other.id });
  const ids = async (key: string, query = '') => (await listAs(key, query)).map((task) => task.id);
  assert.ok((await ids(tenant.key)).includes(foreign));
  assert.deepEqual(await ids(tenant.key, `?form_id=${other.id}`), [foreign]);
  assert.deepEqual(await ids(tenant.key, '?kind=submissions.tag'), []);
  const limited = await createKey(database, { workspaceId, name: 'One form', formIds: [form.id] });
  assert.ok(!(await ids(limited.key)).includes(foreign));
  const stranger = await service.makeTenant();
  assert.deepEqual(await ids(stranger.key), []);
  for (const key of [limited.key, stranger.key])
    assert.equal((await callApi(service.url, key, 'GET', `/tasks/${foreign}`)).status, 404);
  assert.deepEqual(
    await callApi(service.url, limited.key, 'GET', `/tasks?form_id=${other.id}`).then(({ status }) => status),
    404,
  );
});

test('a task is not stored for a deleted form, and an undo is stored once', async () => {
  assert.equal((await start({ formId: newId() })).isStored, false);
  const undo = { kind: 'submissions.undo', subjectId: newId() } as const;
  assert.equal((await start(undo)).isStored, true);
  assert.equal((await start(undo)).isStored, false);
});
