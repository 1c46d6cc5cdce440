import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Answers } from '#ast/answers/check-answers.ts';
import { changeForm } from '#forms/forms.ts';
import { newId } from '#kit/clock.ts';
import { openDatabase, transaction } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import type { Queryable } from '#kit/statement.ts';
import { element, structure } from '#test/ast/forms.ts';
import { testDatabase } from '#test/database.ts';
import { until } from '#test/service.ts';
import { openScene, type Scene } from '#test/submissions/scene.ts';
import { createUser } from '#workspaces/accounts/users.ts';
import { changeSubmission } from './changes/edit.ts';
import { editByToken } from './changes/edit-by-token.ts';
import { removeSubmission } from './changes/remove.ts';
import { restoreMany, trashSubmissionsInTransaction } from './changes/trash.ts';
import { toChangedBy } from './differences.ts';
import { findRemainingQuotas, QuotaExceeded, updateQuotaUse } from './quotas.ts';
import { requireCapacity } from './response-limit.ts';
import { saveAnswers } from './save-answers.ts';
import { releaseSpam } from './spam.ts';
import { insertRecord, prepareRecord } from './submission-record.ts';
import { lockFormForSubmit } from './submission-rows.ts';
import { submitAnswers } from './submit.ts';

// Two pools act as two processes.
const { database, url } = await testDatabase({ pool: 10 });
const other = openDatabase({ connectionString: url }, { pool: 10, waitMs: 60_000, log: openLog('silent') });
after(() => other.end());
const user = await createUser(database, { email: 'ada@example.com', password: 'a long enough password' });
const by = { kind: 'person', id: user.id } as const;

const workshop = (capacity: number, type: 'radio' | 'multiple_choice' = 'radio') =>
  element(type, 'workshop', {
    label: 'Workshop',
    options: [{ id: 'w', label: 'Weaving', capacity }, { id: 'd', label: 'Dyeing', capacity: 2 }, 'None'],
  });
const email = element('email', 'email', { label: 'Email', unique: true });

/** Submits answers and returns the error messages, or `ok`. */
async function sendTo(scene: Scene, answers: object, key?: string): Promise<string> {
  const result = await scene.send(answers, key === undefined ? {} : { key });
  return result.ok ? 'ok' : result.errors.map(({ message }) => message).join(' ');
}

const full = 'Workshop: "Weaving" is full. Choose another option.';
const given = 'Email: this answer was already given and must be unique. Give another one.';

async function placesOf(scene: Scene): Promise<Record<string, number>> {
  const places = await findRemainingQuotas(database, await scene.live());
  return Object.fromEntries(places.get('workshop') ?? []);
}

/** Submits as another process does: without in-process locks, sharing only the database. */
const sendElsewhere = async (scene: Scene, answers: Answers): Promise<string> => {
  const live = await scene.live();
  const writing = prepareRecord({ live, reference: {}, files: new Map() }, answers);
  const write = async (client: Queryable): Promise<string> => {
    assert.equal(await requireCapacity(client, live, undefined), true);
    assert.equal(await insertRecord(client, writing, 'completed'), true);
    await updateQuotaUse(client, live, writing.id);
    return 'ok';
  };
  return transaction(other, write).catch((error: unknown) => {
    if (error instanceof QuotaExceeded) return error.problems.map(({ message }) => message).join(' ');
    throw error;
  });
};

test("of 100 parallel submits for a capacity of 10, from two processes, 10 are accepted and the others get the option's name", async () => {
  const scene = await openScene(database, [workshop(10)]);
  const results = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      index % 2 === 0 ? sendTo(scene, { workshop: 'w' }, newId()) : sendElsewhere(scene, { workshop: 'w' }),
    ),
  );
  assert.equal(results.filter((result) => result === 'ok').length, 10);
  assert.equal(results.filter((result) => result === full).length, 90);
  assert.deepEqual((await scene.counts()).found, { completed: 10 });
  assert.deepEqual(await placesOf(scene), { w: 0, d: 2 });
});

/** Returns whether a transaction waits for the lock of a form. */
async function isAwaited(): Promise<boolean> {
  const { rows } = await database.query(
    `select from pg_locks join pg_database on oid = database
     where datname = current_database() and locktype = 'advisory' and not granted`,
  );
  return rows.length > 0;
}

test('a submit waits for another process that uses up the quota of an option, and then finds the option full', async () => {
  const scene = await openScene(database, [workshop(1)]);
  const live = await scene.live();
  let isOver = false;
  const late = await transaction(other, async (client) => {
    const writing = prepareRecord({ live, reference: {}, files: new Map() }, { workshop: 'w' });
    assert.equal(await requireCapacity(client, live, undefined), true);
    assert.equal(await insertRecord(client, writing, 'completed'), true);
    await updateQuotaUse(client, live, writing.id);
    // The other process has used up the quota, but has not committed.
    const sent = sendTo(scene, { workshop: 'w' }).finally(() => {
      isOver = true;
    });
    await until('the late one to wait for the lock', async () => (await isAwaited()) || isOver);
    return { sent };
  });
  assert.equal(await late.sent, full);
});

test('of 30 parallel submits with one unique address, in any spelling, one is accepted', async () => {
  const scene = await openScene(database, [email]);
  const results = await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      index % 2 === 0
        ? sendTo(scene, { email: 'ada@example.com' })
        : sendElsewhere(scene, { email: 'Ada@Example.COM' }),
    ),
  );
  assert.deepEqual(results.toSorted(), [...Array<string>(29).fill(given), 'ok']);
  assert.equal(await sendTo(scene, { email: 'grace@example.com' }), 'ok');
  assert.equal(await sendTo(scene, {}), 'ok');
  assert.equal(await sendTo(scene, {}), 'ok');
});

test('unique phone numbers are compared by digits and unique numbers by value, and the author can set the error message', async () => {
  const scene = await openScene(database, [
    element('phone', 'phone', { unique: true }),
    element('number', 'seat', { unique: true, error_message: 'This seat is somebody else’s.' }),
  ]);
  assert.equal(await sendTo(scene, { phone: '+1 555 010 0199', seat: 12 }), 'ok');
  assert.match(await sendTo(scene, { phone: '+1 (555) 010-0199' }), /already given and must be unique/);
  assert.equal(await sendTo(scene, { seat: '12.0' }), 'The seat: This seat is somebody else’s.');
});

test('`unique` and `capacity` limit only types that support them: a choice may repeat, and a text has no quota', async () => {
  const scene = await openScene(database, [
    element('radio', 'color', { unique: true }),
    element('text', 'name', { options: [{ id: 'Ada', label: 'Ada', capacity: 1 }] }),
  ]);
  const sent = { color: 'Red', name: 'Ada' };
  assert.deepEqual([await sendTo(scene, sent), await sendTo(scene, sent)], ['ok', 'ok']);
});

test('resending answers with their key makes one submission, and uses the quota once', async () => {
  const scene = await openScene(database, [workshop(1)]);
  const key = newId();
  assert.equal(await sendTo(scene, { workshop: 'w' }, key), 'ok');
  assert.equal(await sendTo(scene, { workshop: 'w' }, key), 'ok');
  assert.equal(await sendTo(scene, { workshop: 'w' }, newId()), full);
  assert.equal(await sendTo(scene, { workshop: 'None' }), 'ok');
});

test('trashing or removing a submission frees its quota, and it cannot be restored while another one uses it', async () => {
  const scene = await openScene(database, [workshop(1, 'multiple_choice'), email]);
  const first = await scene.submit({ workshop: ['w', 'd'], email: 'ada@example.com' });
  assert.deepEqual(await placesOf(scene), { w: 0, d: 1 });
  const into = (id: string) =>
    transaction(database, (client) =>
      trashSubmissionsInTransaction(client, scene, { ids: [id], by: toChangedBy(by) }),
    );
  await into(first);
  assert.deepEqual(await placesOf(scene), { w: 1, d: 2 });
  const second = await scene.submit({ workshop: ['w'], email: 'ada@example.com' });
  await assert.rejects(restoreMany(database, scene, { ids: [first], by }), {
    code: 'conflict',
    message: `Nothing was restored, because other submissions used up a quota. ${full} ${given}`,
  });
  await removeSubmission(scene.context, { ...scene, id: second });
  assert.equal(await restoreMany(database, scene, { ids: [first], by }), 1);
  assert.deepEqual(await placesOf(scene), { w: 0, d: 1 });
});

test('an edit moves the quota, frees the old option, and keeps an unchanged one', async () => {
  const scene = await openScene(database, [workshop(1), email], { editing: true });
  const sent = await scene.send({ workshop: 'w', email: 'ada@example.com' });
  assert.ok(sent.ok && sent.editToken);
  const rival = await scene.submit({ workshop: 'd', email: 'grace@example.com' });
  const target = { ...scene, id: rival, by, unchanged: null };
  await assert.rejects(changeSubmission(scene.context, target, { answers: { workshop: 'w' } }), {
    code: 'validation_error',
    problems: [
      {
        code: 'full',
        field: 'workshop',
        message: full,
        problem: { rule: 'full', values: { option: 'Weaving' }, label: 'Workshop', about: 'choice' },
      },
    ],
  });
  const edit = (raw: object) =>
    editByToken(scene.context, { formId: scene.formId, token: sent.editToken!, raw, files: new Map() });
  const taken = await edit({ workshop: 'w', email: 'grace@example.com' });
  assert.deepEqual(!taken.ok && taken.errors.map(({ message }) => message), [given]);
  assert.ok((await edit({ workshop: 'w', email: 'ADA@example.com' })).ok);
  assert.ok((await edit({ workshop: 'd', email: 'ada@example.com' })).ok);
  assert.deepEqual(await placesOf(scene), { w: 1, d: 0 });
  await changeSubmission(scene.context, target, { answers: { workshop: 'w' } });
  await changeSubmission(scene.context, target, { status: 'incomplete' });
  assert.deepEqual(await placesOf(scene), { w: 1, d: 1 });
});

test('submissions from before a limit count, even beyond it, and can be edited', async () => {
  const scene = await openScene(database, [
    element('radio', 'workshop', { options: ['w', 'd'] }),
    element('email', 'email'),
  ]);
  const ids = [];
  for (let index = 0; index < 3; index += 1)
    ids.push(await scene.submit({ workshop: 'w', email: 'ada@example.com' }));
  await changeForm(database, scene.workspaceId, scene.formId, { structure: structure(workshop(4), email) });
  assert.deepEqual(await placesOf(scene), { w: 1, d: 2 });
  assert.equal(await sendTo(scene, { workshop: 'w', email: 'ada@example.com' }), given);
  assert.equal(await sendTo(scene, { workshop: 'w', email: 'grace@example.com' }), 'ok');
  assert.equal(await sendTo(scene, { workshop: 'w' }), full);
  const target = { ...scene, id: ids[0]!, by, unchanged: null };
  await changeSubmission(scene.context, target, { tags: ['seen'] });
  await changeSubmission(scene.context, target, { answers: { workshop: 'd' } });
  // The limits are removed for a while, and submissions from that time count when the limits return.
  await changeForm(database, scene.workspaceId, scene.formId, {
    structure: structure(element('radio', 'workshop', { options: ['w', 'd'] }), element('email', 'email')),
  });
  assert.equal(await sendTo(scene, { workshop: 'd' }), 'ok');
  await changeForm(database, scene.workspaceId, scene.formId, { structure: structure(workshop(9), email) });
  assert.equal(await sendTo(scene, { workshop: 'd' }), 'Workshop: "Dyeing" is full. Choose another option.');
});

const unlimited = element('radio', 'workshop', { label: 'Workshop', options: ['w', 'd'] });
const publish = (scene: Scene, ...elements: readonly unknown[]) =>
  changeForm(database, scene.workspaceId, scene.formId, { structure: structure(...elements) });

test('forms of a workspace have separate quotas, even with equal IDs', async () => {
  const scene = await openScene(database, [workshop(1), email]);
  const beside = await openScene(database, [workshop(1), email], {}, scene);
  const answers = { workshop: 'w', email: 'ada@example.com' };
  assert.equal(await sendTo(scene, answers), 'ok');
  assert.equal(await sendTo(beside, answers), 'ok');
  assert.deepEqual(await placesOf(beside), await placesOf(scene));
  for (const each of [scene, beside]) assert.equal(await sendTo(each, answers), `${full} ${given}`);
});

test('a new limit counts the earlier submissions of its form, even if another form of the workspace was counted before', async () => {
  const plain = element('radio', 'workshop', { options: ['w', 'd'] });
  const scene = await openScene(database, [plain]);
  const beside = await openScene(database, [plain], {}, scene);
  assert.equal(await sendTo(beside, { workshop: 'w' }), 'ok');
  for (const { formId } of [scene, beside])
    await changeForm(database, scene.workspaceId, formId, { structure: structure(workshop(1)) });
  assert.equal(await sendTo(scene, { workshop: 'w' }), 'ok');
  assert.equal(await sendTo(beside, { workshop: 'w' }), full);
});

test('an edit that comes first after a limit was published respects earlier submissions', async () => {
  const scene = await openScene(database, [unlimited]);
  await scene.submit({ workshop: 'w' });
  const id = await scene.submit({ workshop: 'd' });
  await publish(scene, workshop(1));
  const edit = changeSubmission(
    scene.context,
    { ...scene, id, by, unchanged: null },
    { answers: { workshop: 'w' } },
  );
  await assert.rejects(edit, ({ errors }: QuotaExceeded) => errors?.[0]?.message === full);
});

test('two questions with equal option IDs have separate quotas', async () => {
  const second = element('radio', 'second', { options: [{ id: 'w', label: 'Weaving', capacity: 1 }] });
  const scene = await openScene(database, [workshop(2), second]);
  assert.equal(await sendTo(scene, { second: 'w' }), 'ok');
  assert.equal(await sendTo(scene, { workshop: 'w' }), 'ok');
  assert.match(await sendTo(scene, { second: 'w' }), /^The second: "Weaving" is full/);
  assert.equal(await sendTo(scene, { workshop: 'w' }), 'ok');
  assert.equal(await sendTo(scene, { workshop: 'w' }), full);
});

test('a submit in progress when limits are published is counted before the next one checks the quota', async () => {
  const scene = await openScene(database, [unlimited]);
  const writing = prepareRecord(
    { live: await scene.live(), reference: {}, files: new Map() },
    { workshop: 'w' },
  );
  let isOver = false;
  const next = await transaction(other, async (client) => {
    assert.equal(await insertRecord(client, writing, 'completed', writing.live.version), true);
    await publish(scene, workshop(1));
    const sent = sendTo(scene, { workshop: 'w' }).finally(() => {
      isOver = true;
    });
    await until('the next one to wait for the turn', async () => (await isAwaited()) || isOver);
    return { sent };
  });
  assert.equal(await next.sent, full);
  assert.deepEqual(await placesOf(scene), { w: 0, d: 2 });
});

test('a submit that waited while limits were published must respect them, and keeps the version it answered', async () => {
  const scene = await openScene(database, [unlimited]);
  const { version } = await scene.live();
  const late = await transaction(other, async (client) => {
    await lockFormForSubmit(client, { form_id: scene.formId });
    const sent = [sendTo(scene, { workshop: 'w' }), sendTo(scene, { workshop: 'd' })];
    await until('these to wait for the turn', isAwaited);
    await publish(scene, workshop(1));
    const live = await scene.live();
    const writing = prepareRecord({ live, reference: {}, files: new Map() }, { workshop: 'w' });
    assert.equal(await requireCapacity(client, live, undefined), true);
    assert.equal(await insertRecord(client, writing, 'completed'), true);
    await updateQuotaUse(client, live, writing.id);
    return { sent };
  });
  assert.deepEqual(await Promise.all(late.sent), [full, 'ok']);
  assert.deepEqual(await placesOf(scene), { w: 0, d: 1 });
  const { rows } = await database.query(
    'select version from submissions where form_id = $1 order by version',
    [scene.formId],
  );
  assert.deepEqual(rows, [{ version }, { version: version + 1 }]);
});

test('a submission that is trashed while limits are published uses no quota', async () => {
  const scene = await openScene(database, [unlimited]);
  const id = await scene.submit({ workshop: 'w' });
  const places = await transaction(other, async (client) => {
    await trashSubmissionsInTransaction(client, scene, { ids: [id], by: toChangedBy(by) });
    await publish(scene, workshop(1));
    const counted = placesOf(scene);
    await until('the count to wait for the turn', isAwaited);
    return { counted };
  });
  assert.deepEqual(await places.counted, { w: 1, d: 2 });
});

test('spam uses no quota before its release, and saved answers use none before they are submitted', async () => {
  const scene = await openScene(database, [workshop(1)], { save_progress: true });
  const request = {
    live: await scene.live(),
    raw: { workshop: 'w' },
    files: new Map(),
    reference: {},
    key: undefined,
  };
  const spam = await submitAnswers(scene.context, request, { reason: 'honeypot', address: Buffer.alloc(32) });
  const key = newId();
  await saveAnswers(scene.context, { ...request, key, step: 0 });
  assert.deepEqual(await placesOf(scene), { w: 1, d: 2 });
  assert.equal(await sendTo(scene, { workshop: 'w' }, key), 'ok');
  assert.ok(spam.ok);
  await assert.rejects(releaseSpam(scene.context, scene, [spam.submission.id]), {
    code: 'conflict',
    message: `This submission cannot be released, because other submissions used up a quota. ${full}`,
  });
});
