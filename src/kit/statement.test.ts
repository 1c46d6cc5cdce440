import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from '#test/database.ts';
import { transaction } from './database.ts';
import { columns, declaredStatements, json, jsonb, onlyRow, statement, textEnum } from './statement.ts';

const { database } = await testDatabase();

const everything = columns(
  'an_id:uuid a_text:text an_integer:integer a_small:smallint a_big:bigint a_double:double',
  'a_boolean:boolean a_time:timestamp some_bytes:bytes some_texts:texts some_ids:uuids',
  'nothing:text?',
  { a_json: json<object>(), a_jsonb: jsonb<object>(), a_word: textEnum<'one' | 'two'>() },
);
const echo = statement(everything, everything)`/* test */
  select ${Object.keys(everything)
    .map((name) => `$${name} as ${name}`)
    .join(', ')}`;

test('a value of every type survives the round trip', async () => {
  const id = '01a1fde4-6fce-7e1a-a75a-2f8f8cc3c4b1';
  const values = {
    an_id: id,
    a_text: "é '👍' \\ $1",
    an_integer: -2_147_483_648,
    a_small: 7,
    a_big: 9_007_199_254_740_991,
    a_double: 0.1,
    a_boolean: false,
    a_time: new Date('2026-01-31T12:34:56.789Z'),
    some_bytes: Buffer.from([0, 255, 1]),
    some_texts: ['a', '', 'with "quotes", commas {}', 'NULL'],
    some_ids: [id, id],
    a_json: { b: 1, a: [null, { deep: true }] },
    a_jsonb: { a: 'x' },
    a_word: 'two' as const,
    nothing: null,
  };
  assert.deepEqual(onlyRow(await echo(database, values)), values);
});

test('JSON that is already text is stored as written', async () => {
  const keep = statement('value:jsonText', 'value')`/* test */ select $value::text as value`;
  assert.deepEqual(await keep(database, { value: '{"b": 1,  "a":2}' }), [{ value: '{"b": 1,  "a":2}' }]);
});

test('a parameter may appear anywhere and repeatedly; values are matched by name, not by position', async () => {
  const subtract = statement('first:integer second:integer', 'a:integer b:integer')`/* test */
    select $second - $first as a, $first - $second as b`;
  assert.deepEqual(await subtract(database, { second: 10, first: 3 }), [{ a: 7, b: -7 }]);
});

test('a value is never part of the statement', async () => {
  const find = statement('name', 'found:boolean')`/* test */
    select exists (select from forms where name = $name) as found`;
  assert.deepEqual(await find(database, { name: "x' or '1'='1'; drop table forms; --" }), [{ found: false }]);
});

test('a statement runs in a transaction, and is rolled back with it', async () => {
  const insert = statement('id', 'id')`/* test */
    insert into workspaces (id, name, plan, created_at) values ($id, 'T', 'free', now()) returning id`;
  const count = statement('', 'total')`/* test */ select count(*) as total from workspaces`;
  const undone = transaction(database, async (client) => {
    await insert(client, { id: '01a1fde4-6fce-7e1a-a75a-2f8f8cc3c4b1' });
    assert.deepEqual(await count(client, {}), [{ total: 1 }]);
    throw new Error('undo');
  });
  await assert.rejects(undone, /undo/);
  assert.deepEqual(await count(database, {}), [{ total: 0 }]);
});

test('a statement is prepared once per connection', async () => {
  const named = statement('value:integer', 'value:integer')`/* test */ select $value as value`;
  const client = await database.connect();
  try {
    for (let value = 0; value < 3; value += 1) await named(client, { value });
    const { rows } = await client.query(
      "select statement from pg_prepared_statements where statement = '/* test */ select $1::integer as value'",
    );
    assert.equal(rows.length, 1);
  } finally {
    client.release();
  }
});

test('an undeclared parameter is rejected when a statement is declared', () => {
  assert.throws(
    () => statement('', '')`/* test */ select $undeclared_parameter`,
    /\$undeclared_parameter is not declared for this statement: .*select/,
  );
  assert.ok(!declaredStatements().some(({ text }) => text.includes('undeclared_parameter')));
});

test('the registry lists all declared statements', () => {
  const text = '/* test */\n    select $2::integer - $1::integer as a, $1::integer - $2::integer as b';
  const declared = declaredStatements().find((each) => each.text === text)!;
  assert.deepEqual(Object.keys(declared.parameters), ['first', 'second']);
});
