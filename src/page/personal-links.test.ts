import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unsubscribeUrl } from '#invitations/admission.ts';
import { transaction } from '#kit/database.ts';
import { element } from '#test/ast/forms.ts';
import { openInvitations, queryOf } from '#test/invitations/open-invitations.ts';
import { shareService, type Tenant } from '#test/service.ts';
import { makeForm, openVisitor } from '#test/visitor.ts';

// An attacker knows an ID of the victim and puts a row with this ID into their own workspace. The token that
// this workspace shows the attacker must open nothing of the victim.

const service = await shareService();
const [victim, attacker] = [await service.makeTenant(), await service.makeTenant()];
const visitor = openVisitor(service);
const questions = [element('text', 'city')];

async function stage(tenant: Tenant, settings: object) {
  const form = await makeForm(tenant, questions, { settings });
  return { form, ...openInvitations(service, tenant, form.id) };
}

/** Changes the ID of a row, as an import that keeps IDs would; foreign keys are not checked. */
async function changeId(
  table: 'invitations' | 'submissions',
  tenant: Tenant,
  [from, to]: readonly [from: string, to: string],
): Promise<void> {
  await transaction(tenant.database, async (client) => {
    await client.query('set local session_replication_role = replica');
    await client.query(`update ${table} set id = $3 where workspace_id = $1 and id = $2`, [
      tenant.workspaceId,
      from,
      to,
    ]);
    if (table === 'submissions')
      await client.query(
        'update submission_links set submission_id = $3 where workspace_id = $1 and submission_id = $2',
        [tenant.workspaceId, from, to],
      );
  });
}

const tokenIn = (address: string, pattern: RegExp): string => pattern.exec(address)![1]!;

test('an edit link accepts HTML forms only, and says so to a program that sends JSON', async () => {
  const { form } = await stage(victim, { editing: true });
  const json = (path: string) =>
    visitor.fetch(`/f/${form.id}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ answers: { city: 'London' } }),
    });
  const token = tokenIn((await json('')).text, /[?&]edit=([\w.-]+)/);
  const { status, text } = await json(`/edit/${token}`);
  assert.equal(status, 415);
  assert.match(text, /This address accepts HTML forms only\./);
});

test('an invitation link opens no form of another workspace whose invitation has the same ID', async () => {
  const [theirs, own] = [
    await stage(victim, { access: 'invited' }),
    await stage(attacker, { access: 'invited' }),
  ];
  const target = await theirs.inviteOne('ada@example.org');
  const bait = await own.inviteOne('eve@example.org');
  await changeId('invitations', attacker, [bait.id, target.id]);
  const shown = await own.read(target.id);
  assert.equal((await visitor.fetch(`/f/${theirs.form.id}${queryOf(target)}`)).status, 200);
  assert.equal((await visitor.fetch(`/f/${theirs.form.id}${queryOf(shown)}`)).status, 404);
});

test('an unsubscribe link does not unsubscribe from another workspace whose invitation has the same ID', async () => {
  const [theirs, own] = [await stage(victim, {}), await stage(attacker, {})];
  const target = await theirs.inviteOne('ada@example.org');
  const links = [
    { workspaceId: victim.workspaceId, formId: theirs.form.id },
    { workspaceId: attacker.workspaceId, formId: own.form.id },
    { workspaceId: victim.workspaceId, formId: own.form.id },
  ].map((place) => {
    const url = unsubscribeUrl(
      { vault: service.services.vault, formUrl: service.url },
      { ...place, id: target.id },
    );
    return `/f/${theirs.form.id}/unsubscribe/${url.split('/').at(-1)}`;
  });
  const statuses = await Promise.all(links.map(async (link) => (await visitor.fetch(link)).status));
  assert.deepEqual(statuses, [200, 404, 404]);
});

test('an edit link changes no submission of another workspace that has the same ID', async () => {
  const [theirs, own] = [await stage(victim, { editing: true }), await stage(attacker, { editing: true })];
  const submit = (formId: string) =>
    visitor.fetch(`/f/${formId}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'once' },
      body: JSON.stringify({ answers: { city: 'London' } }),
    });
  const editToken = async (formId: string): Promise<string> =>
    tokenIn((await submit(formId)).text, /[?&]edit=([\w.-]+)/);
  const target = (await submit(theirs.form.id)).body.id;
  const bait = (await submit(own.form.id)).body.id;
  await changeId('submissions', attacker, [bait, target]);
  const statusOf = async (token: string): Promise<number> =>
    (await visitor.fetch(`/f/${theirs.form.id}/edit/${token}`)).status;
  assert.equal(await statusOf(await editToken(theirs.form.id)), 200);
  assert.equal(await statusOf(await editToken(own.form.id)), 404);
});

test('a link to saved answers opens no saved answers of another workspace with the same ID', async () => {
  const settings = { access: 'invited', save_progress: true };
  const [theirs, own] = [await stage(victim, settings), await stage(attacker, settings)];
  const save = async ({ form, inviteOne, path }: typeof own, tenant: Tenant) => {
    const guest = await inviteOne('ada@example.org');
    await visitor.post(
      form.id,
      [
        ['city', 'London'],
        ['_go', 'save'],
      ],
      { query: queryOf(guest) },
    );
    const { rows } = await tenant.database.query<{ id: string }>(
      'select id from submissions where workspace_id = $1 and form_id = $2',
      [tenant.workspaceId, form.id],
    );
    assert.equal(rows.length, 1, path);
    const resume = async (): Promise<string> => {
      const { headers } = await visitor.fetch(`/f/${form.id}${queryOf(guest)}`);
      return tokenIn(headers.get('location')!, /\/resume\/([\w.-]+)/);
    };
    return { guest, resume, id: rows[0]!.id };
  };
  const target = await save(theirs, victim);
  const bait = await save(own, attacker);
  await changeId('submissions', attacker, [bait.id, target.id]);
  const statusOf = async (token: string): Promise<number> =>
    (await visitor.fetch(`/f/${theirs.form.id}/resume/${token}${queryOf(target.guest)}`)).status;
  assert.equal(await statusOf(await target.resume()), 200);
  assert.equal(await statusOf(await bait.resume()), 404);
});
