import * as fc from 'fast-check';
import type { FormNode } from '#ast/form/tree.ts';
import { composite, element } from './forms.ts';

/** Random formulas and forms with formulas, for tests. Product code does not import this file. */

const literal = fc.oneof(
  fc.integer({ min: 0, max: 1_000 }).map(String),
  fc
    .tuple(fc.integer({ min: 0, max: 999 }), fc.integer({ min: 0, max: 99 }))
    .map(([whole, rest]) => `${whole}.${rest}`),
);
const days = ['2026-01-31', '2024-02-29', '1999-12-31'] as const;
const date = (names: readonly string[]) =>
  fc.constantFrom('today()', ...days.map((day) => `"${day}"`), ...names);

/** The elements that a formula can name: numbers, dates and numbers in rows. */
type Names = {
  readonly numbers: readonly string[];
  readonly dates: readonly string[];
  readonly inRows: readonly string[];
};

/** Generates formulas that return a number. */
export function formulaOver({ numbers, dates, inRows }: Names): fc.Arbitrary<string> {
  const leaf = fc.oneof(literal, ...(numbers.length > 0 ? [fc.constantFrom(...numbers)] : []));
  const pair = fc.tuple(date(dates), date(dates));
  return fc.letrec<{ number: string; truth: string; part: string }>((tie) => ({
    number: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf,
      fc
        .tuple(tie('number'), fc.constantFrom('+', '-', '*', '/', '%'), tie('number'))
        .map((all) => all.join(' ')),
      tie('number').map((inner) => `(${inner})`),
      tie('number').map((inner) => `-${inner}`),
      fc
        .tuple(fc.constantFrom('floor', 'ceil', 'abs', 'round'), tie('number'))
        .map(([name, of]) => `${name}(${of})`),
      fc
        .tuple(tie('number'), fc.integer({ min: 0, max: 4 }))
        .map(([of, digits]) => `round(${of}, ${digits})`),
      fc
        .tuple(
          fc.constantFrom('sum', 'min', 'max', 'average', 'count'),
          fc.array(tie('part'), { minLength: 1, maxLength: 3 }),
        )
        .map(([name, parts]) => `${name}(${parts.join(', ')})`),
      fc.tuple(tie('truth'), tie('number'), tie('number')).map((all) => `if(${all.join(', ')})`),
      pair.map(([one, other]) => `days_between(${one}, ${other})`),
      date(dates).map((day) => `age(${day})`),
      fc
        .tuple(fc.constantFrom('year', 'month', 'day', 'weekday'), date(dates))
        .map(([name, day]) => `${name}(${day})`),
    ),
    truth: fc.oneof(
      { depthSize: 'small' },
      fc
        .tuple(tie('number'), fc.constantFrom('=', '!=', '<', '<=', '>', '>='), tie('number'))
        .map((all) => all.join(' ')),
      pair.map(([one, other]) => `${one} <= ${other}`),
      fc.tuple(tie('truth'), fc.constantFrom('and', 'or'), tie('truth')).map((all) => `(${all.join(' ')})`),
      tie('truth').map((inner) => `(not ${inner})`),
    ),
    part:
      inRows.length === 0
        ? leaf
        : fc.oneof(
            leaf,
            fc.tuple(fc.constantFrom(...inRows), leaf).map((all) => all.join(' * ')),
          ),
  })).number;
}

const options = [{ id: 'a', label: 'A', points: 5 }, { id: 'b', label: 'B', points: -0.5 }, 'plain'];
const number = fc.oneof(fc.integer({ min: -50, max: 50 }), fc.constantFrom(0.1, 1.005, 19.99, 1e9, 0.333));
const numbers = ['n0', 'n1', 'c0', 'c1', 'c2'];

/** Generates forms whose random formulas also name each other, with answers to some questions. */
export const calculatedForm: fc.Arbitrary<{ nodes: FormNode[]; answers: Record<string, unknown> }> = fc
  .record({
    formulas: fc.tuple(
      ...[0, 1, 2, 3].map((index) =>
        formulaOver({
          numbers: [
            ...numbers.slice(0, 2 + index).map((id) => `{${id}}`),
            'points({radio})',
            'points({many})',
          ],
          dates: ['{day}'],
          inRows: ['{price}', '{line}'],
        }),
      ),
    ),
    line: formulaOver({ numbers: ['{price}', '{pieces}', '{n0}'], dates: ['{day}'], inRows: [] }),
    answers: fc.record(
      {
        n0: number,
        n1: number,
        day: fc.constantFrom(...days),
        radio: fc.constantFrom('a', 'b', 'plain'),
        many: fc.subarray(['a', 'b', 'plain'], { minLength: 1 }),
        items: fc.array(fc.record({ price: number, pieces: number }, { requiredKeys: ['price'] }), {
          minLength: 1,
          maxLength: 4,
        }),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ formulas, line, answers }) => ({
    nodes: [
      element('number', 'n0'),
      element('number', 'n1'),
      element('date', 'day'),
      element('radio', 'radio', { options }),
      element('multiple_choice', 'many', { options }),
      composite(
        'items',
        [
          element('number', 'price'),
          element('number', 'pieces'),
          element('calculation', 'line', { formula: line }),
        ],
        { repeatable: true },
      ),
      ...formulas.map((formula, index) =>
        element('calculation', `c${index}`, { formula, ...(index > 1 && { decimals: index }) }),
      ),
    ],
    answers,
  }));
