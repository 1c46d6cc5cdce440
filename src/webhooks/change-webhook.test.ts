import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '#kit/clock.ts';
import { ApiError, type ErrorCode } from '#kit/errors.ts';
import { openVault } from '#kit/vault.ts';
import { testDatabase } from '#test/database.ts';
import { happen, listWebhooks, makeForm, makeWebhook, type Place } from '#test/webhooks/make-webhook.ts';
import { changeWebhook, type WebhookUpdate } from './change-webhook.ts';

const { database } = await testDatabase();
const vault = openVault('00'.repeat(32));
const config = { webhookAllowNetworks: [], publicUrl: 'https://forms.test' };
const url = 'https://93.184.215.14/hook';
const own = 'a secret of my own';

type Scene = Place & { webhookId: string };
async function setScene(
  plan: Parameters<typeof makeForm>[1] = 'pro',
  secret: Buffer | null = null,
): Promise<Scene> {
  const place = await makeForm(database, plan);
  return { ...place, webhookId: await makeWebhook(database, place, { url, secret }) };
}

const change = (scene: Scene, more: Partial<WebhookUpdate>): Promise<{ secret?: string }> =>
  changeWebhook(
    { database, vault, config },
    { workspaceId: scene.workspaceId, webhookId: scene.webhookId, ...more },
  );

const read = async (scene: Scene) => {
  const [webhook] = await listWebhooks(database, scene);
  const { rows } = await database.query('select secret from webhooks where id = $1', [scene.webhookId]);
  return { ...webhook!, secret: rows[0].secret && vault.unseal('webhook secrets', rows[0].secret) };
};

const rejects = (work: Promise<unknown>, code: ErrorCode, ...fields: string[]): Promise<void> =>
  assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof ApiError, String(error));
    assert.equal(error.code, code);
    assert.deepEqual(error.errors?.map(({ field }) => field) ?? [], fields);
    return true;
  });

test('a change updates the named properties and keeps the rest', async () => {
  const scene = await setScene('pro', vault.seal('webhook secrets', own));
  const before = await read(scene);
  assert.deepEqual(await change(scene, { url: `${url}/2` }), {});
  assert.deepEqual(await read(scene), { ...before, url: `${url}/2` });
  await change(scene, { events: ['submission.deleted', 'submission.created'] });
  assert.deepEqual((await read(scene)).events, ['submission.created', 'submission.deleted']);
  await change(scene, { active: false });
  assert.deepEqual(await read(scene), {
    ...(await read(scene)),
    active: false,
    secret: own,
    url: `${url}/2`,
  });
});

test('a filter can be changed, kept and removed, and a changed filter is validated again', async () => {
  const scene = await setScene();
  const filter = { element: 'name', is: 'equals', value: 'Ada' };
  await change(scene, { filter, pausesOnFailure: false });
  await change(scene, { url: `${url}/2` });
  assert.deepEqual(await read(scene), { ...(await read(scene)), filter, pauses_on_failure: false });
  await rejects(change(scene, { filter: { ...filter, element: 'gone' } }), 'validation_error', 'filter');
  assert.equal(await happen(database, scene, { answers: { name: 'Grace' } }), 0);
  await change(scene, { filter: null, pausesOnFailure: true });
  assert.deepEqual(await read(scene), { ...(await read(scene)), filter: null, pauses_on_failure: true });
  assert.equal(await happen(database, scene, { answers: { name: 'Grace' } }), 1);
});

test('a secret is replaced and shown once, and `null` removes it', async () => {
  const scene = await setScene();
  const { secret } = await change(scene, { secret: 'generate' });
  assert.match(secret!, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.equal((await read(scene)).secret, secret);
  assert.deepEqual(await change(scene, { secret: own }), { secret: own });
  assert.equal((await read(scene)).secret, own);
  assert.deepEqual(await change(scene, { secret: null }), {});
  assert.equal((await read(scene)).has_secret, false);
});

test('on the free plan a new secret is refused, and an existing one can be removed', async () => {
  const scene = await setScene('free', vault.seal('webhook secrets', own));
  await rejects(change(scene, { secret: 'generate' }), 'validation_error', 'secret');
  await rejects(change(scene, { secret: 'another of my own' }), 'validation_error', 'secret');
  assert.equal((await read(scene)).secret, own);
  await change(scene, { secret: null });
  assert.equal((await read(scene)).secret, null);
});

const refusals: Readonly<Record<string, [change: Partial<WebhookUpdate>, field: string]>> = {
  'plain HTTP': [{ url: 'http://93.184.215.14/' }, 'url'],
  'a private address': [{ url: 'https://10.0.0.1/' }, 'url'],
  'the service itself': [{ url: 'https://forms.test/hook' }, 'url'],
  'no event': [{ events: [] }, 'events'],
  'an unknown event': [{ events: ['submission.read'] }, 'events'],
  'a short secret': [{ secret: 'short' }, 'secret'],
  'an empty secret': [{ secret: '' }, 'secret'],
};
for (const [what, [changes, field]] of Object.entries(refusals)) {
  test(`a change to ${what} is refused and changes nothing`, async () => {
    const scene = await setScene();
    const before = await read(scene);
    await rejects(change(scene, { active: false, ...changes }), 'validation_error', field);
    assert.deepEqual(await read(scene), before);
  });
}

test('a paused webhook receives no events, and a resumed one receives later events', async () => {
  const scene = await setScene();
  await change(scene, { active: false });
  assert.equal(await happen(database, scene), 0);
  await change(scene, { active: true });
  assert.equal(await happen(database, scene), 1);
});

test('a webhook of another workspace or a deleted form is not found, nor is an unknown one', async () => {
  const scene = await setScene();
  const other = await setScene();
  await rejects(change({ ...scene, workspaceId: other.workspaceId }, { active: false }), 'not_found');
  await rejects(change({ ...scene, webhookId: newId() }, { active: false }), 'not_found');
  await database.query('update forms set deleted_at = now() where id = $1', [scene.formId]);
  await rejects(change(scene, { active: false }), 'not_found');
});

test('a new secret leaves the previous one valid for a day, unless the overlap is turned off', async () => {
  const scene = await setScene('pro', vault.seal('webhook secrets', own));
  const previous = async () => {
    const { rows } = await database.query(
      'select previous_secret as sealed, extract(epoch from previous_secret_until - now())::integer as left from webhooks where id = $1',
      [scene.webhookId],
    );
    const { sealed, left } = rows[0];
    return { secret: sealed && vault.unseal('webhook secrets', sealed), left };
  };
  const { secret } = await change(scene, { secret: 'generate' });
  const first = await previous();
  assert.equal(first.secret, own);
  assert.ok(first.left > 86_390 && first.left <= 86_400);
  await change(scene, { url: `${url}/3` });
  assert.equal((await previous()).secret, own);
  await change(scene, { secret: 'a third secret of mine' });
  assert.equal((await previous()).secret, secret);
  await change(scene, { secret: 'a fourth secret of mine', overlap: false });
  assert.deepEqual(await previous(), { secret: null, left: null });
  await change(scene, { secret: null });
  assert.deepEqual(await previous(), { secret: null, left: null });
});

test('headers are sealed, keep their values, and are not sent to another host', async () => {
  const scene = await setScene();
  const stored = async (): Promise<Record<string, string> | null> => {
    const { rows } = await database.query('select headers from webhooks where id = $1', [scene.webhookId]);
    return rows[0].headers && JSON.parse(vault.unseal('webhook headers', rows[0].headers));
  };
  await change(scene, { headers: [{ name: 'Authorization', value: 'Bearer 1' }] });
  await change(scene, {
    headers: [
      { name: 'authorization', value: null },
      { name: 'X-Team', value: 'forms' },
    ],
  });
  assert.deepEqual(await stored(), { authorization: 'Bearer 1', 'X-Team': 'forms' });
  assert.deepEqual((await read(scene)).header_names, ['authorization', 'X-Team']);
  await change(scene, { url: `${url}/other-path` });
  const elsewhere = 'https://93.184.215.15/hook';
  await rejects(change(scene, { url: elsewhere }), 'validation_error', 'headers');
  await change(scene, { url: elsewhere, headers: [{ name: 'X-Team', value: 'again' }] });
  assert.deepEqual(await stored(), { 'X-Team': 'again' });
  await database.query('update webhooks set headers = $2 where id = $1', [
    scene.webhookId,
    openVault('11'.repeat(32)).seal('webhook headers', '{"X-Team":"of a key that was replaced"}'),
  ]);
  await rejects(change(scene, { headers: [{ name: 'X-Team', value: null }] }), 'validation_error', 'headers');
  await change(scene, { headers: [] });
  assert.equal(await stored(), null);
});
