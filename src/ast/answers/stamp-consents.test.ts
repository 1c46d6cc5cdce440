import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, context, element, formOf } from '#test/ast/forms.ts';
import type { ConsentAnswer } from '../types/rules.ts';
import { checkAnswers } from './check-answers.ts';
import { stampConsents } from './stamp-consents.ts';

const form = formOf(
  composite('guests', [element('text', 'name'), element('consent', 'terms')], { repeatable: true }),
);
const given = (at: string): ConsentAnswer => ({ agreed: true, text: 'As it was', version: 1, at });
const [one, two, three] = [1, 2, 3].map((minute) => given(`2026-01-31T10:0${minute}:00.000Z`)) as [
  ConsentAnswer,
  ConsentAnswer,
  ConsentAnswer,
];
const before = {
  guests: [
    { name: 'Ada', terms: one },
    { name: 'Ben', terms: two },
    { name: 'Cleo', terms: three },
  ],
};
const stamp = { version: 2, at: new Date('2026-02-02T12:00:00.000Z') };
const fresh = { agreed: true, text: 'Its statement', version: 2, at: '2026-02-02T12:00:00.000Z' };

function stamped(guests: readonly object[]): unknown {
  const checked = checkAnswers(form, { guests }, new Map(), context);
  assert.ok(checked.ok, JSON.stringify(checked));
  return stampConsents(form, checked.answers, stamp, before)['guests'];
}

test('a consent in a row keeps its time and text if an earlier row is removed or swapped with it', () => {
  assert.deepEqual(
    stamped([
      { name: 'Ada', terms: one },
      { name: 'Cleo', terms: three },
    ]),
    [before.guests[0], before.guests[2]],
  );
  // A page sends only the time, a program the whole consent that it has read.
  assert.deepEqual(
    stamped([
      { name: 'Ben', terms: two.at },
      { name: 'Ada', terms: one.at },
    ]),
    [before.guests[1], before.guests[0]],
  );
});

test('a new consent in a row, or one with a time that no row has, gets the current time', () => {
  assert.deepEqual(
    stamped([
      { name: 'Dora', terms: true },
      { name: 'Eve', terms: '2020-01-01T00:00:00.000Z' },
    ]),
    [
      { name: 'Dora', terms: fresh },
      { name: 'Eve', terms: fresh },
    ],
  );
});

test('a missing consent is not stamped; an answer of another type under its id does not count as a consent', () => {
  const withGroup = formOf(
    element('consent', 'terms'),
    composite('guests', [element('consent', 'each')], { repeatable: true }),
  );
  assert.deepEqual(stampConsents(withGroup, {}, stamp), {});
  const anew = stampConsents(withGroup, { terms: { agreed: true, text: 'Its statement' } }, stamp, {
    terms: { Tea: 'Red' },
  });
  assert.deepEqual(anew, { terms: fresh });
});
