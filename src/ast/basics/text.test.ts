import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { cpuMsOf } from '#test/slowness.ts';
import { normalizeBody, normalizeJson } from '../form/normalize-json.ts';
import { countMarkup } from './markup-characters.ts';
import {
  byteLength,
  countCharacters,
  cutToBytes,
  fitsBytes,
  isCleanText,
  isInvisible,
  normalizeText,
  trimText,
} from './text.ts';

test('valid text has no NUL characters and no lone surrogates', () => {
  assert.deepEqual(['', 'é😀\n', 'a\u0000', '\ud83d', '\ude00'].map(isCleanText), [
    true,
    true,
    false,
    false,
    false,
  ]);
});

test('the length of a text is limited in UTF-8 bytes, not in characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(60), (text, max) => {
      assert.equal(fitsBytes(text, max), byteLength(text) <= max);
    }),
  );
});

test('truncating to bytes keeps the longest prefix and never splits a character', () => {
  assert.equal(cutToBytes('a😀b', 4), 'a');
  assert.equal(cutToBytes('a😀b', 5), 'a😀');
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(60), (text, max) => {
      const cut = cutToBytes(text, max);
      assert.ok(text.startsWith(cut) && byteLength(cut) <= max && cut.isWellFormed());
      const next = String.fromCodePoint(text.codePointAt(cut.length) ?? 0);
      assert.ok(cut === text || byteLength(cut + next) > max);
    }),
  );
});

test('length counts characters: a surrogate pair is one, and so is a lone surrogate', () => {
  const lengths: [text: string, length: number][] = [
    ['', 0],
    ['aé', 2],
    ['😀', 1],
    ['a😀b😀', 4],
    ['\ud83d', 1],
    ['\ude00\ude00', 2],
    ['\ude00\ud83d', 2],
    ['\ud83da', 2],
  ];
  for (const [text, length] of lengths) assert.equal(countCharacters(text), length, JSON.stringify(text));
});

test('exactly five characters are escaped in HTML', () => {
  for (const character of '&<>"\'') assert.equal(countMarkup(`a${character}`), 1, character);
  assert.equal(countMarkup('!#%()/=;?`´«»'), 0);
  assert.equal(countMarkup('<b>&</b>'), 5);
});

test('text is normalized to NFC, and normalizing again changes nothing', () => {
  assert.equal(normalizeText('Zoe\u0308'), 'Zo\u00eb');
  assert.equal(normalizeText('\u1112\u1161\u11ab'), '\ud55c');
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const once = normalizeText(text);
      assert.equal(once, text.normalize('NFC'));
      assert.equal(normalizeText(once), once);
    }),
  );
});

test('a megabyte of combining marks is normalized in linear time', () => {
  // Without a limit, 200,000 marks take 30 s.
  const marks = 'e' + '\u0301\u0316'.repeat(250_000);
  assert.ok(cpuMsOf(() => assert.equal(normalizeText(marks), marks)) < 2_000);
  const runs = ('e' + '\u0301\u0316'.repeat(15)).repeat(15_000);
  assert.ok(cpuMsOf(() => normalizeText(runs)) < 2_000);
});

test('invisible characters around a text are trimmed; those inside that it needs are kept', () => {
  const invisible = Array.from(
    '\u200b\u200c\u200d\u200e\u200f\u202a\u202e\u2060\u2064\u2066\u2069\u00ad\u061c\u034f\u3164\u2800\ufeff\u180e\u115f\u1160' +
      '\u17b4\u17b5\ufe0f\ufe00\uffa0\u{e0001}\u{e0041}\u{e0100} \t\n\v\f\r\u0085\u00a0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\u0001\u009f\ufff9',
  );
  for (const character of invisible) {
    const name = `U+${character.codePointAt(0)!.toString(16)}`;
    assert.ok(isInvisible(character), name);
    assert.equal(trimText(character.repeat(3)), '', name);
    assert.equal(trimText(`${character}${character}a${character}b`), `a${character}b`, name);
    if (!/\p{Variation_Selector}/u.test(character)) assert.equal(trimText(`a${character}`), 'a', name);
  }
  const whole = [
    '\u2764\ufe0f',
    '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}',
    '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645',
    '1\ufe0f\u20e3',
  ];
  whole.push('\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}', '\u845b\u{e0100}', '\ud83d');
  for (const text of whole) assert.equal(trimText(` ${text}\u200b`), text);
  // The checks reject NUL; trimming does not drop it silently.
  assert.equal(trimText('a\u0000'), 'a\u0000');
});

test('trimming is complete, and never splits a surrogate pair', () => {
  const soup = fc
    .array(fc.constantFrom('a', '\u{1f600}', '\u200b', ' ', '\ufe0f', '\u{e0041}', '\u2800', '\u0308'), {
      maxLength: 12,
    })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(soup, (text) => {
      const trimmed = trimText(text);
      assert.ok(text.includes(trimmed) && trimmed.isWellFormed());
      assert.equal(trimText(trimmed), trimmed);
      assert.equal(trimmed === '', isInvisible(text));
    }),
  );
});

test('JSON is normalized in its texts and names; unknown attributes of a structure are kept as sent', () => {
  const nfd = 'e\u0301';
  const nfc = '\u00e9';
  const node = (text: string, unknown: string) => ({
    type: 'radio',
    attrs: {
      id: 'a',
      label: text,
      options: [text, { id: text, label: text }],
      [`x-${unknown}`]: { [unknown]: unknown },
    },
    children: [],
  });
  assert.deepEqual(normalizeJson({ [nfd]: [nfd, { [nfd]: nfd }], n: 1, no: null }), {
    [nfc]: [nfc, { [nfc]: nfc }],
    n: 1,
    no: null,
  });
  assert.deepEqual(normalizeJson({ structure: node(nfd, nfd) }), { structure: node(nfc, nfd) });
  const secret = { secret: nfd, url: nfd };
  for (const wrap of [
    (inner: object) => inner,
    (inner: object) => ({ params: { arguments: inner } }),
    (inner: object) => ({ params: { arguments: { arguments: inner } } }),
  ])
    assert.deepEqual(normalizeBody(wrap({ ...secret })), wrap({ secret: nfd, url: nfc }));
  assert.deepEqual(normalizeBody({ answers: { ...secret } }), { answers: { secret: nfc, url: nfc } });
  const proto = normalizeJson(JSON.parse(`{"__proto__": {"a": "${nfd}"}}`)) as object;
  assert.deepEqual(Object.entries(proto), [['__proto__', { a: nfc }]]);
});
