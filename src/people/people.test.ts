import assert from 'node:assert/strict';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { deleteExpired } from '#app/server/delete-expired.ts';
import { storageKey } from '#files/stored-files.ts';
import { readTar } from '#kit/archives.ts';
import { newId } from '#kit/clock.ts';
import type { ApiError } from '#kit/errors.ts';
import { openLog } from '#kit/log.ts';
import { enqueueMail } from '#kit/outbox.ts';
import { startQueue } from '#kit/queue/worker.ts';
import { diskStorage, type Storage } from '#kit/storage.ts';
import { changeSubmission } from '#submissions/changes/edit.ts';
import { trashSubmission } from '#submissions/changes/trash.ts';
import { readTask } from '#tasks/read-tasks.ts';
import { createTask } from '#tasks/run-tasks.ts';
import { element } from '#test/ast/forms.ts';
import { testDatabase } from '#test/database.ts';
import { until } from '#test/service.ts';
import { openScene, type Scene } from '#test/submissions/scene.ts';
import { erasureTaskFilter, presentErasure } from './endpoints.ts';
import { type EraseServices, eraseJobKind, eraseStep, startErasing } from './erase-person.ts';
import { streamPersonArchive } from './person-archive.ts';
import { findPersonRecords } from './person-records.ts';
import { parsePersonSearch } from './person-search.ts';
import { addCounts, hashOfReceipt } from './receipt.ts';

const { database } = await testDatabase();
const storage = diskStorage(await mkdtemp(join(tmpdir(), 'formloom-test-')), 0);
const by = { kind: 'operator', id: '' } as const;
const elements = [
  element('email', 'mail', { label: 'Your mail' }),
  element('phone', 'phone', { label: 'Your phone' }),
  element('text', 'subject', { label: 'Subject' }),
  element('file_upload', 'photo', { label: 'Photo' }),
];
const find = async (scene: Scene, q: string, match: 'exact' | 'words' = 'exact') =>
  (await findPersonRecords(database, scene.workspaceId, parsePersonSearch(q), match)).records;

/** Runs an erasure and waits until it has finished. */
async function finished(context: EraseServices, { workspaceId }: Scene, id: string) {
  const queue = startQueue({
    database,
    log: openLog('silent'),
    handlers: { [eraseJobKind]: { perLane: 1, run: (job) => eraseStep(context, job) } },
  });
  after(() => queue.stop());
  return until('the erasing to finish', async () => {
    const found = presentErasure(await readTask(database, { ...erasureTaskFilter(workspaceId), id }));
    return found.finished_at !== null && { ...found, gone: addCounts(found.gone, {}) };
  });
}

test('a person is found in every form, in the trash and in edit histories, and the result names the position', async () => {
  const scene = await openScene(database, elements);
  const phone = '+49 30 123456';
  const whole = await scene.submit(
    { mail: 'Ada@Example.org', phone },
    { reference: { from: 'ada@example.org' } },
  );
  const trashed = await scene.submit({ subject: 'Write to ada@example.org' });
  await trashSubmission(database, { ...scene, id: trashed, by, unchanged: null });
  const edited = await scene.submit({ mail: 'ada@example.org' });
  const patch = { answers: { mail: 'grace@example.org' } };
  await changeSubmission(scene.context, { ...scene, id: edited, by, unchanged: null }, patch);
  await scene.submit({ mail: 'nada@example.org', subject: 'ada' });
  const stranger = await openScene(database, elements);
  await stranger.submit({ mail: 'ada@example.org' });

  const found = (await find(scene, 'ada@example.org')).map(({ id, is_trashed, places }) => [
    id,
    is_trashed,
    places,
  ]);
  assert.deepEqual(found, [
    [edited, false, ['History']],
    [trashed, true, ['Subject']],
    [whole, false, ['Your mail', 'Reference from']],
  ]);
  assert.deepEqual(
    (await find(scene, '0049 30 12 34 56')).map(({ id }) => id),
    [whole],
  );
  assert.deepEqual(
    (await find(scene, 'example', 'words')).map(({ kind, places }) => [kind, places]).length,
    3,
  );
});

test('the data of a person is exported as one archive: answers as JSON and text, and the files', async () => {
  const scene = await openScene(database, elements);
  await scene.listen();
  const photo = await scene.upload('photo', 'me.png');
  await storage.put(storageKey(scene.workspaceId, photo.id), Readable.from([Buffer.from('9 bytes!!')]), 100);
  const id = await scene.submit(
    { mail: 'ada@example.org', subject: 'Hello' },
    { files: new Map([['photo', [photo]]]), reference: { customer: '17' } },
  );
  const stream = streamPersonArchive(
    { database, storage },
    scene.workspaceId,
    await find(scene, 'ada@example.org'),
  );
  const files = new Map<string, string>();
  for await (const { name, body } of readTar([gunzipSync(await buffer(stream))]))
    files.set(name, await text(body));
  assert.deepEqual(
    [...files.keys()],
    ['contents.json', `submissions/${id}.json`, `submissions/${id}.txt`, `files/${id}/${photo.id}-me.png`],
  );
  assert.equal(files.get(`files/${id}/${photo.id}-me.png`), '9 bytes!!');
  assert.match(files.get(`submissions/${id}.txt`)!, /Your mail\n  ada@example\.org\n[^]*Photo\n  me\.png/);
  const facts = JSON.parse(files.get(`submissions/${id}.json`)!) as Record<string, unknown>;
  assert.deepEqual(facts['reference'], { customer: '17' });
  assert.equal((facts['deliveries'] as unknown[]).length, 1);
});

test('an interrupted erasure continues, counts exactly, and forgets the person it was about', async () => {
  const scene = await openScene(database, elements);
  for (let count = 0; count < 120; count += 1) {
    const photo = await scene.upload('photo', 'me.png');
    await scene.submit(
      { mail: 'ada@example.org' },
      count < 3 ? { files: new Map([['photo', [photo]]]) } : {},
    );
  }
  let faults = 2;
  const failing: Storage = {
    ...storage,
    async remove(key) {
      if (faults > 0) throw new Error(`fault ${(faults -= 1)}`);
      await storage.remove(key);
    },
  };
  const request = { match: 'exact', what: 'submissions', except: [], by } as const;
  await assert.rejects(
    startErasing(scene.context, scene.workspaceId, { q: 'ada@example.org', ...request, expected: 119 }),
    { code: 'conflict' },
  );
  const id = await startErasing(scene.context, scene.workspaceId, { q: 'ada@example.org', ...request });
  const late = await scene.submit({ mail: 'ada@example.org' });
  const context = { ...scene.context, storage: failing };
  const erasure = await finished(context, scene, id);
  assert.equal(faults, 0);
  assert.deepEqual([erasure.total, erasure.done], [120, 120]);
  assert.deepEqual(erasure.gone, { submissions: 120, files: 3 });
  assert.equal(erasure.hash, hashOfReceipt({ ...erasure, finished_at: erasure.finished_at! }));
  const { rows } = await database.query('select secret from tasks where id = $1', [id]);
  assert.deepEqual(rows, [{ secret: null }]);
  assert.deepEqual(
    (await find(scene, 'ada@example.org')).map((record) => record.id),
    [late],
  );
});

test('erasure deletes import lines, uploads and waiting emails that name the person, and no others', async () => {
  const scene = await openScene(database, elements);
  const { workspaceId, formId, context } = scene;
  const addresses = ['ada@example.org', 'nada@example.org'];
  const items = addresses.map((mail, line) => ({ line, entry: { answers: { mail }, reference: {} } }));
  await createTask(
    database,
    { workspaceId, id: newId(), kind: 'submissions.import', formId, by, items, total: 2 },
    { kind: 'test.import', lane: 'test' },
  );
  await database.query(
    `update tasks set problems = (
       select jsonb_agg(jsonb_build_object('line', n, 'message', address || ' is twice there.'))
         from unnest($2::text[]) with ordinality as given (address, n)) where workspace_id = $1`,
    [workspaceId, addresses],
  );
  // More than one batch of files whose names contain the address within a longer one.
  await database.query(
    `insert into files (workspace_id, id, form_id, element, filename, created_at, content_type, size)
     select $1, gen_random_uuid(), $2, 'photo', 'nada@example.org.jpg', now(), 'image/png', 9 from generate_series(1, 450)`,
    [workspaceId, formId],
  );
  for (const address of addresses) {
    await scene.upload('photo', `${address}.png`);
    await enqueueMail(
      database,
      context.vault,
      { workspaceId, formId },
      {
        kind: 'notification',
        to: { address: 'team@example.org' },
        subject: address[0]!,
        letter: {
          heading: 'News',
          blocks: [{ kind: 'text', text: `Hello,\n${address} wrote.` }],
          reason: '',
        },
      },
    );
  }
  const request = { q: 'ada@example.org', match: 'exact', what: 'submissions', except: [], by } as const;
  const id = await startErasing(context, workspaceId, request);
  const { gone } = await finished({ ...context, storage }, scene, id);
  assert.deepEqual(gone, { files: 1, mails: 1, import_lines: 1 });
  const { rows } = await database.query(
    `select array(select item #>> '{entry,answers,mail}' from task_items where workspace_id = $1) as lines,
            array(select distinct filename from files where workspace_id = $1 order by filename) as files,
            array(select jsonb_array_elements(problems) ->> 'message' from tasks where workspace_id = $1) as problems,
            array(select subject from mails where workspace_id = $1) as mails`,
    [workspaceId],
  );
  assert.deepEqual(rows, [
    {
      lines: ['nada@example.org'],
      files: ['nada@example.org.jpg', 'nada@example.org.png'],
      problems: ['nada@example.org is twice there.'],
      mails: ['n'],
    },
  ]);
});

test('a person is found in answers of any size, and in later submissions', async () => {
  const scene = await openScene(database, elements);
  const ids = [];
  for (const [subject, characters] of [
    ['x', 3_000_000],
    ['y', 3_000_000],
    ['ada@example.org ', 300_000],
    ['z', 6_000_000],
  ] as const) {
    const id = await scene.submit({ mail: 'ada@example.org' });
    const answers = { subject: subject.repeat(characters), mail: 'ada@example.org' };
    await database.query('update submissions set answers = $2 where id = $1', [id, answers]);
    ids.unshift(id);
  }
  ids.unshift(await scene.submit({ mail: 'Ada@example.org' }));
  assert.deepEqual(
    (await find(scene, 'ada@example.org')).map(({ id }) => id),
    ids,
  );
});

test('a workspace can run two full searches for a person at the same time; a third is asked to retry later', async () => {
  const scene = await openScene(database, elements);
  const id = await scene.submit({ mail: 'ada@example.org' });
  const neighbour = await openScene(database, elements);
  const finds = await Promise.allSettled(
    [scene, scene, scene, neighbour].map((each) => find(each, 'ada@example.org')),
  );
  assert.deepEqual(
    finds.map((each) => (each.status === 'fulfilled' ? each.value.length : (each.reason as ApiError).code)),
    [1, 1, 'rate_limit_exceeded', 0],
  );
  assert.equal((await find(scene, 'ada@example.org'))[0]!.id, id, 'there is room again');
});

test('a receipt of an erasure is kept as long as the audit log that names it', async () => {
  const scene = await openScene(database, elements);
  const request = { q: 'ada@example.org', match: 'exact', what: 'submissions', except: [], by } as const;
  const [old, young] = [
    await startErasing(scene.context, scene.workspaceId, request),
    await startErasing(scene.context, scene.workspaceId, request),
  ];
  for (const [id, days] of [
    [old, 40],
    [young, 20],
  ] as const)
    await database.query(
      'update tasks set finished_at = now() - make_interval(days => $2::integer) where id = $1',
      [id, days],
    );
  await database.query('update workspaces set audit_days = 30 where id = $1', [scene.workspaceId]);
  await deleteExpired(database, 'erasures');
  const { rows } = await database.query<{ id: string }>('select id from tasks where workspace_id = $1', [
    scene.workspaceId,
  ]);
  assert.deepEqual(
    rows.map(({ id }) => id),
    [young],
  );
});
