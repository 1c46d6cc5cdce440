import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ipRateLimitKey } from './users.ts';

const keys: [address: string, key: string][] = [
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::FFFF:cb00:7107', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
  ['::1', '::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['', 'unknown'],
  ['unknown', 'unknown'],
  ['203.0.113.7, 203.0.113.8', 'unknown'],
];

for (const [address, key] of keys) {
  test(`requests from ${address || 'nowhere'} are counted as ${key}`, () => {
    assert.equal(ipRateLimitKey(address), key);
  });
}
