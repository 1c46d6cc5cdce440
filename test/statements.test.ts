import assert from 'node:assert/strict';
import type { EventEmitter } from 'node:events';
import { test } from 'node:test';
import type { PoolClient } from 'pg';
import { personColumns } from '#cells/citus.ts';
import type { DeclaredStatement } from '#kit/statement.ts';
import { testDatabase } from './database.ts';
import { instanceTables } from './instance-tables.ts';
import { loadStatements } from './load-statements.ts';

const { database } = await testDatabase();

const statements = await loadStatements();

type Field = { name: string; dataTypeID: number };
type Description = { parameters: number[]; columns: [string, number][] };
type Connection = EventEmitter &
  Record<'parse' | 'describe', (message: object, more?: boolean) => void> & { sync(): void };

/**
 * Returns what PostgreSQL reports for a statement: the types of its parameters, and the names and types of
 * its columns. The driver has no call for it but accepts any object that speaks the protocol.
 */
function describe(client: PoolClient, { name, text }: DeclaredStatement): Promise<Description> {
  return new Promise((resolve, reject) => {
    const found: Description = { parameters: [], columns: [] };
    let failure: Error | undefined;
    const question = {
      submit(connection: Connection) {
        connection.once(
          'parameterDescription',
          (message: { dataTypeIDs: number[] }) => (found.parameters = message.dataTypeIDs),
        );
        connection.parse({ name, text }, true);
        connection.describe({ type: 'S', name }, true);
        connection.sync();
      },
      handleRowDescription: ({ fields }: { fields: Field[] }) => {
        found.columns = fields.map((field) => [field.name, field.dataTypeID]);
      },
      handleError: (error: Error) => (failure = error),
      handleReadyForQuery: () =>
        failure ? reject(new Error(`${failure.message} in ${text}`)) : resolve(found),
    };
    client.query(question as never);
  });
}

const typeNames = new Map(
  (
    await database.query<{ oid: number; name: string }>(
      'select oid::integer as oid, format_type(oid, null) as name from pg_type',
    )
  ).rows.map(({ oid, name }) => [oid, name]),
);
const nameOf = (oid: number): string => typeNames.get(oid) ?? String(oid);

test("every statement is valid on the schema, and its declared parameters and columns match PostgreSQL's", async () => {
  assert.ok(statements.length >= 25, 'the statements were found');
  const client = await database.connect();
  try {
    for (const declared of statements) {
      const found = await describe(client, declared);
      assert.deepEqual(
        {
          text: declared.text,
          parameters: found.parameters.map(nameOf),
          columns: found.columns.map(([column, oid]) => `${column} ${nameOf(oid)}`).toSorted(),
        },
        {
          text: declared.text,
          parameters: Object.values(declared.parameters).map(({ pg }) => pg),
          columns: Object.entries(declared.columns)
            .map(([column, { pg }]) => `${column} ${pg}`)
            .toSorted(),
        },
      );
    }
  } finally {
    client.release(true);
  }
});

/** Returns the statements that fail after a change of the schema. */
async function invalidAfter(change: string): Promise<string[]> {
  const client = await database.connect();
  try {
    await client.query(`begin; ${change}`);
    const invalid: string[] = [];
    for (const { text } of statements) {
      await client.query('savepoint before');
      try {
        await client.query(`prepare tried as ${text}`);
        await client.query('deallocate tried');
      } catch (error) {
        assert.match((error as Error).message, /does not exist/, text);
        invalid.push(text);
        await client.query('rollback to savepoint before');
      }
    }
    return invalid;
  } finally {
    client.release(true);
  }
}

test('no statement needs tables of both a cell and the instance, except five columns of users', async () => {
  const dropAll = (names: readonly string[]) => `drop table ${names.join()} cascade`;
  const { rows: all } = await database.query<{ name: string }>(
    `select relname::text as name from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace and relname not in ('users', 'migrations')`,
  );
  const names = all.map(({ name }) => name);
  const shared = names.filter((name) => instanceTables.has(name));
  const ofCell = names.filter((name) => !instanceTables.has(name));
  const { rows: columns } = await database.query<{ name: string }>(
    "select column_name as name from information_schema.columns where table_name = 'users' and table_schema = 'public'",
  );
  const unknown = columns.map(({ name }) => name).filter((name) => !personColumns.includes(name));
  const dropColumns = `alter table users ${unknown.map((name) => `drop column ${name} cascade`).join()}`;
  const ofInstance = await invalidAfter(`${dropAll(shared)}; ${dropColumns}`);
  const ofCells = new Set(await invalidAfter(dropAll(ofCell)));
  assert.ok(ofInstance.length > 50 && ofCells.size > 300);
  assert.deepEqual(
    ofInstance.filter((text) => ofCells.has(text)),
    [],
  );
});

/** The tenant tables of the migrations: those with a workspace_id. */
const tenantTables = (
  await database.query<{ name: string }>(
    "select table_name as name from information_schema.columns where column_name = 'workspace_id' and table_schema = 'public'",
  )
).rows.map(({ name }) => name);

/** A node of an EXPLAIN plan, as needed here. */
type Plan = { Plans?: Plan[]; Output?: string[] } & Readonly<
  Partial<
    Record<
      | 'Node Type'
      | 'Relation Name'
      | 'Alias'
      | 'Subplan Name'
      | 'Index Cond'
      | 'Recheck Cond'
      | 'Filter'
      | 'Join Filter'
      | 'Hash Cond'
      | 'Merge Cond',
      string
    >
  >
>;

/**
 * Returns the tenant tables that a plan reads across workspaces. A read is safe if a workspace condition is
 * on the table, on a join around it, or on the output of a compared subplan.
 */
function readAcross(plan: Plan, around = '', given = ''): string[] {
  const texts = (...keys: Exclude<keyof Plan, 'Plans' | 'Output'>[]): string =>
    keys.map((key) => plan[key] ?? '').join(' ');
  const own = texts('Index Cond', 'Recheck Cond', 'Filter');
  // The workspace condition applies to the whole result of the subquery.
  if (plan['Node Type'] === 'Subquery Scan' && /\.workspace_id = \$/.test(own)) return [];
  const isCompared =
    plan['Subplan Name'] && around.includes(`workspace_id = (hashed ${texts('Subplan Name')}).`);
  const within = isCompared ? (plan.Output ?? []).join(' ') : given;
  const isRead = plan['Node Type'] !== 'ModifyTable' && tenantTables.includes(texts('Relation Name'));
  const column = new RegExp(`\\b${isRead ? texts('Alias') : ''}\\.workspace_id\\b`);
  const isCareless = isRead && !column.test(`${own} ${around} ${within}`);
  const further = `${around} ${texts('Join Filter', 'Hash Cond', 'Merge Cond', 'Filter')}`;
  const below = (plan.Plans ?? []).flatMap((each) => readAcross(each, further, within));
  return [...(isCareless ? [texts('Relation Name')] : []), ...below];
}

test('every statement reads each tenant table by workspace, except declared cross-workspace statements', async (t) => {
  const { rows: versions } = await database.query<{ version: string }>(
    "select current_setting('server_version_num') as version",
  );
  if (Number(versions[0]!.version) < 170_000)
    return t.skip('it says since 17 what a subplan is compared with');
  const client = await database.connect();
  const careless: Record<string, string[]> = {};
  try {
    await client.query('set plan_cache_mode = force_generic_plan');
    for (const { text, parameters } of statements) {
      if (/^\s*\/\* (operator|sweep|queue|lookup): across workspaces \*\//.test(text)) continue;
      await client.query(`prepare planned as ${text}`);
      const nothing = Object.keys(parameters).map(() => 'null');
      const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
        `explain (verbose, format json) execute planned${nothing.length > 0 ? `(${nothing.join()})` : ''}`,
      );
      await client.query('deallocate planned');
      const tables = readAcross(rows[0]!['QUERY PLAN'][0].Plan);
      if (tables.length > 0) careless[text] = tables;
    }
  } finally {
    client.release(true);
  }
  assert.deepEqual(careless, {});
});

test('every primary key and unique index of a tenant table begins with workspace_id, and every foreign key includes it', async () => {
  const lookups = ['api_key_lookup', 'form_lookup', 'slug_lookup', 'domain_lookup'];
  const keys = await database.query<{ relation: string; name: string; first: string }>(
    `select i.indrelid::regclass::text as relation, i.indexrelid::regclass::text as name, a.attname as first
     from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
     where i.indisunique and i.indrelid::regclass::text = any ($1)`,
    [tenantTables.filter((table) => !lookups.includes(table))],
  );
  assert.deepEqual(
    keys.rows.filter(({ first }) => first !== 'workspace_id').map(({ name }) => name),
    [],
  );

  const foreign = await database.query<{ relation: string; name: string; definition: string }>(
    `select conrelid::regclass::text as relation, conname as name, pg_get_constraintdef(oid) as definition
     from pg_constraint where contype = 'f' and conrelid::regclass::text = any ($1)`,
    [tenantTables],
  );
  const toTenants = foreign.rows.filter(({ definition }) => !/REFERENCES users/.test(definition));
  assert.ok(toTenants.length > 10);
  assert.deepEqual(
    toTenants
      .filter(({ definition }) => !definition.startsWith('FOREIGN KEY (workspace_id'))
      .map(({ name }) => name),
    [],
  );
});
