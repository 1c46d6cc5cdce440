import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxSearchParts, parseSearch, replaceDaysWithTimes, searchOperators } from './search.ts';

const parts = (text: string): string[] =>
  parseSearch(text).parts.map((part) => {
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
  // Characters that have no meaning at these positions.
  ['- -- -! " ""', 'word -', 'word --', 'word -!'],
  ['note: hello', 'word note:', 'word hello'],
  ['https://acme.com rock-climbing', 'word https://acme.com', 'word rock-climbing'],
  // Element ids may begin with a digit or underscore, and may contain any script, dots and colons.
  ['12:30 q.1:x übung:y _own:z', 'field 12=30', 'field q.1=x', 'field übung=y', 'field _own=z'],
  ['a:b:c tag:a:b', 'field a:b=c', 'operator tag=a:b'],
  // An operator with an invalid value is read as text.
  ['ada before:soon', 'word ada', 'word before:soon'],
  ['after:2026-02-30 before:2026', 'word after:2026-02-30', 'word before:2026'],
  [
    'after:2026-05-17T08:00 after:2026-05-17T25:00:00Z',
    'word after:2026-05-17T08:00',
    'word after:2026-05-17T25:00:00Z',
  ],
  ['-status:done status:open', 'not word status:done', 'word status:open'],
  ['status:"not yet"', 'word status:"not yet"'],
  ['a*', 'word a*'],
  ['* a:* 5" O"Brien', 'word *', 'field a=*', 'word 5"', 'word O"Brien'],
  ['"to the end', 'phrase to the end'],
  ['   '],
];
for (const [question, ...expected] of rows)
  test(`${question} is parsed as: ${expected.join(', ') || 'nothing'}`, () => {
    assert.deepEqual(parts(question), expected);
    assert.deepEqual(parseSearch(question).problems, []);
  });

const refused: readonly [question: string, begin: number, end: number, says: RegExp][] = [
  [
    Array.from({ length: maxSearchParts + 1 }, (_, index) => `tag:t${index}`).join(' '),
    182,
    189,
    /at most 24 phrases/,
  ],
  [
    Array.from({ length: maxSearchParts + 1 }, (_, index) => `-t${index}`).join(' '),
    110,
    114,
    /at most 24 phrases, operators and excluded words/,
  ],
];
for (const [question, begin, end, says] of refused)
  test(`${question.slice(0, 40)} is rejected, with the position`, () => {
    const [problem] = parseSearch(question).problems;
    assert.match(problem!.message, says);
    assert.deepEqual([problem!.begin, problem!.end], [begin, end]);
  });

test('every example of an operator parses as that operator', () => {
  for (const [name, { example }] of Object.entries(searchOperators)) {
    const { parts: found, problems } = parseSearch(example);
    assert.deepEqual([found.length, found[0]?.kind, problems], [1, 'operator', []], name);
  }
});

test('a search of any length is parsed in linear time', () => {
  const long = '-"a:b'.repeat(20_000);
  assert.ok(parseSearch(long).parts.length > 0);
});

test('a date becomes the time at which that day starts for the reader', () => {
  const berlin = (day: string): string => `${day}T00:00:00+02:00`;
  assert.equal(
    replaceDaysWithTimes('ada after:2026-05-01 -before:2026-06-01 "after:2026-05-01"', berlin),
    'ada after:2026-05-01T00:00:00+02:00 -before:2026-06-01T00:00:00+02:00 "after:2026-05-01"',
  );
  for (const text of ['after:2026-02-30', 'after:2026-13-01', 'after:2026-05', 'tag:2026-05-01'])
    assert.equal(replaceDaysWithTimes(text, berlin), text);
});
