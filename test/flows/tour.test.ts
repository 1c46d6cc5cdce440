import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { direct, readCommands } from '#test/page-commands.ts';
import { makeInstance } from '#test/process.ts';
import { freePort, until } from '#test/service.ts';

const run = promisify(execFile);
const home = fileURLToPath(new URL('../..', import.meta.url));

/** The guides with commands, in the order in which one reads them: later ones use what earlier ones made. */
const guides = [
  'first-form',
  'submissions',
  'search',
  'webhooks',
  'errors',
  'limits',
  'idempotency-and-concurrency',
];

test('the five-minute tour of the README works as it is written, and after it every command of the guides and of the operator’s handbook', async () => {
  const metrics = `127.0.0.1:${await freePort()}`;
  const instance = await makeInstance({ METRICS_LISTEN: metrics });
  const server = await instance.start();
  const directory = await mkdtemp(join(tmpdir(), 'formloom-tour-'));
  after(() => rm(directory, { recursive: true, force: true }));

  const tour = await readCommands('README.md', 'tour');
  assert.ok(tour.length >= 4, 'the tour was found');
  // The reader stands in the clone and the service is on port 3000; here it has a port and a directory of its own.
  const here = (block: string): string =>
    block
      .replaceAll('http://127.0.0.1:3000', server.url)
      .replaceAll('127.0.0.1:9464', metrics)
      .replaceAll('npm run -s formloom', `npm --prefix "${home}" run -s formloom`)
      .replaceAll(' ./', ` ${directory}/`);
  const script = tour.map(here).join('\necho "---8<---"\n');
  const guided: string[] = [];
  for (const guide of guides) guided.push(...(await readCommands(`docs/guides/${guide}.md`, 'run')));
  const separator = '\necho "---8<---"\n';
  const operated = (await readCommands('docs/operating/README.md', 'run')).map(direct).map(here);
  const { stdout } = await run('sh', ['-euc', [script, ...guided, ...operated].join(separator)], {
    cwd: directory,
    env: { ...process.env, ...instance.environment },
  });

  const [, created, submitted, read, ...answers] = stdout.split('---8<---').map((part) => part.trim());
  const form = JSON.parse(created!) as { id: string; status: string; public_url: string };
  assert.equal(form.status, 'published');
  const submission = JSON.parse(submitted!) as { id: string; status: string; confirmation_message: string };
  assert.deepEqual(
    [submission.status, submission.confirmation_message],
    ['completed', 'We will write back within a day.'],
  );
  const [list, found] = read!
    .split(/(?<=\})(?=\{"data")/)
    .map((text) => JSON.parse(text) as { data: { id: string; metadata: { reference: object } }[] });
  assert.deepEqual(
    list!.data.map(({ id, metadata }) => ({ id, reference: metadata.reference })),
    [{ id: submission.id, reference: { campaign: 'tour' } }],
  );
  assert.deepEqual(
    found!.data.map(({ id }) => id),
    [submission.id],
  );
  const [
    first,
    again,
    sent,
    withFile,
    lists,
    where,
    visits,
    byCursor,
    searched,
    asked,
    mistaken,
    sorted,
    views,
    events,
    refused,
    head,
    onlyOnce,
    late,
  ] = answers;
  assert.equal(answers.length, guided.length + operated.length);
  assert.match(first!, /"status":"published"/);
  assert.match(again!, /"submission_count":0/);
  for (const text of [sent, withFile]) assert.match(text!, /"status":"completed"/);
  for (const text of [lists, where, byCursor, searched, asked, mistaken, sorted])
    assert.match(text!, /The shuttle is stuck/);
  assert.match(mistaken!, /"to":"shuttle"/);
  assert.match(views!, /"name":"To finish"[^]*"data":\[\{[^]*"name":"To finish"/);
  assert.match(visits!, /"is_counting":true/);
  assert.match(events!, /"has_more":false/);
  assert.match(refused!, /"error":"validation_error"/);
  assert.match(head!, /x-ratelimit-remaining: \d+/i);
  assert.match(onlyOnce!, /idempotency-replayed: true/i);
  assert.match(late!, /etag: "[^]*"error":"precondition_failed"/i);
  const [health, , restored, ready, up] = answers.slice(guided.length);
  assert.match(health!, /^ok +sessions[^]*^ok +key/m);
  assert.match(restored!, /All of the backup was restored, and is gone again/);
  assert.equal(ready, '{"status":"ready"}');
  assert.match(up!, /^formloom_database_up 1$/m);
  await until('the page', async () => (await fetch(form.public_url)).status === 200);

  const program = createServer((request, response) => void request.resume().on('end', () => response.end()));
  program.listen(0, '127.0.0.1');
  await once(program, 'listening');
  after(() => program.close());
  const [listen] = (await readCommands('README.md', 'listen')).map(direct).map(here);
  const hook = `127.0.0.1:${(program.address() as AddressInfo).port}`;
  // A reader leaves it running and ends it with Ctrl-C.
  const command = `${listen!.trim().replace('127.0.0.1:4000', hook)} --count 1`;
  const listening = execFile('sh', ['-euc', command], { env: { ...process.env, ...instance.environment } });
  let heard = '';
  listening.stdout!.setEncoding('utf8').on('data', (text: string) => (heard += text));
  const ended = once(listening, 'close');
  await until('it to listen', async () => heard.includes('Listening'));
  const answer = { answers: { subject: 'Heard', email: 'ada@example.org', message: 'Here as well.' } };
  await fetch(form.public_url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(answer),
  });
  assert.deepEqual(await ended, [0, null]);
  assert.match(heard, /submission\.created .* 200 in \d+ ms/);
});
