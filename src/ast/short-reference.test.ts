import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId, timeOfId } from '#kit/clock.ts';
import { formatSubmissionReference, parseSubmissionReference } from './short-reference.ts';

test('a short reference encodes the millisecond of its submission, and distinguishes submissions of one millisecond', () => {
  const ids = Array.from({ length: 2_000 }, newId);
  const references = ids.map(formatSubmissionReference);
  // 1,024 submissions per millisecond are distinguishable, and a warmed-up process creates more.
  const distinct = [...Map.groupBy(ids, (id) => timeOfId(id).getTime()).values()].flatMap((same) =>
    same.slice(0, 1_024),
  );
  assert.equal(new Set(distinct.map(formatSubmissionReference)).size, distinct.length);
  for (const [index, id] of ids.entries()) {
    assert.match(references[index]!, /^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/);
    const parsed = parseSubmissionReference(references[index]!);
    assert.deepEqual(parsed, { reference: references[index], time: timeOfId(id) });
  }
});

test('a short reference is parsed as people type it, and other text is rejected', () => {
  const reference = formatSubmissionReference('0199f3b2-6a10-7abc-9def-012345678901');
  const { time } = parseSubmissionReference(reference)!;
  const written = reference.toLowerCase().replace('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l');
  for (const text of [written, ` ${reference.replace('-', '')} `])
    assert.deepEqual(parseSubmissionReference(text), { reference, time });
  for (const text of ['', 'K7QF2', 'K7QF2-9XM4D-2', 'K7QF2-9XM4U', 'ä7QF2-9XM4D', 'stuck shuttle'])
    assert.equal(parseSubmissionReference(text), undefined, text);
});
