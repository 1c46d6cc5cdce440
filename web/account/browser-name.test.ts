import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeBrowser } from './browser-name.ts';

test('a browser gets its common name, although several claim to be others too', () => {
  const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
  for (const [called, name] of [
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/153.0 Safari/537.36`, 'Chrome on Windows'],
    [`Mozilla/5.0 (Windows NT 10.0) ${webkit} Chrome/153.0 Safari/537.36 Edg/153.0`, 'Edge on Windows'],
    [`Mozilla/5.0 (Linux; Android 16) ${webkit} Chrome/153.0 Mobile Safari/537.36`, 'Chrome on Android'],
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1', 'Safari on iPhone'],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0', 'Firefox on Linux'],
    ['curl/8.0', 'A browser'],
    [null, 'A browser'],
  ] as const)
    assert.equal(describeBrowser(called), name);
});
