import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { calculatedForm } from '#test/ast/calculated-form.ts';
import { context, formOf } from '#test/ast/forms.ts';
import { cases } from '#test/cases.ts';
import { checkAnswers } from '../answers/check-answers.ts';
import { parseRawAnswers } from '../form/fields.ts';
import { isCalculation, walkElements } from '../form/tree.ts';
import { evaluateVisibility } from './evaluate.ts';
import { parseFormula } from './formula/parse.ts';
import { runFormula } from './formula/run.ts';

/** Yields the fields that a browser would post. */
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

test('for 10,000 random forms, the results that a page shows equal those that the server stores', () => {
  fc.assert(
    fc.property(calculatedForm, ({ nodes, answers }) => {
      const form = formOf(...nodes);
      const { raw } = parseRawAnswers(form, fieldsOf(answers));
      const shown = evaluateVisibility(form, raw, context);
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

function resultOf(formula: string): number | undefined {
  const parsed = parseFormula(formula);
  assert.ok(parsed.ok, formula);
  const nothing = { answer: () => undefined, attrsOf: () => ({}), rowsAround: () => undefined };
  return runFormula(parsed.program, { ...nothing, ...context }, undefined);
}

/** Decimals as people write them: integers divided by a power of ten, so that the exact result is known. */
const decimals = fc.record({
  one: fc.integer({ min: -99_999, max: 99_999 }),
  other: fc.integer({ min: -99_999, max: 99_999 }),
  places: fc.integer({ min: 0, max: 8 }),
});
const written = (units: number, places: number): string =>
  `(${Number(`${units}e-${places}`).toFixed(places)})`;

test('sums, differences, products, quotients and remainders of decimals are exact, large or small', () => {
  fc.assert(
    fc.property(decimals, ({ one, other, places }) => {
      const [left, right] = [written(one, places), written(other, places)];
      const exact = (units: number, of = places): number => Number(`${units}e-${of}`) + 0;
      for (const [formula, result] of [
        [`${left} + ${right}`, exact(one + other)],
        [`${left} - ${right}`, exact(one - other)],
        [`${left} * ${right}`, exact(one * other, 2 * places)],
        [`sum(${left}, ${right}, -${left})`, exact(other)],
        [`${left} + ${right} - ${left} - ${right}`, 0],
        [`min(${left}, ${right}) + max(${left}, ${right})`, exact(one + other)],
        [`if(${left} + ${right} = ${exact(one + other).toFixed(places)}, 1, 0)`, 1],
        ...(other === 0
          ? []
          : ([
              [`${left} / ${right} * ${right}`, exact(one)],
              [`${left} * ${right} / ${right} - ${left}`, 0],
              [`${left} % ${right}`, exact(one - other * Math.floor(one / other))],
            ] as const)),
      ] as const)
        assert.equal(resultOf(formula), result, formula);
    }),
    { numRuns: cases(2_000) },
  );
});

/** Writes a number without an exponent, which formulas do not have. */
function decimalOf(value: number): string {
  const [digits, exponent] = value.toExponential().split('e') as [string, string];
  const [whole, fraction = ''] = digits.split('.') as [string, string?];
  const point = 1 + Number(exponent);
  const all = whole + fraction;
  if (point <= 0) return `0.${'0'.repeat(-point)}${all}`;
  return point >= all.length ? all.padEnd(point, '0') : `${all.slice(0, point)}.${all.slice(point)}`;
}

test('a number of up to 15 digits keeps its value, whatever its magnitude', () => {
  const number = fc
    .tuple(fc.integer({ min: 1, max: 999_999_999 }), fc.integer({ min: -30, max: 5 }))
    .map(([digits, exponent]) => Number(`${digits}e${exponent}`));
  fc.assert(
    fc.property(number, (value) => {
      const text = decimalOf(value);
      for (const formula of [
        text,
        `${text} + 0`,
        `0 - ${text}`,
        `${text} * 1`,
        `${text} / 1`,
        `abs(${text})`,
      ])
        assert.equal(Math.abs(resultOf(formula)!), Number(value.toPrecision(15)), formula);
    }),
    { numRuns: cases(2_000) },
  );
});
