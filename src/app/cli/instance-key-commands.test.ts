import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createForm } from '#forms/forms.ts';
import { newId } from '#kit/clock.ts';
import { openLog } from '#kit/log.ts';
import { findInstanceKey, openVault, type Vault } from '#kit/vault.ts';
import { element, structure } from '#test/ast/forms.ts';
import { testDatabase } from '#test/database.ts';
import { openAccounts } from '#workspaces/accounts/users.ts';
import { hashesOfRecoveryCode } from '#workspaces/sign-in/two-factor-codes.ts';
import { createWorkspace } from '#workspaces/workspaces.ts';
import { sealedColumns } from './instance-key-commands.ts';
import { runCommandLine } from './run-command-line.ts';

const { database, url } = await testDatabase();
const dataDir = await mkdtemp(join(tmpdir(), 'formloom-keys-'));
after(() => rm(dataDir, { recursive: true, force: true }));

async function formloom(words: string, env: Record<string, string> = {}) {
  const outcome = { stdout: '', stderr: '' };
  const code = await runCommandLine([...words.split(' '), '--json'], {
    environment: { DATA_DIR: dataDir, DATABASE_URL: url, ...env },
    print: (text) => void (outcome.stdout += text),
    complain: (text) => void (outcome.stderr += text),
  });
  return { code, ...outcome };
}

/** Returns the numbers of found or lost values, by what they are sealed for. */
async function countsOf({ stdout }: { stdout: string }, count: 'found' | 'lost') {
  const { data } = JSON.parse(stdout) as { data: Record<'what' | 'found' | 'lost', string>[] };
  return Object.fromEntries(data.map((each) => [each.what, each[count]]));
}

const keys = async (): Promise<string> => (await findInstanceKey(dataDir, undefined))!;
const people = (vault: Vault) =>
  openAccounts({ database, vault, log: openLog('silent'), publicUrl: 'http://127.0.0.1:3000' });

/**
 * Seals a value in every column with each of these vaults. Returns a function that counts what another vault
 * opens.
 */
async function sealEverything(workspaceId: string, vaults: readonly Vault[]) {
  const { id: formId } = await createForm(database, workspaceId, {
    structure: structure(element('text', 'a')),
  });
  for (const [index, vault] of vaults.entries()) {
    const { id: person } = await people(vault).createUser({
      email: `p${index}-${formId}@example.org`,
      password: 'correct horse',
    });
    await database.query(
      `insert into webhooks (workspace_id, id, form_id, url, events, secret, previous_secret, headers, created_at, updated_at)
       values ($1, $2, $3, 'https://example.org/', '{submission.created}', $4, $5, $6, now(), now())`,
      [
        workspaceId,
        newId(),
        formId,
        vault.seal('webhook secrets', 'plain'),
        vault.seal('webhook secrets', 'plain'),
        vault.seal('webhook headers', 'plain'),
      ],
    );
    await database.query(`insert into totp_secrets (user_id, secret, created_at) values ($1, $2, now())`, [
      person,
      vault.seal('second factors', 'plain'),
    ]);
    await database.query(
      `insert into mails (workspace_id, id, kind, recipient, subject, content, state, created_at)
       values ($1, $2, 'receipt', 'a@example.org', 'A', $3, 'queued', now())`,
      [workspaceId, newId(), vault.seal('mails', 'plain')],
    );
    await database.query(
      `insert into repeatable_requests (workspace_id, key, fingerprint, begun_at, answer) values ($1, $2, '', now(), $3)`,
      [workspaceId, Buffer.from(newId()), vault.seal('answers', 'plain')],
    );
    await database.query(
      `insert into tasks (workspace_id, id, kind, secret, through, total, created_at)
       values ($1, $2, 'people.erase', $3, 'api', 0, now())`,
      [workspaceId, newId(), vault.seal('erasures', 'plain')],
    );
  }
  const read = (table: string, column: string) =>
    database.query<{ sealed: Buffer }>(
      `select ${column} as sealed from ${table} where ${column} is not null`,
    );
  return async (vault: Vault): Promise<number> => {
    const plain = await Promise.all([
      ...['secret', 'previous_secret'].map(async (column) =>
        (await read('webhooks', column)).rows.map(({ sealed }) => vault.unseal('webhook secrets', sealed)),
      ),
      read('webhooks', 'headers').then(({ rows }) =>
        rows.map(({ sealed }) => vault.unseal('webhook headers', sealed)),
      ),
      read('totp_secrets', 'secret').then(({ rows }) =>
        rows.map(({ sealed }) => vault.unseal('second factors', sealed)),
      ),
      read('mails', 'content').then(({ rows }) => rows.map(({ sealed }) => vault.unseal('mails', sealed))),
      read('repeatable_requests', 'answer').then(({ rows }) =>
        rows.map(({ sealed }) => vault.unseal('answers', sealed)),
      ),
      read('tasks', 'secret').then(({ rows }) => rows.map(({ sealed }) => vault.unseal('erasures', sealed))),
    ]);
    return plain.flat().filter((text) => text === 'plain').length;
  };
}

test('a key is replaced in three steps; until the last one sessions, signatures and sealed values of both keys stay valid', async () => {
  assert.equal((await formloom('workspace list')).code, 0);
  const workspace = await createWorkspace(database, { name: 'Ours', plan: 'pro' });
  const first = await keys();
  const former = openVault(first);
  const link = former.sign('edit links', ['edit']);
  const [codeHash] = hashesOfRecoveryCode(former, 'ada', 'abcde-fghij');
  const { id: ada } = await people(former).createUser({
    email: 'ada@example.org',
    password: 'correct horse',
  });
  const session = await (await people(former).library()).beginSession(ada, null, new Headers());
  const cookie = session.map((each) => each.split(';', 1)[0]).join('; ');

  assert.equal((await formloom('instance-key add')).code, 0);
  const both = await keys();
  assert.equal(both.split(',')[1], first);
  const now = openVault(both);
  // A process that was not restarted yet still uses the previous key, and a restarted one knows both.
  const readAll = await sealEverything(workspace.id, [former, now]);
  assert.equal(await readAll(now), 14);
  await assert.rejects(readAll(former));
  assert.ok(now.verify('edit links', ['edit'], link));
  assert.ok(hashesOfRecoveryCode(now, 'ada', 'ABCDE FGHIJ').includes(codeHash!));
  const found = async (vault: Vault) => {
    const headers = new Headers({ Cookie: people(vault).readCookies(cookie) });
    return (await (await people(vault).library()).auth.api.getSession({ headers }))?.user.id;
  };
  assert.equal(await found(now), ada);

  const early = await formloom('instance-key forget');
  assert.equal(early.code, 1);
  assert.match(early.stderr, /Run `instance-key reseal` first/);
  assert.equal(await keys(), both);

  const each = {
    'webhook secrets': 2,
    'webhook headers': 1,
    'second factors': 1,
    mails: 1,
    answers: 1,
    erasures: 1,
  };
  const none = Object.fromEntries(Object.keys(each).map((what) => [what, 0]));
  assert.deepEqual(await countsOf(await formloom('instance-key reseal'), 'found'), each);
  assert.deepEqual(await countsOf(await formloom('instance-key reseal'), 'found'), none);
  assert.equal(await readAll(now), 14);
  assert.match((await formloom('workspace list', { SECRET_KEY: first })).stderr, /a key other than/);

  assert.equal((await formloom('instance-key forget')).code, 0);
  const last = openVault(await keys());
  assert.equal(await keys(), both.split(',')[0]);
  assert.equal(await readAll(last), 14);
  assert.equal(last.verify('edit links', ['edit'], link), false);
  assert.equal(await found(last), undefined);
});

test('values that no key opens are counted and kept, and do not prevent `instance-key forget`', async () => {
  const workspace = await createWorkspace(database, { name: 'Lost', plan: 'pro' });
  await sealEverything(workspace.id, [openVault('1e'.repeat(32))]);
  const lost = {
    'webhook secrets': 2,
    'webhook headers': 1,
    'second factors': 1,
    mails: 1,
    answers: 1,
    erasures: 1,
  };
  for (const command of ['instance-key reseal', 'instance-key reseal'])
    assert.deepEqual(await countsOf(await formloom(command), 'lost'), lost);
  assert.equal((await formloom('instance-key forget')).code, 0);
});

test('`instance-key forget` removes a previous key that seals nothing, with key files left by other processes', async () => {
  const draft = join(dataDir, 'secret.key.0123456789ab');
  await writeFile(draft, `${await keys()}\n`);
  const [fingerprint] = openVault(await keys()).derive('fingerprint');
  assert.equal((await formloom('instance-key add')).code, 0);
  assert.equal((await formloom('instance-key reseal')).code, 0);
  // As if `reseal` was killed before it recorded the key, or if nothing was ever sealed.
  await database.query('update instance set key_fingerprint = $1', [fingerprint]);
  assert.equal((await formloom('instance-key forget')).code, 0);
  assert.equal((await formloom('workspace list')).code, 0);
  assert.deepEqual(
    (await readdir(dataDir)).filter((name) => name.startsWith('secret')),
    ['secret.key'],
  );
});

test('a key from SECRET_KEY is left to the operator to change', async () => {
  const SECRET_KEY = await keys();
  const added = await formloom('instance-key add', { SECRET_KEY });
  assert.match(added.stdout, /SECRET_KEY=[0-9a-f]{64},<the current SECRET_KEY>/);
  assert.ok(!added.stdout.includes(SECRET_KEY));
  const ring = `${'2b'.repeat(32)},${SECRET_KEY}`;
  assert.equal((await formloom('instance-key reseal', { SECRET_KEY: ring })).code, 0);
  assert.match((await formloom('instance-key forget', { SECRET_KEY: ring })).stdout, /the first of its keys/);
  assert.equal((await formloom('workspace list', { SECRET_KEY: '2b'.repeat(32) })).code, 0);
  assert.equal((await formloom('workspace list', { SECRET_KEY })).code, 1);
});

test('every sealed value that stays in the database is resealed', async () => {
  /** Values that are handed out and come back within hours. */
  const passing = ['told answers', 'respondents', 'sessions'];
  const source = new URL('../../', import.meta.url).pathname;
  const paths = (await readdir(source, { recursive: true })).filter(
    (path) => path.endsWith('.ts') && !path.includes('.test.'),
  );
  const texts = await Promise.all(paths.map((path) => readFile(join(source, path), 'utf8')));
  const purposes = texts.flatMap((text) =>
    [...text.matchAll(/\.seal\(\s*'([^']+)'/g)].map(([, purpose]) => purpose!),
  );
  assert.deepEqual([...new Set(purposes)].toSorted(), [...Object.keys(sealedColumns), ...passing].toSorted());
});

test('docs/secrets.md names only existing columns, and every column with sealed values', async () => {
  const page = await readFile(new URL('../../../docs/secrets.md', import.meta.url), 'utf8');
  const { rows } = await database.query<{ place: string }>(
    `select table_name || '.' || column_name as place from information_schema.columns where table_schema = 'public'`,
  );
  const places = new Set(rows.map(({ place }) => place));
  const named = [...page.matchAll(/^\| [^|]+ \| ([^|]+) \| ([^|]+)/gm)].flatMap(([, where, how]) =>
    [...where!.matchAll(/`([a-z_]+\.[a-z_]+)`/g)].map(([, place]) => ({ place: place!, how: how! })),
  );
  assert.deepEqual(
    named.map(({ place }) => place).filter((place) => !places.has(place)),
    [],
  );
  assert.equal(
    named.filter(({ how }) => how.startsWith('sealed')).length,
    Object.values(sealedColumns).flat().length,
  );
});
