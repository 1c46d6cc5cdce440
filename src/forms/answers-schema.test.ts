import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkAnswers } from '#ast/answers/check-answers.ts';
import { context, element, formOf } from '#test/ast/forms.ts';
import { answersSchema } from './payload.ts';

test('the schema of a web address accepts every address that the form accepts, including letters of any script', () => {
  const form = formOf(element('url', 'site'));
  const schema = answersSchema(form, { files: true }).properties!['site']!;
  for (const site of [
    'HTTPS://example.org',
    'https://bücher.example/größe?q=ä',
    'http://localhost:3000/a|b',
  ]) {
    assert.ok(checkAnswers(form, { site }, new Map(), context).ok, site);
    assert.equal(schema.format, undefined);
    assert.match(site, new RegExp(schema.pattern!, 'u'));
  }
  assert.doesNotMatch('ftp://example.org', new RegExp(schema.pattern!, 'u'));
});
