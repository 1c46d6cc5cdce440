import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLanguage, languages } from './languages.ts';
import { checkSettings } from './settings.ts';
import { composite, element, formOf } from './testing.ts';

const form = formOf(
  element('text', 'title'),
  element('number', 'age'),
  composite('people', [element('text', 'name')], { repeatable: true }),
);

const full = {
  access: 'invited',
  confirmation_message: 'Thank you!',
  notification_email: 'owner@example.com',
  editing: true,
  subject_element: 'title',
  language: 'german',
  opens_at: '2026-01-01T00:00:00Z',
  closes_at: '2026-01-31T23:59:59.5Z',
  max_submissions: 100,
};

const errorsOf = (input: unknown) => {
  const result = checkSettings(input, form);
  return result.ok ? [] : result.errors;
};

test('every key of the settings is accepted and comes back', () => {
  assert.deepEqual(checkSettings(full, form), { ok: true, settings: full });
  assert.deepEqual(checkSettings({}, undefined), { ok: true, settings: {} });
});

test('a key with null is left out: that is how a client clears it', () => {
  const nothing = Object.fromEntries(Object.keys(full).map((key) => [key, null]));
  assert.deepEqual(checkSettings(nothing, form), { ok: true, settings: {} });
});

const bad: Record<keyof typeof full, unknown[]> = {
  access: ['everybody', 1, ''],
  confirmation_message: [5, 'x'.repeat(4097), 'a\u0000'],
  notification_email: ['', 'owner', 'a@b c', 5],
  editing: ['true', 1],
  subject_element: ['gone', 'age', 'name', 5],
  language: ['klingon', 'toString', 'English', 1],
  opens_at: ['2026-02-30T00:00:00Z', '2026-01-01', '2026-01-01T00:00:00+01:00', 'soon', 5],
  closes_at: ['2026-01-01T24:00:00Z'],
  max_submissions: [0, -1, 1.5, '5'],
};

for (const [field, values] of Object.entries(bad)) {
  test(`settings.${field} refuses ${values.map((value) => JSON.stringify(value).slice(0, 30)).join(', ')}`, () => {
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

test('a form closes after it opens', () => {
  const found = errorsOf({ opens_at: '2026-01-02T00:00:00Z', closes_at: '2026-01-02T00:00:00.000Z' });
  assert.deepEqual(found, [{ field: 'closes_at', message: '"closes_at" must be later than "opens_at".' }]);
});

test('unknown keys are refused by name, and every problem comes at once', () => {
  const input = JSON.parse('{"theme":"dark","__proto__":{"access":"public"},"editing":1}') as unknown;
  assert.deepEqual(
    errorsOf(input).map((error) => error.field),
    ['editing', 'theme', '__proto__'],
  );
  assert.match(errorsOf(input)[1]!.message, /^There is no setting "theme". Settings: access, /);
  for (const value of [null, [], 'x', 5])
    assert.deepEqual(
      errorsOf(value).map((error) => error.field),
      ['settings'],
    );
});

test('without a form a subject element only has to look like an id', () => {
  assert.equal(checkSettings({ subject_element: 'anything' }, undefined).ok, true);
  assert.equal(checkSettings({ subject_element: '1' }, undefined).ok, false);
});

test('search knows the 29 languages of PostgreSQL 15, each with a tag that a browser understands', () => {
  assert.equal(Object.keys(languages).length, 29);
  for (const tag of Object.values(languages)) assert.deepEqual(Intl.getCanonicalLocales(tag), [tag]);
  assert.deepEqual([isLanguage('english'), isLanguage('constructor')], [true, false]);
});
