import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { publishForm } from '#test/crowd.ts';
import { openMailServer } from '#test/mail-server.ts';
import { makeInstance } from '#test/process.ts';
import { until } from '#test/service.ts';

/* An import that is killed on its way, while it is made and while it is mailed. */

const people = 1_200;
const kills = 3;

test('after kill -9 an import goes on where it was: everybody has one invitation, and a mail too many is at most the one in flight', async (t) => {
  const mail = await openMailServer();
  const instance = await makeInstance({
    SMTP_URL: mail.url,
    MAIL_FROM: 'forms@formloom.test',
    MAIL_PER_MINUTE: '60000',
  });
  let server = await instance.start();
  const form = await publishForm(instance);
  const file = join(instance.dataDir, 'people.csv');
  const lines = Array.from({ length: people }, (_, index) => `person-${index}@example.org,${index}`);
  await writeFile(file, `email,number\n${lines.join('\n')}\n`);
  const { total } = await instance.cli<{ total: number }>(
    'invitation import',
    '--form',
    form.id,
    '--file',
    file,
  );
  assert.equal(total, people);

  for (let kill = 1; kill <= kills; kill += 1) {
    await until('some more mails', async () => mail.taken.length > (kill - 1) * 200 + 20, 60);
    await server.kill();
    server = await instance.start();
  }
  const addressees = () => new Set(mail.taken.flatMap(({ to }) => to));
  await until('the last mail', async () => addressees().size === people, 120);

  const count = async (sql: string) => (await instance.query<{ count: string }>(sql))[0]!.count;
  assert.equal(Number(await count('select count(*) from invitations')), people);
  assert.equal(
    Number(await count("select count(distinct reference->>'number') as count from invitations")),
    people,
  );
  await until(
    'the last note',
    async () => Number(await count('select count(*) from invitations where sent_at is not null')) === people,
    60,
  );
  const doubles = mail.taken.length - people;
  t.diagnostic(`${people} people, ${kills} kills, ${doubles} mails twice`);
  assert.ok(doubles <= kills, `${doubles} mails left twice`);
});
