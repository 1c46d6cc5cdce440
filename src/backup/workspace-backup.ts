import { escapeIdentifier, escapeLiteral, type PoolClient } from 'pg';
import { formatCount } from '#ast/basics/format-number.ts';
import { cellOfWorkspace } from '#cells/across-cells.ts';
import { chooseCellForWorkspace } from '#cells/choose-cell.ts';
import { hideShardsSql } from '#cells/citus.ts';
import { type Database, openLongQueryPool, transaction } from '#kit/database.ts';
import { findBackupMigrations, readMigrations, schemaReadLock, sessionSchemaSql } from '#kit/migrate.ts';
import { onlyRow, statement } from '#kit/statement.ts';
import {
  type ArchiveManifest,
  type ArchiveTrailer,
  type ArchiveWriter,
  entryNames,
  readArchive,
  writeArchive,
} from './archive.ts';
import { BackupError, columnList, quoteQualifiedName, type Table } from './fill-table.ts';
import {
  addFiles,
  addTable,
  type BackupMade,
  type BackupOptions,
  type BackupServices,
  createManifest,
  listStoredFiles,
} from './make-backup.ts';
import {
  createDamagedBackupError,
  isInvalidRowsError,
  isKeyOf,
  iterateUntilAborted,
  type Restored,
  type RestoreOptions,
  readManifest,
  restoreArchiveEntries,
  sum,
} from './restore-backup.ts';

// A backup of one workspace has its row, all rows of tenant tables with its id, and the people whom these
// rows name.

const findWorkspace = statement('workspace_id', 'name')`
  select name from workspaces where id = $workspace_id`;

/** Triggers count the bytes again when files are restored. */
const derivedTables = `('stored_bytes')`;

/**
 * Selects the tables with rows of workspaces, with the tables that each refers to and the columns that refer
 * to people.
 */
export const selectTenantTables = statement('', 'name columns needs:texts people:texts')`
  select c.relname::text as name, array_agg(a.attname::text order by a.attnum) as columns,
         array(select k.confrelid::regclass::text from pg_constraint k
                where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid) as needs,
         array(select u.attname::text from pg_constraint k join pg_attribute u on u.attrelid = c.oid and u.attnum = k.conkey[1]
                where k.conrelid = c.oid and k.contype = 'f' and k.confrelid = to_regclass('users')) as people
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
   where c.relnamespace = ${sessionSchemaSql} and c.relkind = 'r' and c.relname not in ${derivedTables}
     and (c.relname = 'workspaces' or exists (
           select from pg_attribute w where w.attrelid = c.oid and w.attname = 'workspace_id' and not w.attisdropped))
   group by c.oid, c.relname
   order by 1`;

/** The tables about people in a workspace backup: how they sign in, but no sessions. */
export const peopleTables = {
  users: 'id',
  accounts: 'user_id',
  totp_secrets: 'user_id',
  recovery_codes: 'user_id',
  passkeys: 'user_id',
} as const;

const selectPeopleTables = statement('names', 'name columns')`
  select c.relname::text as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
   where c.oid = any ($names::regclass[])
   group by c.relname
   order by array_position($names, c.relname::text)`;

/**
 * Gives the restored segments new codes, which are unique in an instance, and updates the terms of their
 * documents.
 */
const renumberSegments = statement('workspace_id', '')`
  with old as materialized (
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
     and old.first_id = (select first_id from old as each where each.first_id <= d.submission_id order by first_id desc limit 1)`;

/** Selects the email addresses in the archive that belong to another account here. */
const selectConflictingEmails = `
  select u.email from users u join incoming_users i on i.email = u.email and i.id <> u.id order by 1`;

type TenantTable = Table & { readonly people: readonly string[] };

const ofWorkspace = ({ name }: { readonly name: string }, workspaceId: string): string =>
  `${escapeIdentifier(name === 'workspaces' ? 'id' : 'workspace_id')} = ${escapeLiteral(workspaceId)}`;

const copyTenantRows = (table: Table, workspaceId: string): string =>
  `copy (select ${columnList(table)} from ${quoteQualifiedName(table.name)} where ${ofWorkspace(table, workspaceId)}) to stdout`;

/** Copies the rows of the people whom rows of the workspace name. */
const copyPeople = (table: Table, tenants: readonly TenantTable[], workspaceId: string): string => {
  const named = tenants.flatMap(({ name, people }) =>
    people.map(
      (column) =>
        `select ${escapeIdentifier(column)} from ${quoteQualifiedName(name)} where ${ofWorkspace({ name }, workspaceId)}`,
    ),
  );
  const column = peopleTables[table.name as keyof typeof peopleTables];
  return `copy (select ${columnList(table)} from ${quoteQualifiedName(table.name)} where ${column} in (${named.join(' union all ')})) to stdout`;
};

const countTenantRows = (name: string, workspaceId: string): string =>
  `select count(*) as count from ${quoteQualifiedName(name)} where ${ofWorkspace({ name }, workspaceId)}`;

const incoming = 'incoming_';

const incomingName = (name: string): string => `${incoming}${name}`;

/** Creates a temporary table for people: accounts that exist here must not change. */
const createIncoming = (name: string): string =>
  `create temp table ${quoteQualifiedName(incomingName(name))} (like ${quoteQualifiedName(name)}) on commit drop`;

/** Inserts the people who are new here, and then their other rows. */
const insertIncoming = ({ name, columns }: Table): string => {
  const from = incomingName(name);
  const rows = `select ${columnList({ name, columns })} from ${quoteQualifiedName(from)}`;
  const into = `insert into ${quoteQualifiedName(name)} (${columnList({ name, columns })})`;
  return name === 'users'
    ? `create temp table new_people on commit drop as select id from ${quoteQualifiedName(from)} i where not exists (select from users where id = i.id);
       ${into} ${rows} where id in (select id from new_people)`
    : `${into} ${rows} where user_id in (select id from new_people)`;
};

/** A restored workspace, with the counts of what was restored. */
export type RestoredWorkspace = Restored & { workspace: string; name: string };

/**
 * Writes one workspace to a new file while the service runs. The file contains its rows as they were at one
 * moment, the accounts that these rows name, and its files. Sealed values stay sealed with the instance's
 * key, which is not in the file.
 * @throws BackupError, or ApiError not_found for an unknown workspace, and leaves no file.
 */
export async function backUpWorkspace(
  context: BackupServices,
  workspaceId: string,
  options: BackupOptions,
): Promise<BackupMade> {
  const pool = openLongQueryPool(await cellOfWorkspace(context.database, workspaceId), 1);
  const client = await pool.connect();
  try {
    await client.query('select pg_advisory_lock_shared($1)', [schemaReadLock]);
    await client.query('begin isolation level repeatable read, read only');
    await client.query(
      `set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0; ${hideShardsSql}; select`,
    );
    const found = onlyRow(await findWorkspace(client, { workspace_id: workspaceId }));
    if (!found) throw new BackupError(`There is no workspace ${workspaceId}.`);
    let result: BackupMade | undefined;
    const fill = async (archive: ArchiveWriter): Promise<void> => {
      result = await fillArchive(context, client, archive, { id: workspaceId, name: found.name }, options);
    };
    await writeArchive(options.path, options.passphrase, fill, options);
    return result!;
  } finally {
    // The session has a lock, so it is not reused.
    client.release(true);
    await pool.end();
  }
}

async function fillArchive(
  context: BackupServices,
  client: PoolClient,
  archive: ArchiveWriter,
  workspace: { id: string; name: string },
  { path, version }: BackupOptions,
): Promise<BackupMade> {
  const { tenants, people } = await findTables(client);
  const queries = new Map([
    ...people.map((table) => [incomingName(table.name), copyPeople(table, tenants, workspace.id)] as const),
    ...tenants.map((table) => [table.name, copyTenantRows(table, workspace.id)] as const),
  ]);
  const manifest = await createManifest(client, version, {
    tables: tablesOf({ tenants, people }),
    workspace,
  });
  const addText = (name: string, text: string) =>
    archive.add(name, Buffer.byteLength(text), Buffer.from(text));
  await addText(entryNames.manifest, JSON.stringify(manifest));
  const rows: ArchiveTrailer['rows'] = {};
  for (const [name, query] of queries) rows[name] = await addTable(client, archive, name, query);
  const { missing, ...files } = await addFiles(context, listStoredFiles(client, workspace.id), archive);
  await addText(
    entryNames.ending,
    JSON.stringify({ rows, sequences: [], ...files } satisfies ArchiveTrailer),
  );
  return { path, tables: queries.size, rows: sum(rows), ...files, missing };
}

type Tables = {
  tenants: Awaited<ReturnType<typeof selectTenantTables>>;
  people: Awaited<ReturnType<typeof selectPeopleTables>>;
};

/** Finds the tables, ordered so that each comes after those that it refers to. */
async function findTables(client: PoolClient): Promise<Tables> {
  const waiting = new Map((await selectTenantTables(client, {})).map((table) => [table.name, table]));
  const tenants: Tables['tenants'] = [];
  while (waiting.size > 0) {
    const ready = [...waiting.values()].filter(({ needs }) => !needs.some((name) => waiting.has(name)));
    if (ready.length === 0) throw new Error(`Tables refer to each other: ${[...waiting.keys()].join(', ')}.`);
    for (const table of ready) waiting.delete(table.name);
    tenants.push(...ready);
  }
  return { tenants, people: await selectPeopleTables(client, { names: Object.keys(peopleTables) }) };
}

/** People are first restored into temporary tables with other names. */
const tablesOf = ({ tenants, people }: Tables): ArchiveManifest['tables'] => [
  ...people.map(({ name, columns }) => ({ name: incomingName(name), columns })),
  ...tenants.map(({ name, columns }) => ({ name, columns })),
];

/**
 * Returns the workspace of an archive; undefined for a backup of an instance.
 * @throws BackupError if the file cannot be read.
 */
export async function readWorkspaceOfArchive(
  path: string,
  passphrase: string | undefined,
): Promise<ArchiveManifest['workspace']> {
  const entries = readArchive(path, passphrase);
  try {
    return (await readManifest(entries)).workspace;
  } finally {
    await entries.return(undefined);
  }
}

/**
 * Restores a workspace with its ids into an instance while the service runs. All rows are inserted in one
 * transaction, which is committed only when the whole archive was read. Accounts that exist here do not
 * change.
 * @param context.key the keys of this instance; if undefined, values that another key sealed are accepted.
 * @throws BackupError if the workspace exists, the version differs, the archive is damaged, or another key
 * sealed it.
 */
export async function restoreWorkspace(
  context: BackupServices & { key: string | undefined },
  { path, passphrase, signal }: RestoreOptions,
): Promise<RestoredWorkspace> {
  const { database, storage, key } = context;
  const entries = readArchive(path, passphrase);
  const pool = openLongQueryPool(await chooseCellForWorkspace(database), 1);
  const stored: string[] = [];
  try {
    const reading = iterateUntilAborted(entries, signal);
    const manifest = await readManifest(reading);
    await requireSameVersion(manifest);
    if (key !== undefined && manifest.key_fingerprint !== null && !isKeyOf(manifest, key))
      throw new BackupError(
        'The secrets of this workspace were sealed with another instance key. Append a comma and that key to SECRET_KEY, and restore again.',
      );
    const workspace = manifest.workspace!;
    await refuseExisting(database, workspace.id);
    const own = { ...storage, put: recordStoredKeys(storage, stored) };
    const { rows, files, bytes } = await transaction(pool, async (client) => {
      await client.query(
        'set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0; select',
      );
      return fill(client, own, manifest, reading);
    });
    const { made_at, version } = manifest;
    return { workspace: workspace.id, name: workspace.name, made_at, version, rows: sum(rows), files, bytes };
  } catch (error) {
    for (const file of stored) await storage.remove(file);
    throw isInvalidRowsError(error) ? describeInvalidRows(error) : error;
  } finally {
    await entries.return(undefined);
    await pool.end();
  }
}

/** Short addresses and domains are unique in an instance. All other keys are unique in a workspace. */
function describeInvalidRows(error: Error & { table?: string; detail?: string }): BackupError {
  const [, name] = /=\((.+)\)/.exec(error.detail ?? '') ?? [];
  return error.table === 'slug_lookup' || error.table === 'domain_lookup'
    ? new BackupError(
        `Another workspace in this instance has the short address or domain “${name}”. Delete its form or its domain first.`,
      )
    : createDamagedBackupError(error.message);
}

/** Records each key before its bytes are stored, so that a failed restore can delete the files. */
const recordStoredKeys =
  (storage: BackupServices['storage'], stored: string[]): BackupServices['storage']['put'] =>
  (key, source, limit) => {
    stored.push(key);
    return storage.put(key, source, limit);
  };

async function fill(
  client: PoolClient,
  storage: BackupServices['storage'],
  manifest: ArchiveManifest,
  entries: Parameters<typeof restoreArchiveEntries>[2]['entries'],
): Promise<ArchiveTrailer> {
  const workspaceId = manifest.workspace!.id;
  const tables = await findTables(client);
  if (JSON.stringify(tablesOf(tables)) !== JSON.stringify(manifest.tables))
    throw createDamagedBackupError('its tables do not match its version');
  for (const { name } of tables.people) await client.query(createIncoming(name));
  const people = new Map(tables.people.map((table) => [incomingName(table.name), table]));
  const ending = await restoreArchiveEntries(storage, client, {
    manifest,
    entries,
    takesKey: false,
    filesOf: `${workspaceId}/`,
    async onTable(name) {
      const table = people.get(name);
      if (!table) return;
      if (table.name === 'users') await rejectConflictingEmails(client);
      await client.query(insertIncoming(table));
    },
  });
  for (const { name } of tables.tenants)
    await requireOnlyWorkspaceRows(client, name, workspaceId, ending.rows[name]!);
  await renumberSegments(client, { workspace_id: workspaceId });
  return ending;
}

async function requireOnlyWorkspaceRows(
  client: PoolClient,
  name: string,
  workspaceId: string,
  expected: number,
): Promise<void> {
  const { rows } = await client.query<{ count: number }>(countTenantRows(name, workspaceId));
  if (rows[0]!.count !== expected)
    throw createDamagedBackupError(`${name} contains rows of another workspace`);
}

async function rejectConflictingEmails(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ email: string }>(selectConflictingEmails);
  if (rows.length > 0)
    throw new BackupError(
      `${formatCount(rows.length, 'address belongs', 'addresses belong')} to another account in this instance: ${rows.map(({ email }) => email).join(', ')}. Delete that account first.`,
    );
}

async function requireSameVersion({ version, migrations }: ArchiveManifest): Promise<void> {
  const known = await readMigrations();
  if (findBackupMigrations(migrations, known)?.length !== known.length)
    throw new BackupError(
      `The workspace was backed up by Formloom ${version}, which has a different database version. Restore it with that version.`,
    );
}

async function refuseExisting(database: Database, id: string): Promise<void> {
  if (onlyRow(await findWorkspace(await cellOfWorkspace(database, id), { workspace_id: id })))
    throw new BackupError(
      `The workspace ${id} already exists in this instance. Delete it first, or restore into another instance.`,
    );
}
