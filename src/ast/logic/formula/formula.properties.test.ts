import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { cases } from '#test/cases.ts';
import { checkAnswers } from '../../answers.ts';
import { readFields } from '../../fields.ts';
import { context, formOf } from '../../testing.ts';
import { isCalculation, walkElements } from '../../tree.ts';
import { evaluate } from '../evaluate.ts';
import { calculatedForm } from './formula.fixture.ts';

/** What a browser would post. */
function* fieldsOf(
  answers: Readonly<Record<string, unknown>>,
  name = (id: string) => id,
): Generator<[string, string]> {
  for (const [id, value] of Object.entries(answers)) {
    for (const [index, one] of [value].flat().entries()) {
      if (typeof one === 'object')
        yield* fieldsOf(one as Record<string, unknown>, (inner) => `${id}[${index}][${inner}]`);
      else yield [name(id), `${one as string | number}`];
    }
  }
}

test('what a page shows of 10,000 random forms is what the server stores of what it posts', () => {
  fc.assert(
    fc.property(calculatedForm, ({ nodes, answers }) => {
      const form = formOf(...nodes);
      const { raw } = readFields(form, fieldsOf(answers));
      const shown = evaluate(form, raw, context);
      const stored = checkAnswers(form, answers, new Map(), context);
      assert.ok(stored.ok);
      const taken: Record<string, unknown> = stored.answers;
      for (const { element, group } of walkElements(form)) {
        if (!isCalculation(element)) continue;
        const { id } = element.attrs;
        const rows = group && ((taken[group.attrs.id] ?? []) as Record<string, unknown>[]);
        const results: unknown[] = rows ? rows.map((row) => row[id]) : [taken[id]];
        for (const [index, result] of results.entries()) {
          assert.equal(shown.calculated(element, group && { group, index }), result);
          assert.ok(result === undefined || Math.abs(Number(result)) <= 999_999_999_999_999);
        }
      }
    }),
    { numRuns: cases(10_000) },
  );
});
