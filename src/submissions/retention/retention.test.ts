import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deleteExpired } from '#app/server/delete-expired.ts';
import { leastIdAt, newId, now } from '#kit/clock.ts';
import { transaction } from '#kit/database.ts';
import { enqueueMails } from '#kit/outbox.ts';
import { element, structure } from '#test/ast/forms.ts';
import { signIn } from '#test/console.ts';
import { callApi, openService } from '#test/service.ts';
import { openScene, type Scene } from '#test/submissions/scene.ts';
import { openVisitor } from '#test/visitor.ts';
import { pruneDeliveryLog } from '#webhooks/upkeep.ts';
import { trashSubmission } from '../changes/trash.ts';
import { applyRetention } from './apply.ts';

const service = await openService();
const { database } = service.services;
const by = { kind: 'operator', id: '' } as const;
const elements = [element('text', 'name'), element('file_upload', 'photo')];
const dayMs = 86_400_000;

/** Backdates a submission by days; related rows follow its key. */
async function age(scene: Scene, id: string, days: number): Promise<string> {
  const at = new Date(now().getTime() - days * dayMs);
  const aged = leastIdAt(at).slice(0, 24) + id.slice(24);
  await transaction(database, async (client) => {
    await client.query('alter table submissions disable trigger all');
    await client.query('alter table search_documents disable trigger all');
    await client.query('alter table files disable trigger all');
    await client.query(
      `update submissions set id = $2, created_at = $3, updated_at = $3,
              completed_at = case when completed_at is not null then $3::timestamptz end,
              trashed_at = case when trashed_at is not null then $3::timestamptz end
        where workspace_id = $1 and id = $4`,
      [scene.workspaceId, aged, at, id],
    );
    for (const table of ['search_documents', 'files'])
      await client.query(`update ${table} set submission_id = $2 where submission_id = $1`, [id, aged]);
    for (const table of ['submissions', 'search_documents', 'files'])
      await client.query(`alter table ${table} enable trigger all`);
  });
  return aged;
}
const keep = (scene: Scene, of: 'workspaces' | 'forms', retention: object) =>
  database.query(`update ${of} set retention = $2 where id = $1`, [
    of === 'forms' ? scene.formId : scene.workspaceId,
    JSON.stringify(retention),
  ]);
const left = async (scene: Scene): Promise<string[]> =>
  (
    await database.query<{ id: string }>('select id from submissions where form_id = $1 order by id', [
      scene.formId,
    ])
  ).rows.map(({ id }) => id);

test('incomplete submissions are erased after 90 days by default, and nothing else is', async () => {
  const scene = await openScene(database, elements);
  const old = await age(scene, await scene.begin({ name: 'Old' }), 91);
  const young = await age(scene, await scene.begin({ name: 'Young' }), 89);
  const completed = await age(scene, await scene.submit({ name: 'Done' }), 2_000);
  await applyRetention(scene.context);
  assert.deepEqual((await left(scene)).sort(), [young, completed].sort());
  assert.ok(!(await left(scene)).includes(old));
  const { shown, found } = await scene.counts();
  assert.deepEqual(shown, found);
});

test('a workspace sets its retention, and a form can override it', async () => {
  const scene = await openScene(database, elements);
  const stays = await openScene(database, elements);
  for (const each of [scene, stays]) await keep(each, 'workspaces', { submissions: 30, incomplete: 5 });
  await keep(stays, 'forms', { submissions: 'forever', incomplete: 10 });
  await scene.listen();
  const created = await age(scene, await scene.submit({ name: 'Ada' }), 31);
  const kept = await age(scene, await scene.submit({ name: 'Grace' }), 29);
  await age(scene, await scene.begin({ name: 'Begun' }), 6);
  const there = await age(stays, await stays.submit({ name: 'Joan' }), 400);
  const begun = await age(stays, await stays.begin({ name: 'Jean' }), 6);
  await applyRetention(scene.context);
  assert.deepEqual(await left(scene), [kept]);
  assert.deepEqual(await left(stays), [there, begun]);
  const events = (await scene.events()).filter(({ submission_id }) => submission_id === created);
  assert.deepEqual(
    events.map(({ kind }) => kind),
    ['submission.deleted'],
  );
  assert.doesNotMatch(JSON.stringify(events), /Ada/);
  const { rows } = await database.query(
    `select operation, changes from audit_lines where workspace_id = $1 and actor_kind = 'service' order by id`,
    [scene.workspaceId],
  );
  assert.deepEqual(rows, [
    { operation: 'applyRetention', changes: { incomplete: { from: 1, to: 0 } } },
    { operation: 'applyRetention', changes: { submissions: { from: 1, to: 0 } } },
  ]);
});

test('the trash keeps submissions for its retention period', async () => {
  const scene = await openScene(database, elements);
  await keep(scene, 'forms', { trash: 3 });
  const ids = [];
  for (const days of [4, 2]) {
    const id = await scene.submit({ name: 'Ada' });
    await trashSubmission(database, { ...scene, id, by, unchanged: null });
    ids.push(await age(scene, id, days));
  }
  await applyRetention(scene.context);
  assert.deepEqual(await left(scene), [ids[1]]);
});

test('expired saved answers of an invited person are erased, and the invitation stays', async () => {
  const scene = await openScene(database, elements);
  const by = newId();
  await database.query(
    `with batch as (
       insert into invitation_batches (workspace_id, id, form_id, subject, message, remind_after_days, is_mailed, created_at)
       values ($1, $2, $3, '', '', '{}', false, now()) returning id)
     insert into invitations (workspace_id, id, form_id, batch_id, email, address_key, hash, name, reference, prefill, created_at, started_at)
     select $1, $2, $3, id, 'ada@example.org', 'ada@example.org', '\\x00', '', '{}', '{}', now(), now() from batch`,
    [scene.workspaceId, by, scene.formId],
  );
  const begun = await age(scene, await scene.begin({ name: 'Ada' }), 91);
  await database.query('update submissions set key = $2 where id = $1', [begun, by]);
  await applyRetention(scene.context);
  assert.deepEqual(await left(scene), []);
  assert.equal((await database.query('select from invitations where id = $1', [by])).rowCount, 1);
});

test('a form whose submissions cannot be erased does not block others, is named, and is retried', async () => {
  const scenes = [await openScene(database, elements), await openScene(database, elements)];
  for (const scene of scenes) await age(scene, await scene.begin({ name: 'Old' }), 91);
  const [broken, sound] = scenes as [Scene, Scene];
  await database.query(
    `create function refuse_to_go() returns trigger language plpgsql as 'begin raise exception ''stays''; end'`,
  );
  await database.query(
    `create trigger stays before delete on submissions for each row
       when (old.form_id = '${broken.formId}') execute function refuse_to_go()`,
  );
  await assert.rejects(applyRetention(sound.context), (error: unknown) => {
    assert.ok(error instanceof AggregateError);
    assert.match(error.message, new RegExp(`^1 failed: ${broken.formId}$`));
    return true;
  });
  assert.deepEqual([(await left(broken)).length, (await left(sound)).length], [1, 0]);
  await database.query('drop function refuse_to_go cascade');
  await applyRetention(sound.context);
  assert.deepEqual(await left(broken), []);
});

test('files are deleted before their submissions if a rule says so', async () => {
  const scene = await openScene(database, elements);
  await keep(scene, 'forms', { files: 7 });
  const photo = await scene.upload('photo', 'face.png');
  await scene.submit({ name: 'Ada' }, { files: new Map([['photo', [photo]]]) });
  await database.query('update files set created_at = $2 where id = $1', [
    photo.id,
    new Date(Date.now() - 8 * dayMs),
  ]);
  await applyRetention(scene.context);
  const { rows } = await database.query('select submission_id from files where id = $1', [photo.id]);
  // The sweep may already have run.
  assert.deepEqual(
    rows.filter(({ submission_id }) => submission_id !== null),
    [],
  );
  assert.equal((await left(scene)).length, 1);
});

test('emails and deliveries follow the retention rules', async () => {
  const scene = await openScene(database, elements);
  const usual = await openScene(database, elements);
  await keep(scene, 'forms', { mails: 5, deliveries: 5 });
  for (const each of [scene, usual]) {
    await transaction(database, (client) =>
      enqueueMails(client, each.context.vault, each, [
        {
          kind: 'notification',
          to: { address: 'team@example.org' },
          subject: 'New',
          letter: { heading: 'New', blocks: [], reason: 'You asked for it.' },
        },
      ]),
    );
    await database.query(
      `update mails set state = 'sent', created_at = now() - interval '6 days' where form_id = $1`,
      [each.formId],
    );
    await each.submit({ name: 'Ada' });
    await database.query(
      `insert into events (workspace_id, id, form_id, submission_id, kind, occurred_at, snapshot)
       select workspace_id, $2, form_id, submission_id, kind, occurred_at, snapshot from events where form_id = $1 limit 1`,
      [each.formId, leastIdAt(new Date(Date.now() - 6 * dayMs))],
    );
  }
  await deleteExpired(database, 'mails');
  await pruneDeliveryLog({ database }, { retentionDays: 30 });
  const count = async (table: string, { formId }: Scene) =>
    (await database.query(`select from ${table} where form_id = $1`, [formId])).rowCount;
  assert.deepEqual([await count('mails', scene), await count('mails', usual)], [0, 1]);
  assert.ok((await count('events', scene))! <= (await count('events', usual))!);
});

test('owners, admins and permitted keys can read, change and reset retention rules; invalid rules are rejected with their location', async () => {
  const owner = await signIn(service);
  const created = await owner.api<{ id: string }>('POST', '/forms', {
    structure: structure(...elements),
    publish: true,
  });
  type Told = {
    rules: { kind: string; days: unknown; said_by: string }[];
    audit_days: number;
    forms: { id: string }[];
  };
  const daysOf = ({ rules }: Told) =>
    Object.fromEntries(rules.map(({ kind, days, said_by }) => [kind, [days, said_by]]));
  const first = await owner.api<Told>('GET', '/retention');
  assert.deepEqual(daysOf(first.body), {
    submissions: ['forever', 'default'],
    incomplete: [90, 'default'],
    files: ['forever', 'default'],
    mails: [90, 'default'],
    deliveries: [30, 'operator'],
    trash: [30, 'default'],
  });
  const tag = first.headers.get('etag')!;
  const changed = await owner.api<Told>(
    'PATCH',
    '/retention',
    { submissions: 365, trash: 7, audit_days: 400 },
    { 'If-Match': tag },
  );
  assert.equal(changed.status, 200);
  assert.deepEqual([daysOf(changed.body)['submissions'], changed.body.audit_days], [[365, 'workspace'], 400]);
  assert.equal((await owner.api('PATCH', '/retention', { trash: 8 }, { 'If-Match': tag })).status, 412);
  const path = `/forms/${created.body.id}/retention`;
  const ofForm = await owner.api<Told>('PATCH', path, { submissions: 'forever' });
  assert.deepEqual(daysOf(ofForm.body)['submissions'], ['forever', 'form']);
  assert.deepEqual(daysOf(ofForm.body)['trash'], [7, 'workspace']);
  assert.deepEqual(
    (await owner.api<Told>('GET', '/retention')).body.forms.map(({ id }) => id),
    [created.body.id],
  );
  await owner.api('PATCH', path, { submissions: null });
  assert.deepEqual(daysOf((await owner.api<Told>('GET', path)).body)['submissions'], [365, 'workspace']);
  for (const wrong of [
    { trash: 'forever' },
    { trash: 366 },
    { submissions: 0 },
    { files: 1.5 },
    { nothing: 1 },
  ])
    assert.ok([400, 422].includes((await owner.api('PATCH', path, wrong)).status), JSON.stringify(wrong));
  const admin = await signIn(service, { workspaceId: owner.workspaceId, role: 'admin' });
  assert.equal((await admin.api('PATCH', '/retention', { audit_days: 30 })).status, 403);
  const editor = await signIn(service, { workspaceId: owner.workspaceId, role: 'editor' });
  assert.equal((await editor.api('PATCH', path, { submissions: 1 })).status, 403);
  const key = await owner.api<{ key: string }>('POST', '/keys', { name: 'Data' });
  assert.equal((await callApi(service.url, key.body.key, 'PATCH', path, { submissions: 1 })).status, 403);
  // A shorter retention erases data, so it requires the permission to erase.
  for (const [permission, status] of [
    ['workspace:write', 403],
    ['people:write', 200],
  ] as const) {
    const named = await owner.api<{ key: string }>('POST', '/keys', {
      name: permission,
      permissions: [permission],
    });
    for (const where of ['/retention', path])
      assert.equal(
        (await callApi(service.url, named.body.key, 'PATCH', where, { submissions: 400 })).status,
        status,
        `${permission} ${where}`,
      );
  }
});

test('a preview shows what is deleted and when, for current and proposed rules', async () => {
  const owner = await signIn(service);
  const created = await owner.api<{ id: string }>('POST', '/forms', {
    structure: structure(...elements),
    publish: true,
  });
  await openVisitor(service).submit(created.body.id, { name: 'Ada' });
  type Due = {
    kind: string;
    due_now: number;
    due_in_7_days: number;
    due_in_30_days: number;
    next_at: string | null;
  };
  const preview = async (body: object): Promise<Due> => {
    const answer = await owner.api<{ data: Due[] }>('POST', '/retention/preview', body);
    assert.equal(answer.status, 200);
    return answer.body.data.find(({ kind }) => kind === 'submissions')!;
  };
  const current = await preview({});
  assert.deepEqual([current.due_now, current.due_in_30_days, current.next_at], [0, 0, null]);
  const week = await preview({ submissions: 6 });
  assert.deepEqual([week.due_now, week.due_in_7_days, week.due_in_30_days], [0, 1, 1]);
  assert.ok(Math.abs(Date.parse(week.next_at!) - Date.now() - 6 * dayMs) < 60_000);
  const ofForm = await preview({ form_id: created.body.id, submissions: 20 });
  assert.deepEqual([ofForm.due_in_7_days, ofForm.due_in_30_days], [0, 1]);
  assert.equal((await owner.api('POST', '/retention/preview', { form_id: owner.workspaceId })).status, 404);
});
