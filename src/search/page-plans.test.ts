import assert from 'node:assert/strict';
import { test } from 'node:test';
import { transaction } from '#kit/database.ts';
import type { Queryable } from '#kit/statement.ts';
import { readAnsweredStructures } from '#submissions/read-columns.ts';
import { element } from '#test/ast/forms.ts';
import { testDatabase } from '#test/database.ts';
import { readRows } from '#test/read-rows.ts';
import { openScene } from '#test/submissions/scene.ts';
import { rowPageStatements, submissionPageStatements } from './list-pages.ts';

const { database } = await testDatabase();
const scene = await openScene(database, [element('text', 'name')]);
const id = await scene.submit({ name: 'Ada' });
// Short rows: the fewer pages a table has, the sooner the planner reads it as a whole.
const others = 3_000;
await database.query(
  `insert into submissions
   select (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid()))).*
     from submissions s cross join generate_series(1, $1) where s.id = $2`,
  [others, id],
);

const limit = 20;
const page = { workspace_id: scene.workspaceId, limit, offset: 0 };
const ofForm = { ...page, form_id: scene.formId };
const span = {
  status: null,
  from_id: '00000000-0000-0000-0000-000000000000',
  to_id: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
};
const ofForms = { ...page, ...span, form_ids: [scene.formId] };
const lists: Record<string, (db: Queryable) => Promise<unknown[]>> = {
  'a list': (db) => submissionPageStatements.plain.any(db, { ...ofForm, status: null }),
  'a list of one status': (db) => submissionPageStatements.plain.one(db, { ...ofForm, status: 'completed' }),
  'the newest of a workspace': (db) =>
    submissionPageStatements.newest.any(db, { ...ofForms, form_ids: null }),
  'the oldest of a workspace': (db) =>
    submissionPageStatements.oldest.any(db, { ...ofForms, form_ids: null }),
  'a table': (db) => rowPageStatements.plain.any(db, { ...ofForm, status: null }),
  'a table of a span': (db) => rowPageStatements.newest.any(db, ofForms),
  'a table by receipt': (db) => rowPageStatements.received.any(db, ofForms),
};

test('a list reads only the submissions of its page', async () => {
  await database.query('vacuum analyze submissions');
  const tooMany: Record<string, number> = {};
  await transaction(database, async (client) => {
    for (const [name, list] of Object.entries(lists)) {
      const before = await readRows(client, 'submissions');
      assert.equal((await list(client)).length, limit);
      const read = (await readRows(client, 'submissions')) - before;
      // Each row is read once for the page limit and once for its data.
      if (read > 2 * limit) tooMany[name] = read;
    }
  });
  assert.deepEqual(tooMany, {});
});

test('the answered versions of a form are found without reading its submissions', async () => {
  await database.query(
    `insert into form_versions
     select (jsonb_populate_record(v, jsonb_build_object('version', number, 'created_at', '3000-01-01'))).*
       from form_versions v cross join generate_series(2, 3) as number where v.form_id = $1`,
    [scene.formId],
  );
  await database.query('update forms set version = 3 where id = $1', [scene.formId]);
  await transaction(database, async (client) => {
    const before = await readRows(client, 'submissions');
    const answered = await readAnsweredStructures(client, scene);
    assert.equal(answered.length, 2, 'version 2 has no submissions');
    const read = (await readRows(client, 'submissions')) - before;
    assert.ok(read <= 2, `${read} submissions were read`);
  });
});
