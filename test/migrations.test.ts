import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { sharedTables } from '#cells/create-cell.ts';
import { isOfInstance, readMigrations } from '#kit/migrate.ts';

/*
 * While servers are renewed one by one, the version before works on the database that the new one has migrated. So a migration
 * only adds; what takes something away, narrows it or means it otherwise has a line before it that says why the version before
 * does not mind (docs/decisions/0085-rolling-migrations.md).
 */
const folder = new URL('../db/migrations/', import.meta.url);
/** Those up to here ran, or were given out, when there was no version before. */
const lastFree = 70;
const reason = /^\s*-- The version before: ./m;

/** What of a statement the version before could fail on, or be wrong by; undefined where it only adds. */
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

/** The statements of a migration that say nothing of the version before and could break it. */
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
  test(`a migration that says "${sql}" needs a reason, and passes with one`, () => {
    assert.equal(findBreaks(sql).length, 1);
    assert.ok(findBreaks(sql)[0]!.startsWith(what));
    const last = sql.split(';').at(-1)!;
    assert.deepEqual(
      findBreaks(sql.replace(last, `\n-- The version before: does not read it.\n${last}`)),
      [],
    );
  });

test('a migration that only adds needs none', () => {
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

test('every migration leaves the version before at work, or says why that does not mind', async () => {
  const names = (await readdir(folder)).filter((name) => Number(name.slice(0, 4)) > lastFree);
  for (const name of names)
    assert.deepEqual(findBreaks(await readFile(new URL(name, folder), 'utf8')), [], name);
});

/** The tables that a migration changes or makes. */
const changedBy = (sql: string): string[] =>
  [
    ...sql
      .replaceAll(/(\$\w*\$).*?\1/gs, "''")
      .replaceAll(/--.*$/gm, '')
      .matchAll(
        /\b(?:(?:create|alter|drop) table(?: if (?:not )?exists)?(?: only)?|insert into|update|delete from|truncate(?: table)?) ([a-z_]+)/gi,
      ),
  ].map(([, table]) => table!.toLowerCase());

test('from 69 on a migration is for the tables of a cell, or says that it is for those of the instance, and never for both', async () => {
  const migrations = (await readMigrations()).filter(({ number }) => number >= 69);
  const shared = new Set([
    ...sharedTables,
    ...migrations
      .filter(isOfInstance)
      .flatMap(({ sql }) => [...sql.matchAll(/^create table ([a-z_]+)/gim)].map(([, table]) => table!)),
  ]);
  for (const migration of migrations)
    assert.deepEqual(
      changedBy(migration.sql).filter((table) => shared.has(table) !== isOfInstance(migration)),
      [],
      migration.name,
    );
  assert.deepEqual(
    changedBy(
      '-- drop table a\nalter table only b add c int; delete from d; create table if not exists e ()',
    ),
    ['b', 'd', 'e'],
  );
});
