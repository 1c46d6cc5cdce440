import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { testDatabase } from '#test/database.ts';
import { openMailServer } from '#test/mail-server.ts';
import { makeInstance } from '#test/process.ts';
import { createUser } from '#workspaces/accounts/users.ts';
import { createKey } from '#workspaces/keys.ts';
import { addMember } from '#workspaces/members.ts';
import { createWorkspace } from '#workspaces/workspaces.ts';

const { database, url } = await testDatabase();
const server = await openMailServer();
const instance = await makeInstance({
  DATABASE_URL: url,
  SMTP_URL: server.url,
  MAIL_FROM: 'Forms <forms@formloom.test>',
});
const textFile = join(instance.dataDir, 'announcement.txt');
await writeFile(textFile, 'Version 2 is here.\n\nNothing of version 1 changes.\n');
const workspace = await createWorkspace(database, { name: 'Announced', plan: 'free' });
const owner = await createUser(database, { email: 'owner@example.org', password: 'a long password' });
await addMember(database, { workspaceId: workspace.id, userId: owner.id, role: 'owner' });
await createKey(database, { workspaceId: workspace.id, name: 'Key' });

type Announced = { dry_run: boolean; recipients: number; data: { email: string }[] };
const announce = (...more: string[]): Promise<Announced> =>
  instance.cli('announce --subject', 'Version 2', '--text-file', textFile, ...more);

test('announce: a dry run lists recipients, a run emails them once, and a second run emails none', async () => {
  const dry = await announce('--dry-run');
  assert.deepEqual([dry.dry_run, dry.recipients, dry.data[0]?.email], [true, 1, 'owner@example.org']);
  const first = await announce();
  assert.deepEqual([first.dry_run, first.recipients], [false, 1]);
  assert.equal((await announce()).recipients, 0);
  const { rows } = await database.query("select recipient, subject from mails where kind = 'announcement'");
  assert.deepEqual(rows, [{ recipient: 'owner@example.org', subject: 'Version 2' }]);
});

test("mail send-test shows the mail server's replies", async () => {
  const sent = await instance.cli<{ sent: boolean; result: string; dialogue: string[] }>(
    'mail send-test --to',
    'Ada <ada@example.org>',
  );
  assert.deepEqual([sent.sent, sent.result], [true, 'The mail server accepted the email: 250 Accepted']);
  assert.ok(sent.dialogue.includes('> RCPT TO:<ada@example.org>'));
  assert.equal(server.taken[0]!.mail.to![0]!.name, 'Ada');
});

test('mail send-test exits with 1 if nothing was sent, and still prints the replies', async () => {
  server.treat('refused@example.org', 'refuse recipient');
  await assert.rejects(instance.cli('mail send-test --to', 'refused@example.org'), /partly_done.*550/);
});
