import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { changeForm } from '#forms/forms.ts';
import { newId, now } from '#kit/clock.ts';
import { openDatabase, transaction } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import type { Job } from '#kit/queue.ts';
import { element, structure } from '#test/ast/forms.ts';
import { testDatabase } from '#test/database.ts';
import { openScene, type Scene } from '#test/submissions/scene.ts';
import { promoteWaiting } from './changes/promote.ts';
import { removeSubmission } from './changes/remove.ts';
import { requireCapacity } from './response-limit.ts';
import { saveAnswers } from './save-answers.ts';
import { releaseSpam } from './spam.ts';
import { insertRecord, prepareRecord } from './submission-record.ts';
import { submitAnswers } from './submit.ts';
import { admitAnswers, findPosition } from './waiting-list.ts';

// Two pools act as two processes.
const { database, url } = await testDatabase({ pool: 10 });
const other = openDatabase({ connectionString: url }, { pool: 10, waitMs: 60_000, log: openLog('silent') });
after(() => other.end());

const name = element('text', 'name');
const open = (most: number, more: object = {}): Promise<Scene> =>
  openScene(database, [name], { waiting_list: true, max_submissions: most, ...more });

/** Submits as another process does: without in-process locks, sharing only the database. */
async function sendElsewhere(scene: Scene): Promise<string> {
  const live = await scene.live();
  const record = prepareRecord({ live, reference: {}, files: new Map() }, { name: 'Elsewhere' });
  return transaction(other, async (client) => {
    assert.equal(await requireCapacity(client, live, undefined), true);
    const { status, at } = await admitAnswers(client, { ...live, limited: undefined }, record.answers, now());
    assert.equal(await insertRecord(client, { ...record, createdAt: at }, status), true);
    return record.id;
  });
}

async function sendHere(scene: Scene): Promise<string> {
  const result = await scene.send({ name: 'Here' });
  assert.ok(result.ok);
  return result.submission.id;
}

const positionOf = ({ workspaceId, formId }: Scene, id: string) =>
  findPosition(database, { workspaceId, formId, id });

/** Runs the enqueued promotions, each once, as the worker does. */
async function promote(scene: Scene): Promise<number> {
  const token = newId();
  const { rows } = await database.query<{ id: string; payload: object }>(
    `update jobs set lease_token = $2 where lane = 'waiting_list.promote ' || $1 returning id, payload`,
    [scene.formId, token],
  );
  for (const { id, payload } of rows) {
    const job = { workspaceId: scene.workspaceId, id, leaseToken: token, payload };
    await promoteWaiting(scene.context, job as Job);
  }
  return rows.length;
}

const statusOf = async (scene: Scene, id: string): Promise<string> => (await scene.read(id)).status;

test('of 40 parallel submits from two processes for 3 places, 37 wait, each with its own position', async () => {
  const scene = await open(3);
  const sent = Array.from({ length: 40 }, (_, index) =>
    index % 2 === 0 ? sendHere(scene) : sendElsewhere(scene),
  );
  const ids = await Promise.all(sent);
  assert.deepEqual((await scene.counts()).shown, { completed: 3, waiting: 37 });
  const positions = await Promise.all(ids.map((id) => positionOf(scene, id)));
  assert.deepEqual(
    positions.filter((position) => position !== undefined).toSorted((a, b) => a - b),
    Array.from({ length: 37 }, (_, index) => index + 1),
  );
});

test('until the job has run, a new submit does not overtake; each promotion is one event, and its job ends', async () => {
  const scene = await open(1);
  await scene.listen();
  const first = await sendHere(scene);
  const second = await sendHere(scene);
  const { workspaceId, formId } = scene;
  await removeSubmission(scene.context, { workspaceId, formId, id: first });
  const third = await sendHere(scene);
  assert.deepEqual([await statusOf(scene, second), await statusOf(scene, third)], ['waiting', 'waiting']);
  assert.equal(await promote(scene), 1);
  assert.equal(await promote(scene), 0);
  assert.deepEqual([await statusOf(scene, second), await statusOf(scene, third)], ['completed', 'waiting']);
  assert.equal(await positionOf(scene, third), 1);
  const events = (await scene.events()).filter(({ submission_id: id }) => id === second);
  assert.deepEqual(
    events.map(({ kind, snapshot }) => [kind, snapshot.submission.status]),
    [
      ['submission.created', 'waiting'],
      ['submission.updated', 'completed'],
    ],
  );
});

test('a list of 130 gets 120 places in several batches, also after a new version raised the limit', async () => {
  const scene = await open(1);
  const ids: string[] = [];
  for (let index = 0; index < 131; index += 1) ids.push(await sendHere(scene));
  const raised = { structure: structure(name), settings: { waiting_list: true, max_submissions: 121 } };
  await transaction(database, (client) => changeForm(client, scene.workspaceId, scene.formId, raised));
  await promote(scene);
  assert.deepEqual((await scene.counts()).shown, { completed: 121, waiting: 10 });
  assert.equal(await positionOf(scene, ids[121]!), 1);
});

test('saved answers join the list behind submissions that were sent earlier, and released spam too', async () => {
  const scene = await open(1, { save_progress: true });
  const key = newId();
  const live = await scene.live();
  const given = { live, raw: { name: 'Ada' }, files: new Map(), reference: {}, key };
  const saved = await saveAnswers(scene.context, { ...given, step: 0 });
  const suspicion = { reason: 'honeypot', address: Buffer.alloc(16) } as const;
  const spam = await submitAnswers(scene.context, { ...given, key: newId() }, suspicion);
  assert.ok(spam.ok);
  await sendHere(scene);
  const earlier = await sendHere(scene);
  const completed = await submitAnswers(scene.context, given);
  assert.partialDeepStrictEqual(completed, {
    outcome: 'draft completed',
    position: 2,
    submission: { id: saved.id },
  });
  assert.equal(await releaseSpam(scene.context, scene, [spam.submission.id]), 1);
  assert.deepEqual(
    await Promise.all([earlier, saved.id, spam.submission.id].map((id) => positionOf(scene, id))),
    [1, 2, 3],
  );
  assert.deepEqual((await scene.counts()).shown, { completed: 1, waiting: 3 });
});
