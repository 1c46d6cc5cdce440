import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastIdAt, newId, now } from '#kit/clock.ts';
import { indexSubmission } from '#submissions/search-text/document.ts';
import { documentsPerSegment, insertSubmission, openNextSegment } from '#submissions/submission-record.ts';
import { element } from '#test/ast/forms.ts';
import { testDatabase } from '#test/database.ts';
import { openScene, type Scene } from '#test/submissions/scene.ts';
import { countMatches, searchByWords } from './search-page.ts';
import { searchWindow, subjectWindow, wordsOnlyParameters } from './search-sql.ts';
import { compileWords } from './search-words.ts';

const { database } = await testDatabase();

const elements = [element('text', 'subject'), element('textarea', 'text')];

async function find(
  scene: Scene,
  q: string,
  { limit = 100, offset = 0, formIds = null as string[] | null } = {},
) {
  const question = {
    ...wordsOnlyParameters,
    ...compileWords(q),
    workspace_id: scene.workspaceId,
    form_ids: formIds,
  };
  const rows = await searchByWords[question.is_spelled ? 'spelled' : 'plain'](database, {
    ...question,
    limit,
    offset,
  });
  const [count] = await countMatches(database, question);
  return {
    ids: rows.map(({ id }) => id),
    totals: [...new Set(rows.map(({ total }) => total))],
    count: count!.total,
  };
}

/** Opens a new segment from the next millisecond on: all existing IDs come before it. */
async function openSegment({ workspaceId }: Scene): Promise<void> {
  await database.query(
    'insert into search_segments (workspace_id, first_id) values ($1, $2) on conflict do nothing',
    [workspaceId, leastIdAt(new Date(now().getTime() + 1))],
  );
}

test('results from all segments have words in the subject first, whatever their age, and then the newest first', async () => {
  const scene = await openScene(database, elements);
  const ids: string[] = [];
  for (const answers of [
    { subject: 'lantern harbour', text: 'x' },
    { subject: 'lantern', text: 'harbour' },
    { subject: 'x', text: 'lanterns in harbours' },
  ]) {
    for (let copy = 0; copy < 2; copy += 1) {
      ids.unshift(await scene.submit(answers));
      await openSegment(scene);
    }
  }
  const [none2, none1, some2, some1, all2, all1] = ids;
  const expected = [all2, all1, some2, some1, none2, none1];
  assert.deepEqual(await find(scene, 'lantern harbour'), { ids: expected, totals: [6], count: 6 });
  for (let offset = 0; offset < 6; offset += 1)
    assert.deepEqual((await find(scene, 'harbour lantern', { limit: 1, offset })).ids, [expected[offset]]);
  assert.deepEqual(
    (await find(scene, 'lantern')).ids,
    [some2, some1, all2, all1].toSorted().toReversed().concat([none2!, none1!]),
  );
});

test('with three words, submissions with more of them in the subject come first', async () => {
  const scene = await openScene(database, elements);
  const ids: string[] = [];
  for (const subject of ['oak birch elm', 'oak birch', 'elm', 'none']) {
    ids.push(await scene.submit({ subject, text: 'oak birch elm' }));
    await openSegment(scene);
  }
  assert.deepEqual((await find(scene, 'elm oak birch')).ids, ids);
});

test(`a search returns the first ${searchWindow}: subject matches of any age, and then the newest others`, async () => {
  const scene = await openScene(database, elements);
  const first = await scene.submit({ subject: 'Comet', text: 'x' });
  await openSegment(scene);
  const insert = (text: string): Promise<unknown> => insertDocument(scene, text);
  for (let done = 0; done < searchWindow + 20; done += 60)
    await Promise.all(Array.from({ length: 60 }, () => insert('a comet')));
  await openSegment(scene);
  const last = await scene.submit({ subject: 'x', text: 'comets' });
  const found = await find(scene, 'comet', { limit: 3 });
  assert.deepEqual([found.ids[0], found.ids[1]], [first, last]);
  assert.deepEqual([found.totals, found.count], [[searchWindow], searchWindow]);
  const end = await find(scene, 'comet', { limit: 10, offset: searchWindow - 10 });
  assert.equal(end.ids.length, 10);
  assert.ok(!end.ids.includes(first));
});

test(`with over ${searchWindow} matches of three words, the newest ${subjectWindow} subject matches rank by word count, consistently across pages`, async () => {
  const scene = await openScene(database, elements);
  const words = 'oak birch elm';
  const insert = (subject: string): Promise<unknown> => insertDocument(scene, words, { subject });
  await insert('an oak and a birch, too old to be told from one word');
  const others = { one: subjectWindow + 30, none: searchWindow };
  for (let done = 0; done < others.none; done += 50)
    await Promise.all(Array.from({ length: 50 }, () => insert('x')));
  await openSegment(scene);
  for (let done = 0; done < others.one; done += 10)
    await Promise.all(Array.from({ length: 10 }, () => insert('elm')));
  const two = await scene.submit({ subject: 'oak birch', text: words });
  await insert('elm');
  const all = await scene.submit({ subject: words, text: words });
  await insert('x');

  const paged: string[] = [];
  for (let offset = 0; offset < searchWindow; offset += 90) {
    const limit = Math.min(90, searchWindow - offset);
    paged.push(...(await find(scene, words, { limit, offset })).ids);
  }
  assert.deepEqual(paged.slice(0, 2), [all, two]);
  const [, , ...rest] = paged;
  const ahead = others.one + 2;
  const parts = [rest.slice(0, ahead), rest.slice(ahead)];
  for (const part of parts) assert.deepEqual(part, part.toSorted().toReversed());
  assert.equal(new Set(paged).size, searchWindow);
  assert.deepEqual(await subjectsOf(parts[0]!), {
    elm: others.one + 1,
    'an oak and a birch, too old to be told from one word': 1,
  });
});

test(`with over ${searchWindow} matches, a query with accents finds its own spelling first`, async () => {
  const scene = await openScene(database, elements);
  const exact = [
    await scene.submit({ subject: 'x', text: 'Café' }),
    await scene.submit({ subject: 'y', text: 'a café' }),
  ];
  await openSegment(scene);
  for (let done = 0; done < searchWindow + 20; done += 60)
    await Promise.all(Array.from({ length: 60 }, () => insertDocument(scene, 'a cafe')));
  const subject = await scene.submit({ subject: 'cafe', text: 'x' });
  const newest = await scene.submit({ subject: 'x', text: 'cafe' });
  const first = (await find(scene, 'café', { limit: 4 })).ids;
  assert.deepEqual(first, [subject, ...exact.toReversed(), newest]);
  assert.deepEqual((await find(scene, 'café', { limit: 2, offset: 2 })).ids, first.slice(2));
  assert.deepEqual((await find(scene, 'cafe', { limit: 2 })).ids, [subject, newest]);
});

test('a key for certain forms finds only their submissions, and a key for no form finds nothing', async () => {
  const scene = await openScene(database, elements);
  const id = await scene.submit({ subject: 'Pebble', text: 'x' });
  assert.deepEqual((await find(scene, 'pebble', { formIds: [newId(), scene.formId] })).ids, [id]);
  assert.deepEqual(await find(scene, 'pebble', { formIds: [newId()] }), { ids: [], totals: [], count: 0 });
  assert.deepEqual(await find(scene, 'pebble', { formIds: [] }), { ids: [], totals: [], count: 0 });
});

test('when the newest segment is full, the next one is opened once, slightly ahead of time', async () => {
  const scene = await openScene(database, elements);
  await fillSegment(scene, documentsPerSegment - 2);
  const ahead = leastIdAt(new Date(now().getTime() + 60_000));
  const insertAndOpen = async (text: string, firstId: string): Promise<void> => {
    await insertDocument(scene, text);
    await openNextSegment(database, { workspace_id: scene.workspaceId, first_id: firstId });
  };
  const segments = async (): Promise<string[]> => {
    const { rows } = await database.query<{ first_id: string }>(
      'select first_id from search_segments where workspace_id = $1 order by first_id',
      [scene.workspaceId],
    );
    return rows.map((row) => row.first_id);
  };
  await insertAndOpen('the last but one of its segment', ahead);
  assert.equal((await segments()).length, 1);
  await insertAndOpen('the last of its segment', ahead);
  await insertAndOpen('and another', leastIdAt(new Date(now().getTime() + 61_000)));
  assert.deepEqual((await segments()).slice(1), [ahead]);
  assert.equal((await find(scene, 'another')).count, 1);
});

/** Counts the submissions by subject. */
async function subjectsOf(ids: readonly string[]): Promise<Record<string, number>> {
  const { rows } = await database.query<{ subject: string; count: number }>(
    "select answers ->> 'subject' as subject, count(*) as count from submissions where id = any ($1) group by 1",
    [ids],
  );
  return Object.fromEntries(rows.map(({ subject, count }) => [subject, count]));
}

const insertDocument = (scene: Scene, text: string, { subject = '' } = {}) => {
  const at = now();
  return insertSubmission(database, {
    workspace_id: scene.workspaceId,
    id: newId(),
    form_id: scene.formId,
    version: 1,
    live_version: null,
    status: 'completed',
    answers: JSON.stringify({ subject }),
    reference: '{}',
    respondent: null,
    has_files: false,
    created_at: at,
    completed_at: at,
    form_language: null,
    verified: null,
    ...indexSubmission({ subject, body: text }, 'english'),
  });
};

const fillSegment = async ({ workspaceId, formId }: Scene, count: number): Promise<void> => {
  await database.query(
    `with copies as (select gen_random_uuid() as id from generate_series(1, $3::integer)),
     written as (
       insert into submissions (workspace_id, id, form_id, version, status, answers, reference, has_files, created_at, updated_at)
       select $1, id, $2, 1, 'incomplete', '{}', '{}', false, now(), now() from copies)
     insert into search_documents (workspace_id, submission_id, form_id, terms) select $1, id, $2, 'x' from copies`,
    [workspaceId, formId, count],
  );
};
