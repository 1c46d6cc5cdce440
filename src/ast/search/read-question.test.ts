import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mostParts, operators, readQuestion, withMoments } from './read-question.ts';

const parts = (text: string): string[] =>
  readQuestion(text).parts.map((part) => {
    const name = part.kind === 'operator' || part.kind === 'field' ? `${part.name}=` : '';
    return `${part.isNot ? 'not ' : ''}${part.kind} ${name}${part.text}`;
  });

const rows: readonly [question: string, ...parts: string[]][] = [
  ['stuck shuttle', 'word stuck', 'word shuttle'],
  ['"stuck fast" now', 'phrase stuck fast', 'word now'],
  ['-refund -"not this"', 'not word refund', 'not phrase not this'],
  ['web* -web*', 'beginning web', 'not beginning web'],
  ['email:ada@acme.com', 'operator email=ada@acme.com'],
  ['form:"Contact us" -form:x', 'operator form=Contact us', 'not operator form=x'],
  ['status:completed after:2026-01-01', 'operator status=completed', 'operator after=2026-01-01'],
  ['after:2026-01-01T08:00:00+02:00', 'operator after=2026-01-01T08:00:00+02:00'],
  ['name:ada -name:"Ada L"', 'field name=ada', 'not field name=Ada L'],
  ['status[Room]:good', 'field status=good'],
  // Signs that mean nothing where they stand.
  ['- -- -! " ""', 'word -', 'word --', 'word -!'],
  ['note: hello', 'word note:', 'word hello'],
  ['https://acme.com 12:30 rock-climbing', 'word https://acme.com', 'word 12:30', 'word rock-climbing'],
  ['* a:* 5" O"Brien', 'word *', 'field a=*', 'word 5"', 'word O"Brien'],
  ['"to the end', 'phrase to the end'],
  ['   '],
];
for (const [question, ...expected] of rows)
  test(`${question} is read as: ${expected.join(', ') || 'nothing'}`, () => {
    assert.deepEqual(parts(question), expected);
    assert.deepEqual(readQuestion(question).problems, []);
  });

const refused: readonly [question: string, begin: number, end: number, says: RegExp][] = [
  ['ada before:soon', 4, 15, /"before:" at character 5 takes a day such as 2026-05-17/],
  ['after:2026-02-30', 0, 16, /"after:" at character 1/],
  ['after:2026-05-17T08:00', 0, 22, /"after:"/],
  ['after:2026-05-17T25:00:00Z', 0, 26, /"after:"/],
  ['-status:done', 0, 12, /"status:" at character 1 takes "completed" or "incomplete"/],
  ['a*', 0, 2, /at least 2 letters: "a\*" at character 1/],
  [
    Array.from({ length: mostParts + 1 }, (_, index) => `tag:t${index}`).join(' '),
    182,
    189,
    /at most 24 phrases/,
  ],
  [
    Array.from({ length: mostParts + 1 }, (_, index) => `-t${index}`).join(' '),
    110,
    114,
    /at most 24 phrases, operators and words that must not be there/,
  ],
];
for (const [question, begin, end, says] of refused)
  test(`${question.slice(0, 40)} is refused, and says where`, () => {
    const [problem] = readQuestion(question).problems;
    assert.match(problem!.message, says);
    assert.deepEqual([problem!.begin, problem!.end], [begin, end]);
  });

test('every example of an operator is one', () => {
  for (const [name, { example }] of Object.entries(operators)) {
    const { parts: found, problems } = readQuestion(example);
    assert.deepEqual([found.length, found[0]?.kind, problems], [1, 'operator', []], name);
  }
});

test('a question of any length is read in time that grows with it', () => {
  const long = '-"a:b'.repeat(20_000);
  assert.ok(readQuestion(long).parts.length > 0);
});

test('days become the moments in which they begin for the reader', () => {
  const berlin = (day: string): string => `${day}T00:00:00+02:00`;
  assert.equal(
    withMoments('ada after:2026-05-01 -before:2026-06-01 "after:2026-05-01"', berlin),
    'ada after:2026-05-01T00:00:00+02:00 -before:2026-06-01T00:00:00+02:00 "after:2026-05-01"',
  );
  for (const text of ['after:2026-02-30', 'after:2026-13-01', 'after:2026-05', 'tag:2026-05-01'])
    assert.equal(withMoments(text, berlin), text);
});
