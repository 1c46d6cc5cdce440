import assert from 'node:assert/strict';
import { writeFile, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import sharp from 'sharp';
import { sweepFiles } from '#files/sweep.ts';
import { runCommandLine } from '#app/cli/run-command-line.ts';
import { type ElementType, elements } from '#ast/elements.ts';
import { composite, element, structure } from '#ast/testing.ts';
import { type Form, kindOf, listQuestions } from '#ast/tree.ts';
import { holdOne } from '#test/one-of-each.ts';
import { openReceiver } from '#test/receiver.ts';
import { type Body, openService, type Tenant, type TestService, until } from '#test/service.ts';
import { openVisitor } from '#test/visitor.ts';
import { untilOneWaits, whileTableHeld } from '#test/while-held.ts';
import {
  closePacked,
  comparablePacked,
  openPacked,
  packWorkspaceOf,
  sendWorkspace,
  type WorkspaceImport,
  workspaceImportEnded,
} from '#test/workspace-file.ts';
import { sampleSubmission } from '#webhooks/samples/sample.ts';
import { createKey } from '#workspaces/keys.ts';
import { sweepParts } from './parts.ts';
import { workspaceLimits } from './limits.ts';

/* A workspace leaves one service as a file, and is the same at another. */

const here = await openService();
const there = await openService();
const from = await here.makeTenant();
const fromKey = await from.makeFullKey();
const receiver = await openReceiver();

const as = (key: string) => ({ Authorization: `Bearer ${key}` });
const callAs =
  (tenant: Tenant, key: string) =>
  async (method: string, path: string, body?: unknown): Promise<Body> => {
    const answer = await tenant.call(method, path, body, as(key));
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };

const pack = ({ url }: TestService, key: string): Promise<Buffer> => packWorkspaceOf({ url, key });
const send = ({ url }: TestService, key: string, bytes: Buffer): Promise<string> =>
  sendWorkspace({ url, key }, bytes);
const ended = ({ url }: TestService, key: string, id: string): Promise<WorkspaceImport> =>
  workspaceImportEnded({ url, key }, id);
const bring = async (service: TestService, key: string, bytes: Buffer): Promise<WorkspaceImport> =>
  ended(service, key, await send(service, key, bytes));

const everyType = (Object.keys(elements) as ElementType[]).map((type) =>
  type === 'composite'
    ? composite('group', [element('text', 'inner')], { repeatable: true })
    : element(type, `of_${type}`),
);
const photo = await sharp({ create: { width: 30, height: 20, channels: 3, background: '#0b6655' } })
  .png()
  .toBuffer();

/** Answers to every question, with files that were uploaded. */
async function answersTo(formId: string, form: Form, call: ReturnType<typeof callAs>): Promise<object> {
  const { answers } = sampleSubmission(form);
  for (const question of listQuestions(form)) {
    if (question.kind === 'group') continue;
    const { id } = question.element.attrs;
    const kind = kindOf(question.element);
    if (kind === 'consent') answers[id] = true;
    if (question.element.type === 'calculation') delete answers[id];
    if (kind === 'files') {
      const query = new URLSearchParams({ form_id: formId, element: id, filename: `${id}.png` });
      answers[id] = [(await call('POST', `/files?${query.toString()}`, photo)).id];
    }
  }
  return answers;
}

/** A workspace with a form of every type, published and answered in two versions, one that asks by invitation, and an archived one. */
async function makeRich(): Promise<string> {
  const call = callAs(from, fromKey);
  const logo = (await call('POST', '/images', photo)).id;
  const whole = JSON.parse(
    JSON.stringify(structure(...everyType)).replaceAll('00000000-0000-7000-8000-000000000000', logo),
  ) as ReturnType<typeof structure>;
  const settings = { theme: { logo }, language: 'german' };
  const { id } = await call('POST', '/forms', { structure: whole, settings, publish: true });
  const first = await call('POST', `/forms/${id}/submissions`, {
    answers: await answersTo(id, whole as unknown as Form, call),
    reference: { of_hidden: 'newsletter', campaign: 'spring' },
  });
  await call('PUT', `/forms/${id}`, {
    structure: { ...whole, attrs: { name: 'Everything' } },
  });
  for (let index = 0; index < 5; index += 1)
    await call('POST', `/forms/${id}/submissions`, {
      answers: { ...(await answersTo(id, whole as unknown as Form, call)), of_text: `Apfelbäume ${index}` },
    });
  const { data } = await call('GET', `/forms/${id}/submissions`);
  await call('PATCH', `/submissions/${first.id}`, { tags: ['call back'], answers: { of_text: 'Birnen' } });
  await call('POST', `/submissions/${first.id}/notes`, { text: 'Called on Monday.' });
  await call('DELETE', `/submissions/${data[0]!.id}`);
  await call('POST', `/forms/${id}/views`, { name: 'Pears', query: { tag: 'call back' }, columns: null });
  await call('POST', `/forms/${id}/webhooks`, {
    url: receiver.url,
    events: ['submission.created'],
    secret: 'generate',
  });
  await call('PATCH', `/forms/${id}/retention`, { submissions: 900 });
  await call('PUT', `/forms/${id}/draft`, { structure: { ...whole, attrs: { name: 'Soon' } }, settings });
  const asking = await call('POST', '/forms', {
    structure: structure(element('text', 'a')),
    settings: { access: 'invited' },
    publish: true,
  });
  const invitations = ['ada@example.org', 'bob@example.org'].map((email) => ({ email, name: 'Somebody' }));
  await call('POST', `/forms/${asking.id}/invitations`, { invitations, send: false });
  const links = await fetch(`${here.url}/api/v1/forms/${asking.id}/invitations/export`, {
    headers: as(fromKey),
  });
  const [link] = /http\S+?_invitation=[\w-]+/.exec(await links.text()) ?? [];
  const answered = await openVisitor(here).submit(asking.id, { a: 'By invitation' }, new URL(link!).search);
  assert.equal(answered.status, 201, answered.text);
  const old = await call('POST', '/forms', { structure: structure(element('text', 'a')), publish: true });
  await holdOne(here, old.id);
  await call('POST', `/forms/${old.id}/archive`);
  await here.services.database.query(
    `insert into unsubscribed_addresses (workspace_id, address_key, created_at) values ($1, repeat('ab', 32), now())`,
    [from.workspaceId],
  );
  await here.services.database.query(
    `insert into visit_counts (workspace_id, form_id, day, kind, name, count) values ($1, $2, '2026-03-01', 'viewed', '', 7)
     on conflict do nothing`,
    [from.workspaceId, id],
  );
  return id;
}
const rich = await makeRich();
const packed = await pack(here, fromKey);

/** What a webhook lacks that had a secret there. */
const paused = (entries: unknown): unknown =>
  JSON.parse(
    JSON.stringify(entries)
      .replaceAll('\\"active\\":true', '\\"active\\":false')
      .replaceAll('\\"has_secret\\":true', '\\"has_secret\\":false'),
  );

test('a workspace with a form of every element type is the same at another service under other ids, and found and counted alike', async () => {
  const to = await there.makeTenant();
  const key = await to.makeFullKey();
  const call = callAs(to, key);
  const done = await bring(there, key, packed);
  assert.equal(done.state, 'done', String(done.problem));
  const { submissions, held, forms, invitations, views, files } = done.made;
  assert.deepEqual(
    { submissions, held, forms, invitations, views },
    { submissions: 7, held: 1, forms: 3, invitations: 2, views: 1 },
  );
  assert.ok(files! > 10);
  assert.deepEqual(await comparablePacked(await pack(there, key)), paused(await comparablePacked(packed)));
  const { data } = await call('GET', '/forms');
  assert.deepEqual(
    data.map(({ name, status, submission_count }) => ({ name, status, submission_count })),
    (await callAs(from, fromKey)('GET', '/forms')).data.map(({ name, status, submission_count }) => ({
      name,
      status,
      submission_count,
    })),
  );
  assert.ok(data.every(({ id }) => id !== rich));
  const found = async (words: string) =>
    (await call('GET', `/submissions/search?q=${encodeURIComponent(words)}`)).pagination.total_count;
  // Stemmed by the language of the form; one of five lies in the trash.
  assert.deepEqual([await found('apfelbaum'), await found('birnen')], [4, 1]);
  const [submission] = (await call('GET', '/submissions/search?q=birnen')).data;
  const [file] = submission!.answers['of_file_upload'] as { url: string }[];
  const download = await fetch(file!.url);
  assert.deepEqual(Buffer.from(await download.arrayBuffer()), photo);
});

test('it can be brought beside itself, as ids are new', async () => {
  const done = await bring(here, fromKey, packed);
  assert.equal(done.state, 'done', String(done.problem));
  const { data } = await callAs(from, fromKey)('GET', '/forms');
  assert.equal(data.length, 6);
  for (const { id } of data.slice(0, 3)) await callAs(from, fromKey)('DELETE', `/forms/${id}`);
});

test('no secret, no password, no member and no key is in a file', () => {
  const text = gunzipSync(packed).toString('latin1');
  assert.doesNotMatch(text, /whsec_|password_hash|scrypt|flk_|address_hash/);
});

test('a workspace is packed twice at once, beside its exports: a third is asked to come again', async () => {
  const owner = await there.makeTenant();
  const key = await owner.makeFullKey();
  // More than the sockets between here and there hold, so that a file that nobody reads stays under way.
  const { id } = (
    await owner.call('POST', '/forms', { structure: structure(element('textarea', 'a')), publish: true })
  ).body;
  await there.services.database.query(
    `insert into submissions (workspace_id, id, form_id, version, status, answers, reference, has_files, created_at, updated_at, completed_at)
     select workspace_id, gen_random_uuid(), id, version, 'completed',
            json_build_object('a', (select string_agg(md5(random()::text), '') from generate_series(1, 1000) where n > 0)), '{}', false, now(), now(), now()
     from forms, generate_series(1, 600) n where id = $1`,
    [id],
  );
  const begin = (): Promise<Response> => fetch(`${there.url}/api/v1/workspace/package`, { headers: as(key) });
  const [first, second] = [await begin(), await begin()];
  assert.deepEqual([first.status, second.status], [200, 200]);
  const third = await begin();
  assert.deepEqual([third.status, third.headers.get('retry-after')], [429, '10']);
  await first.body!.cancel();
  await until('a place to be free', async () => {
    const again = await begin();
    await again.body!.cancel();
    return again.status === 200;
  });
  await second.body!.cancel();
});

test('to pack a workspace and to bring one are permissions that are given by name, and only the command line of the machine keeps ids', async () => {
  const data = await from.call('GET', '/workspace/package');
  assert.deepEqual([data.status, /everything:read/.test(data.body.message)], [403, true]);
  assert.equal((await from.call('POST', '/workspace/imports', {})).status, 403);
  const kept = await from.call('POST', '/workspace/imports', { ids: 'keep' }, as(fromKey));
  assert.match(kept.body.message, /Only the command line/);
  const { key: limited } = await createKey(here.services.database, {
    workspaceId: from.workspaceId,
    name: 'Of one form',
    permissions: ['everything:read'],
    formIds: [rich],
  });
  assert.equal((await from.call('GET', '/workspace/package', undefined, as(limited))).status, 403);
});

/** How much of a workspace there is anywhere, also hidden. */
async function remains(workspaceId: string): Promise<object> {
  const { rows } = await there.services.database.query<object>(
    `select (select count(*)::int from forms where workspace_id = $1) as forms,
            (select count(*)::int from submissions where workspace_id = $1) as submissions,
            (select count(*)::int from files where workspace_id = $1) as files,
            (select count(*)::int from events where workspace_id = $1) as events`,
    [workspaceId],
  );
  return rows[0]!;
}

test('what is no file of a workspace, is cut off, was changed or is of a newer format is refused in words, and nothing of it stays', async () => {
  const entries = await openPacked(packed);
  const changed = (name: string, change: (text: string) => string) =>
    closePacked(
      new Map(
        [...entries].map(([each, content]) => [each, each === name ? change(String(content)) : content]),
      ),
    );
  const without = (find: RegExp) => closePacked(new Map([...entries].filter(([name]) => !find.test(name))));
  const named = (find: RegExp): string => [...entries.keys()].find((name) => find.test(name))!;
  const submissions = named(/submissions\/000001\.ndjson$/);
  const manyVersions = ([name, content]: [string, string | Buffer]): [string, string | Buffer][] => [
    [name, content],
    ...Array.from({ length: name.endsWith('/form.json') ? 1_501 : 0 }, (_, index): [string, string] => [
      name.replace('form.json', `versions/x${index}.json`),
      '',
    ]),
  ];
  const refusals: [bytes: Buffer, why: RegExp][] = [
    [Buffer.from('no package'), /no package of a workspace/],
    [packed.subarray(0, packed.length / 2), /cut off or damaged/],
    [await without(/^ending/), /its end is missing/],
    [await without(/\/files\//), /it has 0 of \d+ files/],
    [await changed('workspace.json', (text) => text.replace(':1', ':2')), /format 2, which a newer version/],
    [
      await changed(submissions, (text) => text.replace('"status" : "completed"', '"status" : "gone"')),
      /submissions\/000001\.ndjson, line \d+,/,
    ],
    [
      await changed(submissions, (text) => text.replace('"version" : 1', '"version" : 9')),
      /answers version 9/,
    ],
    [
      await changed(submissions, (text) => text.replace(/"of_number":[-\d.]+/, '"of_number":"many"')),
      /"of_number" .* kind/,
    ],
    [await changed(submissions, (text) => text.replace('Birnen', 'B\\u0000')), /NUL/],
    // Some KB that would be millions of lines, and of entries.
    [await changed(submissions, (text) => text + '\n'.repeat(10_000)), /more than 500 lines/],
    [await closePacked(new Map([...entries].flatMap(manyVersions))), /more than 1000 versions/],
  ];
  for (const [bytes, why] of refusals) {
    const to = await there.makeTenant();
    const key = await to.makeFullKey();
    const failed = await bring(there, key, bytes);
    assert.deepEqual([failed.state, why.test(failed.problem!)], ['failed', true], String(failed.problem));
    assert.deepEqual((await callAs(to, key)('GET', '/forms')).data, []);
    await until('all that was made of it to be gone', async () => {
      await sweepFiles(there.services);
      await there.services.database.query(`update jobs set run_at = now() where workspace_id = $1`, [
        to.workspaceId,
      ]);
      there.services.wakeQueue();
      const {
        forms,
        submissions: left,
        files,
        events,
      } = (await remains(to.workspaceId)) as Record<string, number>;
      return forms === 0 && left === 0 && files === 0 && events === 0;
    });
  }
  // The service sweeps too, which may have been before.
  await sweepParts(there.services);
  const left = `select from workspace_import_parts p join workspace_imports i on i.workspace_id = p.workspace_id and i.id = p.import_id
     where i.state = 'failed'`;
  assert.equal((await there.services.database.query(left)).rowCount, 0);
  assert.equal(await sweepParts(there.services), 0);
});

test('an import that is killed at any of its steps goes on where it was, to the same end', async () => {
  const { database } = there.services;
  const to = await there.makeTenant();
  const key = await to.makeFullKey();
  // In the order in which they are written, with what its statement has among its first 1,024 bytes, which are shown.
  const tables = {
    form_versions: 'insert into form_versions ',
    submission_notes: 'with segment as (',
    files: 'insert into files ',
    saved_views: 'insert into saved_views ',
    invitations: 'insert into invitations ',
    held_submissions: 'insert into held_submissions ',
    unsubscribed_addresses: 'insert into unsubscribed_addresses ',
  };
  let id: string | undefined;
  for (const [table, part] of Object.entries(tables)) {
    await whileTableHeld(database, table, async () => {
      id ??= await send(there, key, packed);
      // It and nobody else: what is removed of an import that failed may wait here too.
      const pid = await untilOneWaits(database, part, async () => {
        await database.query(`update jobs set run_at = least(run_at, now()) where kind = 'workspace.import'`);
        there.services.wakeQueue();
      });
      assert.equal((await to.call('POST', '/workspace/imports', {}, as(key))).status, 409);
      await database.query('select pg_terminate_backend($1)', [pid]);
    });
    assert.deepEqual((await callAs(to, key)('GET', '/forms')).data, [], 'nobody finds half of it');
  }
  await database.query(`update jobs set run_at = now() where kind = 'workspace.import'`);
  there.services.wakeQueue();
  const done = await ended(there, key, id!);
  assert.equal(done.state, 'done', String(done.problem));
  assert.deepEqual(await comparablePacked(await pack(there, key)), paused(await comparablePacked(packed)));
});

test('parts may come twice and in any order, one that is missing is named, and whoever begins again gives up what had not come', async () => {
  const to = await there.makeTenant();
  const key = await to.makeFullKey();
  const given = await to.call('POST', '/workspace/imports', {}, as(key));
  const begun = await to.call('POST', '/workspace/imports', {}, as(key));
  assert.equal(begun.status, 201);
  const before = await to.call('GET', `/workspace/imports/${given.body.id}`, undefined, as(key));
  assert.match((before.body as WorkspaceImport).problem!, /Another import was begun/);
  const path = `/workspace/imports/${begun.body.id}`;
  const add = (number: number, bytes: Buffer) =>
    fetch(`${there.url}/api/v1${path}/parts/${number}`, {
      method: 'PUT',
      headers: { ...as(key), 'Content-Type': 'application/octet-stream' },
      body: new Uint8Array(bytes),
    });
  const half = Math.ceil(packed.length / 2);
  assert.equal((await add(2, packed.subarray(half))).status, 200);
  const early = await to.call('POST', `${path}/start`, undefined, as(key));
  assert.deepEqual([early.status, early.body.message], [409, 'Part 1 of the file has not come.']);
  assert.equal((await add(1, Buffer.from('torn'))).status, 200);
  assert.equal((await add(1, packed.subarray(0, half))).status, 200);
  assert.equal((await add(3, Buffer.alloc(workspaceLimits.partBytes + 1))).status, 413);
  assert.equal((await to.call('POST', `${path}/start`, undefined, as(key))).status, 202);
  assert.equal((await ended(there, key, begun.body.id)).state, 'done');
  assert.equal((await add(1, Buffer.from('late'))).status, 409);
});

test('the command line of the machine keeps ids, and says what was made', async () => {
  const to = await there.makeTenant();
  const file = join(await mkdtemp(join(tmpdir(), 'formloom-workspace-')), 'all.tar.gz');
  const run = async (...given: string[]) => {
    const said: string[] = [];
    const code = await runCommandLine([...given, '--workspace', to.workspaceId, '--json'], {
      environment: there.environment,
      print: (text) => void said.push(String(text)),
      complain: (text) => void said.push(text),
    });
    return { code, said: said.join('') };
  };
  await writeFile(file, packed);
  const { code, said } = await run('workspace', 'unpack', file, '--ids', 'keep');
  assert.equal(code, 0, said);
  assert.equal((JSON.parse(said) as WorkspaceImport).made['submissions'], 7);
  const key = await to.makeFullKey();
  assert.deepEqual(
    (await callAs(to, key)('GET', `/forms/${rich}/submissions`)).data.map(({ id }) => id),
    (await callAs(from, fromKey)('GET', `/forms/${rich}/submissions`)).data.map(({ id }) => id),
  );
  const again = await run('workspace', 'unpack', file, '--ids', 'keep');
  assert.equal(again.code, 1);
  assert.match(again.said, /is a form or a webhook with an id of this file here already/);
  assert.equal((await callAs(to, key)('GET', '/forms')).data.length, 3);
});
