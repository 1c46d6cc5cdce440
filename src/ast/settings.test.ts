import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, element, formOf } from '#test/ast/forms.ts';
import { searchLanguageTags } from './basics/languages.ts';
import { checkSettings } from './settings.ts';

const form = formOf(
  element('text', 'title'),
  element('number', 'age'),
  element('email', 'mail'),
  composite('people', [element('text', 'name')], { repeatable: true }),
);

const full = {
  access: 'invited',
  confirmation_message: 'Thank you!',
  notification_email: 'owner@example.com, team+forms@example.com',
  notification_digest: 'daily',
  receipt_email_element: 'mail',
  editing: true,
  edit_days: 30,
  save_progress: true,
  resume_days: 7,
  password: 'open sesame',
  closed_message: 'See you next year.',
  min_seconds: 3,
  limit_per_address: 20,
  limit_per_form: 1_000,
  proof_of_work: true,
  subject_element: 'title',
  language: 'german',
  time_zone: 'Europe/Berlin',
  opens_at: '2026-01-01T00:00:00Z',
  closes_at: '2026-01-31T23:59:59.5Z',
  max_submissions: 100,
  theme: { color: '#1d4ed8', font: 'inter', mode: 'auto' },
  locale: 'pt',
  embed_origins: ['https://example.com', 'https://*.example.org', 'http://localhost:8080'],
};

const errorsOf = (input: unknown) => {
  const result = checkSettings(input, form);
  return result.ok ? [] : result.errors;
};

test('every settings key is accepted and returned', () => {
  assert.deepEqual(checkSettings(full, form), { ok: true, settings: full, errors: [] });
  assert.deepEqual(checkSettings({}, undefined), { ok: true, settings: {}, errors: [] });
});

test('a key with null is omitted, so a client can clear it', () => {
  const nothing = Object.fromEntries(Object.keys(full).map((key) => [key, null]));
  assert.deepEqual(checkSettings(nothing, form), { ok: true, settings: {}, errors: [] });
});

const bad: Record<keyof typeof full, unknown[]> = {
  access: ['everybody', 1, ''],
  confirmation_message: [5, 'x'.repeat(4097), 'a\u0000'],
  notification_email: [
    '',
    'owner',
    'owner@acme',
    'a@b c',
    'a@b.test,,c@d.test',
    'ada.@b.test',
    'a@b.test, .ada@b.test',
    'a..b@b.test',
    `${'a'.repeat(65)}@b.test`,
    'a@b.test\r\nBcc: c@d.test',
    Array.from({ length: 21 }, (_, index) => `a${index}@b.test`).join(),
    5,
  ],
  notification_digest: ['weekly', '', 1],
  receipt_email_element: ['title', 'name', 'gone', 5],
  editing: ['true', 1],
  edit_days: [0, 3_651, 1.5, '5'],
  save_progress: ['yes', 1],
  resume_days: [0, 366, 1.5, '5'],
  password: ['abc', 'x'.repeat(129), 'a\u0000bcd', 12_345],
  closed_message: [5, 'x'.repeat(4_097), 'a\u0000'],
  min_seconds: [0, 601, 0.5, '3'],
  limit_per_address: [0, 1_000_001, 1.5, '5'],
  limit_per_form: [0, 1_000_001, 1.5, '5'],
  proof_of_work: ['true', 1],
  subject_element: ['gone', 'age', 'name', 5],
  language: ['klingon', 'toString', 'English', 1],
  time_zone: ['Mars/Olympus', '+01:00', '', 'constructor', 1],
  opens_at: [
    '2026-02-30T00:00:00Z',
    '2026-01-01',
    '2026-01-01T00:00:00',
    '0001-01-01T00:00:00+01:00',
    'soon',
    5,
  ],
  closes_at: ['2026-01-01T24:00:00Z'],
  max_submissions: [0, -1, 1.5, '5'],
  theme: ['blue', []],
  locale: ['klingon', 'en-GB', 1],
  embed_origins: [
    'https://example.com',
    ['example.com'],
    ['https://example.com/page'],
    ["https://example.com; script-src 'unsafe-inline'"],
    ['*'],
    ['https://example.com '],
    [`https://${'a'.repeat(250)}.example`],
    Array.from({ length: 21 }, () => 'https://example.com'),
  ],
};

test('a time with an offset is valid and stored in UTC', () => {
  const times = { opens_at: '2026-01-01T00:00:00+00:00', closes_at: '2026-01-01t01:30:00.5-05:30' };
  assert.deepEqual(checkSettings(times, undefined), {
    ok: true,
    settings: { opens_at: '2026-01-01T00:00:00.000Z', closes_at: '2026-01-01T07:00:00.500Z' },
    errors: [],
  });
});

for (const [field, values] of Object.entries(bad)) {
  test(`settings.${field} rejects ${values.map((value) => JSON.stringify(value).slice(0, 30)).join(', ')}`, () => {
    for (const value of values) {
      const found = errorsOf({ [field]: value });
      assert.deepEqual(
        found.map((error) => error.field),
        [field],
      );
      assert.match(found[0]!.message, new RegExp(`^"${field}" must be `));
    }
  });
}

test('a form must close after it opens', () => {
  const found = errorsOf({ opens_at: '2026-01-02T00:00:00Z', closes_at: '2026-01-02T00:00:00.000Z' });
  assert.deepEqual(found, [
    { field: 'closes_at', code: 'too_small', message: '"closes_at" must be later than "opens_at".' },
  ]);
});

test('unknown keys are rejected by name, and all problems are reported together', () => {
  const input = JSON.parse('{"colour":"dark","__proto__":{"access":"public"},"editing":1}') as unknown;
  assert.deepEqual(
    errorsOf(input).map((error) => error.field),
    ['editing', 'colour', '__proto__'],
  );
  assert.match(errorsOf(input)[1]!.message, /^Unknown setting "colour". Use one of these: access, /);
  for (const value of [null, [], 'x', 5])
    assert.deepEqual(
      errorsOf(value).map((error) => error.field),
      ['settings'],
    );
});

test('a theme is rejected by its property, with the ratio if a contrast is too low', () => {
  const found = errorsOf({ theme: { color: '#ffd400' }, locale: 'auto' });
  assert.deepEqual(
    found.map((error) => error.field),
    ['theme.color'],
  );
  assert.match(found[0]!.message, /1\.4:1 .* 4\.5:1/);
});

test('without a form, a subject element only needs the format of an id', () => {
  assert.equal(checkSettings({ subject_element: 'anything' }, undefined).ok, true);
  assert.equal(checkSettings({ subject_element: '-1' }, undefined).ok, false);
});

test('search supports the 29 languages of PostgreSQL 15, each with a valid language tag', () => {
  assert.equal(Object.keys(searchLanguageTags).length, 29);
  for (const tag of Object.values(searchLanguageTags)) assert.deepEqual(Intl.getCanonicalLocales(tag), [tag]);
  const isAccepted = (language: string): boolean => checkSettings({ language }, undefined).ok;
  assert.deepEqual([isAccepted('english'), isAccepted('constructor')], [true, false]);
});
