import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { newId } from '#kit/clock.ts';
import { element } from '#test/ast/forms.ts';
import { openReceiver } from '#test/receiver.ts';
import { callApi, closedPort, openService, type Tenant, until } from '#test/service.ts';
import { asJson, listFiles, makeForm, openVisitor, type Part } from '#test/visitor.ts';

/*
 * Plants a word in every position where the product can store one, by its usual means. Then the person is
 * erased, and all columns of all tables and all files are searched for the word. New tables are searched like
 * the others.
 */

const service = await openService({
  // No server listens here: emails wait in the outbox with their content.
  SMTP_URL: `smtp://127.0.0.1:${closedPort}`,
  MAIL_FROM: 'forms@formloom.test',
  MAIL_PER_MINUTE: '60000',
});
const { database } = service.services;
const visitor = openVisitor(service);

const elements = [
  element('text', 'subject'),
  element('email', 'mail'),
  element('textarea', 'story'),
  element('number', 'age'),
  element('file_upload', 'photo'),
];
const settings = {
  save_progress: true,
  editing: true,
  notification_email: 'team@example.org',
  receipt_email_element: 'mail',
  receipt_answers: true,
};

/**
 * Finds all occurrences of a text: `table.column` for each column of every table, and the files below the
 * data directory.
 */
async function placesOf(word: string): Promise<string[]> {
  const { rows: columns } = await database.query<{ t: string; c: string; type: string }>(
    `select c.table_name as t, c.column_name as c, c.data_type as type
     from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where t.table_type = 'BASE TABLE' and t.table_schema not in ('pg_catalog', 'information_schema')`,
  );
  assert.ok(columns.length > 300, 'the tables are looked at');
  const found: string[] = [];
  for (const { t, c, type } of columns) {
    const text = type === 'bytea' ? `encode("${c}", 'escape')` : `"${c}"::text`;
    const { rows } = await database.query(`select from "${t}" where ${text} ilike $1 limit 1`, [`%${word}%`]);
    if (rows.length > 0) found.push(`${t}.${c}`);
  }
  for (const name of await listFiles(service)) {
    const bytes = await readFile(join(service.dataDir, name));
    if (name.includes(word) || bytes.includes(word)) found.push('a file');
  }
  return [...new Set(found)].sort();
}

type Planted = {
  formId: string;
  ids: Record<'whole' | 'edited' | 'trashed' | 'removed', string>;
  key: string;
};

/** Plants the word in every possible position, as the product does. */
async function plant(tenant: Tenant, word: string): Promise<Planted> {
  const key = await tenant.makeFullKey();
  const call = async (method: string, path: string, body?: unknown, headers = {}) => {
    const answer = await callApi(service.url, key, method, path, body, headers);
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const address = `${word}@example.org`;
  const { id: formId } = await makeForm(tenant, elements, { settings });
  const receiver = await openReceiver();
  receiver.replyWith({ status: 500, headers: { 'X-Echo': word }, body: `I cannot take ${word}` });
  const webhook = {
    url: receiver.url,
    events: ['submission.created', 'submission.updated', 'submission.deleted'],
  };
  await call('POST', `/forms/${formId}/webhooks`, webhook);
  await call('GET', '/events');

  const file = new File([`The bytes of ${word}.`], `${word}.txt`, { type: 'text/plain' });
  const parts: Part[] = [
    ['subject', `About ${address}`],
    ['mail', address],
    ['story', `I am ${address}, and this is my story.`],
    ['age', '36'],
    ['photo', file],
  ];
  const sent = await visitor.post(formId, parts, { ...asJson, query: `?customer=${word}` });
  assert.equal(sent.status, 201, sent.text);
  const whole = sent.body.id;
  await call('PATCH', `/submissions/${whole}`, { answers: { subject: `More of ${address}` }, tags: [word] });
  await call(
    'POST',
    `/submissions/${whole}/notes`,
    { text: `Call ${address}.` },
    { 'Idempotency-Key': word },
  );

  // The answer now has another person's address: only the history still has the old one.
  const edited = (await visitor.submit(formId, { mail: address, subject: 'Edited' })).body.id;
  await call('PATCH', `/submissions/${edited}`, { answers: { mail: 'other@example.org' } });
  const trashed = (await visitor.submit(formId, { mail: address, subject: 'Trashed' })).body.id;
  await call('DELETE', `/submissions/${trashed}`);
  // Permanently deleted in the usual way: its events are kept for a while.
  const removed = (await visitor.submit(formId, { mail: address, subject: 'Removed' })).body.id;
  await call('DELETE', `/submissions/${removed}`);
  const emptied = await call('POST', `/forms/${formId}/trash/deletions`, { ids: [removed] });
  await until('the trash to be emptied', async () => {
    const progress = await call('GET', `/forms/${formId}/submissions/deletions/${emptied.id}`);
    return (progress as unknown as { finished_at: string | null }).finished_at !== null;
  });
  await visitor.post(
    formId,
    [
      ['mail', address],
      ['_website', 'https://spam.test'],
    ],
    asJson,
  );

  const saved = await visitor.post(formId, [
    ['mail', address],
    ['_go', 'save'],
  ]);
  const action = /<form method="post" action="([^"]+)"/.exec(saved.text)![1]!;
  const mailed = new URLSearchParams({ _mail: `resume-${address}` });
  assert.equal((await visitor.fetch(action, { method: 'POST', body: mailed })).status, 200);

  const invitation = {
    email: address,
    name: word,
    reference: { customer: word },
    prefill: { subject: word },
  };
  const message = { subject: `Dear ${word}`, message: `A letter to ${word}.` };
  await call('POST', `/forms/${formId}/invitations`, { invitations: [invitation], ...message });
  const second = await makeForm(tenant, elements);
  const imported = { kind: 'addresses', text: `${word} <${address}>` };
  await call('POST', `/forms/${second.id}/invitations/imports`, imported);
  await callApi(service.url, key, 'GET', `/forms/${formId}/submissions/export?format=csv`);
  await callApi(service.url, key, 'GET', `/submissions/search?q=${word}`);
  const loose = new File(['loose'], `${address}.txt`, { type: 'text/plain' });
  await visitor.post(formId, [
    ['mail', 'no address'],
    ['photo', loose],
  ]);

  // Attempted, answered, and waiting for a retry.
  await until('attempts, mails and invitations to be there', async () => {
    const { rows } = await database.query<{ attempts: number; mails: number; news: number }>(
      `select (select count(*) from attempts where workspace_id = $1 and response_body like $2) as attempts,
              (select count(distinct kind) from mails where workspace_id = $1) as mails,
              (select count(*) from jobs where workspace_id = $1 and kind = 'mail_news') as news`,
      [tenant.workspaceId, `%${word}%`],
    );
    return rows[0]!.attempts > 3 && rows[0]!.mails >= 4 && rows[0]!.news === 0;
  });
  receiver.replyWith(200);
  return { formId, ids: { whole, edited, trashed, removed }, key };
}

async function erase(key: string, q: string, what: string) {
  const body = { q, what };
  const begun = await callApi(service.url, key, 'POST', '/people/erasures', body);
  assert.equal(begun.status, 202, JSON.stringify(begun.body));
  return until('the person to be erased', async () => {
    const read = await callApi(service.url, key, 'GET', `/people/erasures/${begun.body.id}`);
    const erasure = read.body as unknown as {
      id: string;
      gone: Record<string, number>;
      hash: string | null;
      finished_at: string | null;
    };
    return erasure.finished_at !== null && erasure;
  });
}

/** The minimum set that must contain the word before the erasure: otherwise the test would prove nothing. */
const planted = [
  'a file',
  'attempts.response_body',
  'attempts.response_headers',
  'events.snapshot',
  'files.filename',
  'held_submissions.answers',
  'invitation_batches.message',
  'invitation_batches.subject',
  'invitations.email',
  'invitations.name',
  'invitations.prefill',
  'invitations.reference',
  'mails.recipient',
  'search_documents.terms',
  'submission_changes.changes',
  'submission_notes.text',
  'submissions.answers',
  'submissions.reference',
  'submissions.tags',
];

for (const what of ['submissions', 'identity']) {
  test(`a word that is stored in every position is nowhere after the person is erased (${what})`, async () => {
    const word = `quokka${newId().replaceAll('-', '').slice(-10)}`;
    const tenant = await service.makeTenant();
    const { formId, ids, key } = await plant(tenant, word);
    const other = (await visitor.submit(formId, { mail: 'grace@example.org', subject: 'Mine' })).body.id;
    const before = await placesOf(word);
    assert.deepEqual(
      planted.filter((place) => !before.includes(place)),
      [],
    );

    const { gone, hash } = await erase(key, `${word}@example.org`, what);
    assert.match(hash!, /^[0-9a-f]{64}$/);
    assert.equal(what === 'identity' ? gone['stripped'] : gone['submissions'], 4);
    assert.ok(gone['files']! >= 1 && gone['deliveries']! >= 4 && gone['mails']! >= 4, JSON.stringify(gone));

    assert.deepEqual(await placesOf(word), []);
    const read = (id: string) => tenant.call('GET', `/submissions/${id}`);
    assert.equal((await read(other)).status, 200);
    assert.equal((await read(ids.whole)).status, what === 'identity' ? 200 : 404);
    if (what === 'identity') assert.deepEqual((await read(ids.whole)).body.answers, { age: 36 });
    const again = await callApi(service.url, key, 'GET', `/people?q=${word}@example.org`);
    assert.equal(again.body.pagination.total_count, 0);
  });
}
