import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '#kit/clock.ts';
import { transaction } from '#kit/database.ts';
import { enqueueMails } from '#kit/outbox.ts';
import { element } from '#test/ast/forms.ts';
import { testDatabase } from '#test/database.ts';
import { openScene, type Scene } from '#test/submissions/scene.ts';
import { makeWebhook } from '#test/webhooks/make-webhook.ts';
import { changeSubmission } from '../changes/edit.ts';
import { trashSubmission } from '../changes/trash.ts';
import { type ErasureOutcome, eraseIdentity, eraseSubmissions } from './erase.ts';

const { database } = await testDatabase();
const elements = [
  element('email', 'mail'),
  element('text', 'full_name'),
  element('textarea', 'story'),
  element('number', 'age'),
  element('file_upload', 'photo'),
];
const by = { kind: 'operator', id: '' } as const;

const erase = (scene: Scene, ...ids: string[]): Promise<ErasureOutcome> =>
  transaction(database, (client) => eraseSubmissions(client, scene, ids));

/** Creates a submission with a file and an edit. */
async function make(scene: Scene, mail: string): Promise<{ id: string; fileId: string }> {
  const photo = await scene.upload('photo', `${mail}.png`);
  const files = new Map([['photo', [photo]]]);
  const id = await scene.submit({ mail, full_name: 'Ada', story: `I am ${mail}`, age: 36 }, { files });
  const unchanged = null;
  await changeSubmission(scene.context, { ...scene, id, by, unchanged }, { answers: { age: 37 } });
  return { id, fileId: photo.id };
}

const mailAbout = (scene: Scene, ...submissionIds: string[]) =>
  transaction(database, (client) =>
    enqueueMails(client, scene.context.vault, { ...scene, submissionIds }, [
      {
        kind: 'digest',
        to: { address: 'team@example.org' },
        subject: 'New',
        letter: { heading: 'New', blocks: [], reason: 'You asked for it.' },
      },
    ]),
  );

const eventsOf = async (scene: Scene, id: string): Promise<string[]> =>
  (await scene.events()).filter((event) => event.submission_id === id).map(({ kind }) => kind);

test('an erased submission is gone with its events, deliveries, emails and history, and others are unchanged', async () => {
  const scene = await openScene(database, elements);
  await scene.listen();
  const [ada, grace] = [await make(scene, 'ada@example.org'), await make(scene, 'grace@example.org')];
  await mailAbout(scene, ada.id);
  await mailAbout(scene, grace.id);
  const { gone, fileIds, deliveries } = await erase(scene, ada.id);
  assert.deepEqual(gone, {
    submissions: 1,
    stripped: 0,
    files: 1,
    notes: 0,
    changes: 1,
    links: 0,
    events: 2,
    deliveries: 2,
    mails: 1,
    invitations: 0,
  });
  assert.deepEqual(fileIds, [ada.fileId]);
  assert.equal(deliveries, 1);
  assert.deepEqual(await eventsOf(scene, ada.id), ['submission.deleted']);
  assert.deepEqual(await eventsOf(scene, grace.id), ['submission.created', 'submission.updated']);
  const { rows } = await database.query('select submission_ids from mails where form_id = $1', [
    scene.formId,
  ]);
  assert.deepEqual(rows, [{ submission_ids: [grace.id] }]);
  const { shown, found } = await scene.counts();
  assert.deepEqual(shown, found);
  assert.deepEqual((await erase(scene, ada.id)).gone.submissions, 0);
});

test('submission.deleted after an erasure contains no answers, and goes to webhooks whose filter matched them', async () => {
  const scene = await openScene(database, elements);
  const url = 'https://receiver.test/hook';
  const filter = { element: 'mail', is: 'equals', value: 'ada@example.org' } as const;
  const webhookId = await makeWebhook(database, scene, { url, events: ['submission.deleted'], filter });
  const [ada, grace] = [await make(scene, 'ada@example.org'), await make(scene, 'grace@example.org')];
  assert.equal((await erase(scene, ada.id, grace.id)).deliveries, 1);
  const [event, ...more] = await scene.events();
  assert.deepEqual(more, []);
  assert.equal(event!.submission_id, ada.id);
  const { responses, reference_data, file_uploads } = event!.snapshot.submission;
  assert.deepEqual([responses, reference_data, file_uploads], [{}, {}, {}]);
  const { rows } = await database.query('select webhook_id from deliveries where form_id = $1', [
    scene.formId,
  ]);
  assert.deepEqual(rows, [{ webhook_id: webhookId }]);
});

test('submissions in the trash are erased, and incomplete ones trigger no event', async () => {
  const scene = await openScene(database, elements);
  await scene.listen();
  const trashed = await make(scene, 'ada@example.org');
  await trashSubmission(database, { ...scene, id: trashed.id, by, unchanged: null });
  const begun = await scene.begin({ mail: 'ada@example.org' });
  const { gone, deliveries } = await erase(scene, trashed.id, begun, newId());
  assert.equal(gone.submissions, 2);
  assert.equal(deliveries, 1);
  assert.deepEqual(await eventsOf(scene, begun), []);
  const { shown, found } = await scene.counts();
  assert.deepEqual([shown, found], [{}, {}]);
});

test('a waiting digest with an erased submission is withdrawn, and its other submissions go to the next digest', async () => {
  const scene = await openScene(database, elements, { notification_email: 'team@example.org' });
  const [ada, grace] = [await make(scene, 'ada@example.org'), await make(scene, 'grace@example.org')];
  await mailAbout(scene, ada.id, grace.id);
  const { gone } = await erase(scene, ada.id);
  assert.equal(gone.mails, 1);
  const { rows: items } = await database.query('select submission_id from digest_items where form_id = $1', [
    scene.formId,
  ]);
  assert.deepEqual(items, [{ submission_id: grace.id }]);
  const { rows: jobs } = await database.query(
    `select payload from jobs where workspace_id = $1 and payload ->> 'kind' = 'digest_due'`,
    [scene.workspaceId],
  );
  assert.deepEqual(jobs, [{ payload: { kind: 'digest_due', formId: scene.formId } }]);
});

test('erasing an identity deletes answers to personal questions and answers that name the person, and keeps the rest', async () => {
  const scene = await openScene(database, elements);
  await scene.listen();
  const ada = await make(scene, 'ada@example.org');
  const erased = await transaction(database, (client) =>
    eraseIdentity(client, scene, [ada.id], (text) => text.includes('ada@example.org')),
  );
  assert.deepEqual((await scene.read(ada.id)).answers, { age: 37 });
  assert.deepEqual(erased.fileIds, [ada.fileId]);
  assert.equal(erased.gone.stripped, 1);
  assert.equal(erased.gone.changes, 1);
  const [updated, ...more] = await scene.events();
  assert.deepEqual(more, []);
  assert.equal(updated!.kind, 'submission.updated');
  assert.deepEqual(updated!.snapshot.submission.responses, { age: 37 });
  const { rows } = await database.query(
    'select terms::text as terms from search_documents where form_id = $1',
    [scene.formId],
  );
  // Removes the ID of the form, whose hexadecimal digits could contain such a word.
  assert.doesNotMatch(JSON.stringify(rows).replaceAll(scene.formId, ''), /ada|example/);
});
