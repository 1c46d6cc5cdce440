import assert from 'node:assert/strict';
import { test } from 'node:test';
import { charsetOf, decodeTexts, readUrlencoded } from './charset.ts';

const read = (body: string, type = 'application/x-www-form-urlencoded'): [string, string][] => [
  ...readUrlencoded(Buffer.from(body, 'latin1'), type),
];
const text = (name: string, hex: string, charset?: string) => ({
  name,
  bytes: Buffer.from(hex, 'hex'),
  charset,
});

test('a urlencoded body is decoded as all clients encode it', () => {
  for (const body of ['a=1&b=%20+x&&c', 'a=b=c&%C3%A9=%E2%82%AC', 'a=%EF%BB%BFx&a=%', '', '&=&x=%zz+%2B']) {
    assert.deepEqual(read(body), [...new URLSearchParams(body)], body);
  }
  assert.deepEqual(
    read(Buffer.from('a=é😀').toString('latin1')),
    [['a', 'é😀']],
    'bytes that are not escaped',
  );
});

test('a body is converted from its charset, or from the charset that a browser writes into _charset_', () => {
  const type = 'application/x-www-form-urlencoded; charset=ISO-8859-1';
  assert.deepEqual(read('a=M%FCller+%80', type), [['a', 'Müller €']]);
  assert.deepEqual(read('a=M%FCller&_charset_=windows-1252')[0], ['a', 'Müller']);
  assert.deepEqual(read('_charset_=Shift_JIS&a=%93%FA%96%7B', type)[1], ['a', '日本']);
  assert.deepEqual(read('_charset_=&a=%C3%A9')[1], ['a', 'é']);
});

test('a part of a multipart form may name its own charset', () => {
  const parts = [text('a', 'fc', 'iso-8859-1'), text('b', 'c3bc'), text('_charset_', '7574662d38')];
  assert.deepEqual(decodeTexts(parts, 'koi8-r'), [
    ['a', 'ü'],
    ['b', 'ü'],
    ['_charset_', 'utf-8'],
  ]);
  assert.equal(charsetOf('text/plain; format=flowed; charset="windows-1252"'), 'windows-1252');
});

test('invalid bytes and unknown charsets are errors, and bytes are never replaced', () => {
  for (const body of ['a=M%FCller', 'a=%C3', 'a=%ED%A0%80', '_charset_=Shift_JIS&a=%FF', 'a=\xff']) {
    assert.throws(
      () => read(body),
      { code: 'bad_request', message: /^"a" contains bytes that are not valid / },
      body,
    );
  }
  for (const charset of ['klingon', 'utf-16le']) {
    assert.throws(() => read(`_charset_=${charset}&a=x`), { code: 'unsupported_media_type' }, charset);
  }
  assert.deepEqual(
    decodeTexts([{ name: 'a', bytes: Buffer.from('x€').subarray(0, 3), isCut: true }], undefined),
    [['a', 'x']],
  );
});
