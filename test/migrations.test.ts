import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { migrateCells } from '#cells/cells.ts';
import { createCell } from '#cells/create-cell.ts';
import type { Database } from '#kit/database.ts';
import {
  checkMigrated,
  findPendingMigrations,
  MigrationError,
  migrate,
  readMigrations,
  toCellMigration,
} from '#kit/migrate.ts';
import { testDatabase } from './database.ts';
import { instanceTables } from './instance-tables.ts';
import { recordOldMigrations } from './old-migrations.ts';
import { readCatalogue } from './record/catalogue.ts';

/*
 * During a rolling upgrade, the previous version works on the database that the new one has migrated. A
 * migration therefore only adds. If a statement removes or changes something, the line before it says why the
 * previous version still works (docs/decisions/0085-rolling-migrations.md).
 *
 * REWRITE=1 npm test -- test/migrations.test.ts updates db/schema.sql. Its diff shows what a migration
 * changes.
 */
const migrations = await readMigrations();
const later = migrations.slice(1);
const schemaFile = new URL('../db/schema.sql', import.meta.url);
const reason = /^\s*-- The version before: ./m;

/** Returns how a statement could break the previous version, or undefined if it only adds. */
function breaks(statement: string, added: ReadonlySet<string>): string | undefined {
  const [, table] =
    /^(?:alter table(?: if exists)?(?: only)?|update|delete from|truncate(?: table)?|insert into) ([\w.]+)/.exec(
      statement,
    ) ??
    /^create (?:unique index|(?:constraint )?trigger)\b.* on ([\w.]+)/.exec(statement) ??
    [];
  if (table !== undefined && added.has(table)) return undefined;
  if (/^drop (?!trigger)/.test(statement)) return 'drops';
  if (/^(alter (type|function|view|index|sequence)|create or replace|truncate)\b/.test(statement))
    return 'changes';
  if (/^(update|delete)\b/.test(statement)) return 'writes what is there otherwise';
  if (/^create (unique index|(constraint )?trigger)/.test(statement)) return 'refuses rows';
  if (!statement.startsWith('alter table')) return undefined;
  return (
    (
      [
        [/\bdrop (?!default|not null)/, 'drops'],
        [/\brename\b/, 'renames'],
        [/\balter (column )?\w+ (set data )?type\b/, 'changes a type'],
        [/\bset not null\b/, 'refuses rows'],
        [/\badd (constraint|check|unique|primary key|foreign key|exclude)\b/, 'refuses rows'],
      ] as const
    ).find(([words]) => words.test(statement))?.[1] ?? withoutDefault(statement)
  );
}

const withoutDefault = (statement: string): string | undefined =>
  statement
    .split(/\badd (?:column )?/)
    .slice(1)
    .some((column) => /\bnot null\b/.test(column) && !/\b(default|generated)\b/.test(column))
    ? 'asks for a column that is not given'
    : undefined;

/** Returns the statements of a migration that could break the previous version and give no reason. */
function findBreaks(sql: string): string[] {
  const statements = sql
    .replaceAll(/(\$\w*\$).*?\1/gs, "''")
    .split(';')
    .map((text) => ({
      isExplained: reason.test(text),
      text: text.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ').trim().toLowerCase(),
    }));
  const added = new Set(statements.flatMap(({ text }) => /^create table ([\w.]+)/.exec(text)?.[1] ?? []));
  return statements.flatMap(({ text, isExplained }) => {
    const what = isExplained ? undefined : breaks(text, added);
    return what === undefined ? [] : [`${what}: ${text.slice(0, 80)}`];
  });
}

const broken: readonly [sql: string, what: string][] = [
  ['drop table visits', 'drops'],
  ['drop index forms_by_name', 'drops'],
  ['alter table forms drop column note', 'drops'],
  ['alter table forms rename column note to remark', 'renames'],
  ['alter table forms rename to templates', 'renames'],
  ['alter table forms alter column note type jsonb using note::jsonb', 'changes a type'],
  ['alter table forms alter note set not null', 'refuses rows'],
  ["alter table forms add check (note <> '')", 'refuses rows'],
  ['alter table forms\n  add column a text,\n  add column note text not null', 'asks for a column'],
  ['create unique index once on forms (workspace_id, note)', 'refuses rows'],
  ['create trigger keep before update on forms for each row execute function keep()', 'refuses rows'],
  ['create or replace function f() returns integer language sql as $$ select 1; $$', 'changes'],
  ["update forms set note = upper(note) where note <> ''", 'writes'],
  ['create table other (id uuid); delete from forms', 'writes'],
];
for (const [sql, what] of broken)
  test(`a migration with "${sql}" needs a reason, and passes with one`, () => {
    assert.equal(findBreaks(sql).length, 1);
    assert.ok(findBreaks(sql)[0]!.startsWith(what));
    const last = sql.split(';').at(-1)!;
    assert.deepEqual(
      findBreaks(sql.replace(last, `\n-- The version before: does not read it.\n${last}`)),
      [],
    );
  });

test('a migration that only adds needs no reason', () => {
  const adds = `
    create table notes (id uuid primary key, text text not null);
    -- drop table is a comment
    create unique index notes_once on notes (text);
    insert into notes (id, text) select id, name from forms;
    update notes set text = 'drop column';
    alter table notes alter column text set not null;
    alter table forms add column note text, add column days integer not null default 3 check (days > 0);
    alter table forms alter column note drop not null;
    create index forms_by_note on forms (note);
    create function one() returns integer language sql as $$ delete from forms; select 1; $$;`;
  assert.deepEqual(findBreaks(adds), []);
});

test('every migration after the first keeps the previous version working, or gives a reason', async () => {
  for (const { name, sql } of later) assert.deepEqual(findBreaks(sql), [], name);
});

/** Returns the tables that a migration changes or creates. */
const changedBy = (sql: string): string[] =>
  [
    ...sql
      .replaceAll(/(\$\w*\$).*?\1/gs, "''")
      .replaceAll(/--.*$/gm, '')
      .matchAll(
        /\b(?:(?:create|alter|drop) table(?: if (?:not )?exists)?(?: only)?|insert into|update|delete from|truncate(?: table)?) ([a-z_]+)/gi,
      ),
  ].map(([, table]) => table!.toLowerCase());

test('a migration changes tables of the instance only after the line "-- Of the instance"', () => {
  for (const migration of migrations) {
    const ofCell = toCellMigration(migration).sql;
    const inCell = changedBy(ofCell);
    assert.deepEqual(
      inCell.filter((table) => instanceTables.has(table)),
      [],
      migration.name,
    );
    const ofInstance = changedBy(migration.sql).filter((table) => !inCell.includes(table));
    assert.deepEqual(
      ofInstance.filter((table) => !instanceTables.has(table)),
      [],
      migration.name,
    );
  }
  assert.deepEqual(
    changedBy(
      '-- drop table a\nalter table only b add c int; delete from d; create table if not exists e ()',
    ),
    ['b', 'd', 'e'],
  );
});

const unlimited = { isEmpty: true, limits: false, pool: 2 } as const;
const readSchema = (database: Database): Promise<string> =>
  readCatalogue(async <Row extends object>(sql: string) => (await database.query<Row>(sql)).rows);

test('the schema of a new database equals db/schema.sql', async () => {
  const { database } = await testDatabase(unlimited);
  await migrate(database, migrations);
  const schema = `-- The schema after all migrations. REWRITE=1 npm test -- test/migrations.test.ts writes this file.\n\n${await readSchema(database)}`;
  if (process.env['REWRITE']) await writeFile(schemaFile, schema);
  assert.deepEqual(schema.split('\n'), (await readFile(schemaFile, 'utf8')).split('\n'));
});

/** Returns the migrations recorded in a schema. */
const recordedIn = async (database: Database, schema: string) =>
  (
    await database.query<{ number: number; name: string; checksum: string }>(
      `select number, name, checksum from ${schema}.migrations order by number`,
    )
  ).rows;
const recorded = migrations.map(({ number, name, checksum }) => ({ number, name, checksum }));

/** Creates a database of two cells with the first migrations, recorded with the old numbers. */
async function openOld(count: number, last?: number): Promise<Database> {
  const { database } = await testDatabase(unlimited);
  const first = migrations.slice(0, count);
  await migrate(database, first);
  await createCell(database, 'two', { migrations: first });
  for (const schema of ['public', 'cell_two']) await recordOldMigrations(database, schema, last);
  return database;
}

test('a database at migration 84 counts as one at 0001, and all its cells are upgraded', async () => {
  const { database: made } = await testDatabase(unlimited);
  await migrate(made, migrations);
  await createCell(made, 'two', {});
  const database = await openOld(1);
  const names = migrations.slice(1).map(({ name }) => name);
  assert.deepEqual(await findPendingMigrations(database, migrations), names);
  assert.deepEqual(await migrateCells(database, migrations), names);
  for (const schema of ['public', 'cell_two']) assert.deepEqual(await recordedIn(database, schema), recorded);
  assert.equal(await readSchema(database), await readSchema(made));
});

test('a database later than migration 84 only gets the new numbers', async () => {
  const database = await openOld(migrations.length);
  assert.equal((await recordedIn(database, 'public')).at(-1)!.number, migrations.length + 83);
  await checkMigrated(database, migrations);
  assert.deepEqual(await migrateCells(database, migrations), []);
  for (const schema of ['public', 'cell_two']) assert.deepEqual(await recordedIn(database, schema), recorded);
});

test('a database older than migration 84 is refused and stays unchanged', async () => {
  const database = await openOld(1, 60);
  const before = await recordedIn(database, 'public');
  await assert.rejects(migrateCells(database, migrations), (error: unknown) => {
    assert.ok(error instanceof MigrationError);
    assert.equal(
      error.message,
      'The database is at migration 60, but this version can only upgrade from migration 84 or later. First start the Formloom version with migration 84, then this one.',
    );
    return true;
  });
  assert.deepEqual(await recordedIn(database, 'public'), before);
});

test('stored tables and views hide the new columns for stages and assignees', async () => {
  const { database } = await testDatabase(unlimited);
  await migrate(database, migrations.slice(0, 12));
  const id = 'a0000000-0000-4000-8000-000000000000';
  const stored = { order: ['name'], hidden: ['name'], widths: {}, pinned: 1, is_tall: false };
  const settings = JSON.stringify(stored);
  // Without the rows that foreign keys require.
  await database.query(`
    set local session_replication_role = replica;
    insert into table_settings (workspace_id, form_id, user_id, settings) values ('${id}', '${id}', 'a', '${settings}');
    insert into saved_views (workspace_id, id, form_id, name, query, columns, created_at, updated_at)
    values ('${id}', '${id}', '${id}', 'All', '{}', null, now(), now()),
           ('${id}', gen_random_uuid(), '${id}', 'Some', '{}', '${settings}', now(), now())`);
  await migrate(database, migrations);
  const { rows } = await database.query(`
    select settings from table_settings union all (select columns from saved_views order by name)`);
  const changed = { ...stored, hidden: ['name', '$stage', '$assignee'] };
  assert.deepEqual(
    rows.map((row) => row['settings']),
    [changed, null, changed],
  );
});
