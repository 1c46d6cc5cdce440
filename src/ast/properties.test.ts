import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { composite, context, element, formOf, structure } from '#test/ast/forms.ts';
import { cases } from '#test/cases.ts';
import { checkAnswers } from './answers/check-answers.ts';
import { isRecord } from './basics/json.ts';
import { normalizeText } from './basics/text.ts';
import { addMissingNodeMembers, effectiveStructure } from './form/effective-form.ts';
import { elementDefinitions, type InputType } from './form/elements.ts';
import { matrixRowName, parseRawAnswers } from './form/fields.ts';
import type { FormNode } from './form/tree.ts';
import { searchableText } from './searchable.ts';
import { checkSettings } from './settings.ts';
import { validateStructure } from './validate.ts';

// A failure prints its seed and path. Add both to these options to run it again.
const options: fc.Parameters<unknown> = { numRuns: cases(300) };

const line = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  .filter((text) => !/[\r\n\0]/.test(text))
  .map(normalizeText);
const twoDigits = (min: number, max: number) =>
  fc.integer({ min, max }).map((n) => String(n).padStart(2, '0'));
const date = fc
  .tuple(fc.integer({ min: 1000, max: 9999 }), twoDigits(1, 12), twoDigits(1, 28))
  .map((d) => d.join('-'));
const time = fc.tuple(twoDigits(0, 23), twoDigits(0, 59)).map((parts) => parts.join(':'));
const optionList = ['Red', 'Green', 'Blue'];

/** Valid answers of each type, except files, which are uploaded, and results, which are computed. */
const answerOf: Record<
  Exclude<InputType, 'file_upload' | 'signature' | 'calculation' | 'score'>,
  fc.Arbitrary<unknown>
> = {
  text: line,
  textarea: fc.array(line, { minLength: 1, maxLength: 3 }).map((lines) => lines.join('\n')),
  email: fc.constantFrom('a@b.co', 'name+tag@example.com'),
  phone: fc.constantFrom('+1 555 010 0199', '123'),
  url: fc.webUrl(),
  // A larger number may lose digits, and a page rejects it.
  number: fc.double({ min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER, noNaN: true }),
  date,
  time,
  datetime: fc.tuple(date, time).map((parts) => parts.join('T')),
  dropdown: fc.constantFrom(...optionList),
  radio: fc.constantFrom(...optionList),
  multiple_choice: fc.subarray(optionList),
  yes_no: fc.boolean(),
  consent: fc.constant(true),
  hidden: line,
  ranking: fc.shuffledSubarray(optionList, { minLength: optionList.length }),
  picture_choice: fc.subarray(optionList, { maxLength: 1 }),
  matrix: fc
    .record(
      { Tea: fc.constantFrom(...optionList), Coffee: fc.constantFrom(...optionList) },
      { requiredKeys: ['Tea'] },
    )
    .map((cells) => ({ ...cells })),
  rating: fc.integer({ min: 1, max: 5 }),
  scale: fc.integer({ min: 0, max: 10 }),
};
const inputTypes = Object.keys(answerOf) as (keyof typeof answerOf)[];

type Filled = { nodes: FormNode[]; answers: Record<string, unknown>[] };

/** Inputs with ids from a prefix, and several sets of answers to some of them. */
const filledInputs = (prefix: string, sets: { minLength: number; maxLength: number }): fc.Arbitrary<Filled> =>
  fc.array(fc.constantFrom(...inputTypes), { minLength: 1, maxLength: 5 }).chain((types) => {
    const nodes = types.map((type, index) => element(type, `${prefix}${index}`));
    const answers = Object.fromEntries(types.map((type, index) => [`${prefix}${index}`, answerOf[type]]));
    return fc.array(fc.record(answers, { requiredKeys: [] }), sets).map((answers) => ({ nodes, answers }));
  });

const once = { minLength: 1, maxLength: 1 };

/** A valid form with top-level, grouped and repeated inputs, and valid answers to it. */
const filledForm = fc
  .record({
    top: filledInputs('t', once),
    plain: filledInputs('p', once),
    rows: filledInputs('r', { minLength: 0, maxLength: 4 }),
  })
  .map(({ top, plain, rows }) => ({
    form: formOf(
      ...top.nodes,
      composite('plain', plain.nodes),
      { type: 'divider' },
      composite('group', rows.nodes, { repeatable: true }),
    ),
    answers: { ...top.answers[0], ...plain.answers[0], group: rows.answers },
  }));

/** Returns the fields that a browser would submit for the answers. */
function fieldsFrom(answers: Record<string, unknown>, name = (id: string) => id): [string, string][] {
  return Object.entries(answers).flatMap(([id, value]): [string, string][] => {
    if (id === 'group') {
      return (value as Record<string, unknown>[]).flatMap((row, index) =>
        fieldsFrom(row, (child) => `group[${index}][${child}]`),
      );
    }
    if (Array.isArray(value)) return value.map((choice) => [name(id), String(choice)]);
    if (isRecord(value))
      return Object.entries(value).map(([row, cell]) => [matrixRowName(name(id), row), String(cell)]);
    if (typeof value === 'boolean') return [[name(id), value ? 'yes' : 'no']];
    return [[name(id), String(value).replaceAll('\n', '\r\n')]];
  });
}

test('valid answers give the same result through JSON and through an HTML form', () => {
  fc.assert(
    fc.property(filledForm, ({ form, answers }) => {
      const fromJson = checkAnswers(form, answers, new Map(), context);
      assert.ok(fromJson.ok, JSON.stringify(fromJson));
      assert.deepEqual(
        checkAnswers(form, parseRawAnswers(form, fieldsFrom(answers)).raw, new Map(), context),
        fromJson,
      );
    }),
    options,
  );
});

test('accepted answers are accepted again unchanged, also after they were stored as JSON', () => {
  fc.assert(
    fc.property(filledForm, ({ form, answers }) => {
      const first = checkAnswers(form, answers, new Map(), context);
      assert.ok(first.ok);
      assert.deepEqual(
        checkAnswers(form, JSON.parse(JSON.stringify(first.answers)), new Map(), context),
        first,
      );
    }),
    options,
  );
});

const everyElement = formOf(
  ...Object.keys(elementDefinitions).map((type) => element(type, type)),
  composite('rows', [element('text', 'child')], { repeatable: true }),
);
const keys = fc.constantFrom(
  ...Object.keys(elementDefinitions),
  'rows',
  '__proto__',
  'rows[0][child]',
  '_add',
);

test('no JSON value makes a check throw', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      validateStructure(value);
      checkAnswers(everyElement, value, new Map(), context);
      checkSettings(value, everyElement);
    }),
    options,
  );
});

test('no value of any element makes a check throw, and accepted values can be indexed for search', () => {
  const weird = fc.oneof(fc.jsonValue(), fc.array(fc.dictionary(keys, fc.jsonValue())), fc.anything());
  fc.assert(
    fc.property(fc.dictionary(keys, weird, { noNullPrototype: true }), (raw) => {
      const result = checkAnswers(everyElement, raw, new Map(), context);
      if (result.ok) searchableText(everyElement, result.answers, {});
    }),
    options,
  );
});

test('no submitted fields make reading or checking throw', () => {
  const entry = fc.tuple(fc.oneof(keys, fc.string()), fc.string({ unit: 'binary' }));
  fc.assert(
    fc.property(fc.array(entry), (entries) => {
      checkAnswers(everyElement, parseRawAnswers(everyElement, entries).raw, new Map(), context);
    }),
    options,
  );
});

/** Trees that resemble forms: valid keys with values of any type. */
const almostNode = fc.letrec<{ node: unknown }>((tie) => ({
  node: fc.record(
    {
      type: fc.oneof(fc.constantFrom('form', 'step', ...Object.keys(elementDefinitions)), fc.jsonValue()),
      attrs: fc.oneof(
        fc.record({ id: fc.constantFrom('a', 'b', 1), label: fc.oneof(fc.string(), fc.jsonValue()) }),
        fc.jsonValue(),
      ),
      children: fc.oneof({ depthSize: 'small' }, fc.jsonValue(), fc.array(tie('node'))),
    },
    { requiredKeys: [] },
  ),
})).node;

test('no tree makes validation throw; the input is not modified, and no text or unknown attribute is lost', () => {
  fc.assert(
    fc.property(fc.array(almostNode), (children) => {
      const input = { type: 'form', attrs: { name: 'F' }, children: [{ type: 'step', attrs: {}, children }] };
      const before = JSON.stringify(input);
      const result = validateStructure(input);
      assert.equal(JSON.stringify(input), before);
      if (result.ok) assert.deepEqual(result.form, effectiveStructure(addMissingNodeMembers(input)));
      else for (const { path } of result.errors) assert.ok(path.every(Number.isInteger));
    }),
    options,
  );
});

test('an attribute of another type is kept with any value, and breaks nothing', () => {
  const names = new Set(Object.values(elementDefinitions).flatMap(({ attrs }) => Object.keys(attrs)));
  let kept = 0;
  for (const [type, { attrs }] of Object.entries(elementDefinitions))
    for (const name of names.difference(new Set(Object.keys(attrs))))
      for (const value of [5, true, {}, [null], [{ id: 'a', label: 'A', show_when: 5 }]]) {
        const foreign = { [name]: value };
        const node =
          type === 'composite'
            ? composite('e', [element('text', 't')], foreign)
            : element(type, 'e', foreign);
        // With logic, so that the whole form is evaluated.
        const dependent = element('text', 'z', { show_when: { element: 'y', is: 'answered' } });
        const result = validateStructure(structure(element('text', 'y'), node, dependent));
        assert.ok(result.ok, `${type} ${JSON.stringify(foreign)}`);
        kept += 1;
        checkAnswers(result.form, { e: 'a', y: 'b' }, new Map(), context);
      }
  assert.ok(kept > 1_000, `${kept} were kept`);
});
