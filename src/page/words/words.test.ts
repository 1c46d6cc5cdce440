import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wordsByLocale } from './choose-locale.ts';
import { prefixProblemLabel } from './words.ts';

const cases = [
  ['en', 'Full name', 'Enter your full name', 'Enter your full name'],
  ['en', 'E-mail', 'Enter an email address', 'E-mail: Enter an email address'],
  ['en', 'Email', 'Enter an email address', 'Enter an email address'],
  ['en', 'Email of a parent', 'Enter an email address', 'Email of a parent: Enter an email address'],
  ['en', 'A', 'Enter a number', 'A: Enter a number'],
  ['en', 'Ready?', 'Choose yes or no', 'Ready? Choose yes or no'],
  ['en', '', 'Enter an answer', 'Enter an answer'],
  [
    'de',
    'Vollständiger Name',
    'Geben Sie Ihren vollständigen Namen ein',
    'Geben Sie Ihren vollständigen Namen ein',
  ],
  ['ja', '氏名', '氏名を入力してください', '氏名を入力してください'],
] as const;

for (const [locale, label, message, expected] of cases) {
  test(`${locale}: the problem "${message}" of "${label}" is "${expected}"`, () =>
    assert.equal(prefixProblemLabel(label, message, wordsByLocale[locale]), expected));
}
