import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extractText, getDocumentProxy } from 'unpdf';
import { element } from '#test/ast/forms.ts';
import { openMailServer, type TakenMail } from '#test/mail-server.ts';
import { openService, until } from '#test/service.ts';
import { asJson, makeForm, openVisitor } from '#test/visitor.ts';

const server = await openMailServer();
const service = await openService({
  SMTP_URL: server.url,
  MAIL_FROM: 'Forms <forms@formloom.test>',
  MAIL_PER_MINUTE: '60000',
});
const { database, wakeQueue } = service.services;
const visitor = openVisitor(service);
const tenant = await service.makeTenant();

/** Submits a form whose settings send emails, and returns the ID of the submission. */
async function submit(settings: object, who: string, more: [string, string][] = []): Promise<string> {
  const form = await makeForm(
    tenant,
    [
      element('email', 'mail', { label: 'Address' }),
      element('text', 'name', { label: 'Full name' }),
      element('hidden', 'campaign', { label: 'Campaign' }),
      element('yes_no', 'flat', { label: 'The earth is flat', correct: [false] }),
      element('score', 'score', { label: 'Score', pass_mark: 1 }),
    ],
    { settings },
  );
  const answers: [string, string][] = [
    ['mail', who],
    ['name', 'Ada Lovelace'],
    ['campaign', 'internal'],
    ...more,
  ];
  const { status, text, body } = await visitor.post(form.id, answers, asJson);
  assert.equal(status, 201, text);
  return (body as unknown as { id: string }).id;
}

/** Returns the text of the PDF in an email, or undefined if it has none. */
async function readPdf({ mail }: TakenMail): Promise<string | undefined> {
  const [file] = mail.attachments;
  if (!file) return undefined;
  assert.match(file.filename!, /^Contact [\dA-Z]{5}-[\dA-Z]{5}\.pdf$/);
  const document = await getDocumentProxy(new Uint8Array(file.content as ArrayBuffer));
  return (await extractText(document, { mergePages: true })).text.replaceAll(/\s+/g, ' ');
}

test('notifications and receipts carry the PDF of the submission; receipts without hidden values', async () => {
  const receipt = { attach_pdf: true, message: 'Thank you.' };
  const notifications = [
    { to: 'sales@example.test', attach_pdf: true },
    { to: 'plain@example.test', attach_pdf: false },
  ];
  await submit({ notifications, receipt, receipt_email_element: 'mail', locale: 'en' }, 'ada@example.test');
  const toSales = await readPdf(await server.waitForOne('sales@example.test'));
  assert.match(toSales!, /Full name Ada Lovelace.*Campaign internal/);
  const toAda = await server.waitForOne('ada@example.test');
  const toVisitor = await readPdf(toAda);
  assert.match(toVisitor!, /Full name Ada Lovelace/);
  assert.doesNotMatch(toVisitor!, /internal/);
  assert.match(toAda.mail.text!, /Thank you\./);
  assert.equal(await readPdf(await server.waitForOne('plain@example.test')), undefined);
});

test('a notification to an answer has the PDF of the receipt unless it says otherwise', async () => {
  const receipt = { attach_pdf: true };
  const to = { answer: 'mail' };
  await submit({ receipt, notifications: [{ to }] }, 'inherits@example.test');
  assert.match((await readPdf(await server.waitForOne('inherits@example.test')))!, /Ada Lovelace/);
  await submit({ receipt, notifications: [{ to, attach_pdf: false }] }, 'refuses@example.test');
  assert.equal(await readPdf(await server.waitForOne('refuses@example.test')), undefined);
});

test('a receipt also carries the certificate of a quiz, only if the visitor passed', async () => {
  const settings = {
    receipt: { attach_pdf: true },
    receipt_email_element: 'mail',
    certificate_name_element: 'name',
    notifications: [{ to: 'school@example.test', attach_pdf: true }],
  };
  await submit(settings, 'passed@example.test', [['flat', 'no']]);
  const namesTo = async (to: string): Promise<unknown> =>
    (await server.waitForOne(to)).mail.attachments.map(({ filename }) =>
      filename!.replace(/ [\dA-Z-]{11}/, ''),
    );
  assert.deepEqual(await namesTo('passed@example.test'), ['Contact.pdf', 'Contact certificate.pdf']);
  assert.deepEqual(await namesTo('school@example.test'), ['Contact.pdf']);
  await submit(settings, 'failed@example.test', [['flat', 'yes']]);
  assert.deepEqual(await namesTo('failed@example.test'), ['Contact.pdf']);
});

test('an email about a submission in the trash says in its language that the PDF is missing', async () => {
  const settings = { receipt: { attach_pdf: true }, receipt_email_element: 'mail', locale: 'de' };
  server.treat('late@example.test', 'put off recipient');
  const id = await submit(settings, 'late@example.test');
  await until('the first attempt to fail', async () => {
    const { rowCount } = await database.query('select from mails where attempts = 1 and state = $1', [
      'queued',
    ]);
    return rowCount === 1;
  });
  await database.query('update submissions set trashed_at = now() where id = $1', [id]);
  await database.query("update jobs set run_at = now() where kind = 'send_mail'");
  wakeQueue();
  const { mail } = await server.waitForOne('late@example.test');
  assert.equal(mail.attachments.length, 0);
  assert.match(mail.text!, /Das PDF konnte nicht an diese E-Mail angehängt werden\./);
});
