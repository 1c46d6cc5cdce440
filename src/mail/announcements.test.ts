import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId, now } from '#kit/clock.ts';
import { openVault } from '#kit/vault.ts';
import type { Role } from '#rules/permissions.ts';
import { testDatabase } from '#test/database.ts';
import { insertUser } from '#workspaces/accounts/users.ts';
import { createKey, revokeKey } from '#workspaces/keys.ts';
import { addMember } from '#workspaces/members.ts';
import { createWorkspace } from '#workspaces/workspaces.ts';
import { announceByEmail, findAudience } from './announcements.ts';

const { database } = await testDatabase();
const context = { database, vault: openVault('0b'.repeat(32)), publicUrl: 'https://forms.test' };

async function person(name: string): Promise<string> {
  const [user] = await insertUser(database, {
    id: newId(),
    account_id: newId(),
    name,
    email: `${name}@example.org`,
    password: 'none',
    email_verified: false,
    now: now(),
  });
  return user!.id;
}

async function workspaceOf(
  people: Record<string, Role>,
  keys: ('living' | 'revoked' | 'expired')[],
): Promise<void> {
  const { id: workspaceId } = await createWorkspace(database, { name: 'Place', plan: 'free' });
  for (const [userId, role] of Object.entries(people))
    await addMember(database, { workspaceId, userId, role });
  for (const kind of keys) {
    const expiresAt = kind === 'expired' ? new Date('2026-01-01T00:00:00Z') : undefined;
    const key = await createKey(database, { workspaceId, name: kind, expiresAt });
    if (kind === 'revoked') await revokeKey(database, { workspaceId, keyId: key.id });
  }
}

const [two, admin, keyless, ended, other] = await Promise.all(
  ['two', 'admin', 'keyless', 'ended', 'other'].map(person),
);
await workspaceOf({ [two!]: 'owner', [admin!]: 'admin' }, ['living', 'living']);
await workspaceOf({ [two!]: 'owner', [other!]: 'owner' }, ['living']);
await workspaceOf({ [keyless!]: 'owner' }, []);
await workspaceOf({ [ended!]: 'owner' }, ['revoked', 'expired']);

const mails = async (): Promise<string[]> =>
  (
    await database.query<{ recipient: string }>(
      "select recipient from mails where kind = 'announcement' order by recipient",
    )
  ).rows.map(({ recipient }) => recipient);

test('an announcement reaches each owner of active API keys once, however often it is sent', async () => {
  const first = { subject: 'v1 changes', text: 'A new field.' };
  const audience = await findAudience(database, first);
  assert.deepEqual(audience.map(({ email }) => email).toSorted(), ['other@example.org', 'two@example.org']);
  assert.deepEqual(await mails(), [], 'a look writes nothing');

  const runs = await Promise.all([announceByEmail(context, first), announceByEmail(context, first)]);
  assert.deepEqual(
    runs
      .flat()
      .map(({ email }) => email)
      .toSorted(),
    ['other@example.org', 'two@example.org'],
  );
  assert.deepEqual(await announceByEmail(context, first), []);
  assert.deepEqual(await mails(), ['other@example.org', 'two@example.org']);

  assert.equal(
    (await announceByEmail(context, { ...first, text: 'Another field.' })).length,
    2,
    'another one goes out',
  );
});

test('sending an announcement again reaches only people who have become owners since', async () => {
  const announcement = { subject: 'once more', text: 'A text.' };
  await announceByEmail(context, announcement);
  const late = await person('late');
  await workspaceOf({ [late]: 'owner' }, ['living']);
  assert.deepEqual(
    (await announceByEmail(context, announcement)).map(({ email }) => email),
    ['late@example.org'],
  );
});
