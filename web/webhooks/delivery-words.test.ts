import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attempt, DeliveryLine } from '#webhooks/shapes.ts';
import { formatAttempts, formatMilliseconds, outcomeOf, prettifyJson } from './log-view.ts';

const line = (more: Partial<DeliveryLine>): DeliveryLine => ({
  id: '',
  event: 'submission.created',
  status: 'Retrying',
  is_test: false,
  form_id: '',
  submission_id: '',
  created_at: '',
  attempts: 2,
  response_status: null,
  response_ms: null,
  reason: null,
  next_attempt_at: null,
  ...more,
});
const attempt = (more: Partial<Attempt>): Attempt => ({
  attempt: 1,
  trigger: 'schedule',
  started_at: '',
  url: null,
  request_headers: null,
  response_status: null,
  response_ms: 1,
  dns_ms: null,
  connect_ms: null,
  tls_ms: null,
  first_byte_ms: null,
  body_sha256: null,
  body_bytes: null,
  is_body_exact: null,
  response_headers: null,
  response_body: null,
  reason: 'No.',
  ...more,
});

test('attempts are counted against the schedule only while it runs', () => {
  assert.equal(formatAttempts(line({}), 6), '2 of 6');
  assert.equal(formatAttempts(line({ status: 'Failed', attempts: 6 }), 6), '6');
  assert.equal(formatAttempts(line({ is_test: true, attempts: 0 }), 6), '0');
  // A manual retry after the schedule ended.
  assert.equal(formatAttempts(line({ attempts: 6 }), 6), '6');
});

test('an attempt got a response, got none, or was not sent', () => {
  assert.equal(outcomeOf(attempt({ response_status: 503, request_headers: {} })), 'Response 503');
  assert.equal(outcomeOf(attempt({ request_headers: {} })), 'No response');
  assert.equal(outcomeOf(attempt({})), 'Not sent');
});

test('JSON is formatted, and other text stays as it is', () => {
  assert.equal(prettifyJson('{"a":[1]}'), '{\n  "a": [\n    1\n  ]\n}');
  assert.equal(prettifyJson('<b>no</b>'), '<b>no</b>');
});

test('a missing duration is a dash', () => {
  assert.equal(formatMilliseconds(null), '–');
  assert.equal(formatMilliseconds(7), '7 ms');
});
