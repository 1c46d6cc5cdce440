import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReplyOf } from '#app/operations/operations.ts';
import { element } from '#test/ast/forms.ts';
import { cases } from '#test/cases.ts';
import { signIn } from '#test/console.ts';
import { callApi, shareService, until } from '#test/service.ts';
import { makeForm, openVisitor } from '#test/visitor.ts';

type Overview = ReplyOf<'getInvitationsOverview'>;
type Page = ReplyOf<'listInvitations'>;

const service = await shareService();
const tenant = await service.makeTenant();
const editor = await signIn(service, { workspaceId: tenant.workspaceId, role: 'editor' });
const viewer = await signIn(service, { workspaceId: tenant.workspaceId, role: 'viewer' });
const visitor = openVisitor(service);

async function stage() {
  const form = await makeForm(tenant, [element('text', 'city', { label: 'Your city' })], {
    settings: { access: 'invited' },
  });
  const path = `/forms/${form.id}/invitations`;
  return {
    form,
    path,
    overview: async () => (await viewer.api<Overview>('GET', `${path}/overview`)).body,
    list: async (query = '') => (await editor.api<Page>('GET', `${path}${query}`)).body,
    preview: (source: object) =>
      editor.api<ReplyOf<'previewInvitationImport'>>('POST', `${path}/imports/preview`, source),
    start: (source: object, more: object = {}) =>
      editor.api<ReplyOf<'startInvitationImport'>>('POST', `${path}/imports`, { ...source, ...more }),
    /** Waits until an import has finished. */
    finished: () =>
      until(
        'the end of the import',
        async () => {
          const { batches } = (await viewer.api<Overview>('GET', `${path}/overview`)).body;
          return batches.every(({ total, created, skipped }) => created + skipped === total);
        },
        60,
      ),
  };
}

/** Downloads the file of links in a browser session. */
const exported = (path: string, { cookie }: { cookie: string }): Promise<Response> =>
  fetch(`${service.url}/api/v1${path}/export`, {
    headers: { Cookie: cookie, 'X-Workspace-ID': tenant.workspaceId },
  });

test('an import preview shows columns, people, and the problems by line', async () => {
  const { preview, start, finished } = await stage();
  await start({ kind: 'addresses', text: 'grace@example.org' });
  await finished();
  const text =
    'Email,Name,Your city,Customer\nada@example.org,Ada,London,17\nnot-an-address,,,\nGRACE@example.org,,,\n';
  const { status, body } = await preview({ kind: 'csv', text });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(
    [body.total, body.people[0]!.prefill, body.people[0]!.reference],
    [1, { city: 'London' }, { Customer: '17' }],
  );
  assert.deepEqual(body.problems, [
    { line: 3, message: '"not-an-address" is not a valid email address.' },
    { line: 4, message: 'GRACE@example.org already has an invitation.' },
  ]);
  assert.deepEqual(
    body.columns.map(({ title }) => title),
    ['Email', 'Name', 'Your city', 'Customer'],
  );
  const chosen = [{ as: 'ignore' }, { as: 'name' }, { as: 'ignore' }, { as: 'ignore' }];
  const refused = await preview({ kind: 'csv', text, mapping: chosen });
  assert.deepEqual(
    [refused.status, (refused.body as unknown as { message: string }).message],
    [422, 'Choose the column with the email addresses.'],
  );
});

/** The maximum of a file in full runs, and an eighth of it in `npm test`. */
const people = cases(10_000);

test(`one import creates ${people} invitations, one for each line`, async (t) => {
  const { form, start, finished, list, overview, path } = await stage();
  const lines = Array.from({ length: people }, (_, index) => `person-${index}@example.org;${index}`);
  const started = performance.now();
  const { status, body } = await start({ kind: 'csv', text: `email;number\n${lines.join('\n')}` });
  assert.deepEqual([status, body.total], [202, people]);
  const answered = performance.now();
  await finished();
  const created = performance.now();
  t.diagnostic(
    `answered after ${Math.round(answered - started)} ms, created after ${Math.round(created - started)} ms`,
  );
  assert.equal((await overview()).counts.pending, people);
  const looked = performance.now();
  const page = await list('?q=person-77&status=pending&per_page=2');
  t.diagnostic(`a search in them took ${Math.round(performance.now() - looked)} ms`);
  assert.equal(page.pagination.total_count, lines.filter((line) => line.startsWith('person-77')).length);
  const { rows } = await service.services.database.query<{ people: number; links: number; numbers: number }>(
    `select count(*) as people, count(distinct hash) as links, count(distinct reference->>'number') as numbers
       from invitations where form_id = $1`,
    [form.id],
  );
  assert.deepEqual(rows[0], { people, links: people, numbers: people });
  const file = await exported(path, editor);
  assert.equal((await file.text()).trimEnd().split('\r\n').length, people + 1);
});

test('a file of 100,000 lines is rejected with a clear message', async () => {
  const { preview } = await stage();
  const { status, body } = await preview({ kind: 'csv', text: 'a@example.org\n'.repeat(100_000) });
  assert.equal(status, 422);
  assert.match((body as unknown as { message: string }).message, /100,000 lines; the limit is 10,000/);
});

test('two parallel imports of the same people invite each person once', async () => {
  const { start, finished, list, overview } = await stage();
  const text = Array.from({ length: 800 }, (_, index) => `person-${index}@example.org`).join('\n');
  await Promise.all([start({ kind: 'addresses', text }), start({ kind: 'addresses', text })]);
  await finished();
  assert.equal((await list()).pagination.total_count, 800);
  const { batches } = await overview();
  assert.equal(
    batches.reduce((sum, { created }) => sum + created, 0),
    800,
  );
});

test('without SMTP, editors can copy the links; spreadsheet formulas in names are not evaluated', async () => {
  const { form, start, finished, list, path, overview } = await stage();
  await start({ kind: 'csv', text: 'email,name\nada@example.org,=1+1\n' });
  await finished();
  assert.equal((await overview()).mails_per_minute, null);
  const [row] = (await list()).data;
  assert.equal((await visitor.fetch(`/f/${form.id}${new URL(row!.url!).search}`)).status, 200);
  const seen = (await viewer.api<Page>('GET', path)).body.data[0]!;
  assert.equal(seen.url, null);
  assert.equal((await viewer.api<Page['data'][number]>('GET', `${path}/${row!.id}`)).body.url, null);
  const reader = await tenant.makeKey(['invitations:read']);
  const ofReader = async (below: string) => callApi(service.url, reader, 'GET', `${path}${below}`);
  assert.equal(((await ofReader('')).body as unknown as Page).data[0]!.url, null);
  assert.equal(((await ofReader(`/${row!.id}`)).body as unknown as Page['data'][number]).url, null);
  assert.equal((await ofReader('/export')).status, 403);
  const inviter = await tenant.makeKey(['invitations:read', 'invitations:write']);
  const { body } = await callApi(service.url, inviter, 'GET', path);
  assert.equal((body as unknown as Page).data[0]!.url, row!.url);
  assert.equal((await exported(path, viewer)).status, 403);
  const file = await exported(path, editor);
  assert.match(file.headers.get('content-disposition')!, /links .*\.csv/);
  assert.match(
    await file.text(),
    /^email,name,status,link,expires_at\r\nada@example\.org,'=1\+1,opened,http/,
  );
  const resent = await editor.api('POST', `${path}/${row!.id}/resend`);
  assert.equal(resent.status, 409);
  assert.match(resent.body.message, /SMTP_URL/);
});

test('the email to a person can be previewed, and each problem names its field', async () => {
  const { path } = await stage();
  const person = { email: 'ada@example.org', name: 'Ada', reference: { customer: '17' } };
  const letter = await editor.api<ReplyOf<'previewInvitationMail'>>('POST', `${path}/letter`, {
    ...person,
    subject: '{{name}}, {{customer}}',
  });
  assert.equal(letter.body.subject, 'Ada, 17');
  const wrong = await editor.api('POST', `${path}/letter`, { ...person, message: '{{nmae}}' });
  assert.deepEqual([wrong.status, wrong.body.errors[0]!.field], [422, 'message']);
});

test('invitations of another workspace are not accessible', async () => {
  const { path, start, finished, list } = await stage();
  await start({ kind: 'addresses', text: 'ada@example.org' });
  await finished();
  const [row] = (await list()).data;
  const stranger = await signIn(service);
  for (const [method, rest] of [
    ['GET', ''],
    ['GET', '/overview'],
    ['POST', `/${row!.id}/revoke`],
    ['POST', '/reminders'],
  ] as const) {
    const { status } = await stranger.api(method, `${path}${rest}`);
    assert.ok(status === 404 || status === 409, `${rest} ${status}`);
  }
  assert.equal((await list()).data[0]!.status, 'pending');
});
