import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element } from '#test/ast/forms.ts';
import { signIn } from '#test/console.ts';
import { openMailServer } from '#test/mail-server.ts';
import { openService } from '#test/service.ts';
import { makeForm, openVisitor } from '#test/visitor.ts';

const server = await openMailServer();
const service = await openService({
  SMTP_URL: server.url,
  MAIL_FROM: 'forms@formloom.test',
  MAIL_PER_MINUTE: '60000',
});

test('a person is emailed what others assign to them, unless they turned it off', async () => {
  const tenant = await service.makeTenant();
  const { workspaceId } = tenant;
  const [ada, ben, cy] = await Promise.all(
    ['editor', 'editor', 'viewer'].map((role) =>
      signIn(service, { workspaceId, role: role as 'editor' | 'viewer' }),
    ),
  );
  const form = await makeForm(tenant, [element('text', 'name')]);
  const ids: string[] = [];
  for (const name of ['a', 'b', 'c', 'd', 'e'])
    ids.push((await openVisitor(service).submit(form.id, { name })).body.id);
  assert.deepEqual((await cy!.call('GET', '/person/notifications')).body, { assignment_emails: true });
  const off = await cy!.call('PATCH', '/person/notifications', { assignment_emails: false });
  assert.equal(off.status, 204);

  const assign = async (index: number, assignee_id: string | null) => {
    const changed = await ada!.api('PATCH', `/submissions/${ids[index]}`, { assignee_id });
    assert.equal(changed.status, 200);
  };
  await assign(0, ada!.userId);
  await assign(1, cy!.userId);
  // Undone before the email is written.
  await assign(2, ben!.userId);
  await assign(2, null);
  await assign(0, ben!.userId);
  const assignMany = async (...indexes: number[]) => {
    const bulk = { ids: indexes.map((index) => ids[index]), assignee_id: ben!.userId };
    assert.equal((await ada!.api('POST', `/forms/${form.id}/submissions/changes`, bulk)).status, 202);
  };
  // The first is already assigned to him, and the last is in the trash.
  await assignMany(0);
  await assignMany(0, 1, 3, 4);
  assert.equal((await ada!.api('DELETE', `/submissions/${ids[4]}`)).status, 204);

  const texts = (await server.waitFor(ben!.email, 2)).map(({ mail }) => `${mail.subject}\n${mail.text}`);
  const [one, many] = texts.toSorted((a, b) => b.localeCompare(a)) as [string, string];
  assert.match(one, /^A submission was assigned to you: /);
  assert.ok(one.includes(`${service.url}/app/forms/${form.id}/submissions?open=${ids[0]}`), one);
  assert.match(many, /^2 submissions were assigned to you: /);
  assert.ok(many.includes(`/app/forms/${form.id}/submissions?where=`), many);
  // Nothing for the person who assigned a submission to herself, and for the one who turned it off.
  assert.deepEqual([...new Set(server.taken.flatMap(({ to }) => to))], [ben!.email]);
});
