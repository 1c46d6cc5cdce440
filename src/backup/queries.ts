import { escapeIdentifier, escapeLiteral } from 'pg';
import { ownSchema } from '#kit/search-path/queries.ts';
import { statement } from '#kit/statement.ts';

// Of the catalog: what there is is asked of PostgreSQL, so that a new table is in the next backup without a line here.

// Those of other cells (src/cells) are called `schema.table`, in what a backup has of them too.

/** How something is called, by its schema and its name as PostgreSQL has them. */
const nameOf = (schema: string, name: string): string =>
  `case when ${schema} = current_schema() then '' else ${schema} || '.' end || ${name}::text`;
const inOurs = (schema: string): string => `(${schema} = current_schema() or ${schema}::text = any ($cells))`;

const isTold = `c.relkind = 'r' and c.relname <> 'migrations'`;

/** Every table but that of migrations, with the columns that are stored and not worked out; `cells`: the schemas of other cells. */
export const selectTables = statement(
  'backup.select_tables',
  'cells',
  'name columns',
  `select ${nameOf('n.nspname', 'c.relname')} as name, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c
     join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where ${inOurs('n.nspname')} and ${isTold}
    group by n.nspname, c.relname
    order by 1`,
);

/** Where each sequence stands; null: it was never asked. */
export const selectSequences = statement(
  'backup.select_sequences',
  'cells',
  'name last_value?',
  `select ${nameOf('schemaname', 'sequencename')} as name, last_value
     from pg_sequences where ${inOurs('schemaname')} order by 1`,
);

export const setSequence = statement(
  'backup.set_sequence',
  'name last_value',
  'set:bigint',
  `select setval($name::regclass, $last_value) as set`,
);

export const selectMigrations = statement(
  'backup.select_migrations',
  '',
  'number:integer checksum:text',
  `select number, checksum from migrations order by number`,
);

/** What ties tables together. It is taken away while they are filled, and holds again before that is committed. */
export const selectForeignKeys = statement(
  'backup.select_foreign_keys',
  'cells',
  'table_name name definition',
  `select ${nameOf('n.nspname', 't.relname')} as table_name, c.conname::text as name, pg_get_constraintdef(c.oid) as definition
     from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_namespace n on n.oid = t.relnamespace
    where c.contype = 'f' and c.conparentid = 0 and ${inOurs('n.nspname')}
    order by 1, 2`,
);

/** Whether a service is on this database; what restores names its sessions otherwise. */
export const findService = statement(
  'backup.find_service',
  '',
  'is_running:boolean',
  `select exists (
     select from pg_stat_activity where datname = current_database() and (application_name = 'formloom' or application_name like 'formloom node %')) as is_running`,
);

/** Whether somebody has begun to use this instance. */
export const findUse = statement(
  'backup.find_use',
  '',
  'is_used',
  `select exists (select from workspaces) or exists (select from users) as is_used`,
);

export const findTable = statement(
  'backup.find_table',
  'name',
  'is_there',
  `select to_regclass(format('%I', $name)) is not null as is_there`,
);

// What names tables, which are no parameters of a statement.

export type Table = { readonly name: string; readonly columns: readonly string[] };

const identifier = (name: string): string => name.split('.').map(escapeIdentifier).join('.');

export const hasWorkspaces = (schema: string): string =>
  `select exists (select from ${identifier(`${schema}.workspaces`)}) as has`;

const listed = ({ columns }: Table): string => columns.map((column) => escapeIdentifier(column)).join(', ');

export const copyOut = (table: Table): string =>
  // A select, since the tables of a cell at a node are views there.
  `copy (select ${listed(table)} from ${identifier(table.name)}) to stdout`;
export const copyIn = (table: Table): string =>
  `copy ${identifier(table.name)} (${listed(table)}) from stdin`;

export const emptyTables = (names: readonly string[]): string =>
  `truncate ${names.map(identifier).join(', ')}`;

/** Triggers count what comes; what is restored was counted. */
export const setTriggers = (name: string, state: 'enable' | 'disable'): string =>
  `alter table ${identifier(name)} ${state} trigger user`;

type ForeignKey = { table_name: string; name: string; definition: string };
export const dropForeignKey = ({ table_name, name }: ForeignKey): string =>
  `alter table ${identifier(table_name)} drop constraint ${escapeIdentifier(name)}`;
export const addForeignKey = ({ table_name, name, definition }: ForeignKey): string =>
  `alter table ${identifier(table_name)} add constraint ${escapeIdentifier(name)} ${definition}`;

/** Where this database was moved to; null: it was not. Also of a database of an earlier version, which has no such columns. */
export const findMove = statement(
  'backup.find_move',
  '',
  'key_fingerprint moved_to? moved_at?',
  `select key_fingerprint, to_jsonb(i) ->> 'moved_to' as moved_to,
          (to_jsonb(i) ->> 'moved_at')::timestamptz as moved_at
     from instance i`,
);

/** Says where this database was moved to, or, with nulls, that it stays after all. */
export const markMove = statement(
  'backup.mark_move',
  'moved_to? moved_at?',
  'key_fingerprint',
  `update instance set moved_to = $moved_to, moved_at = $moved_at returning key_fingerprint`,
);

/** Who would start on this database waits for the end of the transaction, and looks then whether it was moved. */
export const lockInstance = 'lock table instance in access exclusive mode';

// Of one workspace: its row, each row of a tenant table with its id, and the people whom these rows name.

export const findWorkspace = statement(
  'backup.find_workspace',
  'workspace_id',
  'name',
  `select name from workspaces where id = $workspace_id`,
);

/** Trigger functions count the bytes again when files are restored. */
const derivedTables = `('stored_bytes')`;

/** The tables with rows of workspaces, each with the tables and the columns by which it refers to others. */
export const selectTenantTables = statement(
  'backup.select_tenant_tables',
  '',
  'name columns needs:texts people:texts',
  `select c.relname::text as name, array_agg(a.attname::text order by a.attnum) as columns,
          array(select k.confrelid::regclass::text from pg_constraint k
                 where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid) as needs,
          array(select u.attname::text from pg_constraint k join pg_attribute u on u.attrelid = c.oid and u.attnum = k.conkey[1]
                 where k.conrelid = c.oid and k.contype = 'f' and k.confrelid = to_regclass('users')) as people
     from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relnamespace = ${ownSchema} and c.relkind = 'r' and c.relname not in ${derivedTables}
      and (c.relname = 'workspaces' or exists (
            select from pg_attribute w where w.attrelid = c.oid and w.attname = 'workspace_id' and not w.attisdropped))
    group by c.oid, c.relname
    order by 1`,
);

/** The tables about people that a workspace takes along: how they sign in, and no session. */
export const peopleTables = {
  users: 'id',
  accounts: 'user_id',
  totp_secrets: 'user_id',
  recovery_codes: 'user_id',
  passkeys: 'user_id',
} as const;

export const selectPeopleTables = statement(
  'backup.select_people_tables',
  'names',
  'name columns',
  `select c.relname::text as name, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.oid = any ($names::regclass[])
    group by c.relname
    order by array_position($names, c.relname::text)`,
);

/** Gives the restored segments new codes, which are unique in an instance, and their documents the same. */
export const renumberSegments = statement(
  'backup.renumber_segments',
  'workspace_id',
  '',
  `with old as materialized (
     select first_id, code from search_segments where workspace_id = $workspace_id
   ),
   renumbered as (
     update search_segments set number = default where workspace_id = $workspace_id returning first_id, code
   )
   update search_documents d
      set terms = array_to_tsvector(array(
            select renumbered.code || substr(lexeme, length(old.code) + 1) from unnest(d.terms)))
     from old join renumbered on renumbered.first_id = old.first_id
    where d.workspace_id = $workspace_id
      and old.first_id = (select first_id from old as each where each.first_id <= d.submission_id order by first_id desc limit 1)`,
);

/** The people of the archive whose address belongs to another account here. */
export const selectTakenAddresses = `
  select u.email from users u join incoming_users i on i.email = u.email and i.id <> u.id order by 1`;

type TenantTable = Table & { readonly people: readonly string[] };
const ofWorkspace = ({ name }: { readonly name: string }, workspaceId: string): string =>
  `${escapeIdentifier(name === 'workspaces' ? 'id' : 'workspace_id')} = ${escapeLiteral(workspaceId)}`;

export const copyTenantRows = (table: Table, workspaceId: string): string =>
  `copy (select ${listed(table)} from ${identifier(table.name)} where ${ofWorkspace(table, workspaceId)}) to stdout`;

/** Copies the rows of those whom a row of the workspace names. */
export const copyPeople = (table: Table, tenants: readonly TenantTable[], workspaceId: string): string => {
  const named = tenants.flatMap(({ name, people }) =>
    people.map(
      (column) =>
        `select ${escapeIdentifier(column)} from ${identifier(name)} where ${ofWorkspace({ name }, workspaceId)}`,
    ),
  );
  const column = peopleTables[table.name as keyof typeof peopleTables];
  return `copy (select ${listed(table)} from ${identifier(table.name)} where ${column} in (${named.join(' union all ')})) to stdout`;
};

export const countTenantRows = (name: string, workspaceId: string): string =>
  `select count(*) as count from ${identifier(name)} where ${ofWorkspace({ name }, workspaceId)}`;

const incoming = 'incoming_';
export const incomingName = (name: string): string => `${incoming}${name}`;

/** People come to a table of the transaction first: an account that exists here stays as it is. */
export const createIncoming = (name: string): string =>
  `create temp table ${identifier(incomingName(name))} (like ${identifier(name)}) on commit drop`;

/** Inserts the people who are new here, and then what belongs to these. */
export const insertIncoming = ({ name, columns }: Table): string => {
  const from = incomingName(name);
  const rows = `select ${listed({ name, columns })} from ${identifier(from)}`;
  const into = `insert into ${identifier(name)} (${listed({ name, columns })})`;
  return name === 'users'
    ? `create temp table new_people on commit drop as select id from ${identifier(from)} i where not exists (select from users where id = i.id);
       ${into} ${rows} where id in (select id from new_people)`
    : `${into} ${rows} where user_id in (select id from new_people)`;
};
