import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answers } from '#ast/answers/check-answers.ts';
import type { Condition } from '#ast/basics/condition.ts';
import { createWorkBudget } from '#ast/basics/work.ts';
import type { FieldDescription } from '#ast/form/describe.ts';
import type { ElementType } from '#ast/form/elements.ts';
import { snapshotOf } from './event.ts';
import { meetsFilter } from './record-event.ts';

const types: Record<string, ElementType> = {
  country: 'radio',
  name: 'text',
  age: 'number',
  topics: 'multiple_choice',
  agreed: 'yes_no',
  day: 'date',
  end: 'date',
  photo: 'file_upload',
  guests: 'composite',
  guest: 'text',
  pass: 'file_upload',
};
const fields = Object.fromEntries(
  Object.entries(types).map(([id, type]): [string, FieldDescription] => [
    id,
    { label: id, type, required: false },
  ]),
);
const file = { id: '1', filename: 'a.png', size: 1, content_type: 'image/png' };

type Sent = { answers?: object; reference?: Record<string, string>; elements?: typeof fields };
function meets(filter: Condition, { answers = {}, reference = {}, elements = fields }: Sent): boolean {
  const submission = {
    id: 's',
    submittedAt: null,
    status: 'completed',
    reference,
    answers: answers as Answers,
  };
  const form = { id: 'f', name: 'Form', workspaceId: 'w' };
  const snapshot = snapshotOf({ form, submission, fields: elements });
  return meetsFilter(
    filter,
    { snapshot, fields: elements },
    {
      today: '2026-01-31',
      work: createWorkBudget(),
      given: new Map(),
    },
  );
}

const german: Condition = { element: 'country', is: 'equals', value: 'Germany' };
const adult: Condition = { element: 'age', is: 'at_least', value: 18 };
const { country: _country, ...later } = fields;

const scenarios: [what: string, filter: Condition, meeting: Sent[], failing: Sent[]][] = [
  [
    'an option',
    german,
    [{ answers: { country: 'Germany' } }],
    [{ answers: { country: 'germany' } }, { answers: { country: 'France' } }, {}],
  ],
  ['a text', { element: 'name', is: 'contains', value: 'ADA' }, [{ answers: { name: ' Ada' } }], [{}]],
  [
    'two questions',
    { element: 'day', is: 'after', other: 'end' },
    [{ answers: { day: '2026-02-02', end: '2026-02-01' } }],
    [{ answers: { day: '2026-02-01', end: '2026-02-02' } }, { answers: { day: '2026-02-01' } }, {}],
  ],
  ['a number', adult, [{ answers: { age: 18 } }], [{ answers: { age: 17.5 } }, {}]],
  [
    'choices',
    { element: 'topics', is: 'contains', value: 'Red' },
    [{ answers: { topics: ['Blue', 'Red'] } }],
    [{ answers: { topics: ['Blue'] } }, {}],
  ],
  ['yes', { element: 'agreed', is: 'equals', value: true }, [{ answers: { agreed: true } }], [{}]],
  [
    'days from today',
    { element: 'day', is: 'at_least', value: 'today-1' },
    [{ answers: { day: '2026-01-30' } }],
    [{ answers: { day: '2026-01-29' } }],
  ],
  ['files', { element: 'photo', is: 'answered' }, [{ answers: { photo: [file] } }], [{}]],
  [
    'files, those of rows aside',
    { element: 'pass', is: 'answered' },
    [],
    [{ answers: { guests: [{ guest: 'Tom', pass: [file] }] } }],
  ],
  ['rows', { element: 'guests', is: 'answered' }, [{ answers: { guests: [{ guest: 'Tom' }] } }], [{}]],
  [
    'reference data',
    { reference: 'utm', is: 'equals', value: 'mail' },
    [{ reference: { utm: 'Mail' } }],
    [{ reference: { utm: 'web' } }, {}],
  ],
  [
    'a reference value as a number',
    { reference: 'plan', is: 'greater_than', value: 9 },
    [{ reference: { plan: '10' } }],
    [{ reference: { plan: 'nine' } }],
  ],
  [
    'all of two',
    { all: [german, adult] },
    [{ answers: { country: 'Germany', age: 20 } }],
    [{ answers: { country: 'Germany' } }, { answers: { age: 20 } }],
  ],
  [
    'any of two',
    { any: [german, adult] },
    [{ answers: { country: 'Germany' } }, { answers: { age: 20 } }],
    [{}],
  ],
  [
    'the contrary',
    { not: german },
    [{}, { answers: { country: 'France' } }],
    [{ answers: { country: 'Germany' } }],
  ],
  [
    'an element that the version did not ask: it is unanswered',
    { element: 'country', is: 'not_answered' },
    [{ elements: later }, { elements: later, answers: { country: 'Germany' } }],
    [{ answers: { country: 'Germany' } }],
  ],
  [
    'an element that had another type then: it is compared as that',
    { element: 'age', is: 'equals', value: 18 },
    [],
    [{ elements: { ...fields, age: fields['name']! }, answers: { age: '18' } }],
  ],
  ['a name that every object has', { element: 'toString', is: 'answered' }, [], [{}]],
];
for (const [what, filter, meeting, failing] of scenarios) {
  test(`a filter decides by ${what}`, () => {
    for (const sent of meeting) assert.equal(meets(filter, sent), true, JSON.stringify(sent));
    for (const sent of failing) assert.equal(meets(filter, sent), false, JSON.stringify(sent));
  });
}
