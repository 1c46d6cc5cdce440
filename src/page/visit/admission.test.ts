import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { changeSettings } from '#forms/settings.ts';
import { now } from '#kit/clock.ts';
import { openLog } from '#kit/log.ts';
import { element } from '#test/ast/forms.ts';
import { testDatabase } from '#test/database.ts';
import { openScene, type Scene } from '#test/submissions/scene.ts';
import { openRequestCounter } from '#workspaces/request-counter.ts';
import { findRefusal, type RefusalReason, verifyFormPassword } from './admission.ts';

const { database } = await testDatabase();
const requestCounter = await openRequestCounter({ valkeyUrl: undefined, log: openLog('silent') });
const questions = [element('text', 'name')];
const [past, future] = ['2020-01-01T00:00:00Z', '2120-01-01T00:00:00Z'];

const refusalOf = async (scene: Scene, cookies?: string, entry?: string) =>
  findRefusal(scene.context, await scene.live(), cookies, { entry });

const cases: readonly [what: string, settings: object, reason: RefusalReason | undefined, code?: string][] = [
  ['open to all', {}, undefined],
  ['within its time', { opens_at: past, closes_at: future }, undefined],
  ['that opens later', { opens_at: future }, 'early', 'forbidden'],
  ['that has closed', { closes_at: past }, 'closed', 'gone'],
  ['that is closed', { access: 'closed' }, 'closed', 'gone'],
  ['for invited people', { access: 'invited' }, 'invited', 'forbidden'],
  ['behind a password', { access: 'password', password: 'open sesame' }, 'password', 'forbidden'],
  ['behind a password that is not set', { access: 'password' }, 'invited', 'forbidden'],
];

for (const [what, settings, reason, code] of cases) {
  test(`a form ${what} ${reason ? `refuses: ${reason}` : 'admits'}`, async () => {
    const refusal = await refusalOf(await openScene(database, questions, settings));
    assert.deepEqual([refusal?.reason, refusal?.error.code], [reason, code]);
  });
}

test('a form that does not exist and an unpublished form get the same answer', async () => {
  const scene = await openScene(database, questions);
  const unpublished = { ...(await scene.live()), status: 'draft', wasPublished: false } as const;
  const [absent, draft] = [
    await findRefusal(scene.context, undefined, undefined),
    await findRefusal(scene.context, unpublished, undefined),
  ];
  assert.deepEqual([absent!.error.body, absent!.reason], [draft!.error.body, 'absent']);
});

test("a form at its response limit refuses submissions, with its author's message if there is one", async () => {
  const scene = await openScene(database, questions, {
    max_submissions: 1,
    closed_message: 'See you next year!',
  });
  assert.equal(await refusalOf(scene), undefined);
  await scene.submit({ name: 'Ada' });
  const refusal = await refusalOf(scene);
  assert.deepEqual([refusal!.reason, refusal!.error.message], ['full', 'See you next year!']);
});

const password = 'öpen sesame';
const guarded = () => openScene(database, questions, { access: 'password', password });
const enter = async (scene: Scene, given: string, address = '192.0.2.1', publicUrl = 'https://forms.test') =>
  verifyFormPassword({ ...scene.context, requestCounter }, await scene.live(), {
    password: given,
    path: `/f/${scene.formId}`,
    address,
    publicUrl,
  });

test('the correct password gives a cookie for this form, and a wrong password gives none', async () => {
  const [scene, other] = [await guarded(), await guarded()];
  assert.equal(await enter(scene, 'open sesame'), undefined);
  assert.equal(await enter(scene, ''), undefined);
  // Keyboards differ in how they compose characters.
  assert.ok(await enter(scene, password.normalize('NFD'), '192.0.2.3'));
  const { cookie, entry } = (await enter(scene, password))!;
  assert.match(
    cookie,
    new RegExp(`^__Secure-.*; Path=/f/${scene.formId}; HttpOnly; SameSite=None; Secure; Partitioned$`),
  );
  const plain = (await enter(scene, password, '192.0.2.2', 'http://localhost:3000'))!.cookie;
  assert.match(plain, /^formloom.*HttpOnly; SameSite=Lax$/);
  assert.equal(await refusalOf(scene, plain), undefined, 'one that was given before the service had https');
  const sent = cookie.split(';', 1)[0]!;
  assert.equal(await refusalOf(scene, undefined, entry), undefined, 'in a frame the address carries it');
  assert.equal((await refusalOf(other, undefined, entry))?.reason, 'password');
  assert.equal(await refusalOf(scene, `theme=dark; ${sent}`), undefined);
  const renamed = sent.replace(scene.formId, other.formId);
  for (const [form, cookies] of [
    [other, sent],
    [other, renamed],
    [scene, sent.slice(0, -1)],
    [scene, sent.replace(/=\d/, '=9')],
    [scene, `x${sent}`],
  ] as const) {
    assert.equal((await refusalOf(form, cookies))?.reason, 'password', cookies);
  }
});

test('an entry expires twelve hours after the password was entered', async () => {
  const scene = await guarded();
  const { passwordHash } = await scene.live();
  const inSeconds = (seconds: number): string => String(Math.floor(now().getTime() / 1_000) + seconds);
  const [until = ''] = (await enter(scene, password))!.entry.split('.');
  assert.ok(until > inSeconds(12 * 3_600 - 60) && until <= inSeconds(12 * 3_600));
  const known = createHash('sha256').update(String(passwordHash)).digest('base64url');
  const entryUntil = (time: string): string =>
    `${time}.${scene.context.vault.sign('form passwords', [scene.workspaceId, scene.formId, time, known])}`;
  assert.equal(await refusalOf(scene, undefined, entryUntil(inSeconds(60))), undefined);
  assert.equal((await refusalOf(scene, undefined, entryUntil(inSeconds(-60))))?.reason, 'password');
});

test('changing the password invalidates existing entries; changing other settings does not', async () => {
  const scene = await guarded();
  const { cookie } = (await enter(scene, password))!;
  await changeSettings(database, scene.workspaceId, scene.formId, { closed_message: 'Closed.' });
  assert.equal(await refusalOf(scene, cookie), undefined);
  await changeSettings(database, scene.workspaceId, scene.formId, { password: 'another' });
  assert.equal((await refusalOf(scene, cookie))?.reason, 'password');
  await changeSettings(database, scene.workspaceId, scene.formId, { password: null });
  assert.equal((await refusalOf(scene, cookie))?.reason, 'invited');
});

test('of 30 parallel guesses from one IP address ten are checked and the others wait; another address is not limited', async () => {
  const scene = await guarded();
  const guesses = await Promise.all(
    Array.from({ length: 30 }, () => enter(scene, 'guess').catch((error: { code: string }) => error.code)),
  );
  assert.equal(guesses.filter((guess) => guess === undefined).length, 10);
  assert.equal(guesses.filter((guess) => guess === 'rate_limit_exceeded').length, 20);
  await assert.rejects(enter(scene, password), { code: 'rate_limit_exceeded' });
  assert.ok(await enter(scene, password, '192.0.2.77'));
});
