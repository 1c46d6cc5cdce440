import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { permissionNames } from '#rules/permissions.ts';
import { isSlice } from '#test/cases.ts';
import { direct, readCommands, readDocuments, runGuides } from '#test/page-commands.ts';
import { makeInstance } from '#test/process.ts';
import { freePort, until } from '#test/service.ts';

const run = promisify(execFile);
const home = fileURLToPath(new URL('../..', import.meta.url));

const separator = '---8<---';

/** Pages with many commands of the command line, which take 2 s of CPU each. */
const longPages = new Set([
  'docs/mcp.md',
  'docs/guides/webhooks.md',
  'docs/guides/importing.md',
  'docs/guides/forms-as-code.md',
  'docs/operating/README.md',
]);
const isLeftOut = (page: string): boolean => isSlice && longPages.has(page);

test(`every command of the README, guides and the operator’s handbook works as written${isSlice ? ' (some pages, all in `npm run test:long -- guides`)' : ''}`, {
  timeout: 900_000,
}, async () => {
  const metrics = `127.0.0.1:${await freePort()}`;
  const instance = await makeInstance({ METRICS_LISTEN: metrics });
  const server = await instance.start();
  const directory = await mkdtemp(join(tmpdir(), 'formloom-tour-'));
  after(() => rm(directory, { recursive: true, force: true }));
  const [typeform] = await readDocuments('docs/guides/importing.md', 'typeform');
  await writeFile(join(directory, 'theirs.json'), typeform!);
  await writeFile(join(directory, 'questions.txt'), 'Name *\nEmail\nSize\n- S\n- M\n');
  await writeFile(join(directory, 'answers.csv'), 'Subject,Email address\nFrom a file,ada@example.org\n');

  // A reader works in the clone, with the service on port 3000. This test uses another port and a folder for
  // files.
  const here = (block: string): string =>
    block
      .replaceAll('http://127.0.0.1:3000', server.url)
      .replaceAll(/https:\/\/(forms|other)\.example\.org/g, server.url)
      .replaceAll('fl_…', '$API_KEY')
      .replaceAll('127.0.0.1:9464', metrics)
      .replaceAll(' ./', ` ${directory}/`)
      .replaceAll(/(@|cat )\.\//g, `$1${directory}/`);
  /** Runs npm as the README has it, only in the tour: each run takes 0.4 s of CPU. */
  const viaNpm = (block: string): string =>
    block.replaceAll('npm run -s formloom', `npm --prefix "${home}" run -s formloom`);
  const blocks: { page: string; command: string }[] = [];
  const add = async (
    page: string,
    mark: string,
    change: (block: string) => string = direct,
  ): Promise<void> => {
    if (isLeftOut(page)) return;
    for (const block of await readCommands(page, mark)) blocks.push({ page, command: here(change(block)) });
  };
  await add('README.md', 'tour', viaNpm);
  await add('README.md', 'run');
  await add('docs/mcp.md', 'run');
  // The guides need a key with every permission.
  const key = `API_KEY=$(npm run -s formloom -- key create --workspace $WORKSPACE --name All --permissions ${permissionNames.join()} --json | node -p 'JSON.parse(require("fs").readFileSync(0)).key'); echo "$API_KEY" > ${directory}/other.key`;
  blocks.push({ page: 'key', command: direct(key) });
  for (const guide of runGuides) {
    const first = blocks.length;
    await add(`docs/guides/${guide}.md`, 'run');
    // Its exports would point other commands at the service instead of this machine's database, so it runs in
    // a subshell.
    if (guide !== 'forms-as-code' || isSlice) continue;
    blocks[first]!.command = `(${blocks[first]!.command})`.replaceAll(
      /\bforms(?= +#)/g,
      `${directory}/forms`,
    );
    for (const block of blocks.slice(first + 1))
      block.command = block.command
        .replaceAll('other.key', `${directory}/other.key`)
        .replaceAll('contact.form.tar.gz', `${directory}/contact.form.tar.gz`);
  }
  await add('docs/operating/README.md', 'run');
  const script = blocks.map(({ command }) => command).join(`\necho "${separator}"\n`);
  const { stdout } = await run('sh', ['-euc', script], {
    cwd: directory,
    env: { ...process.env, ...instance.environment },
    maxBuffer: 64 * 1024 * 1024,
  });
  const printed = stdout.split(separator).map((part) => part.trim());
  assert.equal(printed.length, blocks.length);
  const answers = (page: string): string[] => printed.filter((_, index) => blocks[index]!.page === page);

  const [, created, submitted, read, webhook, invited, forms] = answers('README.md');
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
  assert.match(webhook!, /hooks\.example\.com/);
  assert.match(invited!, /ada@example\.org[^]*^total +1$/m);
  assert.match(forms!, /forms create[^]*"status":"published"[^]*The shuttle is stuck/);
  for (const text of answers('docs/mcp.md')) assert.match(text, /fl_[\w-]{40,}[^]*fl_[\w-]{40,}/);

  const guide = (name: (typeof runGuides)[number]): string[] => answers(`docs/guides/${name}.md`);
  const [first, again] = guide('first-form');
  assert.match(first!, /"status":"published"/);
  assert.match(again!, /"submission_count":0/);
  const [sent, withFile, patched, lists, where, , stages, summary, compared, visits, byCursor] =
    guide('submissions');
  for (const text of [sent, withFile]) assert.match(text!, /"status":"completed"/);
  assert.match(patched!, /"photo":\[\{[^]*"filename":"photo\.txt"/);
  assert.match(stages!, /"In progress"/);
  assert.match(summary!, /"elements"/);
  assert.match(compared!, /"groups"/);
  assert.match(visits!, /"is_counting":true/);
  const [searched, asked, mistaken, sorted, views] = guide('search');
  for (const text of [lists, where, byCursor, searched, asked, mistaken, sorted])
    assert.match(text!, /The shuttle is stuck/);
  assert.match(mistaken!, /"to":"shuttle"/);
  assert.match(views!, /"name":"To finish"[^]*"data":\[\{[^]*"name":"To finish"/);
  assert.match(guide('errors')[0]!, /"error":"validation_error"/);
  assert.match(guide('limits')[0]!, /x-ratelimit-remaining: \d+/i);
  const [onlyOnce, late] = guide('idempotency-and-concurrency');
  assert.match(onlyOnce!, /idempotency-replayed: true/i);
  assert.match(late!, /etag: "[^]*"error":"precondition_failed"/i);
  if (!isSlice) {
    const [registered, tested, templated, shared, events] = guide('webhooks');
    assert.match(registered!, /"secret":"whsec_/);
    assert.match(tested!, /"submission\.created"/);
    assert.match(templated!, /"format":"template"/);
    assert.match(shared!, /"form_id":null[^]*"format":"slack"/);
    assert.match(events!, /"has_more":false/);
    const [converted, imported] = guide('importing');
    assert.match(converted!, /"mapped"[^]*"structure"/);
    assert.match(imported!, /From a file/);
    const [asCode, packed] = guide('forms-as-code');
    assert.match(asCode!, /unchanged/);
    assert.match(packed!, /"builder_url"/);
    const [health, , restored, ready, up] = answers('docs/operating/README.md');
    assert.match(health!, /^ok +sessions[^]*^ok +key/m);
    assert.match(restored!, /The whole backup can be restored\. The temporary database was deleted/);
    assert.equal(ready, '{"status":"ready"}');
    assert.match(up!, /^formloom_database_up 1$/m);
  }
  await until('the page', async () => (await fetch(form.public_url)).status === 200);

  const program = createServer((request, response) => void request.resume().on('end', () => response.end()));
  program.listen(0, '127.0.0.1');
  await once(program, 'listening');
  after(() => program.close());
  const [listen] = (await readCommands('README.md', 'listen')).map(direct).map(here);
  const hook = `127.0.0.1:${(program.address() as AddressInfo).port}`;
  // A reader leaves it running and stops it with Ctrl-C.
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
