import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '#kit/clock.ts';
import { element } from '#test/ast/forms.ts';
import { signIn } from '#test/console.ts';
import { openInvitations } from '#test/invitations/open-invitations.ts';
import { openMailServer } from '#test/mail-server.ts';
import { openService, type Tenant, until } from '#test/service.ts';
import { makeForm } from '#test/visitor.ts';
import { sendDueReminders } from './remind.ts';

test('invitations have a daily limit per person and per workspace, and parallel requests cannot exceed it', async () => {
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
    /^You can send up to 3 invitations and reminders a day\. Try again in [\d,]+ seconds\./,
  );
  assert.equal(refused.headers.get('retry-after'), String(refused.body['retry_after']));

  assert.equal((await ask(grace)).status, 201);
  const key = await invite(['key-1@example.org', 'key-2@example.org']);
  assert.equal(key.status, 429, 'six in all');
  assert.match(
    (key.body as unknown as { message: string }).message,
    /^A workspace can send up to 5 invitations/,
  );
  assert.equal((await invite(['key-1@example.org'])).status, 201);

  await service.services.database.query(
    `update invitation_batches set created_at = now() - interval '25 hours' where workspace_id = $1`,
    [workspaceId],
  );
  assert.equal((await ask(ada)).status, 201);
});

// Sent emails are counted, regardless of the history of the invitations.

const server = await openMailServer();
const mailed = await openService({
  SMTP_URL: server.url,
  MAIL_FROM: 'Forms <forms@formloom.test>',
  MAIL_PER_MINUTE: '60000',
  INVITATIONS_PER_PERSON: '3',
  INVITATIONS_PER_WORKSPACE: '5',
});
const { services } = mailed;

/** Inserts invitations that were emailed ten days ago with SQL, as an import or a backup could. */
async function stageOld(tenant: Tenant, people: number, createdBy: string | null = null) {
  const form = await makeForm(tenant, [element('text', 'a')]);
  const batchId = newId();
  const emails = Array.from({ length: people }, () => `old-${newId()}@example.org`);
  await services.database.query(
    `with task as (
       insert into tasks (workspace_id, id, form_id, kind, through, total, done, created_at, finished_at)
       values ($1, $2, $3, 'invitations.send', 'cli', $4, $4, now() - interval '10 days', now()))
     insert into invitation_batches (workspace_id, id, form_id, subject, message, reminder_subject, remind_after_days,
                                     is_mailed, created_by, created_at)
     values ($1, $2, $3, 'Hello', 'Hello', 'You have won', '{12}', true, $5, now() - interval '10 days')`,
    [tenant.workspaceId, batchId, form.id, people, createdBy],
  );
  await services.database.query(
    `insert into invitations (workspace_id, id, form_id, batch_id, hash, email, address_key, name, reference, prefill, created_at, sent_at)
     select $1, id, $2, $3, sha256(convert_to(email, 'UTF8')), email, email, '', '{}', '{}', now() - interval '10 days', now() - interval '10 days'
       from unnest($4::uuid[], $5::text[]) as given (id, email)`,
    [tenant.workspaceId, form.id, batchId, emails.map(() => newId()), emails],
  );
  const { path, list } = openInvitations(mailed, tenant, form.id);
  const ids = (await list('?per_page=100')).data.map(({ id }) => id);
  return { form, path, ids, emails };
}

const takenOf = (emails: readonly string[]): number =>
  server.taken.filter(({ to }) => to.some((address) => emails.includes(address))).length;

test('reminders count as emails of today, also for old invitations', async () => {
  const tenant = await mailed.makeTenant();
  const { path, ids, emails } = await stageOld(tenant, 20);
  const remind = (body: object) => tenant.call('POST', `${path}/reminders`, body);
  const all = await remind({});
  assert.equal(all.status, 429);
  assert.match(
    (all.body as unknown as { message: string }).message,
    /^A workspace can send up to 5 invitations and reminders a day\./,
  );
  assert.equal((await remind({ ids: ids.slice(0, 3) })).status, 200);
  assert.equal((await remind({ ids: ids.slice(3, 6) })).status, 429);
  assert.equal((await remind({ ids: ids.slice(3, 5) })).status, 200);
  assert.equal((await tenant.call('POST', `${path}/${ids[7]}/resend`)).status, 429);
  assert.equal(
    (await tenant.call('POST', path, { invitations: [{ email: 'new@example.org' }] })).status,
    429,
  );
  await until('five mails', async () => takenOf(emails) === 5);
});

test('each repeated email of an invitation is counted', async () => {
  const tenant = await mailed.makeTenant();
  const { path, ids } = await stageOld(tenant, 1);
  const statuses: number[] = [];
  for (let time = 0; time < 7; time += 1)
    statuses.push((await tenant.call('POST', `${path}/${ids[0]}/resend`)).status);
  assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429, 429]);
});

test('scheduled reminders beyond the limit wait, and the email log says why', async () => {
  const tenant = await mailed.makeTenant();
  const { emails, form } = await stageOld(tenant, 8);
  await services.database.query('update invitations set remind_at = now() where form_id = $1', [form.id]);
  await sendDueReminders(services);
  await until('three mails that wait', async () => {
    const { rows } = await services.database.query<{ error: string }>(
      `select error from mails where form_id = $1 and state = 'queued' and error is not null`,
      [form.id],
    );
    return rows.length === 3 && rows.every(({ error }) => error.includes('INVITATIONS_PER_WORKSPACE'));
  });
  assert.equal(takenOf(emails), 5);
});

test('deleting a form does not restore any of the limit', async () => {
  const tenant = await mailed.makeTenant();
  const { path, form, ids, emails } = await stageOld(tenant, 5);
  assert.equal((await tenant.call('POST', `${path}/reminders`, {})).status, 200);
  await until('five mails', async () => takenOf(emails) === 5);
  assert.equal(ids.length, 5);
  await tenant.call('DELETE', `/forms/${form.id}`);
  await until('the form to be gone', async () => {
    const { rows } = await services.database.query('select from forms where id = $1', [form.id]);
    return rows.length === 0;
  });
  const next = await stageOld(tenant, 1);
  assert.equal((await tenant.call('POST', `${next.path}/reminders`, {})).status, 429);
});

test('the limit of a person covers all of their workspaces and their API keys', async () => {
  const [one, two] = [await mailed.makeTenant(), await mailed.makeTenant()];
  const ada = await signIn(mailed, { workspaceId: one.workspaceId });
  await services.database.query(
    `insert into members (workspace_id, user_id, role, created_at)
     select $2, user_id, role, now() from members where workspace_id = $1 and user_id = $3`,
    [one.workspaceId, two.workspaceId, ada.userId],
  );
  const [first, second] = [await stageOld(one, 3), await stageOld(two, 2)];
  assert.equal((await ada.api('POST', `${first.path}/reminders`, {})).status, 200);
  const inSecond = await signIn(mailed, { workspaceId: two.workspaceId });
  await services.database.query('update api_keys set created_by = $2 where workspace_id = $1', [
    two.workspaceId,
    ada.userId,
  ]);
  const refused = await two.call('POST', `${second.path}/reminders`, {});
  assert.equal(refused.status, 429);
  assert.match(
    (refused.body as unknown as { message: string }).message,
    /^You can send up to 3 invitations and reminders/,
  );
  assert.equal((await inSecond.api('POST', `${second.path}/reminders`, {})).status, 200);
});
