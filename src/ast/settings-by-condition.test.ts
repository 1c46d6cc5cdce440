import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, context, element, formOf } from '#test/ast/forms.ts';
import { checkSettings, dropStaleSettings, type Settings } from './settings.ts';
import { findConfirmationIndex, withConfirmation } from './settings-by-condition.ts';
import { notificationsFor } from './settings-email.ts';

const form = formOf(
  element('number', 'age'),
  element('email', 'mail'),
  element('file_upload', 'photo'),
  element('calculation', 'score', { formula: '{age} * 2' }),
  composite('rows', [element('text', 'cell')], { repeatable: true }),
);
const old = { element: 'age', is: 'at_least', value: 18 } as const;
const good = { element: 'score', is: 'greater_than', value: 100 } as const;

const messagesOf = (settings: object): string[] => {
  const checked = checkSettings(settings, form);
  return checked.ok ? [] : checked.errors.map(({ field, message }) => `${field}: ${message}`);
};

test('confirmations and notifications accept only known keys and answers outside repeatable groups', () => {
  const confirmations = [
    { when: good, title: 'Well done, {{mail}}', message: 'You have {{score}}.' },
    { when: { element: 'photo', is: 'answered' }, redirect_url: 'https://example.com/' },
  ];
  const notifications = [{ to: 'a@b.co, c@d.co' }, { when: old, to: { answer: 'mail' } }];
  assert.deepEqual(messagesOf({ confirmations, notifications }), []);
  assert.deepEqual(
    messagesOf({
      confirmations: [
        { when: { element: 'cell', is: 'answered' }, message: 'x' },
        { when: old },
        { message: '{{cell}}', colour: 1 },
        { when: old, redirect_url: 'http://example.com' },
      ],
      notifications: [{ to: 'not-an-address' }, { to: { answer: 'age' } }, { when: 5, to: 'a@b.co' }],
    }).map((text) => text.split(':')[0]),
    [
      'confirmations.0.when',
      'confirmations.1',
      'confirmations.2',
      'confirmations.2.when',
      'confirmations.2.message',
      'confirmations.3.redirect_url',
      'notifications.0.to',
      'notifications.1.to',
      'notifications.2.when',
    ],
  );
  assert.deepEqual(
    messagesOf({
      confirmations: [null, { when: old }, { when: old, title: 'a\u0000', message: 'x'.repeat(4_097) }],
      notifications: [{ to: { answer: 'mail', or: 'a@b.co' } }],
    }).map((text) => text.replace(/, or \{.*/, '')),
    [
      'confirmations.0: "confirmations.0" must be an object.',
      'confirmations.1: "confirmations.1" must have a "message" or a "redirect_url".',
      'confirmations.2.title: "confirmations.2.title" must be text of at most 1 KB (1024 bytes).',
      'confirmations.2.message: "confirmations.2.message" must be text of at most 4 KB (4096 bytes).',
      'notifications.0.to: "notifications.0.to" must be email addresses (up to 20, separated by commas)',
    ],
  );
  assert.match(
    messagesOf({ confirmations: [{ when: old, message: 'x', translations: 5 }] }).join(),
    /^confirmations\.0\.translations: .* must be an object with languages as keys\.$/,
  );
  for (const none of [[], 5, Array.from({ length: 21 }, () => ({ to: 'a@b.co' }))])
    assert.match(messagesOf({ notifications: none })[0]!, /must be a list of 1 to 20 objects/);
});

test('the first confirmation whose condition is true replaces the default one, including its redirect', () => {
  const confirmations = [
    { when: good, message: 'Great' },
    { when: old, redirect_url: 'https://example.com/' },
  ];
  const chosen = (age: number) =>
    findConfirmationIndex(confirmations, form, { age, score: 999 }, context, new Map());
  assert.deepEqual([chosen(60), chosen(20), chosen(10)], [0, 1, undefined]);
  const settings: Settings = {
    confirmation_message: 'Thanks',
    redirect_url: 'https://all.example/',
    review_step: true,
  };
  assert.deepEqual(withConfirmation(settings, confirmations[0]), {
    review_step: true,
    confirmation_message: 'Great',
  });
  assert.deepEqual(withConfirmation(settings, confirmations[1]), {
    review_step: true,
    redirect_url: 'https://example.com/',
  });
  assert.equal(withConfirmation(settings, undefined), settings);
});

test('a notification is sent for submissions that meet its condition, which may use files', () => {
  const notifications = [
    { to: 'always@b.co' },
    { when: old, to: 'old@b.co' },
    { when: { element: 'photo', is: 'answered' }, to: 'photo@b.co' },
  ] as const;
  const recipients = (answers: object) =>
    notificationsFor(notifications, form, { ...answers }, context).map(({ to }) => to);
  assert.deepEqual(recipients({ age: 20 }), ['always@b.co', 'old@b.co']);
  const photo = [{ id: 'x', filename: 'a.png', size: 1, content_type: 'image/png' }];
  assert.deepEqual(recipients({ photo }), ['always@b.co', 'photo@b.co']);
});

test('if a condition exceeds the work limit, visitors see the default confirmation and all notifications are sent', () => {
  const worn = { ...context, work: { left: 0, kept: new Set() } };
  assert.equal(
    findConfirmationIndex([{ when: old, message: 'x' }], form, { age: 20 }, worn, new Map()),
    undefined,
  );
  const notifications = [{ when: old, to: 'old@b.co' }];
  assert.deepEqual(notificationsFor(notifications, form, { age: 10 }, worn), notifications);
});

test('stored settings omit what refers to a removed element', () => {
  const settings: Settings = {
    confirmations: [
      { when: old, message: 'Hello {{mail}}' },
      { when: { element: 'gone', is: 'answered' }, message: 'x' },
    ],
    notifications: [{ to: { answer: 'mail' } }],
  };
  const less = formOf(element('number', 'age'));
  assert.deepEqual(dropStaleSettings(less, settings).confirmations, [{ when: old, message: 'Hello ' }]);
  assert.equal(dropStaleSettings(less, settings).notifications, undefined);
});

test('stored emails lose references to removed elements, but are kept and stay valid', () => {
  const settings: Settings = {
    receipt: {
      subject: '{{mail}}',
      message: 'Hello {{mail}}, {{age}} {{answers}}',
      reply_to: { answer: 'mail' },
    },
    translations: { de: { 'receipt.subject': '{{mail}}' } },
    notifications: [
      {
        to: 'a@b.co',
        subject: 'New: {{mail}}',
        reply_to: { answer: 'mail' },
        translations: { de: { subject: '{{mail}}' } },
      },
    ],
  };
  const less = formOf(element('number', 'age'));
  const german = { ...less, attrs: { ...less.attrs, languages: ['en', 'de'] } };
  const kept = dropStaleSettings(german, settings);
  assert.deepEqual(kept, {
    receipt: { subject: '{{form_name}}', message: 'Hello , {{age}} {{answers}}' },
    translations: { de: { 'receipt.subject': '{{form_name}}' } },
    notifications: [{ to: 'a@b.co', subject: 'New: ', translations: { de: { subject: '{{form_name}}' } } }],
  });
  assert.deepEqual(checkSettings(kept, german), { ok: true, settings: kept, errors: [] });
});

test('the PDF is attached only by true or false', () => {
  for (const attach_pdf of [true, false]) {
    const notifications = [{ to: 'a@b.co', attach_pdf }];
    assert.deepEqual(messagesOf({ receipt: { attach_pdf }, notifications }), []);
  }
  for (const attach_pdf of ['true', 1, {}])
    assert.deepEqual(messagesOf({ receipt: { attach_pdf }, notifications: [{ to: 'a@b.co', attach_pdf }] }), [
      'notifications.0.attach_pdf: "notifications.0.attach_pdf" must be true or false.',
      'receipt.attach_pdf: "receipt.attach_pdf" must be true or false.',
    ]);
});

test('a question whose ID is a placeholder comes first', () => {
  const own = formOf(element('text', 'answers'), element('text', 'edit_url'));
  const receipt = { subject: '{{answers}}', message: '{{answers}} {{answers}} {{edit_url}}' };
  assert.equal(checkSettings({ receipt }, own).ok, true);
  assert.equal(checkSettings({ receipt }, form).ok, false);
});

test('stored settings are unchanged if all their elements exist, including addresses with braces', () => {
  const settings: Settings = {
    review_step: true,
    receipt_email_element: 'mail',
    subject_element: 'title',
    confirmations: [{ when: old, redirect_url: 'https://example.com/?x={{gone}}' }],
  };
  const current = formOf(element('number', 'age'), element('email', 'mail'), element('text', 'title'));
  assert.deepEqual(dropStaleSettings(current, settings), settings);
  assert.deepEqual(dropStaleSettings(current, { review_step: true }), { review_step: true });
  const { receipt_email_element: _mail, subject_element: _title, ...rest } = settings;
  assert.deepEqual(dropStaleSettings(formOf(element('number', 'age')), settings), rest);
});
