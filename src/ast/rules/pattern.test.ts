import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { cases } from '#test/cases.ts';
import { formLimits } from '../basics/limits.ts';
import { createWorkBudget, type WorkBudget } from '../basics/work.ts';
import { compilePattern, countPatternStates } from './pattern.ts';
import { patternProblem } from './pattern-problem.ts';

const matches = (source: string, text: string): boolean =>
  compilePattern(source).matches(text, createWorkBudget());

const scenarios: [pattern: string, good: string[], bad: string[]][] = [
  ['abc', ['abc'], ['', 'ab', 'abcd', 'xabc', 'ABC']],
  ['a|bc', ['a', 'bc'], ['abc', 'b', '']],
  ['(a|b)c', ['ac', 'bc'], ['a', 'abc']],
  ['[A-Z]{2}\\d{6}', ['AB123456'], ['AB12345', 'ab123456', 'AB1234567']],
  ['\\d{4}( ?\\d{4}){3}', ['1234 5678 9012 3456', '1234567890123456'], ['1234 5678 9012']],
  ['a{2,}', ['aa', 'aaaaa'], ['a', '']],
  ['a{1,3}b??', ['a', 'aaab'], ['aaaa', 'b']],
  ['(?:ab)*', ['', 'abab'], ['aba']],
  ['^a+$', ['a', 'aaa'], ['', 'b']],
  ['(^a|b)c', ['ac', 'bc'], ['c']],
  ['a$b', [], ['ab', 'a']],
  ['[^<>\\]]*', ['', 'a & b\n'], ['<b>', ']']],
  ['.', ['x', '😀', 'é'], ['', '\n', 'xx']],
  ['\\p{Lu}\\p{L}*', ['Ärger', 'Ω'], ['ärger', 'A1']],
  ['\\u{1F600}|\\uD83D\\uDE01|[\\uD83D\\uDE02]', ['😀', '😁', '😂'], ['😃']],
  ['\\(\\+\\d\\)\\.\\/', ['(+1)./'], ['(1)./']],
  ['|a', ['', 'a'], ['b']],
  ['()', [''], ['a']],
  ['a(?:){1000000000000}(?:b{0}){1000000000000,}', ['a'], ['', 'ab']],
];

for (const [pattern, good, bad] of scenarios) {
  test(`the pattern ${pattern} must match the whole answer, with the result of the platform's own engine`, () => {
    assert.equal(patternProblem(pattern), undefined);
    const native = new RegExp(`^(?:${pattern})$`, 'u');
    for (const text of [...good, ...bad]) {
      assert.equal(matches(pattern, text), good.includes(text), JSON.stringify(text));
      assert.equal(native.test(text), good.includes(text), JSON.stringify(text));
    }
  });
}

const refused: [pattern: string, problem: RegExp][] = [
  ['', /^must have 1 to 500 characters$/],
  ['a'.repeat(501), /^must have 1 to 500 characters$/],
  ...['(', 'a)', '[', '*a', 'a**', 'a{2,1}', '{', '\\', '\\-', '\\p{Nope}', '^*'].map(
    (pattern): [string, RegExp] => [pattern, /^must be a regular expression$/],
  ),
  ...['(a)\\1', '\\bword', 'a\\B', '(?<n>a)\\k<n>'].map((pattern): [string, RegExp] => [
    pattern,
    /backreferences and word boundaries are not supported|only the groups \(…\) and/,
  ]),
  ...['(?=a)a', '(?!a)b', '(?<=a)b', '(?<!a)b', '(?<name>a)', '(?i:a)'].map((pattern): [string, RegExp] => [
    pattern,
    /^must not use "\(\?.{1,3}": only the groups \(…\) and \(\?:…\) are supported/,
  ]),
  ...['a{250}', '(a{50}){5}', '(((a{9}){9}){9}){9}', 'a{999999999}{2}|a{999999999}'].map(
    (pattern): [string, RegExp] => [pattern, /at most 250 states|must be a regular expression/],
  ),
];

test('unsupported syntax is rejected with a message that names it', () => {
  for (const [pattern, problem] of refused)
    assert.match(patternProblem(pattern) ?? 'accepted', problem, pattern);
});

test('syntax that resembles unsupported syntax, but is a character, a class or a range, is accepted', () => {
  for (const pattern of ['\\(\\?=a\\)', '[(?=]', '[\\b]', '\\\\b', 'a{249}', '(?:a)', '\\/']) {
    assert.equal(patternProblem(pattern), undefined, pattern);
  }
});

/** Patterns of the subset over a small alphabet, so that texts often match. */
const pattern = fc.letrec<{ part: string }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\d', '\\w', 'é', '😀', '^', '$', ''),
    fc.array(tie('part'), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('')),
    fc.array(tie('part'), { minLength: 2, maxLength: 3 }).map((parts) => `(${parts.join('|')})`),
    fc
      .tuple(tie('part'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{0,2}', '{2,}', '*?', '{1,2}?'))
      .map(([part, repeat]) => `(?:${part})${repeat}`),
  ),
})).part;
const text = fc
  .array(fc.constantFrom('a', 'b', '1', 'é', '😀', '\n'), { maxLength: 6 })
  .map((parts) => parts.join(''));

test("for every pattern of the subset, this engine and the platform's agree", () => {
  fc.assert(
    fc.property(pattern, fc.array(text, { maxLength: 8 }), (source, texts) => {
      fc.pre(patternProblem(source) === undefined);
      const native = new RegExp(`^(?:${source})$`, 'u');
      for (const each of texts) assert.equal(matches(source, each), native.test(each), `${source} ${each}`);
    }),
    { numRuns: cases(2_000) },
  );
});

test('no text makes the check of a pattern throw, and every accepted pattern compiles', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[\\(){}[\]|^$?*+,a1<=!-]*$/)),
      (source) => {
        if (patternProblem(source) === undefined) matches(source, 'aa11');
      },
    ),
    { numRuns: cases(2_000) },
  );
});

test('a match visits each state at most once per character, even if backtracking would take years', () => {
  const hostile = [
    '(a+)+b',
    '(a|a)*b',
    '(a?){60}a{60}',
    '(.*)*x',
    '(a|b)*a(a|b){80}',
    '((a*)*)*b',
    '(a|aa)+$b',
  ];
  for (const source of hostile) {
    assert.equal(patternProblem(source), undefined, source);
    const { matches: run } = compilePattern(source);
    for (const length of [1_000, 8_000]) {
      const work: WorkBudget = { left: Number.MAX_SAFE_INTEGER, kept: new Set() };
      run(`${'ab'.repeat(length / 4)}${'a'.repeat(length / 2)}!`, work);
      run(`${'a'.repeat(length)}!`, work);
      const steps = Number.MAX_SAFE_INTEGER - work.left;
      // Per character, a state waits once and is visited from at most two others. Testing its token costs 8
      // steps.
      const most = 2 * (length + 2) * (3 + 8) * countPatternStates(source) + 20_000;
      assert.ok(steps <= most, `${source}: ${steps}`);
    }
  }
});

test('deeply nested repeats are counted quickly', () => {
  const nested = `${'(?:'.repeat(98)}a${')+'.repeat(98)}`;
  assert.match(patternProblem(nested) ?? '', /at most 250 states/);
});

test('the work of one match is bounded: the larger the pattern, the shorter the text that it accepts', () => {
  for (const source of ['a', 'a{249}', '[^<>]*']) {
    const { maxLength } = compilePattern(source);
    assert.equal(maxLength, Math.floor(formLimits.patternSteps / countPatternStates(source)));
  }
  assert.ok(compilePattern('[^<>]*').maxLength > formLimits.answerBytes);
  assert.equal(compilePattern('a{249}').maxLength, 4_000);
});
