import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { normalizeText } from '#ast/basics/text.ts';
import { cases } from '#test/cases.ts';
import { cpuMsOf } from '#test/slowness.ts';
import { ApiError } from './errors.ts';
import { readJsonBody } from './json-body.ts';

const read = (text: string | Buffer): unknown => readJsonBody(Buffer.from(text as string));
const statusOf = (text: string | Buffer): number => {
  try {
    read(text);
    return 200;
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    return error.status;
  }
};
const nested = (levels: number, inside = ''): string => '['.repeat(levels) + inside + ']'.repeat(levels);

test('valid JSON is accepted, with or without a byte order mark', () => {
  const values: unknown[] = [
    {},
    [],
    null,
    true,
    0,
    -1.5,
    1e21,
    5e-324,
    9_007_199_254_740_991,
    '',
    'é"\\/\b\n\u2028👍',
    { a: [{ b: { c: 'd' } }] },
  ];
  for (const value of values) assert.deepEqual(read(JSON.stringify(value)), value);
  assert.deepEqual(read('\uFEFF{"a":1}'), { a: 1 });
  assert.deepEqual(read('"\\ud83d\\ude00 \\uD83D\\uDE00 \\\\u0000 \\u0001"'), '😀 😀 \\u0000 \u0001');
});

const broken: Record<string, string | Buffer> = {
  'no value': '',
  'half an object': '{"a":',
  'more behind it': '{} garbage',
  'a comment': '{/* */}',
  'single quotes': "{'a':1}",
  NaN: 'NaN',
  'a leading zero': '[01]',
  'a lone minus': '[-]',
  'a string without an end': '"abc',
  'a string that ends in a backslash': '"abc\\',
  'a raw NUL': '"a\u0000b"',
  'bytes that are not UTF-8': Buffer.from([0x22, 0xff, 0xfe, 0x22]),
  'an overlong NUL': Buffer.from([0x22, 0xc0, 0x80, 0x22]),
  'half a surrogate pair in bytes': Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
  'UTF-16': Buffer.from('{"a":1}', 'utf16le'),
};
for (const [name, text] of Object.entries(broken)) {
  test(`${name}: 400`, () => {
    assert.equal(statusOf(text), 400);
  });
}

const unkeepable: Record<string, string> = {
  'a NUL in a value': '{"a":"x\\u0000y"}',
  'a NUL in a key': '{"a\\u0000":1}',
  'the first half of a pair': '"\\ud800"',
  'the second half of a pair': '"\\udc00"',
  'two first halves': '"\\ud83d\\ud83d\\ude00"',
  'halves the wrong way round': '"\\ude00\\ud83d"',
  'a first half before a letter': '"\\ud83d\\u0041"',
  'a number past the largest': '[1e400]',
  'a number past the smallest': '[-1e400]',
  'a number too small to be one': '[1e-400]',
  'a whole number that would be rounded': '[9007199254740993]',
  'a negative one': '[-9007199254740993]',
  'a number too large in a few characters': '[1e999]',
  'a number of 100,000 digits': `[${'1'.repeat(100_000)}]`,
};
for (const [name, text] of Object.entries(unkeepable)) {
  test(`${name}: 422`, () => {
    assert.equal(statusOf(text), 422);
  });
}

test('numbers that survive a round trip are kept, also large ones', () => {
  for (const text of [
    '9007199254740992',
    '9007199254740994',
    '-0',
    '0.0',
    '0e400',
    '1e308',
    '123456789012345680000',
    '0.1234567890123456789',
    '1E5',
    '-1.5e-300',
  ]) {
    assert.equal(statusOf(`[${text}]`), 200, text);
  }
});

test('64 levels are accepted and 65 return 422; brackets in strings do not count', () => {
  assert.equal(statusOf(nested(64, '1')), 200);
  assert.equal(statusOf(nested(65)), 422);
  assert.equal(statusOf(`{"a":${nested(63)}}`), 200);
  assert.equal(statusOf(`{"a":${nested(64)}}`), 422);
  assert.equal(statusOf(JSON.stringify(nested(100))), 200);
  assert.equal(statusOf(JSON.stringify(Array.from({ length: 100 }, () => [{}]))), 200);
});

const namesOf = (count: number): string =>
  JSON.stringify(Array.from({ length: count }, (_, index) => ({ [`n${index}`]: ':' })));

/** 1 MB each (docs/rules.md 13). The parser needed a second for deep JSON. */
const large: Record<string, [text: string, status: number]> = {
  'a million levels': ['['.repeat(1_000_000), 422],
  'a million levels of objects': ['{"a":'.repeat(200_000), 422],
  'half a million numbers': [`[${'1,'.repeat(500_000)}1]`, 200],
  'a number of a million digits': ['1'.repeat(1_000_000), 422],
  'a string of a million letters': [`"${'a'.repeat(1_000_000)}"`, 200],
  'half a million escapes': [`"${'\\n'.repeat(500_000)}"`, 200],
  'thirty thousand names': [namesOf(30_000), 200],
  'one name more': [namesOf(30_001), 422],
  'half a million minus signs': [`[${'-,'.repeat(500_000)}1]`, 400],
};
for (const [name, [text, status]] of Object.entries(large)) {
  test(`${name}: ${status} within a second`, () => {
    assert.ok(cpuMsOf(() => assert.equal(statusOf(text), status)) < 1_000);
  });
}

test('checking a text of escapes alone takes less than four times as long as parsing it', () => {
  const body = Buffer.from(`"${'\\"'.repeat(500_000)}"`);
  const text = body.toString();
  // Measured alternately; the best ratio counts, because a busy machine distorts single runs. It is 2.4 here,
  // and 7.5 if the engine's parser does the check.
  const ratios = Array.from(
    { length: 10 },
    () => cpuMsOf(() => void readJsonBody(body)) / cpuMsOf(() => void JSON.parse(text)),
  );
  assert.ok(Math.min(...ratios) < 4, ratios.join());
});

test('an escape is found after any number of other characters', () => {
  for (let length = 0; length < 40; length += 1) {
    const before = 'x'.repeat(length);
    assert.equal(read(`"${before}\\"${before}\\n"`), `${before}"${before}\n`);
    assert.equal(statusOf(`"${before}\\u0000${before}"`), 422);
    assert.equal(statusOf(`"${before}`), 400);
  }
});

test('names of the language itself are ordinary keys, and pollute nothing', () => {
  const value = read('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}') as object;
  assert.deepEqual(Object.keys(value), ['__proto__', 'constructor']);
  assert.ok(!('polluted' in {}));
});

test('every result of JSON.stringify is read back equal, except values that cannot be stored', () => {
  const cleanText = fc
    .string({ unit: 'binary' })
    .filter((text) => !text.includes('\u0000'))
    .map(normalizeText);
  const numbers = fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .filter((number) => !Object.is(number, -0));
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      cleanText,
      numbers,
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('any')),
      fc.dictionary(cleanText, tie('any')),
    ),
  })).any;
  fc.assert(
    fc.property(value, (sent) => {
      assert.deepEqual(read(JSON.stringify(sent)), JSON.parse(JSON.stringify(sent)));
    }),
    { numRuns: cases(300), seed: 20_260_131 },
  );
});

test('any bytes give a value, 400 or 422', () => {
  const soup = fc
    .array(
      fc.constantFrom(
        '"',
        '\\',
        '[',
        ']',
        '{',
        '}',
        ':',
        ',',
        '-',
        '1',
        'e',
        '.',
        'u',
        'd800',
        '0000',
        '\\u',
        'é',
        '\u0000',
      ),
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(soup, (text) => assert.ok([200, 400, 422].includes(statusOf(text)))),
    { numRuns: cases(2_000), seed: 20_260_131 },
  );
});
