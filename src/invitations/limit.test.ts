import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element } from '#ast/testing.ts';
import { signIn } from '#test/console.ts';
import { openService } from '#test/service.ts';
import { makeForm } from '#test/visitor.ts';
import { openInvitations } from './testing.ts';

test('one person and one workspace invite so many a day; of many requests at once no more get through', async () => {
  const service = await openService({ INVITATIONS_PER_PERSON: '3', INVITATIONS_PER_WORKSPACE: '5' });
  const tenant = await service.makeTenant();
  const form = await makeForm(tenant, [element('text', 'a')]);
  const { path, invite } = openInvitations(service, tenant, form.id);
  const { workspaceId } = tenant;
  const [ada, grace] = [await signIn(service, { workspaceId }), await signIn(service, { workspaceId })];
  let people = 0;
  const ask = async (person: typeof ada) =>
    person.api('POST', path, { invitations: [{ email: `person-${(people += 1)}@example.org` }] });

  const many = await Promise.all(Array.from({ length: 10 }, () => ask(ada)));
  assert.equal(many.filter(({ status }) => status === 201).length, 3);
  const refused = many.find(({ status }) => status === 429)!;
  assert.match(
    refused.body.message,
    /^You may invite 3 people to forms within a day\. Try again in \d+ seconds\./,
  );
  assert.equal(refused.headers.get('retry-after'), String(refused.body['retry_after']));

  assert.equal((await ask(grace)).status, 201);
  const key = await invite(['key-1@example.org', 'key-2@example.org']);
  assert.equal(key.status, 429, 'six in all');
  assert.match((key.body as unknown as { message: string }).message, /^A workspace may invite 5 people/);
  assert.equal((await invite(['key-1@example.org'])).status, 201);

  await service.services.database.query(
    `update invitation_batches set created_at = now() - interval '25 hours' where workspace_id = $1`,
    [workspaceId],
  );
  assert.equal((await ask(ada)).status, 201);
});
