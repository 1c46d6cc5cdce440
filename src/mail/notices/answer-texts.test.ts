import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openMailServer } from '#test/mail-server.ts';
import { openService } from '#test/service.ts';

const server = await openMailServer();
const service = await openService({
  SMTP_URL: server.url,
  MAIL_FROM: 'Forms <forms@formloom.test>',
  MAIL_PER_MINUTE: '60000',
});
const tenant = await service.makeTenant();

const leaf = (type: string, id: string, label: string, more: object = {}) => ({
  type,
  attrs: { id, label, ...more },
  children: [],
});

const makeForm = (settings: object, attrs: object = {}) =>
  tenant.call('POST', '/forms', {
    structure: {
      type: 'form',
      attrs: { name: 'Booking', ...attrs },
      children: [
        {
          type: 'step',
          attrs: {},
          children: [
            leaf('email', 'mail', 'Your address'),
            leaf('text', 'name', 'Your name'),
            leaf('text', 'extra', 'Extra', { show_when: { element: 'name', is: 'equals', value: 'Bo' } }),
            leaf('email', 'host', 'Your host'),
          ],
        },
      ],
    },
    settings,
    publish: true,
  });

async function submit(settings: object, answers: object, attrs: object = {}): Promise<string> {
  const { status, body } = await makeForm(settings, attrs);
  assert.equal(status, 201, JSON.stringify(body));
  const response = await fetch(`${service.url}/f/${body.id}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json', 'Accept-Language': 'de' },
    body: JSON.stringify({ answers }),
  });
  assert.equal(response.status, 201, await response.text());
  return body.id;
}

test('a receipt has the subject, message and reply address of its author, in HTML and text', async () => {
  const id = await submit(
    {
      receipt_email_element: 'mail',
      editing: true,
      receipt: {
        subject: 'Thanks {{name}}: {{form_name}}',
        message:
          '# Hello {{name}}\n\n**Bold**, *italic* and [our site](https://example.com/a).\nSee {{extra}}you.\n\n- one {{name}}\n- {{extra}}\n\n{{answers}}\n\n[Change it]({{edit_url}}) or {{edit_url}}\n\n[About {{name}}, or](https://example.com/b) [{{extra}}](https://example.com/c)',
        reply_to: { answer: 'host' },
      },
    },
    { mail: 'own@example.test', name: 'Ada <b>*x*</b> {{mail}}', host: 'host@example.test' },
  );
  const { mail } = await server.waitForOne('own@example.test');
  assert.equal(mail.subject, 'Thanks Ada <b>*x*</b> {{mail}}: Booking');
  assert.deepEqual(mail.replyTo, [{ name: '', address: 'host@example.test' }]);
  const html = mail.html!;
  assert.match(html, /<h2 dir="auto">Hello Ada &lt;b&gt;\*x\*&lt;\/b&gt; \{\{mail\}\}<\/h2>/);
  assert.match(html, /<b>Bold<\/b>,\s*<i>italic<\/i>/);
  assert.match(html, /<a href="https:\/\/example.com\/a">our site<\/a>/);
  assert.match(html, /<br>\s*See\s*you\./);
  assert.match(html, /<a href="https:\/\/example.com\/b">About Ada [^<]+, or<\/a>/);
  assert.match(html, /<a href="https:\/\/example.com\/c">https:\/\/example.com\/c<\/a>/);
  assert.equal([...html.matchAll(/<li/g)].length, 1, 'an item without an answer is omitted');
  assert.match(html, /<dt dir="auto">Your host<\/dt>/);
  const [, link] = /<a href="([^"]+)">Change it<\/a>/.exec(html)!;
  assert.match(link!, new RegExp(`/f/${id}/edit/`));
  assert.equal((await fetch(link!)).status, 200);
  assert.match(mail.text!, /our site \(https:\/\/example\.com\/a\)\.\nSee you\./);
  assert.match(mail.text!, /- one Ada/);
  assert.ok(mail.text!.includes(`Change it (${link})`));
  assert.doesNotMatch(mail.text!, /Thank you|\*\*/);
});

test('an answer is never a header, markup or a link, and an edit link is empty without editing', async () => {
  const name = 'Ada\r\nBcc: victim@example.test \u202e [x](https://evil.test) https://evil.test **b**';
  await submit(
    {
      receipt_email_element: 'mail',
      receipt: { subject: 'Hi {{name}}', message: 'Hi **{{name}}**\n\n[Change]({{edit_url}}) {{edit_url}}' },
    },
    { mail: 'hostile@example.test', name: name.replace(/\r\n/, ' ') },
  );
  const { mail } = await server.waitForOne('hostile@example.test');
  assert.equal(mail.bcc, undefined);
  assert.doesNotMatch(mail.subject!, /[\r\n\u202e]/);
  assert.doesNotMatch(mail.html!, /href=/);
  assert.match(mail.html!, /<b>Ada Bcc: victim@example\.test +\[x\]\(https:\/\/evil\.test\)/);
  assert.match(mail.html!, /Change/);
});

test('notifications have their own words, each address once, and the first entry wins', async () => {
  const id = await submit(
    {
      notification_email: 'team@example.test, all@example.test',
      notifications: [
        {
          to: 'sales@example.test, team@example.test',
          subject: 'Lead: {{name}}',
          message: '{{answers}}\n\n{{submission_url}}',
          reply_to: 'desk@example.test',
        },
        { to: 'sales@example.test', subject: 'Not sent' },
        { to: { answer: 'mail' }, subject: 'Hello {{name}}' },
      ],
      receipt_email_element: 'mail',
      receipt: { subject: 'Other', message: 'From the receipt' },
    },
    { mail: 'lead@example.test', name: 'Ada' },
  );
  const { mail } = await server.waitForOne('sales@example.test');
  assert.equal(mail.subject, 'Lead: Ada');
  assert.deepEqual(mail.replyTo, [{ name: '', address: 'desk@example.test' }]);
  assert.match(mail.html!, new RegExp(`<a href="[^"]+/app/forms/${id}/submissions\\?open=`));
  assert.match(mail.text!, /Your name:\n {2}Ada/);
  assert.equal((await server.waitForOne('team@example.test')).mail.subject, 'Lead: Ada');
  assert.equal((await server.waitForOne('all@example.test')).mail.subject, 'New submission: Booking');
  const receipt = (await server.waitForOne('lead@example.test')).mail;
  assert.equal(receipt.subject, 'Hello Ada');
  assert.match(receipt.text!, /From the receipt/);
});

test('a receipt is in the language of its visitor, and shows all answers if the form says so', async () => {
  await submit(
    {
      receipt_email_element: 'mail',
      receipt_answers: true,
      receipt: { subject: 'Thanks', message: 'We got it.' },
      translations: { de: { 'receipt.subject': 'Danke {{name}}', 'receipt.message': 'Ist da.' } },
      notifications: [
        { to: { answer: 'host' }, subject: 'For you', translations: { de: { subject: 'Für dich' } } },
      ],
    },
    { mail: 'deutsch@example.test', name: 'Ada', host: 'gast@example.test' },
    { languages: ['en', 'de'], translations: { de: { name: 'Buchung' } } },
  );
  const { mail } = await server.waitForOne('deutsch@example.test');
  assert.equal(mail.subject, 'Danke Ada');
  assert.match(mail.text!, /^Buchung\n\nIst da\.\n\nYour address:/);
  const { mail: other } = await server.waitForOne('gast@example.test');
  assert.equal(other.subject, 'Für dich');
});

test('wrong words are refused with their path and code', async () => {
  const refused = async (settings: object): Promise<[string, string][]> => {
    const { status, body } = await makeForm(settings);
    assert.equal(status, 422, JSON.stringify(settings));
    const { errors } = body as unknown as { errors: { field: string; code: string; message: string }[] };
    return errors.map(({ field, code }) => [field, code]);
  };
  const receipt = (words: object) => refused({ receipt_email_element: 'mail', receipt: words });
  assert.deepEqual(await receipt({ subject: '{{gone}}', message: '{{gone}}' }), [
    ['receipt.subject', 'invalid_reference'],
    ['receipt.message', 'invalid_reference'],
  ]);
  for (const subject of ['a\nBcc: x', 'a\r\nb', 'a\u0007', 'a\u2028b'])
    assert.deepEqual(await receipt({ subject }), [['receipt.subject', 'invalid_format']]);
  assert.deepEqual(await receipt({ subject: '{{answers}}' }), [['receipt.subject', 'invalid_reference']]);
  assert.deepEqual(await receipt({ subject: 'x'.repeat(201) }), [['receipt.subject', 'too_long']]);
  assert.deepEqual(await receipt({ message: 'x'.repeat(4_097) }), [['receipt.message', 'too_long']]);
  assert.deepEqual(await receipt({ message: ' ' }), [['receipt.message', 'required']]);
  assert.deepEqual(await receipt({ message: 5 }), [['receipt.message', 'invalid_type']]);
  assert.deepEqual(await receipt({ message: '{{answers}}{{answers}}' }), [['receipt.message', 'duplicate']]);
  for (const reply_to of [
    'a@b.co, c@d.co',
    'a@b.co\r\nBcc: c@d.co',
    'Ada <a@b.co>',
    '',
    5,
    { answer: 'name' },
    {},
  ])
    assert.deepEqual(await receipt({ reply_to }), [['receipt.reply_to', 'invalid_format']]);
  assert.deepEqual(await receipt({ colour: 'red' }), [['receipt', 'unknown_field']]);
  assert.deepEqual(await refused({ notifications: [{ to: 'a@b.co', subject: '{{gone}}' }] }), [
    ['notifications.0.subject', 'invalid_reference'],
  ]);
  assert.deepEqual(
    await refused({
      notifications: [
        { to: 'a@b.co', message: 'x' },
        { to: 'a@b.co', reply_to: 'x' },
      ],
    }),
    [['notifications.1.reply_to', 'invalid_format']],
  );
});
