import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePersonSearch } from './person-search.ts';

test('an address is found in any case and within a text, but not within a longer address', () => {
  const { isMatch } = parsePersonSearch(' Ada@Example.org ');
  for (const text of [
    'ada@example.org',
    'Ada <ADA@EXAMPLE.ORG>',
    'Write to ada@example.org.',
    '"ada@example.org"',
  ])
    assert.ok(isMatch(text), text);
  for (const text of [
    'nada@example.org',
    'ada@example.org.uk',
    'x.ada@example.org',
    'ada@example.orgs',
    'ada',
  ])
    assert.ok(!isMatch(text), text);
});

test('a phone number is found however it is written, but not as part of a longer number', () => {
  const { isMatch, pattern } = parsePersonSearch('0049 (30) 12-34 56');
  for (const text of ['+49 30 123456', '+4930123456', '0049/30/123456', 'Call +49 30 12 34 56, please'])
    assert.ok(isMatch(text), text);
  for (const text of ['+493012345', '+49301234567', '149 30 123456']) assert.ok(!isMatch(text), text);
  assert.match('"+49 30 123456"', new RegExp(pattern));
});

test('any other answer is found if it is the whole text, and nothing in it is treated as a pattern', () => {
  const { isMatch, pattern, json_pattern } = parsePersonSearch('Ada "Countess" (Lovelace)');
  assert.ok(isMatch('ada "countess" (lovelace)'));
  assert.ok(!isMatch('Ada "Countess" (Lovelace) II'));
  assert.match('Ada "Countess" (Lovelace)', new RegExp(pattern));
  assert.match(JSON.stringify({ name: 'Ada "Countess" (Lovelace)' }), new RegExp(json_pattern));
  assert.doesNotMatch('xxx', new RegExp(parsePersonSearch('...').pattern));
});
