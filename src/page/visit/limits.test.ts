import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, element, structure } from '#test/ast/forms.ts';
import { signIn } from '#test/console.ts';
import { openService } from '#test/service.ts';
import { asJson, openVisitor } from '#test/visitor.ts';

// Tests the limits of the operator, each with a small value.
const service = await openService({
  SUBMITS_PER_FORM: '3',
  UPLOAD_MB_PER_FORM: '2',
  CONSOLE_PER_MINUTE: '20',
});
const tenant = await service.makeTenant();
const visitor = openVisitor(service);
const makeForm = async (): Promise<string> => {
  const tree = structure(element('text', 'name'), element('file_upload', 'photo'));
  const { body } = await tenant.call('POST', '/forms', { structure: tree, publish: true });
  return body.id;
};

test('a submit over the limit of a form gets 429, its page keeps the answers, and other forms are not limited', async () => {
  const form = await makeForm();
  const send = (name: string) =>
    visitor.fetch(`/f/${form}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': name },
      body: JSON.stringify({ answers: { name } }),
    });
  for (const name of ['Ada', 'Ben', 'Cem']) assert.equal((await send(name)).status, 201);
  const refused = await send('Dan');
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  assert.equal((await send('Ada')).status, 201, 'what was taken before is answered as before');
  const page = await visitor.post(form, [['name', 'Eve']], { headers: { 'Accept-Language': 'de' } });
  assert.equal(page.status, 429);
  assert.ok(Number(page.headers.get('retry-after')) > 0);
  assert.match(page.text, /value="Eve"/);
  assert.match(page.text, /lang="de"/);
  assert.equal((await visitor.post(await makeForm(), [['name', 'Fay']], asJson)).status, 201);
});

test('a URL that prefills more rows than a request may render is rejected before rendering', async () => {
  const groups = Array.from({ length: 10 }, (_, index) =>
    composite(
      `g${index}`,
      Array.from({ length: 10 }, (_child, child) => element('text', `t${index}x${child}`)),
      { repeatable: true },
    ),
  );
  const { body } = await tenant.call('POST', '/forms', { structure: structure(...groups), publish: true });
  const filled = (row: number) => groups.map((_, index) => `g${index}[${row}][t${index}x0]=Ada`).join('&');
  const visit = (row: number) => visitor.fetch(`/f/${body.id}?${filled(row)}`);
  assert.equal((await visit(9)).status, 200);
  const refused = await visit(99);
  assert.equal(refused.status, 422);
  assert.match(refused.text, /Shorten them, or remove some entries/);
});

test('files beyond the storage of a form are rejected during the upload, and removing files frees space', async () => {
  const form = await makeForm();
  const upload = (megabytes: number) => {
    const body = new FormData();
    body.append('photo', new File(['x'.repeat(megabytes * 1_048_576)], 'a.txt', { type: 'text/plain' }));
    return visitor.fetch(`/f/${form}/files`, { method: 'POST', body, ...asJson });
  };
  const stored = async (): Promise<number> => {
    const { rows } = await service.services.database.query<{ bytes: string }>(
      'select bytes from stored_bytes where form_id = $1',
      [form],
    );
    return Number(rows[0]?.bytes ?? 0);
  };
  assert.equal((await upload(1.5)).status, 201);
  assert.equal(await stored(), 1.5 * 1_048_576);
  const refused = await upload(1);
  assert.equal(refused.status, 422);
  assert.match(refused.body.errors[0]!.message, /^This form can’t accept any more files/);
  assert.equal(await stored(), 1.5 * 1_048_576, 'nothing of it is kept');
  await service.services.database.query('delete from files where form_id = $1', [form]);
  assert.equal(await stored(), 0);
  assert.equal((await upload(1)).status, 201);
});

test('a person has a limit of console requests per minute, and then gets the time to wait', async () => {
  const person = await signIn(service, { workspaceId: tenant.workspaceId, role: 'viewer' });
  const statuses: number[] = [];
  for (let index = 0; index < 21; index += 1) {
    const { status, headers } = await person.call('GET', '/session');
    statuses.push(status);
    if (status === 429) assert.ok(Number(headers.get('retry-after')) > 0);
  }
  assert.equal(statuses.at(-1), 429);
  assert.ok(
    statuses.slice(0, 15).every((status) => status === 200),
    statuses.join(' '),
  );
});
