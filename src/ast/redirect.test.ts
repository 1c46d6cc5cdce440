import assert from 'node:assert/strict';
import { test } from 'node:test';
import { includesOrigin, isRedirect } from './settings-by-condition.ts';

const addresses: readonly (readonly [address: unknown, allowed: boolean])[] = [
  ['https://example.com/thanks?from=form#top', true],
  ['https://example.com:8443', true],
  ['http://localhost:8080/thanks', true],
  ['http://127.0.0.1/thanks', true],
  ['https://bücher.example/danke', true],
  ['http://example.com/thanks', false],
  ['//example.com', false],
  ['/thanks', false],
  ['ws://localhost/thanks', false],
  ['ftp://127.0.0.1/thanks', false],
  ['javascript:alert(1)', false],
  ['data:text/html,x', false],
  ['https://name:secret@example.com', false],
  ['https://name@example.com', false],
  ['https://:secret@example.com', false],
  ["https://example.com;script-src'unsafe-inline'", false],
  ['https://*.example.com', false],
  ['https://example.com\n.evil.example:x', false],
  [`https://example.com/${'x'.repeat(2_000)}`, false],
  ['', false],
  [7, false],
];

for (const [address, allowed] of addresses) {
  test(`visitors are ${allowed ? '' : 'not '}redirected to ${JSON.stringify(address).slice(0, 60)}`, () => {
    assert.equal(isRedirect(address), allowed);
  });
}

const listed: readonly (readonly [entry: string, origin: string, isNamed: boolean])[] = [
  ['https://example.com', 'https://example.com', true],
  ['https://example.com', 'https://www.example.com', false],
  ['https://*.example.com', 'https://www.example.com', true],
  ['https://*.example.com', 'https://a.b.example.com', true],
  ['https://*.example.com', 'https://example.com', false],
  ['https://*.example.com', 'http://www.example.com', false],
  ['https://*.example.com', 'https://www.example.com.evil.example', false],
  ['https://*.example.com', 'https://evilexample.com', false],
];

for (const [entry, origin, isNamed] of listed) {
  test(`"${entry}" ${isNamed ? 'names' : 'does not name'} ${origin}`, () => {
    assert.equal(includesOrigin([entry], origin), isNamed);
  });
}
