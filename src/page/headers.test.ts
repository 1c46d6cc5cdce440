import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { pageHeaders } from './headers.ts';
import { renderNotice } from './render.ts';

test('the policy admits the style sheet of the page by its hash, and no script', () => {
  const page = renderNotice({ title: 'Closed', message: 'Come back later.', language: 'en' });
  const [, style = ''] = /<style>([^<]*)<\/style>/.exec(page) ?? [];
  const policy = pageHeaders['Content-Security-Policy'];
  assert.ok(policy.includes(`style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`));
  assert.ok(policy.startsWith("default-src 'none';"));
  assert.doesNotMatch(policy, /script-src|unsafe-/);
});

test('a page is not kept, sniffed, referred from, or opened into', () => {
  assert.equal(pageHeaders['Cache-Control'], 'no-store');
  assert.equal(pageHeaders['X-Content-Type-Options'], 'nosniff');
  assert.equal(pageHeaders['Referrer-Policy'], 'no-referrer');
  assert.equal(pageHeaders['Cross-Origin-Opener-Policy'], 'same-origin');
});
