import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import PostalMime from 'postal-mime';
import { readMailAddress } from '#kit/outbox/address.ts';
import { oneLine } from '#kit/outbox.ts';
import { cases } from '#test/cases.ts';
import { composeMessage } from './sending/send-mail.ts';
import { renderEmail } from './sending/template.ts';

/**
 * Text as an attacker writes it: all kinds of line breaks, headers, encoded words, markup, unpaired
 * surrogates.
 */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom(
        '\r\nBcc: victim@example.test',
        '\nBcc: victim@example.test',
        '\r\r\n\r\nbody',
        '\u2028Bcc: victim@example.test',
        '\u0085X: y',
        '\u0000',
        '=?utf-8?B?DQpCY2M6IHZpY3RpbUBleGFtcGxlLnRlc3Q=?=',
        '"<victim@example.test>,',
        '<script>alert(1)</script>',
        '"><img src=x onerror=alert(1)>',
        '&lt;',
        '\ud800',
        '\r\n--',
      ),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''));

const allowed = new Set(
  'message-id from to reply-to subject date auto-submitted x-auto-response-suppress mime-version content-type content-transfer-encoding'.split(
    ' ',
  ),
);

test('no name, subject or text can start a header or add a recipient', async () => {
  await fc.assert(
    fc.asyncProperty(hostile, hostile, hostile, async (name, subject, text) => {
      const raw = await composeMessage({
        id: '0190a000-0000-7000-8000-000000000000',
        from: { address: 'forms@formloom.test' },
        to: { address: 'ada@example.test', name: oneLine(name) },
        subject: oneLine(subject),
        date: new Date('2026-01-01T00:00:00Z'),
        replyTo: 'answers@example.test',
        letter: renderEmail(
          {
            heading: text,
            blocks: [
              { kind: 'text', text },
              { kind: 'fields', fields: [{ label: text, value: text }] },
            ],
            reason: text,
          },
          String,
        ),
      });
      const mail = await PostalMime.parse(raw);
      assert.deepEqual(
        mail.headers.map(({ key }) => key).filter((key) => !allowed.has(key)),
        [],
      );
      assert.deepEqual(
        mail.to?.map((mailbox) => mailbox.address),
        ['ada@example.test'],
      );
      assert.equal(mail.bcc, undefined);
      const head = raw.toString('latin1').split('\r\n\r\n', 1)[0]!;
      assert.ok(head.split('\r\n').every((line) => line.length <= 998 && !/[\r\n\0]/.test(line)));
    }),
    { numRuns: cases(300) },
  );
});

test('no text of an email becomes markup, and no URL of a button can run code', () => {
  const addresses = fc.oneof(
    fc.constantFrom(
      'javascript:alert(1)',
      'java\nscript:alert(1)',
      'data:text/html,x',
      'https://a.test/"><script>',
      ' vbscript:x',
    ),
    fc.webUrl(),
    hostile,
  );
  fc.assert(
    fc.property(hostile, addresses, (text, url) => {
      const { html, text: plain } = renderEmail(
        {
          lang: 'en',
          heading: text,
          blocks: [
            { kind: 'heading', text },
            { kind: 'text', text },
            { kind: 'rich', style: 'ul', lines: [[{ text }, { text, mark: 'bi' }, { text, href: url }]] },
            { kind: 'rich', style: 'text', lines: [[{ text }], [{ text, mark: 'b' }]] },
            { kind: 'button', label: text, url },
            { kind: 'fields', fields: [{ label: text, files: [{ id: text, filename: text, size: 1 }] }] },
          ],
          reason: text,
        },
        () => url,
      );
      const tags = new Set([...html.matchAll(/<\/?([a-z][a-z0-9]*)/gi)].map(([, tag]) => tag!.toLowerCase()));
      const ours = 'html head meta title style body main h1 h2 p dl dt dd a br footer ul li b i'.split(' ');
      assert.deepEqual(
        [...tags].filter((tag) => !ours.includes(tag)),
        [],
      );
      for (const [, href] of html.matchAll(/href="([^"]*)"/g))
        assert.match(href!, /^(https?:\/\/|about:blank)/);
      assert.doesNotMatch(html, /\son[a-z]+="/i);
      assert.doesNotMatch(plain, /(java|vb)script:/);
    }),
    { numRuns: cases(500) },
  );
});

const addresses: readonly [text: string, read: ReturnType<typeof readMailAddress>][] = [
  ['ada@example.org', { address: 'ada@example.org' }],
  [' Ada.Lovelace+forms@Example.ORG ', { address: 'Ada.Lovelace+forms@example.org' }],
  ['Ada Lovelace <ada@example.org>', { address: 'ada@example.org', name: 'Ada Lovelace' }],
  ['"Lovelace, Ada \\"A\\"" <ada@example.org>', { address: 'ada@example.org', name: 'Lovelace, Ada "A"' }],
  ['用户@例え.jp', { address: '用户@例え.jp' }],
  ['josé@bücher.example', { address: 'josé@bücher.example' }],
  ['josé@BÜCHER.example', { address: 'josé@bücher.example' }],
  ['josé@xn--bcher-kva.example', { address: 'josé@bücher.example' }],
  ['<ada@example.org>', { address: 'ada@example.org' }],
  ['', undefined],
  ['ada', undefined],
  ['@example.org', undefined],
  ['a@b@c.test', undefined],
  ['ada@example.org, bob@example.org', undefined],
  ['Bob <bob@example.org>, Ada <ada@example.org>', undefined],
  ['ada@example.org\r\nBcc: bob@example.org', undefined],
  ['Ada\r\nBcc: x <ada@example.org>', undefined],
  ['"ada\\"@example.org', undefined],
  ['ada@exa mple.org', undefined],
  ['ada@[127.0.0.1]', undefined],
  ['ada@-example.org', undefined],
  ['..@example.org', undefined],
  ['ada@example.org>', undefined],
  [`${'a'.repeat(65)}@example.org`, undefined],
  [`a@${'b.'.repeat(130)}test`, undefined],
  ['ada\u202e@example.org', undefined],
  ['ada\u0000@example.org', undefined],
];
for (const [text, read] of addresses) {
  test(`${JSON.stringify(text.slice(0, 50))} is ${read ? 'read' : 'no address'}`, () => {
    assert.deepEqual(readMailAddress(text), read);
  });
}
