import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { openAddressGuard } from './address-guard.ts';

const guard = openAddressGuard([]);

const publicAddresses = [
  '8.8.8.8',
  '1.1.1.1',
  '93.184.215.14',
  '2606:4700::1111',
  '2a00:1450:4001:80e::200e',
  // The direct neighbors of private networks, from the tests of Smokescreen.
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.254',
  '100.128.0.1',
  '126.255.255.255',
  '128.0.0.1',
  '169.253.255.255',
  '169.255.0.1',
  '172.15.255.255',
  '172.32.0.1',
  '192.167.255.255',
  '192.169.0.1',
  '198.17.255.255',
  '198.20.0.1',
  '223.255.255.255',
  '2003::1',
  '2600::1',
]; // prettier-ignore

const blockedAddresses = [
  '127.0.0.1',
  '127.1.2.3',
  '127.255.255.255',
  '0.0.0.0',
  '0.1.2.3',
  '::',
  '::1',
  '10.0.0.1',
  '10.255.255.255',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '192.168.255.255',
  '169.254.0.1',
  '169.254.169.254',
  '100.64.0.1',
  '100.100.100.200',
  '100.127.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  // IPv4 inside IPv6, both private and public: mapped, translated, compatible, NAT64, 6to4, Teredo.
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:8.8.8.8',
  '::ffff:0:127.0.0.1',
  '::127.0.0.1',
  '::7f00:1',
  '::8.8.8.8',
  '64:ff9b::7f00:1',
  '64:ff9b::8.8.8.8',
  '64:ff9b:1::1',
  '2002:7f00:1::',
  '2002:808:808::1',
  '2001:0:7f00:1::',
  '2001::1',
  'fe80::1',
  'febf::1',
  'fec0::1',
  'fc00::1',
  'fdff::1',
  'ff02::1',
  '100::1',
  '2001:db8::1',
  '3fff::1',
  '5f00::1',
  // Unassigned: outside 2000::/3.
  '64:ff9c::1',
  '1::1',
  '1fff::1',
  '4000::1',
  'e000::1',
]; // prettier-ignore

for (const address of publicAddresses) {
  test(`${address} is public`, () => assert.equal(guard.mayConnect(address, 443), true));
}
for (const address of blockedAddresses) {
  test(`${address} is not public`, () => assert.equal(guard.mayConnect(address, 443), false));
}

test('a text that is not an address is rejected', () => {
  for (const text of ['', 'localhost', 'example.com', '1.2.3', '0x08.8.8.8', 'fe80::1%eth0', '[2600::1]']) {
    assert.equal(guard.mayConnect(text, 443), false, text);
  }
});

test('endpoints may use port 443 or ports from 1024, but no database ports', () => {
  const ports = [0, 22, 25, 80, 442, 443, 444, 1023, 1024, 3306, 5432, 6379, 8443, 11211, 27017, 65_535];
  assert.deepEqual(
    ports.filter((port) => guard.mayConnect('8.8.8.8', port)),
    [443, 1024, 8443, 65_535],
  );
});

test('allowed networks are reachable on endpoint ports, and neighboring networks are not', () => {
  const allowing = openAddressGuard(['127.0.0.0/8', 'fd00::/8']);
  for (const address of ['127.0.0.1', '127.0.0.2', 'fd00::1'])
    for (const [port, expected] of [
      [443, true],
      [8443, true],
      [25, false],
      [80, false],
      [5432, false],
    ] as const)
      assert.equal(allowing.mayConnect(address, port), expected, `${address} ${port}`);
  for (const address of ['10.0.0.1', '::1', '::ffff:127.0.0.1', '::127.0.0.1', 'fc00::1']) {
    assert.equal(allowing.mayConnect(address, 443), false, address);
  }
});

test('the service itself is rejected by address and by name, also in an allowed network', () => {
  const own = openAddressGuard(['0.0.0.0/0', '::/0'], ['http://127.0.0.1:3000', 'https://forms.example.com']);
  const external = Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .map((entry) => entry.address);
  for (const address of ['127.0.0.1', '127.0.0.9', '::1', ...external]) {
    assert.equal(own.mayConnect(address, 3000), false, address);
    assert.equal(own.mayConnect(address, 443), false, address);
  }
  assert.equal(own.mayConnect('127.0.0.1', 3001), true);
  assert.equal(own.mayConnect('8.8.8.8', 3000), true);
  assert.equal(own.isOwnHost('forms.example.com', 443), true);
  assert.equal(own.isOwnHost('forms.example.com.', 443), true);
  assert.equal(own.isOwnHost('forms.example.com', 8443), false);
  assert.equal(own.isOwnHost('other.example.com', 443), false);
});
