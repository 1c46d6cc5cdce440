import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeSettings } from '#forms/settings.ts';
import { newId } from '#kit/clock.ts';
import { readConfig } from '#kit/config.ts';
import { openLog } from '#kit/log.ts';
import { readSubmissionKey, signSubmissionKey } from '#submissions/submission-keys.ts';
import { element } from '#test/ast/forms.ts';
import { testDatabase } from '#test/database.ts';
import { openScene, type Scene } from '#test/submissions/scene.ts';
import { openRequestCounter } from '#workspaces/request-counter.ts';
import {
  hasProofOfWork,
  limitSaves,
  type PostSender,
  type PostSource,
  submitScreenedAnswers,
} from './screening.ts';

const { database } = await testDatabase();
const requestCounter = await openRequestCounter({ valkeyUrl: undefined, log: openLog('silent') });
const questions = [element('text', 'name', { required: true })];

/** Returns a page key that was made `seconds` ago. */
function pageOf(scene: Scene, seconds = 0): string {
  const served = (Date.now() - seconds * 1_000).toString(16).padStart(12, '0');
  const key = `${served.slice(0, 8)}-${served.slice(8)}${newId().slice(13)}`;
  return signSubmissionKey(scene.context.vault, { workspaceId: scene.workspaceId, id: scene.formId }, key);
}

const config = readConfig({});

async function send(scene: Scene, sender: Partial<PostSender> = {}, raw: object = { name: 'Ada' }) {
  const page = 'page' in sender ? sender.page : pageOf(scene, 60);
  const key =
    page === undefined
      ? undefined
      : readSubmissionKey(scene.context.vault, { workspaceId: scene.workspaceId, id: scene.formId }, page)
          ?.key;
  const request = { live: await scene.live(), raw, files: new Map(), reference: {}, key };
  const everything = {
    address: '192.0.2.1',
    website: '',
    proof: undefined,
    source: { kind: 'own' } as const,
    ...sender,
    page,
  };
  return submitScreenedAnswers({ ...scene.context, requestCounter, config }, request, everything);
}

const outcome = async (scene: Scene) => {
  const { rows } = await database.query<{ reason: string }>(
    'select reason from held_submissions where form_id = $1',
    [scene.formId],
  );
  return { spam: rows.map(({ reason }) => reason), ...(await scene.counts()).found };
};

/** Finds a valid proof for the page, and an invalid one. */
function work(page: string): { proof: string; none: string } {
  let proof = 0;
  while (!hasProofOfWork(page, String(proof))) proof += 1;
  let none = 0;
  while (hasProofOfWork(page, String(none))) none += 1;
  return { proof: String(proof), none: String(none) };
}

const [named, unasked, unlisted] = (['named', 'any', 'unlisted'] as const).map((kind) => ({
  kind,
  origin: 'https://shop.example',
})) as [PostSource, PostSource, PostSource];
const strict = { min_seconds: 5, proof_of_work: true };

const cases: readonly [
  what: string,
  settings: object,
  sender: (scene: Scene) => Partial<PostSender>,
  reason: string | undefined,
][] = [
  ['nothing asked, without a page', {}, () => ({ page: undefined }), undefined],
  ['the hidden field filled in', {}, () => ({ website: 'https://spam.test' }), 'honeypot'],
  ['5 s for a page of a minute ago', { min_seconds: 5 }, () => ({}), undefined],
  ['5 s for a page of 3 s ago', { min_seconds: 5 }, (s) => ({ page: pageOf(s, 3) }), 'too_fast'],
  ['5 s for no page, which has no time', { min_seconds: 5 }, () => ({ page: undefined }), undefined],
  ['a site that is named, whatever is asked', strict, () => ({ page: undefined, source: named }), undefined],
  ['a site that is not named', {}, () => ({ page: undefined, source: unlisted }), 'other_site'],
  ['a site that is not named, with a page of ours', {}, () => ({ source: unlisted }), 'other_site'],
  [
    'a page that keeps its origin back, and is none of ours',
    {},
    () => ({ page: undefined, source: { ...unlisted, origin: 'null' } }),
    'other_site',
  ],
  [
    'our page in a frame that says no origin',
    {},
    () => ({ source: { ...unlisted, origin: 'null' } }),
    undefined,
  ],
  [
    '5 s for a site of a form without a list',
    { min_seconds: 5 },
    () => ({ page: undefined, source: unasked }),
    undefined,
  ],
  [
    'a proof of work, for a site of a form without a list',
    { proof_of_work: true },
    () => ({ page: undefined, source: unasked }),
    'other_site',
  ],
  ['5 s for a key that is not ours', { min_seconds: 5 }, () => ({ page: `${newId()}.x` }), 'no_page'],
  ['a proof of work, which is there', { proof_of_work: true }, (s) => proven(s, 'proof'), undefined],
  ['a proof of work, which is none', { proof_of_work: true }, (s) => proven(s, 'none'), 'no_proof'],
  ['a proof of work, which is missing', { proof_of_work: true }, () => ({}), 'no_proof'],
  [
    'a proof of work, which is of another page',
    { proof_of_work: true },
    (s) => ({ proof: foreignProof(s) }),
    'no_proof',
  ],
  ['a proof of work, without a page', { proof_of_work: true }, () => ({ page: undefined }), 'no_page'],
];

function proven(scene: Scene, which: 'proof' | 'none'): Partial<PostSender> {
  const page = pageOf(scene, 60);
  return { page, proof: work(page)[which] };
}

/** Returns a proof for another page, which is almost certainly invalid for the one that is sent. */
const foreignProof = (scene: Scene): string => work(pageOf(scene, 90)).proof;

for (const [what, settings, sender, reason] of cases) {
  test(`${what}: ${reason ? `held as ${reason}, and answered like a success` : 'taken'}`, async () => {
    const scene = await openScene(database, questions, settings);
    const result = await send(scene, sender(scene));
    assert.ok(result.ok && result.outcome !== 'repeat');
    assert.deepEqual(await outcome(scene), reason ? { spam: [reason] } : { spam: [], completed: 1 });
  });
}

test('answers with errors are shown as usual for every sender, and nothing goes to spam', async () => {
  const scene = await openScene(database, questions, { min_seconds: 5, limit_per_address: 1 });
  for (const sender of [{}, { website: 'x' }, { page: undefined }]) {
    const result = await send(scene, sender, {});
    assert.ok(!result.ok && result.errors[0]!.field === 'name');
  }
  assert.deepEqual(await outcome(scene), { spam: [] });
  assert.ok((await send(scene)).ok, 'they did not count');
});

for (const [setting, sender] of [
  ['limit_per_address', () => ({ address: '192.0.2.9' })],
  ['limit_per_form', (index: number) => ({ address: `192.0.2.${index}` })],
] as const) {
  test(`of 20 parallel submits ${setting} 3 allows three, and the others get the time to wait`, async () => {
    const scene = await openScene(database, questions, { [setting]: 3 });
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => send(scene, sender(index))),
    );
    const refused = results.filter((result) => result.status === 'rejected');
    assert.equal(refused.length, 17);
    for (const { reason } of refused) {
      assert.equal(reason.code, 'rate_limit_exceeded');
      assert.ok(reason.retryAfter > 3_500 && reason.retryAfter <= 3_600);
    }
    assert.deepEqual(await outcome(scene), { spam: [], completed: 3 });
  });
}

test('one address does not limit another, and a retry of an accepted submission gets its receipt', async () => {
  const scene = await openScene(database, questions, { limit_per_address: 1 });
  const page = pageOf(scene, 60);
  const first = await send(scene, { page });
  await assert.rejects(send(scene), { code: 'rate_limit_exceeded' });
  const retry = await send(scene, { page });
  assert.ok(
    first.ok && retry.ok && retry.outcome === 'repeat' && retry.submission.id === first.submission.id,
  );
  assert.ok((await send(scene, { address: '192.0.2.2' })).ok);
});

test('resending spam later, within the time limits, returns its receipt and it stays spam', async () => {
  const scene = await openScene(database, questions, { min_seconds: 100 });
  const page = pageOf(scene, 60);
  const first = await send(scene, { page });
  await changeSettings(database, scene.workspaceId, scene.formId, { min_seconds: 5 });
  const later = await send(scene, { page });
  assert.ok(
    first.ok && later.ok && later.outcome === 'repeat' && later.submission.id === first.submission.id,
  );
  assert.deepEqual(await outcome(scene), { spam: ['too_fast'] });
});

test('the IP address of a sender is stored only as a keyed hash, which differs in each form', async () => {
  const [scene, other] = [await openScene(database, questions), await openScene(database, questions)];
  for (const some of [scene, scene, other]) await send(some, { website: 'x', page: pageOf(some, 60) });
  const { rows } = await database.query<{ address: Buffer }>(
    'select address from held_submissions where form_id = any ($1) order by form_id = $2 desc',
    [[scene.formId, other.formId], scene.formId],
  );
  const [first, second, foreign] = rows.map(({ address }) => address.toString('hex'));
  assert.equal(first, second);
  assert.notEqual(first, foreign);
  assert.equal(rows[0]!.address.length, 32);
});

test('a proof is a number of at most 16 digits', () => {
  for (const proof of ['', '-1', '1e3', '0x1', '1'.repeat(17), ' 1'])
    assert.ok(!hasProofOfWork('page', proof, 0), proof);
  assert.ok(hasProofOfWork('page', '1', 0));
});

test('an address that saves more often than a person can is rejected', async () => {
  const form = newId();
  for (let saves = 0; saves < 120; saves += 1) await limitSaves(requestCounter, form, '192.0.2.1');
  await assert.rejects(limitSaves(requestCounter, form, '192.0.2.1'), { code: 'rate_limit_exceeded' });
  await limitSaves(requestCounter, form, '192.0.2.2');
});
