import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { listReceivedFiles } from '#files/stored-files.ts';
import { newId } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { diskStorage, type Storage } from '#kit/storage.ts';
import { element } from '#test/ast/forms.ts';
import { testDatabase } from '#test/database.ts';
import { makeOneOfEach } from '#test/one-of-each.ts';
import { openService, type Tenant } from '#test/service.ts';
import { makeForm, openVisitor } from '#test/visitor.ts';
import { readArchive, writeArchive } from './archive.ts';
import { BackupError } from './fill-table.ts';
import {
  backUpWorkspace,
  peopleTables,
  readWorkspaceOfArchive,
  restoreWorkspace,
  selectTenantTables,
} from './workspace-backup.ts';

const service = await openService();
const { database, storage, vault } = service.services;
const home = await mkdtemp(join(tmpdir(), 'formloom-workspace-'));
after(() => rm(home, { recursive: true }));
/** The instance key of test services. */
const key = '0f'.repeat(32);
await database.query('insert into instance (key_fingerprint) values ($1)', [vault.derive('fingerprint')[0]]);

/** Creates a workspace with one of everything, and a submission with a file. */
async function makeWorkspace(): Promise<Tenant> {
  const tenant = await service.makeTenant();
  await makeOneOfEach(service, tenant);
  const form = await makeForm(tenant, [element('text', 'a'), element('file_upload', 'file')]);
  const answer = await openVisitor(service).post(
    form.id,
    [
      ['a', 'searchable'],
      ['file', new File([`bytes of ${tenant.workspaceId}`], 'a.txt', { type: 'text/plain' })],
    ],
    { headers: { Accept: 'application/json' } },
  );
  assert.equal(answer.status, 201);
  return tenant;
}

const [tenant, other] = [await makeWorkspace(), await makeWorkspace()];
const { workspaceId } = tenant;
const path = join(home, 'whole');
await backUpWorkspace({ database, storage }, workspaceId, { path, version: '1' });

async function emptyInstance() {
  const { database: empty } = await testDatabase();
  const folder = join(await mkdtemp(join(home, 'data-')), 'uploads');
  return { database: empty, storage: diskStorage(folder, 0), key, folder };
}

/** Columns that a restore assigns anew. */
const renumbered = new Set(['number', 'code', 'terms']);

/** Returns the rows of a workspace by table, as JSON. */
async function rowsOf(db: Database, id: string): Promise<Record<string, object[]>> {
  const tables = [...(await selectTenantTables(db, {})).map(({ name }) => name), 'stored_bytes'];
  const found: Record<string, object[]> = {};
  for (const name of tables) {
    const { rows } = await db.query<{ row: Record<string, unknown> }>(
      `select to_jsonb(t) as row from ${name} t where ${name === 'workspaces' ? 'id' : 'workspace_id'} = $1`,
      [id],
    );
    const compared = rows.map(({ row }) =>
      Object.fromEntries(
        Object.entries(row).filter(([column]) => !renumbered.has(column) && !column.startsWith('last_used')),
      ),
    );
    found[name] = compared.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  return found;
}

/** Returns the tables that have rows of any workspace. */
async function filledTables(db: Database): Promise<string[]> {
  const names = [...(await selectTenantTables(db, {})).map(({ name }) => name), ...Object.keys(peopleTables)];
  const filled = await Promise.all(
    names.map(async (name) => ((await db.query(`select from ${name} limit 1`)).rowCount === 0 ? [] : [name])),
  );
  return filled.flat();
}

const filesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []))
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

const filesOf = async (from: Storage, db: Database): Promise<string[]> => {
  const keys = await Array.fromAsync(listReceivedFiles(db, workspaceId));
  return Promise.all(keys.map(async (file) => String(await buffer((await from.open(file.key))!))));
};

/** Tables that the running service does not change without a request. */
const unchanging = [
  'workspaces',
  'forms',
  'form_versions',
  'submissions',
  'files',
  'stored_bytes',
  'webhooks',
  'deliveries',
  'attempts',
  'saved_views',
  'members',
  'member_invitations',
  'api_keys',
] as const;

test('a workspace is restored with all its rows, files and accounts, and without rows of another workspace', async () => {
  const there = await emptyInstance();
  const restored = await restoreWorkspace(there, { path });
  assert.deepEqual([restored.workspace, restored.name], [workspaceId, 'Test']);
  const [here, rows] = [await rowsOf(database, workspaceId), await rowsOf(there.database, workspaceId)];
  for (const name of unchanging) {
    assert.deepEqual(rows[name], here[name], name);
    assert.ok(rows[name]!.length > 0, name);
  }
  assert.ok(
    Object.values(await rowsOf(there.database, other.workspaceId)).every(({ length }) => length === 0),
  );
  const people = 'select id, email from users order by id';
  const members =
    'select u.id, u.email from users u join members m on m.user_id = u.id where m.workspace_id = $1 order by id';
  assert.deepEqual(
    (await there.database.query(people)).rows,
    (await database.query(members, [workspaceId])).rows,
  );
  assert.ok((await there.database.query('select from accounts')).rowCount! > 0);
  assert.deepEqual(await filesOf(there.storage, there.database), await filesOf(storage, database));
});

test('every table of a restored workspace is unchanged after another backup and restore', async () => {
  const [first, second] = [await emptyInstance(), await emptyInstance()];
  await restoreWorkspace(first, { path });
  const again = join(home, 'again');
  await backUpWorkspace(first, workspaceId, { path: again, version: '1' });
  await restoreWorkspace(second, { path: again });
  assert.deepEqual(await rowsOf(second.database, workspaceId), await rowsOf(first.database, workspaceId));
});

test('restored submissions are found by search, under segment codes that no other workspace uses', async () => {
  const there = await emptyInstance();
  await there.database.query('select setval($1, 4000)', ['search_segments_number_seq']);
  await restoreWorkspace(there, { path });
  const { rows } = await there.database.query<{ documents: number; fitting: number }>(
    `select count(*) as documents, count(*) filter (where s.number > 4000 and array_to_string(tsvector_to_array(d.terms), ',') ~ ('^(' || s.code || '[^,]*,?)+$')) as fitting
       from search_documents d join search_segments s using (workspace_id)`,
  );
  assert.ok(rows[0]!.documents > 0);
  assert.equal(rows[0]!.fitting, rows[0]!.documents);
});

test('an existing account keeps its name and password', async () => {
  const there = await emptyInstance();
  const { rows } = await database.query<{ id: string; email: string }>(
    'select u.id, u.email from users u join members m on m.user_id = u.id where m.workspace_id = $1 limit 1',
    [workspaceId],
  );
  await there.database.query(
    `insert into users (id, name, email, email_verified, created_at, updated_at) values ($1, 'Kept', $2, true, now(), now())`,
    [rows[0]!.id, rows[0]!.email],
  );
  await restoreWorkspace(there, { path });
  const restored = await there.database.query('select name from users where id = $1', [rows[0]!.id]);
  assert.deepEqual(restored.rows, [{ name: 'Kept' }]);
  const accounts = await there.database.query('select from accounts where user_id = $1', [rows[0]!.id]);
  assert.equal(accounts.rowCount, 0);
});

test('an email address of another account is rejected by name', async () => {
  const there = await emptyInstance();
  await there.database.query(
    `insert into users (id, name, email, email_verified, created_at, updated_at)
     values ('another', 'Another', $1, true, now(), now())`,
    [
      (
        await database.query(
          'select u.email from users u join members m on m.user_id = u.id where m.workspace_id = $1 limit 1',
          [workspaceId],
        )
      ).rows[0].email,
    ],
  );
  await assert.rejects(
    restoreWorkspace(there, { path }),
    /1 address belongs to another account in this instance: .*@/,
  );
  assert.deepEqual(await filledTables(there.database), ['users']);
});

test('a short address and a domain that another workspace has are rejected by name', async () => {
  const named = await service.makeTenant();
  await makeForm(named, [element('text', 'a')], { settings: { slug: 'restored-form' } });
  const file = join(home, 'named');
  await backUpWorkspace({ database: named.database, storage }, named.workspaceId, {
    path: file,
    version: '1',
  });
  const there = await openService();
  const rival = await there.makeTenant();
  await makeForm(rival, [element('text', 'a')], { settings: { slug: 'restored-form' } });
  await assert.rejects(
    restoreWorkspace(
      { database: there.services.database, storage: there.services.storage, key },
      { path: file },
    ),
    { constructor: BackupError, message: /has the short address or domain “restored-form”/ },
  );
});

test('an existing workspace is rejected, and so are another version and another key', async () => {
  await assert.rejects(
    restoreWorkspace({ database, storage, key }, { path }),
    (error) =>
      error instanceof BackupError &&
      /^The workspace \S+ already exists in this instance\./.test(error.message),
  );
  const there = await emptyInstance();
  await assert.rejects(
    restoreWorkspace({ ...there, key: '1e'.repeat(32) }, { path }),
    /sealed with another instance key/,
  );
  await restoreWorkspace({ ...there, key: `${'1e'.repeat(32)},${key}` }, { path });
  const newer = await emptyInstance();
  await rewrite('newer', (name, bytes) =>
    name === 'manifest.json' ? Buffer.from(String(bytes).replace(/"checksum":"\w/, '"checksum":"x')) : bytes,
  );
  await assert.rejects(
    restoreWorkspace(newer, { path: join(home, 'newer') }),
    /was backed up by Formloom 1, which has a different database version/,
  );
  assert.deepEqual(await filledTables(newer.database), []);
});

/** Writes the archive again with changed bytes. */
const rewrite = (name: string, change: (entry: string, bytes: Buffer) => Buffer): Promise<void> =>
  writeArchive(join(home, name), undefined, async (archive) => {
    for await (const { name: entry, body } of readArchive(path, undefined)) {
      const bytes = change(entry, await buffer(body));
      await archive.add(entry, bytes.length, bytes.length > 0 ? Readable.from([bytes]) : bytes);
    }
  });

test('a damaged archive, and one with rows of another workspace, restore nothing', async () => {
  const there = await emptyInstance();
  const bytes = await readFile(path);
  await writeFile(join(home, 'cut'), bytes);
  await truncate(join(home, 'cut'), bytes.length - 200);
  await assert.rejects(
    restoreWorkspace(there, { path: join(home, 'cut') }),
    /incomplete, damaged or not a backup/,
  );
  const foreign = newId();
  await there.database.query(
    `insert into workspaces (id, name, plan, created_at) values ($1, 'Foreign', 'free', now())`,
    [foreign],
  );
  await rewrite('foreign', (name, content) =>
    name.startsWith('tables/audit_lines/')
      ? Buffer.from(String(content).replaceAll(workspaceId, foreign))
      : content,
  );
  await assert.rejects(
    restoreWorkspace(there, { path: join(home, 'foreign') }),
    /The backup is damaged: audit_lines contains rows of another workspace/,
  );
  assert.deepEqual(await filledTables(there.database), ['workspaces']);
  assert.deepEqual(await filesIn(there.folder), []);
});

test('a restore whose connection is killed leaves no row and no file, and can be repeated', async () => {
  const there = await emptyInstance();
  const killing: Storage = {
    ...there.storage,
    async put(...file) {
      const done = await there.storage.put(...file);
      await there.database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and state like 'idle in transaction%'`,
      );
      return done;
    },
  };
  await assert.rejects(restoreWorkspace({ ...there, storage: killing }, { path }));
  assert.deepEqual(await filledTables(there.database), []);
  assert.deepEqual(await filesIn(there.folder), []);
  await restoreWorkspace(there, { path });
});

test('an archive says which workspace it contains', async () => {
  assert.deepEqual(await readWorkspaceOfArchive(path, undefined), { id: workspaceId, name: 'Test' });
});
