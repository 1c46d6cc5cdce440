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
import { restoreMany, trashMany } from './changes/trash.ts';
import { changedBy } from './differences.ts';
import { findPlaces, QuotaExceeded, updateQuotas } from './quotas.ts';
import { requireCapacity } from './response-limit.ts';
import { saveAnswers } from './save-answers.ts';
import { releaseSpam } from './spam.ts';
import { insertRecord, prepareRecord } from './submission-record.ts';
import { lockFormForSubmit } from './submission-rows.ts';
import { submitAnswers } from './submit.ts';

// Two pools, as two processes have them.
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

/** What a submit is told: what is taken, or `ok`. */
async function sendTo(scene: Scene, answers: object, key?: string): Promise<string> {
  const result = await scene.send(answers, key === undefined ? {} : { key });
  return result.ok ? 'ok' : result.errors.map(({ message }) => message).join(' ');
}

const full = 'Workshop: "Weaving" is full. Choose another option.';
const given = 'Email: this answer was already given and must be unique. Give another one.';

async function placesOf(scene: Scene): Promise<Record<string, number>> {
  const places = await findPlaces(database, await scene.live());
  return Object.fromEntries(places.get('workshop') ?? []);
}

/** As another process submits, with which this one takes no turns: nothing but the database is between them. */
const sendElsewhere = async (scene: Scene, answers: Answers): Promise<string> => {
  const live = await scene.live();
  const writing = prepareRecord({ live, reference: {}, files: new Map() }, answers);
  const write = async (client: Queryable): Promise<string> => {
    assert.equal(await requireCapacity(client, live, undefined), true);
    assert.equal(await insertRecord(client, writing, 'completed'), true);
    await updateQuotas(client, live, writing.id);
    return 'ok';
  };
  return transaction(other, write).catch((error: unknown) => {
    if (error instanceof QuotaExceeded) return error.problems.map(({ message }) => message).join(' ');
    throw error;
  });
};

test('of 100 submits at once for 10 places, from this process and as of others, 10 are taken and the rest are told by name', async () => {
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

/** Whether anybody waits for the turn of a form. */
async function isAwaited(): Promise<boolean> {
  const { rows } = await database.query(
    `select from pg_locks join pg_database on oid = database
     where datname = current_database() and locktype = 'advisory' and not granted`,
  );
  return rows.length > 0;
}

test('a submit waits for one of another process that takes the last place, and then finds none', async () => {
  const scene = await openScene(database, [workshop(1)]);
  const live = await scene.live();
  let isOver = false;
  const late = await transaction(other, async (client) => {
    const writing = prepareRecord({ live, reference: {}, files: new Map() }, { workshop: 'w' });
    assert.equal(await requireCapacity(client, live, undefined), true);
    assert.equal(await insertRecord(client, writing, 'completed'), true);
    await updateQuotas(client, live, writing.id);
    // It has the place, and has not committed.
    const sent = sendTo(scene, { workshop: 'w' }).finally(() => {
      isOver = true;
    });
    await until('the late one to wait for the lock', async () => (await isAwaited()) || isOver);
    return { sent };
  });
  assert.equal(await late.sent, full);
});

test('of 30 submits at once of one address one is taken, however it is written', async () => {
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

test('a phone number is the same by its digits, a number by its value, and the author may say so', async () => {
  const scene = await openScene(database, [
    element('phone', 'phone', { unique: true }),
    element('number', 'seat', { unique: true, error_message: 'This seat is somebody else’s.' }),
  ]);
  assert.equal(await sendTo(scene, { phone: '+1 555 010 0199', seat: 12 }), 'ok');
  assert.match(await sendTo(scene, { phone: '+1 (555) 010-0199' }), /already given and must be unique/);
  assert.equal(await sendTo(scene, { seat: '12.0' }), 'The seat: This seat is somebody else’s.');
});

test('only what its type has is limited: many may choose the same, and a text has no places', async () => {
  const scene = await openScene(database, [
    element('radio', 'color', { unique: true }),
    element('text', 'name', { options: [{ id: 'Ada', label: 'Ada', capacity: 1 }] }),
  ]);
  const sent = { color: 'Red', name: 'Ada' };
  assert.deepEqual([await sendTo(scene, sent), await sendTo(scene, sent)], ['ok', 'ok']);
});

test('the same answers under their key are one submission, and take one place', async () => {
  const scene = await openScene(database, [workshop(1)]);
  const key = newId();
  assert.equal(await sendTo(scene, { workshop: 'w' }, key), 'ok');
  assert.equal(await sendTo(scene, { workshop: 'w' }, key), 'ok');
  assert.equal(await sendTo(scene, { workshop: 'w' }, newId()), full);
  assert.equal(await sendTo(scene, { workshop: 'None' }), 'ok');
});

test('a place comes back when its submission goes into the trash or is removed; whoever comes out of it finds it taken', async () => {
  const scene = await openScene(database, [workshop(1, 'multiple_choice'), email]);
  const first = await scene.submit({ workshop: ['w', 'd'], email: 'ada@example.com' });
  assert.deepEqual(await placesOf(scene), { w: 0, d: 1 });
  const into = (id: string) =>
    transaction(database, (client) => trashMany(client, scene, { ids: [id], by: changedBy(by) }));
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

test('an edit moves the place, gives back what it leaves, and keeps its own', async () => {
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

test('what was submitted before a limit was published counts, also where it breaks the limit, and may be edited', async () => {
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
  // The limits are gone for a while, and what came in between counts when they are back.
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

test('what one form of a workspace has taken another one has free, though both name it the same', async () => {
  const scene = await openScene(database, [workshop(1), email]);
  const beside = await openScene(database, [workshop(1), email], {}, scene);
  const answers = { workshop: 'w', email: 'ada@example.com' };
  assert.equal(await sendTo(scene, answers), 'ok');
  assert.equal(await sendTo(beside, answers), 'ok');
  assert.deepEqual(await placesOf(beside), await placesOf(scene));
  for (const each of [scene, beside]) assert.equal(await sendTo(each, answers), `${full} ${given}`);
});

test('a form that gets limits counts what it had before, also where another one of its workspace has counted', async () => {
  const plain = element('radio', 'workshop', { options: ['w', 'd'] });
  const scene = await openScene(database, [plain]);
  const beside = await openScene(database, [plain], {}, scene);
  assert.equal(await sendTo(beside, { workshop: 'w' }), 'ok');
  for (const { formId } of [scene, beside])
    await changeForm(database, scene.workspaceId, formId, { structure: structure(workshop(1)) });
  assert.equal(await sendTo(scene, { workshop: 'w' }), 'ok');
  assert.equal(await sendTo(beside, { workshop: 'w' }), full);
});

test('an edit that is the first to come after limits were published finds what was taken before them', async () => {
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

test('two questions with options of the same ids have each their own places', async () => {
  const second = element('radio', 'second', { options: [{ id: 'w', label: 'Weaving', capacity: 1 }] });
  const scene = await openScene(database, [workshop(2), second]);
  assert.equal(await sendTo(scene, { second: 'w' }), 'ok');
  assert.equal(await sendTo(scene, { workshop: 'w' }), 'ok');
  assert.match(await sendTo(scene, { second: 'w' }), /^The second: "Weaving" is full/);
  assert.equal(await sendTo(scene, { workshop: 'w' }), 'ok');
  assert.equal(await sendTo(scene, { workshop: 'w' }), full);
});

test('a submit that is under way when limits are published is counted before the next one finds its place', async () => {
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

test('a submit that waited while limits were published and counted is held to them, and stays with the version that it answered', async () => {
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
    await updateQuotas(client, live, writing.id);
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

test('what goes into the trash while limits are published takes nothing', async () => {
  const scene = await openScene(database, [unlimited]);
  const id = await scene.submit({ workshop: 'w' });
  const places = await transaction(other, async (client) => {
    await trashMany(client, scene, { ids: [id], by: changedBy(by) });
    await publish(scene, workshop(1));
    const counted = placesOf(scene);
    await until('the count to wait for the turn', isAwaited);
    return { counted };
  });
  assert.deepEqual(await places.counted, { w: 1, d: 2 });
});

test('what is held takes no place before it is released, and what is saved none before it is sent', async () => {
  const scene = await openScene(database, [workshop(1)], { save_progress: true });
  const request = {
    live: await scene.live(),
    raw: { workshop: 'w' },
    files: new Map(),
    reference: {},
    key: undefined,
  };
  const held = await submitAnswers(scene.context, request, { reason: 'honeypot', address: Buffer.alloc(32) });
  const key = newId();
  await saveAnswers(scene.context, { ...request, key, step: 0 });
  assert.deepEqual(await placesOf(scene), { w: 1, d: 2 });
  assert.equal(await sendTo(scene, { workshop: 'w' }, key), 'ok');
  assert.ok(held.ok);
  await assert.rejects(releaseSpam(scene.context, scene, [held.submission.id]), {
    code: 'conflict',
    message: `This submission cannot be released, because other submissions used up a quota. ${full}`,
  });
});
