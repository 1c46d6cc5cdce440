import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openMailServer } from '#test/mail-server.ts';
import { openService } from '#test/service.ts';

const server = await openMailServer();
const service = await openService({
  SMTP_URL: server.url,
  MAIL_FROM: 'forms@formloom.test',
  MAIL_PER_MINUTE: '60000',
});
const { url } = service;
const tenant = await service.makeTenant();
const structure = {
  type: 'form',
  attrs: { name: 'Long <form>' },
  children: [
    {
      type: 'step',
      attrs: {},
      children: [{ type: 'text', attrs: { id: 'name', label: 'Name' }, children: [] }],
    },
  ],
};
const settings = { save_progress: true, editing: true, locale: 'en' };
const { body: form } = await tenant.call('POST', '/forms', { structure, settings, publish: true });

const post = (path: string, fields: Record<string, string>): Promise<Response> =>
  fetch(`${url}${path}`, { method: 'POST', redirect: 'manual', body: new URLSearchParams(fields) });

/** Saves answers without a script, and returns the page and the action of its email form. */
async function save(): Promise<{ page: string; action: string }> {
  const response = await post(`/f/${form.id}`, { name: 'Ada', _go: 'save' });
  const page = await response.text();
  assert.equal(response.status, 200, page);
  return { page, action: /<form method="post" action="([^"]+)"/.exec(page)![1]! };
}

test('saving answers can email the resume link, and the page still shows the link', async () => {
  const { page, action } = await save();
  const response = await post(action, { _mail: ' Ada@Example.test ' });
  const html = await response.text();
  assert.equal(response.status, 200);
  assert.match(html, /The link is on its way to Ada@example\.test\./);
  const [link] = /http[^\s"<]+\/resume\/[\w-]+/.exec(page)!;
  assert.ok(html.includes(link));
  const { mail } = await server.waitForOne('Ada@example.test');
  assert.equal(mail.subject, 'Continue: Long <form>');
  assert.ok(mail.text!.includes(link));
  const resumed = await (await fetch(link)).text();
  assert.match(resumed, /value="Ada"/);
});

test('an invalid address is reported, and no email is sent', async () => {
  const { action } = await save();
  const before = server.taken.length;
  const response = await post(action, { _mail: 'ada@example.test\r\nBcc: x@example.test' });
  const html = await response.text();
  assert.equal(response.status, 422);
  assert.match(html, /Enter a valid email address\./);
  assert.equal(server.taken.length, before);
});

test('an address gets at most five of these emails a day', async () => {
  const { action } = await save();
  const statuses: number[] = [];
  for (let each = 0; each < 6; each += 1)
    statuses.push((await post(action, { _mail: 'v@example.test' })).status);
  assert.deepEqual(statuses, [200, 200, 200, 200, 200, 422]);
});

test('an invalid link sends no email', async () => {
  const response = await post(`/f/${form.id}/resume/${'x'.repeat(43)}/mail`, { _mail: 'a@example.test' });
  assert.equal(response.status, 404);
});

test('the confirmation can email the edit link, without a script', async () => {
  const sent = await post(`/f/${form.id}`, { name: 'Ada' });
  const confirmation = await (await fetch(`${url}${sent.headers.get('location')}`)).text();
  const action = /<form method="post" action="([^"]+)"/.exec(confirmation)![1]!;
  assert.match(action, /\/edit\/[\w-]+\/mail$/);
  assert.ok(!confirmation.includes('<details open'));
  assert.equal((await post(action, { _mail: 'hr@acme' })).status, 422);
  const refused = await post(action, { _mail: 'not-an-address' });
  const again = await refused.text();
  assert.equal(refused.status, 422);
  assert.match(again, /<details open>[^]*Enter a valid email address\./);
  const response = await post(action, { _mail: 'edit@example.test' });
  const html = await response.text();
  assert.equal(response.status, 200);
  assert.match(html, /<h1[^>]*>Thank you<[^]*The link is on its way to edit@example\.test\./);
  const { mail } = await server.waitForOne('edit@example.test');
  assert.equal(mail.subject, 'Change your answers: Long <form>');
  const [link] = /http[^\s"<]+\/edit\/[\w-]+/.exec(mail.text!)!;
  assert.match(await (await fetch(link)).text(), /value="Ada"/);
  assert.equal(
    (await post(`/f/${form.id}/edit/${'x'.repeat(43)}/mail`, { _mail: 'a@example.test' })).status,
    404,
  );
});
