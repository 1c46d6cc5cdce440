import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, test } from 'node:test';
import { createForm } from '#forms/forms.ts';
import { diskStorage } from '#kit/storage.ts';
import { element, structure } from '#test/ast/forms.ts';
import { testDatabase } from '#test/database.ts';
import { makeForm } from '#test/webhooks/make-webhook.ts';
import { untilWaiting, whileHeld } from '#test/while-held.ts';
import { claimFiles, deleteMarkedFileRows, receiveFile, sweepFiles } from './stored-files.ts';

const { database } = await testDatabase();
const directory = await mkdtemp(join(tmpdir(), 'formloom-sweep-'));
after(() => rm(directory, { recursive: true }));
const context = { database, storage: diskStorage(directory, 0) };
const places = [await makeForm(database), await makeForm(database)] as const;

type State = { age: string; submission: 'none' | 'living' | 'gone' };

/** Creates a file of a given age, claimed or not. A living submission is one that exists. */
async function makeFile({ age, submission }: State, place = places[0]): Promise<string> {
  const source = Readable.from([Buffer.from('bytes')], { objectMode: false });
  const { id } = await receiveFile(context, {
    ...place,
    element: 'file',
    filename: 'a.txt',
    declaredType: '',
    source,
    limit: 10,
  });
  await database.query('update files set created_at = now() - $2::interval where id = $1', [id, age]);
  if (submission === 'gone') await database.query('update files set claimed_at = now() where id = $1', [id]);
  if (submission === 'living') {
    await database.query(
      `with s as (
         insert into submissions (workspace_id, id, form_id, version, status, answers, reference, has_files, created_at, updated_at)
         values ($1, gen_random_uuid(), $2, 1, 'completed', '{}', '{}', true, now(), now()) returning id)
       update files set claimed_at = now(), submission_id = s.id from s where files.id = $3`,
      [place.workspaceId, place.formId, id],
    );
  }
  return id;
}

const stored = async (): Promise<string[]> =>
  (await readdir(directory, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort();
const rows = async (): Promise<string[]> =>
  (await database.query<{ id: string }>('select id from files order by id')).rows.map(({ id }) => id);

test('files that are unclaimed for a day, or whose submission was deleted, are removed; all others are kept', async () => {
  const expected = [
    await makeFile({ age: '23 hours', submission: 'none' }),
    await makeFile({ age: '1 second', submission: 'none' }),
    await makeFile({ age: '30 days', submission: 'living' }),
  ];
  const swept = [
    await makeFile({ age: '25 hours', submission: 'none' }),
    await makeFile({ age: '1 second', submission: 'gone' }),
    await makeFile({ age: '3 days', submission: 'none' }, places[1]),
  ];
  assert.equal(await sweepFiles(context), swept.length);
  assert.deepEqual(await rows(), expected.toSorted());
  assert.deepEqual(await stored(), expected.toSorted());
  assert.equal(await sweepFiles(context), 0);
});

test('deleting a submission makes its files orphans', async () => {
  const id = await makeFile({ age: '1 second', submission: 'living' });
  await database.query('delete from submissions where id = (select submission_id from files where id = $1)', [
    id,
  ]);
  assert.equal(await sweepFiles(context), 1);
  assert.ok(!(await stored()).includes(id));
});

test('a file that is claimed and swept at the same time is either claimed or swept, never both', async () => {
  for (let round = 0; round < 10; round += 1) {
    const id = await makeFile({ age: '2 days', submission: 'none' });
    const [place] = places;
    const {
      rows: [submission],
    } = await database.query<{ id: string }>(
      `insert into submissions (workspace_id, id, form_id, version, status, answers, reference, has_files, created_at, updated_at)
       values ($1, gen_random_uuid(), $2, 1, 'completed', '{}', '{}', true, now(), now()) returning id`,
      [place.workspaceId, place.formId],
    );
    const [claimed] = await Promise.all([
      claimFiles(database, {
        workspace_id: place.workspaceId,
        form_id: place.formId,
        submission_id: submission!.id,
        ids: [id],
      }),
      sweepFiles(context),
    ]);
    assert.equal((await stored()).includes(id), claimed.length === 1);
    assert.equal((await rows()).includes(id), claimed.length === 1);
  }
});

test('bytes that cannot be removed keep their row, and the next sweep removes both', async () => {
  const id = await makeFile({ age: '2 days', submission: 'none' });
  const broken = { ...context.storage, remove: () => Promise.reject(new Error('the disk is away')) };
  await assert.rejects(sweepFiles({ database, storage: broken }), /the disk is away/);
  assert.ok((await rows()).includes(id));
  const [place] = places;
  assert.deepEqual(
    await claimFiles(database, {
      workspace_id: place.workspaceId,
      form_id: place.formId,
      submission_id: id,
      ids: [id],
    }),
    [],
    'no late claim has it',
  );
  await sweepFiles(context);
  assert.deepEqual([(await rows()).includes(id), (await stored()).includes(id)], [false, false]);
});

test('two parallel sweeps remove everything once', async () => {
  const ids = await Promise.all(
    Array.from({ length: 20 }, () => makeFile({ age: '2 days', submission: 'none' })),
  );
  await Promise.all([sweepFiles(context), sweepFiles(context)]);
  assert.deepEqual(
    (await stored()).filter((name) => ids.includes(name)),
    [],
  );
  assert.deepEqual(
    (await rows()).filter((name) => ids.includes(name)),
    [],
  );
});

test('parallel deletions of files of several forms, in different orders, do not deadlock', async () => {
  const [{ workspaceId }] = places;
  const { id: other } = await createForm(database, workspaceId, {
    structure: structure(element('text', 'a')),
    status: 'published',
  });
  const gone = { age: '1 second', submission: 'gone' } as const;
  const [here, there] = [places[0], { workspaceId, formId: other }];
  const remove = (ids: string[]) => deleteMarkedFileRows(database, { workspace_id: workspaceId, ids });
  const counter = {
    text: 'select from stored_bytes where workspace_id = $1 and form_id = $2 for update',
    values: [workspaceId, other],
  };
  // The order in which one deletion locks its rows is random.
  for (let round = 0; round < 4; round += 1) {
    const first = [await makeFile(gone, there), await makeFile(gone, here)];
    const second = [await makeFile(gone, here), await makeFile(gone, there)];
    // The first waits for the other form's counter; the second queues behind it, and may lock this form's
    // counter.
    await whileHeld(database, counter, 2, async () => {
      const removed = [remove(first)];
      await untilWaiting(database, 1);
      removed.push(remove(second));
      await Promise.all(removed);
    });
    const deleted = [...first, ...second];
    assert.deepEqual(
      (await rows()).filter((id) => deleted.includes(id)),
      [],
    );
  }
  const { rows: left } = await database.query<{ bytes: number }>(
    'select bytes from stored_bytes where workspace_id = $1 and form_id = $2',
    [workspaceId, other],
  );
  assert.deepEqual(left, [{ bytes: 0 }]);
});
