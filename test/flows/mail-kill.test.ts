import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enqueueMails } from '#kit/outbox.ts';
import { openVault } from '#kit/vault.ts';
import { cases } from '#test/cases.ts';
import { testDatabase } from '#test/database.ts';
import { openMailServer } from '#test/mail-server.ts';
import { makeInstance } from '#test/process.ts';
import { until } from '#test/service.ts';
import { createWorkspace } from '#workspaces/workspaces.ts';
import { isSlice } from '../cases.ts';

const secretKey = '1a'.repeat(32);
const mails = 60;
/** One kill, or three in `npm run test:long -- mail`. */
const kills = cases(3);

const { database, url } = await testDatabase();
const server = await openMailServer();
const instance = await makeInstance({
  DATABASE_URL: url,
  SECRET_KEY: secretKey,
  SMTP_URL: server.url,
  MAIL_FROM: 'forms@formloom.test',
  // Of these, 40 a second are sent in this test, so a kill comes in the middle.
  MAIL_PER_MINUTE: '3000',
});

test('kill -9 in the middle of sending loses no email and repeats only the one in progress', {
  skip: isSlice,
}, async () => {
  const { id: workspaceId } = await createWorkspace(database, { name: 'Mails', plan: 'free' });
  const letter = { heading: 'Hello', blocks: [], reason: 'A test.' };
  await enqueueMails(
    database,
    openVault(secretKey),
    { workspaceId },
    Array.from({ length: mails }, (_, index) => ({
      kind: 'announcement' as const,
      to: { address: `person-${index}@example.test` },
      subject: 'A subject',
      letter,
    })),
  );
  for (let kill = 0; kill < kills; kill += 1) {
    const before = server.taken.length;
    const process = await instance.start();
    await until('some mails', async () => server.taken.length >= before + 10);
    await process.kill();
    // The end of the lease does this within 25 s.
    await database.query('update jobs set run_at = now() where lease_token is not null');
  }
  const process = await instance.start();
  await until('the last mail', async () => {
    const { rowCount } = await database.query("select from mails where state <> 'sent'");
    return rowCount === 0;
  });
  await process.terminate();
  const ids = server.taken.map(({ mail }) => mail.messageId);
  assert.equal(new Set(ids).size, mails, 'nothing is lost');
  const doubles = ids.length - mails;
  assert.ok(doubles <= kills, `${doubles} doubles after ${kills} kills`);
});
