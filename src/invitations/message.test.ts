import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkMessage, defaultMessage, type Recipient, renderInvitationEmail } from './message.ts';

const recipient: Recipient = {
  email: 'ada@example.org',
  name: 'Ada',
  reference: { customer: '17', form: 'not this' },
  formName: 'Survey',
  workspaceName: 'Analytical Engines',
  link: 'https://forms.example/f/1?_invitation=x',
  expiresAt: new Date('2026-03-01T12:00:00Z'),
  locale: 'en',
};
const write = (text: string, more: Partial<Recipient> = {}) => {
  const { subject, letter } = renderInvitationEmail(
    { ...defaultMessage, subject: text, message: text },
    { ...recipient, ...more },
    'invitation',
  );
  const [block] = letter.blocks;
  assert.deepEqual(block, { kind: 'text', text: subject });
  return subject;
};

for (const [text, expected] of [
  ['Dear {{name}} <{{email}}>', 'Dear Ada <ada@example.org>'],
  ['{{ customer }} until {{expires}}', '17 until March 1, 2026'],
  ['{{form}}: {{link}}', 'Survey: https://forms.example/f/1?_invitation=x'],
  ['{{missing|nothing}} {{missing}}.', 'nothing .'],
  ['{{name|friend}}, {not} {{}}', 'Ada, {not} {{}}'],
] as const) {
  test(`"${text}" is filled in`, () => assert.equal(write(text), expected));
}

test('a value is inserted as text, even if it looks like a placeholder', () => {
  assert.equal(write('{{name}}', { name: '{{email}}' }), '{{email}}');
});

test('a reminder has its own text, or else the text of the invitation', () => {
  const email = renderInvitationEmail(defaultMessage, recipient, 'reminder');
  assert.equal(email.subject, 'Reminder: You are invited: Survey');
  const own = { ...defaultMessage, reminderSubject: 'Still time', reminderMessage: 'Please.' };
  assert.equal(renderInvitationEmail(own, recipient, 'reminder').subject, 'Still time');
});

test('the built-in texts are in the language of the form', () => {
  const { subject, letter } = renderInvitationEmail(
    defaultMessage,
    { ...recipient, locale: 'de' },
    'reminder',
  );
  assert.match(subject, /^Erinnerung: /);
  assert.deepEqual(
    [letter.lang, letter.blocks[1]],
    ['de', { kind: 'button', label: 'Formular öffnen', url: recipient.link }],
  );
  assert.match(JSON.stringify(letter.blocks[2]), /bis zum 1\. März 2026/);
});

test('every email has the personal link as its button, and says when the link expires', () => {
  const { letter } = renderInvitationEmail(defaultMessage, recipient, 'invitation');
  assert.deepEqual(letter.blocks[1], { kind: 'button', label: 'Open the form', url: recipient.link });
  assert.match(JSON.stringify(letter.blocks[2]), /March 1, 2026/);
  assert.match(letter.reason, /Analytical Engines invited ada@example.org/);
});

const names = new Set(['customer']);
for (const [what, more, field] of [
  ['a placeholder that stands for nothing', { message: 'Dear {{nmae}}' }, 'message'],
  ['an empty subject', { subject: ' ' }, 'subject'],
  ['a subject of two lines', { subject: 'a\nBcc: x' }, 'subject'],
  ['a message that is too long', { message: 'x'.repeat(10_001) }, 'message'],
  ['reminders in the wrong order', { remindAfterDays: [5, 3] }, 'remind_after_days'],
  ['a reminder at once', { remindAfterDays: [0] }, 'remind_after_days'],
] as const) {
  test(`${what} is rejected with its field`, () => {
    const problems = checkMessage(
      {
        ...defaultMessage,
        ...more,
        remindAfterDays: [...('remindAfterDays' in more ? more.remindAfterDays : [])],
      },
      names,
    );
    assert.deepEqual(
      problems.map((problem) => problem.field),
      [field],
    );
  });
}

test('known placeholders are accepted', () => {
  const message = { ...defaultMessage, message: '{{customer}} {{name|x}}', remindAfterDays: [3, 7] };
  assert.deepEqual(checkMessage(message, names), []);
});
