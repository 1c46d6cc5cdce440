import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openService, shareService } from '#test/service.ts';

const dayMs = 24 * 60 * 60 * 1_000;
const path = '/.well-known/security.txt';

test('security.txt names the contact and its own address, and expires within a year', async () => {
  const service = await openService({ SECURITY_CONTACT: 'holes@example.test' });
  const answer = await fetch(`${service.url}${path}`);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8');
  const fields = Object.fromEntries(
    (await answer.text())
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/: (.*)/, 2)),
  );
  assert.deepEqual(Object.keys(fields), ['Contact', 'Expires', 'Canonical']);
  assert.equal(fields['Contact'], 'mailto:holes@example.test');
  assert.equal(fields['Canonical'], `${service.url}${path}`);
  const days = (Date.parse(fields['Expires'] as string) - Date.now()) / dayMs;
  assert.ok(days > 1 && days < 365, fields['Expires']);
});

test('without SECURITY_CONTACT there is no security.txt', async () => {
  const service = await shareService();
  assert.equal((await fetch(`${service.url}${path}`)).status, 404);
});
