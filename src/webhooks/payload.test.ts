import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Compile } from 'typebox/schema';
import type { Answers } from '#ast/answers/check-answers.ts';
import { describeFields } from '#ast/form/describe.ts';
import { elementDefinitions } from '#ast/form/elements.ts';
import type { Form } from '#ast/form/tree.ts';
import { newId } from '#kit/clock.ts';
import { composite, element, formOf, formOfSteps } from '#test/ast/forms.ts';
import { isSlice } from '#test/cases.ts';
import { snapshotOf } from './event.ts';
import { formatTypeScriptTypes, payloadSchema } from './payload.ts';
import { sampleSubmission } from './samples.ts';
import { formatDeliveryBody } from './signature.ts';

const schemaOf = (form: Form) => payloadSchema(form, { id: 'https://forms.test/schema.json' });
const inputTypes = Object.entries(elementDefinitions).flatMap(([type, { group }]) =>
  group === 'input' ? [type] : [],
);

/** Returns the body of an event, built like that of every delivery. */
function bodyOf(form: Form, answers: Answers = sampleSubmission(form).answers): Record<string, never> {
  const submission = {
    id: newId(),
    submittedAt: new Date(),
    status: 'completed',
    reference: { a: 'b' },
    answers,
  };
  const place = { id: newId(), name: form.attrs.name, workspaceId: newId() };
  const snapshot = JSON.stringify(snapshotOf({ form: place, submission, fields: describeFields(form) }));
  const signLink = ({ id }: { id: string }): string => `https://forms.test/files/${id}`;
  const source = {
    kind: 'submission.created',
    occurredAt: new Date(),
    deliveryId: newId(),
    signLink,
  } as const;
  return JSON.parse(formatDeliveryBody({ ...source, snapshot })) as Record<string, never>;
}

const everything = (prefix: string, attrs: Record<string, unknown> = {}) =>
  inputTypes.map((type) => element(type, `${prefix}-${type}`, { required: true, ...attrs }));
const large = formOf(
  ...everything('top'),
  composite('plain', everything('inner')),
  // A score counts the questions of the whole form.
  composite(
    'rows',
    everything('cell').filter(({ type }) => type !== 'score'),
    { repeatable: true },
  ),
  element('radio', 'pick', { options: ['A "quoted" one', 'B'], other: true }),
  element('text', 'toString', { label: 'ends a comment */ export const stolen = 1; /*', required: true }),
);

test('a real payload of a form with every element is valid, and one without a required answer is not', () => {
  const check = Compile(schemaOf(large));
  const body = bodyOf(large);
  assert.deepEqual(check.Errors(body)[1], []);
  const { answers } = sampleSubmission(large);
  delete answers['top-email'];
  assert.equal(check.Check(bodyOf(large, answers)), false);
  assert.equal(check.Check({ ...body, event: 'submission.sold' }), false);
  assert.equal(check.Check({ ...body, delivery_id: undefined }), false);
});

type Answer = string | number | boolean | string[];
const rules: readonly (readonly [type: string, attrs: Record<string, unknown>, good: Answer, bad: Answer])[] =
  [
    ['text', { min_length: 3 }, 'abc', 'ab'],
    ['text', { max_length: 2 }, '👋👋', '👋👋👋'],
    ['textarea', { pattern: '[A-Z]{2}|\\d{4}' }, '1234', '12345'],
    ['number', { min: 2 }, 2, 1],
    ['number', { max: 2 }, 2, 3],
    ['number', { step: 5 }, 10, 11],
    ['time', {}, '14:30', '14:30:00'],
    ['datetime', {}, '2026-01-31T14:30', '2026-01-31'],
    ['dropdown', {}, 'Red', 'Pink'],
    ['radio', { other: true }, 'Pink', ''],
    ['multiple_choice', {}, ['Red', 'Blue'], ['Red', 'Pink']],
    ['multiple_choice', { other: true }, ['Red', 'Pink'], ['Red', 'Red']],
    ['multiple_choice', { min_choices: 2 }, ['Red', 'Blue'], ['Red']],
    ['multiple_choice', { max_choices: 1 }, ['Red'], ['Red', 'Blue']],
    ['yes_no', {}, false, 'false'],
  ];
for (const [type, attrs, good, bad] of rules) {
  test(`the schema expresses the rules of ${type} ${JSON.stringify(attrs)}`, () => {
    const form = formOf(element(type, 'field', attrs));
    const check = Compile(schemaOf(form));
    assert.equal(check.Check(bodyOf(form, { field: good })), true);
    assert.equal(check.Check(bodyOf(form, { field: bad })), false);
  });
}

test('a schema cannot compare days, so its description states their limits', () => {
  const schema = schemaOf(formOf(element('date', 'day', { min: 'today', max: '2030-01-01' })));
  const { description } = schema.$defs!['Responses']!.properties!['day']!;
  assert.equal(description, 'Not before today. Not after 2030-01-01.');
});

const when = { show_when: { element: 'first', is: 'equals', value: 'x' } };
const required = { required: true };
const conditional: readonly (readonly [what: string, form: Form, always: string[]])[] = [
  [
    'the question itself',
    formOf(element('text', 'first'), element('text', 'a', { ...required, ...when })),
    [],
  ],
  [
    'the group around it',
    formOf(element('text', 'first', required), composite('g', [element('text', 'a', required)], when)),
    ['first'],
  ],
  [
    'its step',
    formOfSteps({}, [element('text', 'first', required)], when, [element('text', 'a', required)]),
    ['first'],
  ],
  [
    'a jump over it',
    formOfSteps(
      { jumps: [{ to: 'last', when: { element: 'first', is: 'equals', value: 'x' } }] },
      [element('text', 'first', required)],
      {},
      [element('text', 'a', required)],
      { id: 'last' },
      [element('text', 'z')],
    ),
    ['first'],
  ],
];
for (const [what, form, always] of conditional) {
  test(`an answer is not required in the schema when ${what} may hide the question`, () => {
    const { required: names = [] } = schemaOf(form).$defs!['Responses']!;
    assert.deepEqual(names, always);
  });
}

// The TypeScript type, checked by the compiler --------------------------------------------------------------

const folder = mkdtempSync(join(tmpdir(), 'formloom-types-'));
after(() => rmSync(folder, { recursive: true }));
const compiler = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));

/** Returns what the compiler prints for the type of a form with this value, or '' if it compiles. */
function compile(form: Form, value: unknown): string {
  const path = join(folder, `${newId()}.ts`);
  const text = JSON.stringify(value, null, 1);
  writeFileSync(
    path,
    `${formatTypeScriptTypes(schemaOf(form))}\nexport const event: ContactEvent = ${text};\n`,
  );
  try {
    execFileSync(process.execPath, [
      compiler,
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--target',
      'es2022',
      path,
    ]);
    return '';
  } catch (error) {
    return String((error as { stdout: Buffer }).stdout);
  }
}

test('the TypeScript type compiles and accepts a real payload, but no invalid one', { skip: isSlice }, () => {
  const body = bodyOf(large) as unknown as { submission: { responses: Record<string, unknown> } };
  assert.equal(compile(large, body), '');
  const { responses } = body.submission;
  const change = (more: object) => ({
    ...body,
    submission: { ...body.submission, responses: { ...responses, ...more } },
  });
  assert.match(compile(large, change({ 'top-number': '42' })), /string.*number/);
  // An object literal may have no property that the type lacks. So the type covers every property.
  assert.match(compile(large, change({ unknown: 1 })), /unknown/);
});

test('the type is named after the form, even if the name has no letters', () => {
  const named = (name: string): string => {
    const form = formOf(element('text', 'a'));
    return /export type (\w+)Event/.exec(formatTypeScriptTypes(schemaOf({ ...form, attrs: { name } })))![1]!;
  };
  assert.deepEqual(['Contact us!', 'Ångström', '2026 survey', '申请'].map(named), [
    'ContactUs',
    'Angstrom',
    'Form2026Survey',
    'Form',
  ]);
});
