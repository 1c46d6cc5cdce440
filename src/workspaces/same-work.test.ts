import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { ApiError } from '#kit/errors.ts';
import { openLog } from '#kit/log.ts';
import { readSmtp } from '#kit/smtp.ts';
import { openVault } from '#kit/vault.ts';
import { makePerson } from '#test/console.ts';
import { testDatabase } from '#test/database.ts';
import { requestPasswordReset } from './accounts/password-reset.ts';
import { openAccounts } from './accounts/users.ts';
import { inviteMember } from './member-invitations/invite.ts';
import { openRequestCounter } from './request-counter.ts';
import { signIn } from './sign-in/sign-in.ts';
import { createWorkspace } from './workspaces.ts';

/*
 * Neither a response nor its time reveals whether an account exists (docs/rules.md T19), because the work is
 * equal.
 */

const { database } = await testDatabase();
const log = openLog('silent');
const vault = openVault('ab'.repeat(32));
const accounts = openAccounts({ database, vault, log, publicUrl: 'http://127.0.0.1:3000' });
const context = {
  accounts,
  database,
  vault,
  config: {
    publicUrl: 'https://forms.example.org',
    smtp: readSmtp({ url: 'smtp://127.0.0.1:1', from: 'forms@example.org' }, []),
  },
  requestCounter: await openRequestCounter({ valkeyUrl: undefined, log }),
  wakeQueue: () => {},
};
const { id: workspaceId } = await createWorkspace(database, { name: 'Test', plan: 'free' });
const owner = await makePerson(database, 'owner@example.org');
const known = 'known@example.org';
const unknown = 'unknown@example.org';
await makePerson(database, known);

/** Returns the names of the statements that the work sends, in order. */
async function statementsOf(t: TestContext, work: () => Promise<unknown>): Promise<string[]> {
  const sent = t.mock.method(Client.prototype, 'query');
  await work();
  const names = sent.mock.calls.map(({ arguments: [query] }) => {
    const statement: unknown = query;
    return typeof statement === 'string'
      ? statement
      : (JSON.stringify(statement).match(/"name":"[^"]+"/) ?? ['?'])[0];
  });
  sent.mock.restore();
  return names;
}

test('a password reset sends identical statements for addresses with and without an account', async (t) => {
  const [of, ofNobody] = [
    await statementsOf(t, () => requestPasswordReset(database, known)),
    await statementsOf(t, () => requestPasswordReset(database, unknown)),
  ];
  assert.deepEqual(of, ofNobody);
  assert.ok(of.length >= 2);
});

test('an invitation sends identical statements for addresses with and without an account', async (t) => {
  const inviter = { id: owner, userId: owner, name: 'Ada', may: () => true };
  const invite = (email: string) => () =>
    inviteMember(context, { workspaceId, inviter, email, role: 'viewer' });
  const [of, ofNobody] = [await statementsOf(t, invite(known)), await statementsOf(t, invite(unknown))];
  assert.deepEqual(of, ofNobody);
  assert.ok(of.length >= 4);
});

test('a refused sign-in hashes the password, whether or not the account exists', async () => {
  const workOf = async (email: string, times: number): Promise<number> => {
    const before = process.cpuUsage();
    for (let tries = 0; tries < times; tries += 1)
      await assert.rejects(
        signIn(
          context,
          { address: '10.0.0.1', headers: new Headers(), device: undefined },
          { email, password: 'wrong' },
        ),
        (error) => error instanceof ApiError && error.code === 'unauthorized',
      );
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  // Excludes first-time compiling and loading from both measurements.
  await workOf('first@example.org', 1);
  const ratio = (await workOf(known, 2)) / (await workOf(unknown, 2));
  // Without the hash the ratio is about 20 to 1.
  assert.ok(ratio > 0.4 && ratio < 2.5, `${ratio}`);
});
