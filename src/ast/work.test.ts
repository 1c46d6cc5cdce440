import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { cases } from '#test/cases.ts';
import { textSayer } from './answers/say-piped.ts';
import { tidyAnswer } from './answers/tidy.ts';
import { limits } from './limits.ts';
import { numberMarksOf } from './rules/written-numbers.ts';
import { composite, element, formOf } from './testing.ts';
import { type Composite, type Form, type InputElement, listQuestions } from './tree.ts';
import { newWork } from './work.ts';
import { check, many } from './work.fixture.ts';

const fullText = 'Σ'.repeat(limits.answerBytes / 2);

test('an answer is folded once, however many conditions ask for it in its row', () => {
  const values = many(100, (index) => `v${index}`);
  const asked = many(90, (index) =>
    element('text', `t${index}`, { show_when: { element: 'q', is: 'one_of', value: values } }),
  );
  const form = formOf(composite('g', [element('text', 'q'), ...asked], { repeatable: true }));
  const rows = many(10, () => ({ q: fullText }));
  const { result, steps } = check(form, { g: rows });
  assert.equal(result, 'taken');
  assert.ok(steps < 1_500_000, `${steps} steps`);
});

test('a text is paid for by its characters, and by more where its ends of lines are written anew', () => {
  const [input] = listQuestions(formOf(element('textarea', 'q')));
  const paid = (text: string): number => {
    const work = newWork();
    const { left } = work;
    tidyAnswer(input!.element as InputElement, text, work);
    return left - work.left;
  };
  assert.deepEqual([paid('x'.repeat(1_000)), paid('\r\n'.repeat(500))], [250, 1_000]);
});

test('a pattern that visits each place for each character is matched for a few answers, not for a hundred', () => {
  const inputs = many(120, (index) => element('text', `t${index}`, { pattern: '(?:(?:a|a)*){40}b' }));
  const form = formOf(...inputs);
  const raw = (count: number) => Object.fromEntries(many(count, (index) => [`t${index}`, 'a'.repeat(6_000)]));
  assert.equal(check(form, raw(1)).result, 'wrong');
  assert.equal(check(form, raw(120)).result, 'too much');
});

/** Sums of many calculations, of one thing each. */
const sums = (part: string) =>
  many(4, (index) =>
    element('calculation', `c${index}`, {
      formula: many(Math.floor(1_990 / (part.length + 1)), () => part).join('+'),
    }),
  );
const matrix = element('matrix', 'm');
const padded = `${' '.repeat(60_000)}x`;
const lookedAtAgain: [what: string, form: Form, raw: Record<string, unknown>][] = [
  [
    'the rows of a matrix that a formula counts',
    formOf(matrix, ...sums('count({m})')),
    { m: Object.fromEntries(many(2_000, (index) => [`r${index}`, 'Red'])) },
  ],
  [
    'a text of which a formula asks whether it is there',
    formOf(element('textarea', 't'), ...sums('if(answered({t}),1,0)')),
    { t: padded },
  ],
  ['a text that a formula counts', formOf(element('textarea', 't'), ...sums('count({t})')), { t: padded }],
  [
    'what stands in a row of a matrix that conditions ask for',
    formOf(
      matrix,
      ...many(500, (index) =>
        element('text', `t${index}`, { show_when: { element: 'm', row: 'Tea', is: 'answered' } }),
      ),
    ),
    { m: { Tea: padded } },
  ],
];
for (const [what, form, raw] of lookedAtAgain) {
  test(`each look is paid for at ${what}`, () => assert.equal(check(form, raw).result, 'too much'));
}

test('what people fill in costs less than half of what a request may', () => {
  const paragraph = 'The quick brown fox jumps over the lazy dog.\r\n'.repeat(200);
  const condition = { element: 'q0', is: 'contains', value: 'quick' };
  const form = formOf(
    ...many(200, (index) => element('textarea', `q${index}`, index > 0 ? { show_when: condition } : {})),
    composite('g', [element('text', 'code', { pattern: '\\p{Lu}{2}-\\d{4}' }), element('number', 'n')], {
      repeatable: true,
    }),
  );
  const texts = Object.fromEntries(many(100, (index) => [`q${index}`, paragraph]));
  const rows = many(100, (index) => ({ code: 'AB-1234', n: index }));
  const { result, steps } = check(form, { ...texts, g: rows });
  assert.equal(result, 'taken');
  assert.ok(steps < limits.workSteps / 2, `${steps} steps`);
});

test('an answer that hundreds of texts show is read once, in each row that is its own', () => {
  const form = formOf(
    element('textarea', 'q'),
    composite('g', [element('text', 'cell')], { repeatable: true }),
  );
  const [group] = listQuestions(form).filter(({ kind }) => kind === 'group');
  let reads = 0;
  const counted = (name: string, text: string): Record<string, unknown> =>
    Object.defineProperty({}, name, { enumerable: true, get: () => ((reads += 1), text) });
  const values = Object.assign(counted('q', fullText), {
    cell: 'of no row',
    g: [counted('cell', 'one'), counted('cell', 'two')],
  });
  const say = textSayer({
    form,
    values,
    held: new Map(),
    shown: { isShown: () => true },
    speech: { language: 'en', numbers: numberMarksOf('en'), words: { yes: 'Yes', no: 'No' } },
  });
  const rowsSaid = [0, 1].map((index) =>
    many(500, () => say('{{q}} {{cell}}', { group: group!.element as Composite, index })),
  );
  assert.deepEqual(
    rowsSaid.map(([said]) => said),
    ['one', 'two'].map((cell) => `${'Σ'.repeat(limits.pipedCharacters)}… ${cell}`),
  );
  assert.equal(reads, 3);
  assert.equal(say('{{cell}}'), '', 'an answer of a row stands in its row alone');
});

/** Blocks of code that a request may run at most: a step of the patterns, the cheapest of all, is some three of them at most. */
const mostBlocks = 3 * limits.workSteps;

test('a search for the worst form and answers finds none whose check does more than a request may', async () => {
  // Apart from this process: code that comes out of the cache of compiled code is counted by whole functions.
  const { NODE_COMPILE_CACHE: _, ...environment } = process.env;
  const script = ['--disable-warning=ExperimentalWarning', `${import.meta.dirname}/work.fixture.ts`];
  const { stdout } = await promisify(execFile)(process.execPath, [...script, String(cases(120))], {
    env: environment,
  });
  const worst = JSON.parse(stdout) as { blocks: number; shape: object };
  assert.ok(worst.blocks <= mostBlocks, stdout);
  assert.ok(worst.blocks > limits.workSteps / 2, `the search found nothing: ${stdout}`);
});
