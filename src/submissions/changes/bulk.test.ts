import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { deleteForm } from '#forms/forms.ts';
import { transaction } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import { startQueue } from '#kit/queue/worker.ts';
import { readTasks, unfinishedTaskStates } from '#tasks/read-tasks.ts';
import { element } from '#test/ast/forms.ts';
import { testDatabase } from '#test/database.ts';
import { until } from '#test/service.ts';
import { openScene, type Scene } from '#test/submissions/scene.ts';
import { createUser } from '#workspaces/accounts/users.ts';
import { toChangedBy } from '../differences.ts';
import {
  type BulkRequest,
  bulkJobKind,
  bulkTaskFilter,
  presentBulkChange,
  runBulkBatch,
  startBulk,
  undoBulk,
} from './bulk.ts';
import { type BulkKind, bulkKinds } from './bulk-work.ts';
import { changeSubmission } from './edit.ts';
import { removeSubmission } from './remove.ts';
import { restoreMany, trashSubmissionsInTransaction } from './trash.ts';

const { database } = await testDatabase();
const { id } = await createUser(database, { email: 'ada@example.com', password: 'a long enough password' });
const by = { kind: 'person', id } as const;

async function openHeardScene(): Promise<Scene> {
  const scene = await openScene(database, [element('text', 'name')]);
  await scene.listen();
  return scene;
}

const tagsOf = async (scene: Scene): Promise<Record<string, string[]>> => {
  const { rows } = await database.query<{ name: string; tags: string[] }>(
    `select answers ->> 'name' as name, tags from submissions where form_id = $1`,
    [scene.formId],
  );
  return Object.fromEntries(rows.map(({ name, tags }) => [name, tags]));
};

/** Starts a bulk change, waits for the worker and returns the result. */
async function run(scene: Scene, request: Omit<BulkRequest, 'by'>, meanwhile?: () => Promise<void>) {
  return finish(scene, await startBulk(scene.context, scene, { ...request, by }), meanwhile);
}

const undo = async (scene: Scene, undoes: string, meanwhile?: () => Promise<void>) =>
  finish(scene, await undoBulk(scene.context, scene, { undoes, by }), meanwhile);

const findBulk = async (
  form: { workspaceId: string; formId: string },
  bulkId: string,
  kinds: readonly BulkKind[] = bulkKinds,
) => (await readTasks(database, { ...bulkTaskFilter(form, kinds), id: bulkId })).map(presentBulkChange);

async function finish(
  scene: Scene,
  { id: bulkId, total }: { id: string; total: number },
  meanwhile = async () => {},
) {
  await meanwhile();
  let woken = 0;
  const context = { ...scene.context, wakeQueue: () => void (woken += 1) };
  const queue = startQueue({
    database,
    log: openLog('silent'),
    handlers: { [bulkJobKind]: { perLane: 1, run: (job) => runBulkBatch(context, job) } },
  });
  after(() => queue.stop());
  const { done } = await until('the bulk changes to finish', async () => {
    const running = await readTasks(database, {
      ...bulkTaskFilter(scene, bulkKinds),
      states: unfinishedTaskStates,
    });
    const [found] = await findBulk(scene, bulkId);
    return running.length === 0 && found!.finished_at !== null && found;
  });
  await queue.stop();
  return { total, done, woken };
}

test('a bulk change affects only its list, and only submissions of its form', async () => {
  const [scene, stranger] = [await openHeardScene(), await openHeardScene()];
  const [ada, ben] = [await scene.submit({ name: 'Ada' }), await scene.submit({ name: 'Ben' })];
  const foreign = await stranger.submit({ name: 'Cleo' });
  const tag = (added: string) => ({ kind: 'tag' as const, tags: { added: [added], removed: [] } });
  let second = '';
  const { done } = await run(scene, { ...tag('first'), ids: [ada, foreign] }, async () => {
    ({ id: second } = await startBulk(scene.context, scene, { ...tag('second'), ids: [ben], by }));
    for (const foreign of [{ workspaceId: stranger.workspaceId }, { formId: stranger.formId }])
      await assert.rejects(
        startBulk(scene.context, { ...scene, ...foreign }, { ...tag('x'), ids: [ada], by }),
        { code: 'not_found' },
      );
  });
  assert.equal(done, 1);
  assert.equal((await findBulk(scene, second, ['tag']))[0]!.done, 1);
  for (const other of [{ workspaceId: stranger.workspaceId }, { formId: stranger.formId }])
    assert.deepEqual(await findBulk({ ...scene, ...other }, second, ['tag']), []);
  assert.deepEqual(
    [await tagsOf(scene), await tagsOf(stranger)],
    [{ Ada: ['first'], Ben: ['second'] }, { Cleo: [] }],
  );
  await deleteForm(database, scene.workspaceId, scene.formId, by);
  await assert.rejects(startBulk(scene.context, scene, { ...tag('late'), ids: [ada], by }), {
    code: 'not_found',
  });
});

test('emptying the trash deletes exactly the list in batches, with an event for each completed submission', async () => {
  const scene = await openHeardScene();
  const stranger = await openHeardScene();
  const ids: string[] = [];
  for (let index = 0; index < 520; index += 1) ids.push(await scene.submit({ name: `Number ${index}` }));
  const begun = await scene.begin({ name: 'Begun' });
  const gone = await scene.submit({ name: 'Gone already' });
  const foreign = await stranger.submit({ name: 'Not mine' });
  const live = await scene.submit({ name: 'Not in the trash' });
  const trashed = [...ids, begun, gone];
  await transaction(database, (client) =>
    trashSubmissionsInTransaction(client, scene, { ids: trashed, by: toChangedBy(by) }),
  );
  const request = { kind: 'empty', ids: [...trashed, foreign, live] } as const;
  const ended = await run(scene, request, async () => {
    await removeSubmission(scene.context, { ...scene, id: gone });
    await scene.submit({ name: 'Came later' });
  });
  assert.deepEqual(ended, { total: 524, done: 521, woken: 2 });
  assert.deepEqual(await scene.counts(), { shown: { completed: 2 }, found: { completed: 2 } });
  assert.deepEqual(Object.keys(await tagsOf(scene)).sort(), ['Came later', 'Not in the trash']);
  assert.ok(await stranger.read(foreign));
  const deleted = (await scene.events()).filter(({ kind }) => kind === 'submission.deleted');
  assert.deepEqual(deleted.map((event) => event.submission_id).sort(), [...ids, gone].sort());
  const { rows } = await database.query(`select from jobs where kind = $1`, [bulkJobKind]);
  assert.equal(rows.length, 0);
});

test('permanent deletion works in and outside the trash, and trashed submissions can be restored', async () => {
  const scene = await openHeardScene();
  const [live, trashed, third] = [
    await scene.submit({ name: 'Live' }),
    await scene.submit({ name: 'Trashed' }),
    await scene.submit({ name: 'Third' }),
  ];
  const both = { total: 2, done: 2 };
  assert.deepEqual(await run(scene, { kind: 'trash', ids: [trashed, third] }), { ...both, woken: 0 });
  assert.deepEqual(await run(scene, { kind: 'remove', ids: [live, trashed] }), { ...both, woken: 1 });
  assert.deepEqual(Object.keys(await tagsOf(scene)), ['Third']);
});

test('bulk tagging keeps other tags, removes tags in any letter case, and triggers no events', async () => {
  const scene = await openHeardScene();
  const ids: Record<string, string> = {};
  for (const name of ['plain', 'tagged', 'full', 'trashed']) ids[name] = await scene.submit({ name });
  const set = (name: string, tags: string[]) =>
    database.query('update submissions set tags = $2 where id = $1', [ids[name], tags]);
  await set('tagged', ['VIP', 'old', 'kept']);
  const twenty = Array.from({ length: 20 }, (_, index) => `tag ${index}`);
  await set('full', twenty);
  await run(scene, { kind: 'trash', ids: [ids['trashed']!] });
  const events = await scene.events();

  const tags = { added: ['vip', 'new'], removed: ['OLD'] };
  assert.deepEqual(await run(scene, { kind: 'tag', ids: Object.values(ids), tags }), {
    total: 4,
    done: 2,
    woken: 0,
  });
  assert.deepEqual(await tagsOf(scene), {
    plain: ['vip', 'new'],
    tagged: ['VIP', 'kept', 'new'],
    full: twenty,
    trashed: [],
  });
  assert.deepEqual(await scene.events(), events);
  const { rows } = await database.query<{ changes: unknown }>(
    `select changes from submission_changes where kind = 'edited' and submission_id = $1`,
    [ids['tagged']],
  );
  assert.deepEqual(rows, [
    {
      changes: [{ part: 'tags', name: '', from: ['VIP', 'old', 'kept'], to: ['VIP', 'kept', 'new'] }],
    },
  ]);
  // The search index also contains the tags.
  const { rows: indexed } = await database.query<{ marks: string[] }>(
    `select array(select substr(term, strpos(term, '#') + 1) from unnest(tsvector_to_array(terms)) as term
                  where term ~ '^[0-9a-f]+#' order by term) as marks
     from search_documents where submission_id = $1`,
    [ids['tagged']],
  );
  assert.deepEqual(indexed, [{ marks: ['VIP', 'kept', 'new'] }]);
  // A second run finds nothing to change and writes nothing.
  assert.equal((await run(scene, { kind: 'tag', ids: [ids['tagged']!], tags })).done, 1);
  const again = await database.query('select from submission_changes where submission_id = $1', [
    ids['tagged'],
  ]);
  assert.equal(again.rowCount, 1);
});

test('a tag set by a member during bulk tagging is kept', async () => {
  const scene = await openHeardScene();
  const id = await scene.submit({ name: 'Ada' });
  let isSet = Promise.resolve();
  await run(scene, { kind: 'tag', ids: [id], tags: { added: ['of many'], removed: [] } }, async () => {
    const written = Promise.withResolvers<void>();
    isSet = transaction(database, async (client) => {
      await client.query(`update submissions set tags = '{by hand}' where id = $1`, [id]);
      written.resolve();
      await until('the bulk change to wait for the submission', async () => {
        const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
        return (await database.query(waiting)).rowCount! > 0;
      });
    });
    await written.promise;
  });
  await isSet;
  assert.deepEqual(await tagsOf(scene), { Ada: ['by hand', 'of many'] });
});

test('if a worker dies between batches, the next one does the rest, and each submission is changed once', async () => {
  const scene = await openHeardScene();
  const ids: string[] = [];
  for (let index = 0; index < 501; index += 1) ids.push(await scene.submit({ name: `Number ${index}` }));
  const ended = await run(scene, { kind: 'trash', ids }, async () => {
    // One worker dies before its batch commits, and one commits its batch.
    for (const fails of [true, false]) {
      const { rows } = await database.query<Record<string, string>>(
        `update jobs set lease_token = gen_random_uuid(), run_at = now() where kind = $1
         returning workspace_id, id, lane, payload, lease_token`,
        [bulkJobKind],
      );
      const [row] = rows;
      const job = {
        workspaceId: row!['workspace_id']!,
        id: row!['id']!,
        kind: bulkJobKind,
        lane: row!['lane']!,
        payload: row!['payload'],
        leaseToken: fails ? crypto.randomUUID() : row!['lease_token']!,
        failures: 0,
        lostClaims: 0,
      };
      const batch = runBulkBatch(scene.context, job);
      if (fails) await assert.rejects(batch, { name: 'LeaseLost' });
      else await batch;
    }
  });
  assert.deepEqual(ended, { total: 501, done: 501, woken: 0 });
  const { rowCount } = await database.query(
    `select from submission_changes where kind = 'trashed' and submission_id = any ($1)`,
    [ids],
  );
  assert.equal(rowCount, 501);
});

/** Runs a bulk change, the steps in between, and then its undo. */
async function runAndUndo(
  scene: Scene,
  request: Omit<BulkRequest, 'by'>,
  between = async (_undoes: string) => {},
) {
  const { id: undoes } = await startBulk(scene.context, scene, { ...request, by });
  // A bulk change cannot be undone before it has finished.
  await assert.rejects(undoBulk(scene.context, scene, { undoes, by }), { code: 'conflict' });
  await finish(scene, { id: undoes, total: request.ids.length });
  await between(undoes);
  const ended = await undo(scene, undoes);
  await assert.rejects(undoBulk(scene.context, scene, { undoes, by }), { code: 'conflict' });
  return ended;
}

test('undoing a bulk deletion restores submissions, except those restored, deleted again or permanently deleted since', async () => {
  const scene = await openHeardScene();
  const ids: Record<string, string> = {};
  for (const name of ['Ada', 'Ben', 'Cleo', 'Dora', 'before']) ids[name] = await scene.submit({ name });
  const trash = (id: string) =>
    transaction(database, (client) =>
      trashSubmissionsInTransaction(client, scene, { ids: [id], by: toChangedBy(by) }),
    );
  const restore = (id: string) => restoreMany(database, scene, { ids: [id], by });
  await trash(ids['before']!);
  const stranger = await openHeardScene();
  const events = await scene.events();
  const ended = await runAndUndo(scene, { kind: 'trash', ids: Object.values(ids) }, async (undoes) => {
    await removeSubmission(scene.context, { ...scene, id: ids['Ben']! });
    await restore(ids['Cleo']!);
    await restore(ids['Dora']!);
    await trash(ids['Dora']!);
    await assert.rejects(undoBulk(scene.context, stranger, { undoes, by }), { code: 'not_found' });
  });
  assert.deepEqual(ended, { total: 3, done: 1, woken: 0 });
  const { rows } = await database.query<{ name: string }>(
    `select answers ->> 'name' as name from submissions where form_id = $1 and trashed_at is null order by 1`,
    [scene.formId],
  );
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['Ada', 'Cleo'],
  );
  assert.deepEqual((await scene.counts()).shown, { completed: 2 });
  assert.deepEqual(
    (await scene.events()).filter(({ kind }) => kind === 'submission.created'),
    events.filter(({ kind }) => kind === 'submission.created'),
  );
});

test('undoing bulk tagging restores earlier tags, removes only the added ones, and keeps tags set since', async () => {
  const scene = await openHeardScene();
  const ids: Record<string, string> = {};
  for (const name of ['none', 'had', 'lost', 'since', 'again']) ids[name] = await scene.submit({ name });
  const set = (name: string, tags: string[]) =>
    database.query('update submissions set tags = $2 where id = $1', [ids[name], tags]);
  await set('had', ['vip']);
  await set('lost', ['old', 'other']);
  const tags = { added: ['vip'], removed: ['old'] };
  const ended = await runAndUndo(scene, { kind: 'tag', ids: Object.values(ids), tags }, async () => {
    await set('since', ['vip', 'by hand']);
    // A tag that was removed and set again counts as set by a member.
    const again = { kind: 'tag' as const, ids: [ids['again']!] };
    await run(scene, { ...again, tags: { added: [], removed: ['VIP'] } });
    await run(scene, { ...again, tags: { added: ['vip'], removed: [] } });
  });
  assert.deepEqual(ended, { total: 4, done: 4, woken: 0 });
  assert.deepEqual(await tagsOf(scene), {
    none: [],
    had: ['vip'],
    lost: ['other', 'old'],
    since: ['by hand'],
    again: ['vip'],
  });
});

test('a bulk status change applies to valid submissions with their events, and undo restores each previous status', async () => {
  const scene = await openScene(database, [element('text', 'name', { required: true })]);
  await scene.listen();
  const done = await scene.submit({ name: 'Done' });
  const begun = await scene.begin({ name: 'Begun' });
  const empty = await scene.begin({ name: 'Emptied' });
  const again = await scene.begin({ name: 'Opened and completed by hand since' });
  await database.query(`update submissions set answers = '{}' where id = $1`, [empty]);
  const before = (await scene.events()).length;
  const statuses = async () => {
    const { rows } = await database.query<{ id: string; status: string }>(
      'select id, status from submissions where form_id = $1',
      [scene.formId],
    );
    return Object.fromEntries(rows.map(({ id, status }) => [id, status]));
  };
  const ids = [done, begun, empty, again];
  const kinds = async () => (await scene.events()).slice(before).map(({ kind }) => kind);
  const ended = await runAndUndo(scene, { kind: 'status', status: 'completed', ids }, async () => {
    const completed = { [done]: 'completed', [begun]: 'completed', [again]: 'completed' };
    assert.deepEqual(await statuses(), { ...completed, [empty]: 'incomplete' });
    assert.deepEqual(await kinds(), ['submission.created', 'submission.created']);
    assert.deepEqual((await scene.counts()).shown, { completed: 3, incomplete: 1 });
    for (const status of ['incomplete', 'completed'] as const)
      await changeSubmission(scene.context, { ...scene, id: again, by, unchanged: null }, { status });
  });
  assert.deepEqual([ended.total, ended.done], [2, 1]);
  assert.deepEqual(await statuses(), {
    [done]: 'completed',
    [begun]: 'incomplete',
    [empty]: 'incomplete',
    [again]: 'completed',
  });
  assert.equal((await kinds()).filter((kind) => kind === 'submission.updated').length, 3);
  assert.deepEqual((await scene.counts()).shown, { completed: 2, incomplete: 2 });
});

test('permanent deletions and undos cannot be undone', async () => {
  const scene = await openHeardScene();
  const ids = [await scene.submit({ name: 'Ada' })];
  const { id: trash } = await startBulk(scene.context, scene, { kind: 'trash', ids, by });
  await finish(scene, { id: trash, total: 1 });
  const { id: back } = await undoBulk(scene.context, scene, { undoes: trash, by });
  await finish(scene, { id: back, total: 1 });
  const { id: remove } = await startBulk(scene.context, scene, { kind: 'remove', ids, by });
  await finish(scene, { id: remove, total: 1 });
  for (const undoes of [back, remove])
    await assert.rejects(undoBulk(scene.context, scene, { undoes, by }), {
      code: 'conflict',
      message: 'This change cannot be undone.',
    });
});

test('a bulk change with a parked job gives the reason, and undoing it is rejected with that reason', async () => {
  const scene = await openHeardScene();
  const ids = [await scene.submit({ name: 'Ada' })];
  const bulk = await startBulk(scene.context, scene, { kind: 'trash', ids, by });
  assert.equal(bulk.failed_reason, null);
  await database.query("update jobs set run_at = 'infinity', parked_at = now() where workspace_id = $1", [
    scene.workspaceId,
  ]);
  const [found] = await findBulk(scene, bulk.id);
  assert.match(found!.failed_reason!, /three times/);
  assert.equal(found!.finished_at, null);
  await assert.rejects(undoBulk(scene.context, scene, { undoes: bulk.id, by }), /three times/);
});
