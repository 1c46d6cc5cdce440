import assert from 'node:assert/strict';
import { test } from 'node:test';
import { transaction } from '#kit/database.ts';
import { changeSubmission } from '#submissions/changes/edit.ts';
import { openMailServer } from '#test/mail-server.ts';
import { openService, until } from '#test/service.ts';
import { createUser } from '#workspaces/accounts/users.ts';
import { getNextDigestTime, sendDueDigest, sendSubmissionNotices } from './submission-notices.ts';

const server = await openMailServer();
const service = await openService({
  SMTP_URL: server.url,
  MAIL_FROM: 'Forms <forms@formloom.test>',
  MAIL_PER_MINUTE: '60000',
  MAIL_TO_VISITORS: '12',
});
const { services, url } = service;
const tenant = await service.makeTenant();

const leaf = (type: string, id: string, label: string, more: object = {}) => ({
  type,
  attrs: { id, label, ...more },
  children: [],
});

async function makeForm(settings: object, attrs: object = {}, colours: object = {}): Promise<string> {
  const structure = {
    type: 'form',
    attrs: { name: 'Order <1>', ...attrs },
    children: [
      {
        type: 'step',
        attrs: {},
        children: [
          leaf('email', 'mail', 'Your address'),
          leaf('textarea', 'wish', 'Your wish'),
          leaf('yes_no', 'gift', 'A gift?'),
          leaf('multiple_choice', 'colours', 'Colours', { options: ['Red', 'Blue', 'Green'], ...colours }),
          {
            type: 'composite',
            attrs: { id: 'items', label: 'Item', repeatable: true },
            children: [leaf('text', 'name', 'Name'), leaf('number', 'count', 'How many')],
          },
          leaf('file_upload', 'paper', 'A paper'),
        ],
      },
    ],
  };
  const { status, body } = await tenant.call('POST', '/forms', { structure, settings, publish: true });
  assert.equal(status, 201, JSON.stringify(body));
  return body.id;
}

async function submit(
  formId: string,
  answers: object,
  { search = '', language = 'en' } = {},
): Promise<string> {
  const response = await fetch(`${url}/f/${formId}${search}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json',
      'Accept-Language': language,
    },
    body: JSON.stringify({ answers }),
  });
  const body = (await response.json()) as { id: string };
  assert.equal(response.status, 201, JSON.stringify(body));
  return body.id;
}

test('a completed submission is emailed to each address of notification_email, in form order with labels', async () => {
  const formId = await makeForm({ notification_email: 'owner@example.test, team+forms@example.test' });
  const id = await submit(
    formId,
    {
      items: [{ name: 'Tea', count: 2 }, { name: '<Cake>' }],
      colours: ['Red', 'Green'],
      gift: true,
      wish: 'One\nTwo & <script>alert(1)</script>',
      mail: 'ada@example.test',
    },
    { search: '?campaign=spring' },
  );
  const toOwner = await server.waitForOne('owner@example.test');
  const toTeam = await server.waitForOne('team+forms@example.test');
  assert.deepEqual(toOwner.to, ['owner@example.test'], 'recipients do not see each other');
  assert.equal(toTeam.mail.subject, 'New submission: Order <1>');
  assert.deepEqual(toOwner.mail.replyTo, [{ name: '', address: 'ada@example.test' }]);
  const labels = [...toOwner.mail.html!.matchAll(/<dt dir="auto">(.*?)<\/dt>/g)].map(([, label]) => label);
  assert.deepEqual(labels, [
    'Your address',
    'Your wish',
    'A gift?',
    'Colours',
    'Item 1: Name',
    'Item 1: How many',
    'Item 2: Name',
    'campaign',
  ]);
  assert.match(toOwner.mail.html!, /One<br>\nTwo &amp; &lt;script&gt;/);
  assert.doesNotMatch(toOwner.mail.html!, /<script/);
  assert.match(toOwner.mail.text!, /A gift\?:\n {2}Yes\n\nColours:\n {2}Red\n {2}Green\n/);
  assert.match(toOwner.mail.text!, new RegExp(`/app/forms/${formId}/submissions\\?open=${id}`));
});

test('an address that is valid in HTML but not in email does not prevent the notification', async () => {
  const formId = await makeForm({
    notification_email: 'told@example.test',
    receipt_email_element: 'mail',
  });
  await submit(formId, { mail: 'ada.@example.test', wish: 'tea' });
  const told = await server.waitForOne('told@example.test');
  assert.match(told.mail.text!, /Your address:\n {2}ada\.@example\.test/);
  assert.equal(told.mail.replyTo, undefined);
});

test('a file is a working signed link, and the email says that the link expires', async () => {
  const formId = await makeForm({ notification_email: 'files@example.test' });
  const form = new FormData();
  form.append('paper', new Blob(['the paper'], { type: 'text/plain' }), 'päper.txt');
  const response = await fetch(`${url}/f/${formId}`, {
    method: 'POST',
    headers: { Accept: 'application/json' },
    body: form,
  });
  assert.equal(response.status, 201);
  const { mail } = await server.waitForOne('files@example.test');
  assert.match(mail.text!, /päper\.txt \(1 kB\)/);
  assert.match(mail.text!, /Links to files work for one hour after this email was sent\./);
  const [link] = /http\S+\/files\/\S+/.exec(mail.text!)!;
  assert.equal(await (await fetch(link)).text(), 'the paper');
});

test('a receipt goes to the address in the chosen element, in the language of the form, with the edit link', async () => {
  const formId = await makeForm({
    receipt_email_element: 'mail',
    receipt_answers: true,
    editing: true,
    locale: 'de',
  });
  await submit(formId, { mail: 'visitor@example.test', gift: false });
  const { mail } = await server.waitForOne('visitor@example.test');
  assert.equal(mail.subject, 'Ihre Antworten: Order <1>');
  assert.match(mail.html!, /<html lang="de"/);
  assert.match(mail.text!, /A gift\?:\n {2}Nein/);
  const [link] = /http\S+\/edit\/\S+/.exec(mail.text!)!;
  assert.equal((await fetch(link)).status, 200, 'the link opens the answers');
});

test("a receipt is in the visitor's language, and the notification is in the language of the form", async () => {
  const formId = await makeForm(
    {
      receipt_email_element: 'mail',
      receipt_answers: true,
      notification_email: 'people@example.test',
      confirmation_message: 'Thank you.',
      translations: { de: { confirmation_message: 'Vielen Dank!' } },
    },
    { languages: ['en', 'de'], translations: { de: { name: 'Bestellung' } } },
    { translations: { de: { label: 'Farben', options: { Red: 'Rot' } } } },
  );
  await submit(formId, { mail: 'german@example.test', colours: ['Red', 'Blue'] }, { language: 'de-CH' });
  const { mail } = await server.waitForOne('german@example.test');
  assert.equal(mail.subject, 'Ihre Antworten: Bestellung');
  assert.match(mail.text!, /Vielen Dank!/);
  assert.match(mail.text!, /Farben:\n {2}Rot/);
  const { mail: notice } = await server.waitForOne('people@example.test');
  assert.match(notice.text!, /Colours:\n {2}Red/);
});

test('conditional notifications reach each of their addresses once, and one to an answer sends a receipt', async () => {
  const gift = { element: 'gift', is: 'equals', value: true };
  const formId = await makeForm({
    notification_email: 'all@example.test',
    confirmations: [{ when: gift, message: 'We wrap it.' }],
    confirmation_message: 'Thank you.',
    notifications: [
      { when: gift, to: 'gifts@example.test, all@example.test' },
      { when: { not: gift }, to: 'plain@example.test' },
      { when: gift, to: { answer: 'mail' } },
    ],
  });
  await submit(formId, { mail: 'giver@example.test', gift: true });
  const { mail: receipt } = await server.waitForOne('giver@example.test');
  assert.match(receipt.text!, /We wrap it\./);
  assert.doesNotMatch(receipt.text!, /Thank you\.|Yes/);
  const { mail } = await server.waitForOne('gifts@example.test');
  assert.match(mail.text!, /A gift\?:\n {2}Yes/);
  await server.waitForOne('all@example.test');
  await submit(formId, { mail: 'taker@example.test', gift: false });
  await server.waitForOne('plain@example.test');
});

test('completing saved answers in the console sends one notification and one receipt with a working link', async () => {
  const formId = await makeForm({
    notification_email: 'completed@example.test',
    receipt_email_element: 'mail',
    editing: true,
    save_progress: true,
  });
  const saved = await fetch(`${url}/f/${formId}`, {
    method: 'POST',
    headers: { Accept: 'application/json' },
    body: new URLSearchParams({ mail: 'hesitant@example.test', wish: 'tea', _go: 'save' }),
  });
  assert.equal(saved.status, 200);
  const { body } = await tenant.call('GET', `/forms/${formId}/submissions?status=incomplete`);
  const { id: userId } = await createUser(services.database, {
    email: 'member@example.test',
    password: 'a long enough password',
  });
  const target = { workspaceId: tenant.workspaceId, formId, id: body.data[0]!.id, unchanged: null };
  for (const status of ['completed', 'incomplete', 'completed'] as const)
    await changeSubmission(services, { ...target, by: { kind: 'person', id: userId } }, { status });
  const { mail } = await server.waitForOne('hesitant@example.test');
  const [link] = /http\S+\/edit\/\S+/.exec(mail.text!)!;
  assert.equal((await fetch(link)).status, 200, 'the link opens the answers');
  await server.waitForOne('completed@example.test');
  await until('all news to be told', async () => {
    const { rowCount } = await services.database.query(
      `select from jobs where payload ->> 'submissionId' = $1`,
      [target.id],
    );
    return rowCount === 0;
  });
  const { rowCount } = await services.database.query(
    `select from mails where recipient in ('hesitant@example.test', 'completed@example.test')`,
  );
  assert.equal(rowCount, 2, 'a second completion sends no email');
});

test('a form in its visitor’s language also sends the receipt in that language', async () => {
  const formId = await makeForm({ receipt_email_element: 'mail', locale: 'auto' });
  await submit(formId, { mail: 'visiteuse@example.test' }, { language: 'fr-CA,fr;q=0.9,en;q=0.5' });
  const { mail } = await server.waitForOne('visiteuse@example.test');
  assert.match(mail.html!, /<html lang="fr"/);
});

test('a receipt repeats no visitor text unless the form’s owner enabled it', async () => {
  const formId = await makeForm({ receipt_email_element: 'mail' });
  await submit(formId, { mail: 'stranger@example.test', wish: 'Buy at https://evil.example now' });
  const { mail } = await server.waitForOne('stranger@example.test');
  assert.match(mail.text!, /have been received/);
  assert.doesNotMatch(`${mail.text}${mail.html}`, /evil|Buy at/);
});

test("with answers enabled, the receipt's confirmation message shows them as plain text on one line and renders its own formatting", async () => {
  const message = '**Thank you** for {{wish}}, {{colours}}; [write](mailto:us@example.test).';
  const wish = '<b>tea</b> **now**\r\nBcc: all@example.test\n{{mail}}';
  for (const [mail, settings, said] of [
    [
      'asked.for@example.test',
      { receipt_answers: true },
      'Thank you for <b>tea</b> **now** Bcc: all@example.test {{mail}}, Red and Blue; write (us@example.test).',
    ],
    ['not.asked.for@example.test', {}, 'Thank you for , ; write (us@example.test).'],
  ] as const) {
    const formId = await makeForm({
      receipt_email_element: 'mail',
      confirmation_message: message,
      ...settings,
    });
    await submit(formId, { mail, wish, colours: ['Red', 'Blue'] });
    const { mail: sent } = await server.waitForOne(mail);
    assert.ok(sent.text!.replaceAll(/\s+/g, ' ').includes(said), sent.text);
    assert.doesNotMatch(sent.html!, /<b>tea/);
  }
});

test('an address gets at most five receipts a day, a form has an hourly limit, and waiting emails give the reason', async () => {
  const formId = await makeForm({ receipt_email_element: 'mail', notification_email: 'count@example.test' });
  for (let each = 0; each < 6; each += 1) await submit(formId, { mail: 'victim@example.test' });
  await submit(formId, { mail: 'Victim@example.test' });
  await server.waitFor('count@example.test', 7);
  const waiting = () =>
    services.database.query<{ id: string; reason: string }>(
      `select id, error as reason from mails where form_id = $1 and state = 'queued' and error is not null`,
      [formId],
    );
  const late = await until('two to wait', async () => {
    const { rows } = await waiting();
    return rows.length === 2 && rows;
  });
  assert.equal((await server.waitFor('victim@example.test', 5)).length, 5, 'in whatever case it is entered');
  for (const { reason } of late)
    assert.equal(
      reason,
      'Postponed: this address has reached the limit for emails requested by visitors (5 a day).',
    );

  for (let each = 0; each < 8; each += 1) await submit(formId, { mail: `stranger-${each}@example.test` });
  const many = await until('what is beyond the form’s hour to wait', async () => {
    const { rows } = await waiting();
    return rows.length === 3 && rows;
  });
  assert.ok(
    many.some(({ reason }) =>
      reason.startsWith('Postponed: the form has reached the limit for emails to visitors (12 '),
    ),
  );

  // After a day of waiting it fails with the reason.
  await services.database.query("update mails set created_at = now() - interval '25 hours' where id = $1", [
    late[0]!.id,
  ]);
  await services.database.query('update jobs set run_at = now() where id = $1', [late[0]!.id]);
  await until('the oldest to be given up', async () => {
    const { rows } = await services.database.query('select state, error from mails where id = $1', [
      late[0]!.id,
    ]);
    return (
      rows[0].state === 'failed' && rows[0].error.endsWith('(5 a day). The email was not sent within a day.')
    );
  });
});

test('a digest collects submissions until it is due, without those deleted meanwhile', async () => {
  const formId = await makeForm({ notification_email: 'digest@example.test', notification_digest: 'daily' });
  await submit(formId, { wish: 'the first' });
  await submit(formId, { wish: 'the second' });
  const gone = await submit(formId, { wish: 'the third' });
  await until('all to be on the list', async () => {
    const { rowCount } = await services.database.query('select from digest_items where form_id = $1', [
      formId,
    ]);
    return rowCount === 3;
  });
  await services.database.query('update submissions set trashed_at = now() where id = $1', [gone]);
  const due = await services.database.query(
    `update jobs set run_at = now() where payload ->> 'kind' = 'digest_due' and payload ->> 'formId' = $1`,
    [formId],
  );
  assert.equal(due.rowCount, 1, 'one digest for all of them');
  services.wakeQueue();
  const { mail } = await server.waitForOne('digest@example.test');
  assert.equal(mail.subject, '2 new submissions: Order <1>');
  assert.match(mail.text!, /the first[\s\S]*the second/);
  assert.doesNotMatch(mail.text!, /the third/);
});

test('a submission queued while its digest is being sent is in that digest or in the next one', async () => {
  const { database } = services;
  const formId = await makeForm({ notification_email: 'late@example.test', notification_digest: 'daily' });
  const submissionId = await submit(formId, { wish: 'the late one' });
  const removed = () => database.query('delete from digest_items where form_id = $1', [formId]);
  await until('it to be on the list', async () => (await removed()).rowCount === 1);
  let leaving: Promise<void> | undefined;
  let hasLeft = false;
  await transaction(database, async (client) => {
    const kind = 'submission_completed';
    await sendSubmissionNotices(services, client, tenant.workspaceId, { kind, submissionId });
    leaving = transaction(database, (other) =>
      sendDueDigest(services, other, tenant.workspaceId, { formId }),
    ).then(() => void (hasLeft = true));
    await until('the digest to have left, or to wait', async () => {
      const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      return hasLeft || (await database.query(waiting)).rowCount !== 0;
    });
  });
  await leaving;
  const { rowCount } = await database.query(
    `select from digest_items i where i.form_id = $1
        and not exists (select from digests d where d.form_id = i.form_id)`,
    [formId],
  );
  assert.equal(rowCount, 0, 'no digest is left that is never sent');
  services.wakeQueue();
  assert.match((await server.waitForOne('late@example.test')).mail.text!, /the late one/);
});

test("an hourly digest is sent at the next full hour, a daily one at 08:00 in the form's time zone", () => {
  const at = new Date('2026-03-28T10:20:30Z');
  assert.equal(getNextDigestTime(at, 'hourly').toISOString(), '2026-03-28T11:00:00.000Z');
  assert.equal(getNextDigestTime(at, 'daily').toISOString(), '2026-03-29T08:00:00.000Z');
  // Daylight saving time begins in Berlin that night.
  assert.equal(getNextDigestTime(at, 'daily', 'Europe/Berlin').toISOString(), '2026-03-29T06:00:00.000Z');
  assert.equal(getNextDigestTime(at, 'daily', 'Asia/Kolkata').toISOString(), '2026-03-29T02:30:00.000Z');
  assert.equal(getNextDigestTime(at, 'daily', 'Asia/Kathmandu').toISOString(), '2026-03-29T02:15:00.000Z');
  assert.equal(
    getNextDigestTime(new Date('2026-03-28T08:00:00Z'), 'daily').toISOString(),
    '2026-03-29T08:00:00.000Z',
  );
});
