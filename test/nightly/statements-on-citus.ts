import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pool } from 'pg';
import type { Declared } from '#kit/statement.ts';
import { migrate, readMigrations } from '#kit/migrate.ts';
import { testDatabase } from '#test/database.ts';
import { cell } from '#test/distribute.ts';
import { loadStatements } from '#test/load-statements.ts';

/*
 * npm run test:cells    every declared statement does on a distributed schema of Citus what it does on plain PostgreSQL
 */
const { database: distributed } = await testDatabase();
const { database: plain } = await testDatabase({ isEmpty: true });
await plain.query(`create schema ${cell}`);
await migrate(plain, await readMigrations());

const id = '019aaaaa-0000-7000-8000-000000000001';
const day = '2026-01-01';
/** A value of each type, and of parameters whose text has a form of its own. */
const ofType: Readonly<Record<string, unknown>> = {
  uuid: id,
  'uuid[]': [id],
  text: 'english',
  'text[]': ['english'],
  integer: 1,
  smallint: 1,
  bigint: 1,
  'double precision': 1,
  'integer[]': [1],
  'bigint[]': [1],
  'double precision[]': [1],
  boolean: true,
  'boolean[]': [true],
  'timestamp with time zone': new Date(0),
  'timestamp with time zone[]': [new Date(0)],
  date: day,
  'date[]': [day],
  bytea: Buffer.from('bytes'),
  'bytea[]': [Buffer.from('bytes')],
  json: '[]',
  jsonb: '{}',
  jsonpath: '$.a',
  'jsonpath[]': ['$.a'],
};
const ofName: Readonly<Record<string, unknown>> = {
  plan: 'pro',
  day,
  from: day,
  to: day,
  since: day,
  before: day,
  snapshots: ['{}'],
};
const isText = (pg: string): boolean => pg === 'text' || pg === 'text[]';

function valuesOf({ name, parameters }: Declared): unknown[] {
  return Object.entries(parameters).map(([parameter, { pg }]) => {
    assert.ok(pg in ofType, `${name}: the test has a value of the type ${pg}`);
    // Places of rows on the disk, as sealed values are gone through.
    if (/sealed_/.test(name) && parameter === 'after') return '(0,0)';
    if (/sealed_/.test(name) && parameter === 'places') return ['(0,0)'];
    return isText(pg) && parameter in ofName ? ofName[parameter] : ofType[pg];
  });
}

/** The code of the error that a statement ends with; undefined: it runs. */
async function failureOf(
  database: Pool,
  { name, text }: Declared,
  values: unknown[],
  before = 'begin',
): Promise<string | undefined> {
  const client = await database.connect();
  try {
    await client.query(before);
    await client.query({ name, text, values });
    return undefined;
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    return code?.startsWith('23') ? code : `${code}: ${message}`;
  } finally {
    await client.query('rollback');
    client.release();
  }
}

/** Citus, too, plans a prepared statement anew for five times, and may then keep a plan. */
const times = 7;

for (const [where, before] of [
  ['past Citus, as at the node that has a cell,', 'begin'],
  ['through Citus', `begin; set local search_path to ${cell}, public`],
] as const)
  test(`every declared statement does ${where} on a distributed schema what it does on plain PostgreSQL`, async () => {
    for (const declared of await loadStatements()) {
      const values = valuesOf(declared);
      const expected = await failureOf(plain, declared, values);
      for (let time = 0; time < times; time++)
        assert.equal(await failureOf(distributed, declared, values, before), expected, declared.name);
    }
  });
