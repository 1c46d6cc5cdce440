import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { publishForm } from '#test/crowd.ts';
import { openMailServer } from '#test/mail-server.ts';
import { type Instance, makeInstance } from '#test/process.ts';
import { until } from '#test/service.ts';

/* Invitation imports that are killed while invitations are created and while they are emailed. */

const mail = await openMailServer();
const instance = await makeInstance({
  SMTP_URL: mail.url,
  MAIL_FROM: 'forms@formloom.test',
  MAIL_PER_MINUTE: '60000',
});
let server = await instance.start();

async function importPeople(form: string, people: number, ...options: string[]): Promise<void> {
  const file = join(instance.dataDir, 'people.csv');
  const lines = Array.from({ length: people }, (_, index) => `person-${index}@example.org,${index}`);
  await writeFile(file, `email,number\n${lines.join('\n')}\n`);
  const { total } = await instance.cli<{ total: number }>(
    'invitations import',
    form,
    '--kind',
    'csv',
    '--text',
    `@${file}`,
    ...options,
  );
  assert.equal(total, people);
}

async function count(database: Instance, form: string, what = '*', where = 'true'): Promise<number> {
  const [row] = await database.query<{ count: string }>(
    `select count(${what}) as count from invitations where form_id = '${form}' and ${where}`,
  );
  return Number(row!.count);
}

test('after kill -9 an import resumes where it stopped, and each person has one invitation', async () => {
  const people = 8_000;
  const form = await publishForm(instance);
  await importPeople(form.id, people, '--no-send');
  await until('the first invitations', async () => (await count(instance, form.id)) > 0, 30);
  await server.kill();
  const made = await count(instance, form.id);
  assert.ok(made < people, 'it was killed on its way');
  server = await instance.start();
  await until('the last invitation', async () => (await count(instance, form.id)) === people, 60);
  assert.equal(await count(instance, form.id, `distinct reference->>'number'`), people);
});

test('after kill -9 sending resumes where it stopped, and only an email in flight may be sent twice', async (t) => {
  const people = 100;
  const kills = [15, 45];
  const form = await publishForm(instance);
  await importPeople(form.id, people);
  for (const taken of kills) {
    await until('some more mails', async () => mail.taken.length >= taken, 60);
    await server.kill();
    server = await instance.start();
  }
  const isSent = async () => (await count(instance, form.id, '*', 'sent_at is not null')) === people;
  await until('the last mail', isSent, 90);
  assert.equal(new Set(mail.taken.flatMap(({ to }) => to)).size, people);
  const doubles = mail.taken.length - people;
  t.diagnostic(`${people} people, ${kills.length} kills, ${doubles} mails twice`);
  assert.ok(doubles <= kills.length, `${doubles} mails left twice`);
});
