import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Pool } from 'pg';
import type { Declared } from '#kit/statement.ts';
import { createCell } from '#kit/cells/create-cell.ts';
import { openClient, openDatabase } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import { migrate, readMigrations } from '#kit/migrate.ts';
import { openCitusCluster } from '#test/citus-cluster.ts';
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

/** The first cell of a cluster that has another one: at the coordinator, and in Citus' books. */
const first = await openFirstCell();

async function openFirstCell(): Promise<Pool> {
  const cluster = await openCitusCluster(process.env['CITUS_URL']!);
  const { url } = cluster.coordinator;
  const database = openDatabase(
    { connectionString: url },
    { pool: 4, log: openLog('silent'), limits: false },
  );
  after(async () => {
    await database.end();
    await cluster.close();
  });
  await migrate(database, await readMigrations());
  await createCell(database, 'second', {});
  return database;
}

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
  tsvector: 'english',
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

/**
 * Gives each table a row of these values, and of a word that a check allows, so that statements find something.
 * @returns the tables that have none.
 */
async function fill(database: Pool): Promise<string[]> {
  const { rows } = await plain.query<{
    table: string;
    columns: { name: string; type: string; word: string | null }[];
  }>(
    `select c.relname as table, json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, null), 'word', (
              select substring(pg_get_constraintdef(oid) from '''([^'']+)''') from pg_constraint
               where conrelid = c.oid and conkey = array[a.attnum] and contype = 'c' limit 1))) as columns
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and a.attnotnull and not a.atthasdef and a.attidentity = ''
      where c.relnamespace = $1::regnamespace and c.relkind = 'r' and c.relname <> 'migrations'
      group by c.relname`,
    [cell],
  );
  const insert = async ({ table, columns }: (typeof rows)[number]): Promise<void> => {
    const names = columns.map(({ name }) => name).join(', ');
    const places = columns.map(({ type }, index) => `$${index + 1}::${type}`).join(', ');
    const values = columns.map(
      ({ name, type, word }) => word ?? (isText(type) && name in ofName ? ofName[name] : ofType[type]),
    );
    await database.query(`insert into ${table} (${names}) values (${places})`, values);
    // Where there are cells it notes each id once, and here all have the same.
    if (database === first) await database.query('delete from directory');
  };
  let left = rows;
  for (let before = Infinity; left.length < before; ) {
    before = left.length;
    const failed: typeof rows = [];
    // What a key leads to may not be there yet.
    for (const each of left) await insert(each).catch(() => failed.push(each));
    left = failed;
  }
  return left.map(({ table }) => table);
}

test('each table has a row that statements may find', async () => {
  for (const database of [plain, distributed, first]) assert.deepEqual(await fill(database), []);
});

/** They look into the catalog, where a distributed table is several, or at the cells that there are. */
const ofCatalog =
  /^(backup\.select_|cells\.(select|describe|name_home|find_(all_)?in_directory)$|citus\.|clean_pending_list$)/;
/** Citus runs the parts of a statement one after the other (docs/decisions/0078-cells.md): here what is deleted first, or refused first, is another part. */
const inTurn: readonly string[] = ['second_factor.replace_recovery_codes', 'webhooks.insert_events'];

/** How many rows a statement finds or changes, or the error that it ends with. */
async function outcomeOf(
  database: Pool,
  { name, text }: Declared,
  values: unknown[],
  before = 'begin',
): Promise<string> {
  const client = await database.connect();
  try {
    await client.query(before);
    const { rowCount } = await client.query({ name, text, values });
    return `${rowCount} rows`;
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

for (const [where, database, before] of [
  ['past Citus on a distributed schema, as at the node that has a cell,', distributed, 'begin'],
  ['through Citus on a distributed schema', distributed, `begin; set local search_path to ${cell}, public`],
  ['in the first cell of a cluster', first, 'begin'],
] as const)
  test(`every declared statement does ${where} what it does on plain PostgreSQL, and to as many rows`, async () => {
    for (const declared of await loadStatements()) {
      const { name } = declared;
      const values = valuesOf(declared);
      const expected = await outcomeOf(plain, declared, values);
      for (let time = 0; time < times; time++) {
        const found = await outcomeOf(database, declared, values, before);
        if (inTurn.includes(name) && !where.startsWith('past Citus')) continue;
        if (ofCatalog.test(name)) assert.match(found, / rows$/, name);
        else assert.equal(found, expected, name);
      }
    }
  });

/** A get, a search, the lists of the API and of the console, and what a page and a submit ask first. */
const hot = [
  'find_submission',
  'search_submissions',
  'list_submissions',
  'list.newest',
  'list.count_by_counters',
  'list_forms',
  'trash.list_trashed',
  'held.list_held',
  'invitations.list_invitations',
  'webhooks.select_delivery_lines',
  'find_live_form',
];

test('past Citus what is asked most is planned once for a connection, and not for each request', async () => {
  await distributed.query(
    `insert into ${cell}.submissions
     select (jsonb_populate_record(null::${cell}.submissions, to_jsonb(s) || jsonb_build_object('id', gen_random_uuid(), 'key', null))).*
       from ${cell}.submissions s, generate_series(1, 2000)`,
  );
  await distributed.query(`analyze ${cell}.submissions`);
  const statements = (await loadStatements()).filter(({ name }) => hot.includes(name));
  // Of its own: what a connection thinks a plan costs is from when it began, and then the table was empty.
  const client = openClient(distributed);
  await client.connect();
  try {
    for (const declared of statements)
      for (let time = 0; time < 10; time++)
        await client.query({ name: declared.name, text: declared.text, values: valuesOf(declared) });
    const { rows } = await client.query<{ name: string; planned: number }>(
      'select name, custom_plans::integer as planned from pg_prepared_statements where name = any ($1) order by name',
      [hot],
    );
    // PostgreSQL plans for the values five times, before it takes the plan for all.
    assert.deepEqual(
      rows,
      hot.toSorted().map((name) => ({ name, planned: 5 })),
    );
  } finally {
    await client.end();
  }
});
