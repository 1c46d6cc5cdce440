import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openLog } from '#kit/log.ts';
import { readSmtp } from '#kit/smtp.ts';
import { openVault } from '#kit/vault.ts';
import { testDatabase } from '#test/database.ts';
import { createUser } from '../accounts/users.ts';
import { openRequestCounter } from '../request-counter.ts';
import { createWorkspace } from '../workspaces.ts';
import { createInvitationLink, inviteMember, resendInvitation, sanitizeNameForEmail } from './invite.ts';

const { database } = await testDatabase();
const smtp = readSmtp({ url: 'smtp://127.0.0.1:1', from: 'forms@example.org' }, []);
const context = {
  database,
  vault: openVault('00112233445566778899aabbccddeeff'.repeat(2)),
  config: { publicUrl: 'https://forms.example.org', smtp },
  requestCounter: await openRequestCounter({ valkeyUrl: undefined, log: openLog('silent') }),
  wakeQueue: () => {},
};
await createWorkspace(database, { name: 'Rival', plan: 'free' });
const { id: workspaceId } = await createWorkspace(database, { name: 'Test', plan: 'free' });
const { id } = await createUser(database, { email: 'ada@example.org', password: 'correct horse battery' });
const inviter = { id, userId: id, name: 'Ada', may: () => true };

test('only the latest waiting email of an invitation is sent, because its earlier links are invalid', async () => {
  const email = 'grace@example.org';
  const invite = () => inviteMember(context, { workspaceId, inviter, email, role: 'viewer' });
  await invite();
  const again = await invite();
  await resendInvitation(context, { workspaceId, id: again.id, inviter });
  const { rows } = await database.query('select state, subject from mails where recipient = $1', [email]);
  assert.deepEqual(rows.map(({ state }) => state).toSorted(), ['cancelled', 'cancelled', 'queued']);
  assert.deepEqual([...new Set(rows.map(({ subject }) => subject))], ['Ada invited you to Test']);
});

test('simultaneous invitations of one address leave only one email to send', async () => {
  const email = 'alan@example.org';
  const invite = () => inviteMember(context, { workspaceId, inviter, email, role: 'viewer' });
  await invite();
  await Promise.all(Array.from({ length: 4 }, invite));
  const { rows } = await database.query('select state from mails where recipient = $1', [email]);
  assert.deepEqual(rows.map(({ state }) => state).toSorted(), [
    'cancelled',
    'cancelled',
    'cancelled',
    'cancelled',
    'queued',
  ]);
});

test('the operator can invite only valid addresses, not members', async () => {
  const invite = async (email: string) =>
    createInvitationLink(context, { workspaceId, email, role: 'owner' });
  await assert.rejects(invite('not-an-address'), { code: 'validation_error' });
  assert.match((await invite(' Mary@Example.org ')).link, /^https:\/\/forms\.example\.org\/app\/join\/./);
});

test('a name without plain characters becomes three dots, and a long name is cut to 40 characters', () => {
  assert.deepEqual(
    [sanitizeNameForEmail('://?'), sanitizeNameForEmail('0123456789'), sanitizeNameForEmail('a'.repeat(99))],
    ['…', '…', 'a'.repeat(40)],
  );
});
