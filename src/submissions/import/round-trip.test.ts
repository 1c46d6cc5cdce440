import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { checkAnswers } from '#ast/answers/check-answers.ts';
import { stampConsents } from '#ast/answers/stamp-consents.ts';
import { normalizeText, trimText } from '#ast/basics/text.ts';
import { createWorkBudget } from '#ast/basics/work.ts';
import type { InputType } from '#ast/form/elements.ts';
import type { Form, FormNode } from '#ast/form/tree.ts';
import { composite, element, formOf } from '#test/ast/forms.ts';
import { cases, isSlice } from '#test/cases.ts';
import { listColumnsOfVersions } from '../columns.ts';
import type { ExportedSubmission } from '../export/cells.ts';
import { exportStream } from '../export/export.ts';
import { planImport } from './plan-import.ts';

/*
 * Our export, imported again, gives equal submissions: answers, reference data and both times, for every
 * element type.
 */

const today = '2026-11-28';

/** Texts that files, lists and spreadsheets could misread. */
const text = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
    fc.string({
      unit: fc.constantFrom(...Array.from(`=+-@,;:"'| \t.a1é😀[]()`)),
      minLength: 1,
      maxLength: 8,
    }),
    fc.constantFrom("'=1+1", "''", '1.234', '03/04/2000', 'sep=;', 'TRUE', 'Red', 'A: B; C', '{"a":1}', 'No'),
  )
  // Every input stores NFC and removes invisible characters around an answer.
  .map((value) => trimText(normalizeText(value)))
  // Text of only spaces is not an answer, and workbooks do not support every control character.
  .filter(
    (value) =>
      value.trim() !== '' &&
      value.isWellFormed() &&
      !/[\p{Cc}\uFFFE\uFFFF]/u.test(value.replaceAll('\t', '')),
  );
const lines = fc.array(text, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('\n'));

/** Labels that differ even when compared without case. */
const options = fc
  .uniqueArray(
    fc.oneof(
      text,
      fc.constantFrom('Breakfast, early', 'Breakfast', 'early', 'Tea; milk', '"quoted"', 'a;b', 'a', 'b'),
    ),
    { minLength: 2, maxLength: 5 },
  )
  .map((labels) => labels.map((label, index) => (index % 2 === 0 ? label : { id: `o${index}`, label })));
const idsOf = (list: readonly (string | { id: string })[]): string[] =>
  list.map((option) => (typeof option === 'string' ? option : option.id));

const twoDigits = (min: number, max: number) =>
  fc.integer({ min, max }).map((n) => String(n).padStart(2, '0'));
const date = fc
  .tuple(fc.integer({ min: 1000, max: 9999 }), twoDigits(1, 12), twoDigits(1, 28))
  .map((parts) => parts.join('-'));
const time = fc.tuple(twoDigits(0, 23), twoDigits(0, 59)).map((parts) => parts.join(':'));

type Example = { readonly attrs?: Record<string, unknown>; readonly answer: fc.Arbitrary<unknown> };

/**
 * A question of each type with valid answers. Files are uploaded separately, and calculations have no input.
 */
const exampleOf: Record<
  Exclude<InputType, 'file_upload' | 'signature' | 'calculation' | 'score'>,
  fc.Arbitrary<Example>
> = {
  text: fc.constant({ answer: text }),
  textarea: fc.constant({ answer: lines }),
  email: fc.constant({ answer: fc.constantFrom('a@b.co', "o'hara+tag@example.com") }),
  phone: fc.constant({ answer: fc.constantFrom('+1 555 010 0199', '123', '0049 30 1 ext. 12') }),
  url: fc.constant({ answer: fc.webUrl() }),
  number: fc.constant({
    answer: fc.double({ min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER, noNaN: true }),
  }),
  date: fc.constant({ answer: date }),
  time: fc.constant({ answer: time }),
  datetime: fc.constant({ answer: fc.tuple(date, time).map((parts) => parts.join('T')) }),
  dropdown: options.map((list) => ({ attrs: { options: list }, answer: fc.constantFrom(...idsOf(list)) })),
  radio: options.map((list) => ({
    attrs: { options: list, other: true },
    answer: fc.oneof(fc.constantFrom(...idsOf(list)), fc.constant('Another; one, "so"')),
  })),
  multiple_choice: options.map((list) => ({
    attrs: { options: list, other: true },
    answer: fc
      .tuple(fc.subarray(idsOf(list), { minLength: 1 }), fc.constantFrom([], ['Another; one, "so"']))
      .map((parts) => parts.flat()),
  })),
  yes_no: fc.constant({ answer: fc.boolean() }),
  consent: fc.constant({ attrs: { statement: 'I agree; "all", yes: no.' }, answer: fc.constant(true) }),
  hidden: fc.constant({ answer: text }),
  ranking: options.map((list) => ({
    attrs: { options: list },
    answer: fc.shuffledSubarray(idsOf(list), { minLength: list.length }),
  })),
  picture_choice: options.map((list) => ({
    attrs: { options: list, multiple: true },
    answer: fc.subarray(idsOf(list), { minLength: 1 }),
  })),
  matrix: fc.tuple(options, options, fc.boolean()).map(([list, rows, multiple]) => {
    const cell = multiple ? fc.subarray(idsOf(list), { minLength: 1 }) : fc.constantFrom(...idsOf(list));
    const answer = fc.record(Object.fromEntries(idsOf(rows).map((row) => [row, cell])), {
      requiredKeys: [idsOf(rows)[0]!],
    });
    return { attrs: { options: list, rows, multiple }, answer: answer.map((cells) => ({ ...cells })) };
  }),
  rating: fc.constant({ answer: fc.integer({ min: 1, max: 5 }) }),
  scale: fc.constant({ answer: fc.integer({ min: 0, max: 10 }) }),
};
const types = Object.keys(exampleOf) as (keyof typeof exampleOf)[];

/** Repeated labels, some like a heading of an export, and some like another label with an ID. */
const label = fc.constantFrom(
  'Name',
  'name',
  'Name (q0)',
  'Status',
  'Reference',
  'Completed at',
  'Q: "x"; y',
  'Likes [Tea]',
);

type Filled = { nodes: FormNode[]; answers: Record<string, unknown>[] };

function filledInputs(prefix: string, sets: { minLength: number; maxLength: number }): fc.Arbitrary<Filled> {
  const question = fc
    .constantFrom(...types)
    .chain((type) => fc.record({ type: fc.constant(type), label, example: exampleOf[type] }));
  return fc.array(question, { minLength: 1, maxLength: 5 }).chain((inputs) => {
    const nodes = inputs.map((input, index) =>
      element(input.type, `${prefix}${index}`, { label: input.label, ...input.example.attrs }),
    );
    const answers = Object.fromEntries(
      inputs.map((input, index) => [`${prefix}${index}`, input.example.answer]),
    );
    return fc.array(fc.record(answers, { requiredKeys: [] }), sets).map((all) => ({ nodes, answers: all }));
  });
}

const moment = fc
  .date({ min: new Date('1971-01-01'), max: new Date('2026-11-01'), noInvalidDate: true })
  .map((at) => at.getTime());

const submitted = fc.record({
  top: filledInputs('q', { minLength: 1, maxLength: 3 }),
  rows: filledInputs('r', { minLength: 0, maxLength: 3 }),
  reference: fc.dictionary(
    fc.string({ minLength: 1, maxLength: 5 }).filter((name) => name !== '__proto__'),
    text,
    { maxKeys: 2, noNullPrototype: true },
  ),
  begun: moment,
  lasted: fc.integer({ min: 0, max: 1_000_000 }),
});

const contextOf = (reference: Record<string, string>) => ({
  reference,
  today,
  asksSingly: false,
  work: createWorkBudget(),
});

/** Returns answers as a submit stores them. */
function storedOf(form: Form, raw: object, reference: Record<string, string>, at: number) {
  const checked = checkAnswers(form, raw, new Map(), contextOf(reference));
  assert.ok(checked.ok, JSON.stringify([raw, checked]));
  return stampConsents(form, checked.answers, { version: 1, at: new Date(at) });
}

for (const [what, format, forSpreadsheet] of [
  ['CSV for programs', 'csv', false],
  ['CSV for spreadsheets', 'csv', true],
  ['XLSX', 'xlsx', true],
] as const) {
  test(`an export as ${what}, imported again, gives equal submissions`, {
    skip: isSlice && what !== 'XLSX',
  }, async () => {
    await fc.assert(
      fc.asyncProperty(submitted, async ({ top, rows, reference, begun, lasted }) => {
        const form = formOf(
          ...top.nodes,
          element('calculation', 'sum', { label: 'Sum', formula: '1 + 1' }),
          composite('group', rows.nodes, { label: 'Name', repeatable: true }),
        );
        const at = begun + lasted;
        const stored = top.answers.map((answers) =>
          storedOf(form, { ...answers, group: rows.answers }, reference, at),
        );
        const exported = stored.map(
          (answers, index): ExportedSubmission => ({
            id: String(index),
            status: 'completed',
            created_at: new Date(begun).toISOString(),
            completed_at: new Date(at).toISOString(),
            answers: JSON.stringify(answers),
            reference: JSON.stringify(reference),
          }),
        );
        async function* batches() {
          yield exported;
        }
        const columns = listColumnsOfVersions([form]);
        const stream = exportStream(format, { columns, batches: batches() }, { forSpreadsheet });
        const file = Buffer.concat(await stream.toArray());
        const source =
          format === 'csv'
            ? // Decoded as by fetch, without its byte order mark.
              { kind: format, text: new TextDecoder().decode(file) }
            : { kind: format, data: file.toString('base64') };
        const team = { stages: [], members: [] };
        const about = { form, today, asksSingly: false, language: 'de', timeZone: 'UTC', ...team };
        const plan = await planImport(source, about);
        assert.ok(typeof plan !== 'string', JSON.stringify(plan));
        assert.deepEqual(plan.problems, []);
        const imported = plan.entries.map(({ entry }) => {
          const checked = checkAnswers(form, entry.answers, new Map(), contextOf(entry.reference));
          assert.ok(checked.ok, JSON.stringify(checked));
          const stamp = { version: 1, at: new Date(entry.at!), keepsMoments: true };
          return {
            answers: stampConsents(form, checked.answers, stamp),
            reference: entry.reference,
            times: [entry.begun, entry.at],
          };
        });
        assert.deepEqual(
          imported,
          stored.map((answers) => ({ answers, reference, times: [begun, at] })),
        );
      }),
      { numRuns: cases(format === 'xlsx' ? 160 : 800) },
    );
  });
}
