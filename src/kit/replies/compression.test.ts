import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { request } from 'undici';
import { element, stepsOf } from '#test/ast/forms.ts';
import { shareService } from '#test/service.ts';
import { createPageTemplate } from './compression.ts';

test("a compressed page with a visitor's text in the middle decompresses to exactly that page, for any text", () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 400 });
  fc.assert(
    fc.property(text, text, fc.array(text, { maxLength: 3 }), (before, after, owns) => {
      const shared = createPageTemplate(before, after);
      for (const own of owns) {
        const page = shared(own);
        assert.ok(typeof page !== 'string');
        const plain = Buffer.concat(page.plain());
        assert.equal(plain.toString(), before + own + after);
        assert.deepEqual(gunzipSync(Buffer.concat(page.packed())), plain);
      }
    }),
  );
});

test('parts shared by all visitors are not copied', () => {
  const shared = createPageTemplate('a'.repeat(10_000), 'z'.repeat(10_000));
  const [one, other] = [shared('Ada'), shared('Grace')];
  assert.ok(typeof one !== 'string' && typeof other !== 'string');
  for (const coding of ['plain', 'packed'] as const) {
    const [ones, others] = [one[coding](), other[coding]()];
    const copied = others.filter((part) => !ones.includes(part));
    assert.ok(copied.every(({ length }) => length < 100));
    assert.ok(ones.length - copied.length > 1);
  }
});

test('the maximum length of the text in the middle is 64 KB', () => {
  const own = 'x'.repeat(0xffff);
  const page = createPageTemplate('a', 'z')(own);
  assert.ok(typeof page !== 'string');
  assert.equal(gunzipSync(Buffer.concat(page.packed())).toString(), `a${own}z`);
});

const service = await shareService();
const tenant = await service.makeTenant();
const { body: form } = await tenant.call('POST', '/forms', {
  structure: stepsOf({}, [element('text', 'name', { required: true })]),
  publish: true,
});

for (const [accepted, coding] of [
  ['gzip, deflate, br', 'gzip'],
  ['br;q=1.0, gzip;q=0.5', 'gzip'],
  ['deflate, gzip ; q=0.5 , br', 'gzip'],
  ['gzip;q=0', undefined],
  ['deflate', undefined],
  ['', undefined],
] as const) {
  test(`a browser that accepts "${accepted}" gets the same pages ${coding ? 'packed' : 'as they are'}`, async () => {
    for (const [path, body] of [
      [`/f/${form.id}`, undefined],
      [`/f/${form.id}?name=Ada&utm=x`, undefined],
      [`/f/${form.id}`, 'name='],
      ['/f/nothing', undefined],
    ] as const) {
      const type = body && { 'Content-Type': 'application/x-www-form-urlencoded' };
      const answer = await request(service.url + path, {
        method: body ? 'POST' : 'GET',
        headers: { 'Accept-Encoding': accepted, ...type },
        body: body ?? null,
      });
      const bytes = Buffer.from(await answer.body.arrayBuffer());
      assert.equal(answer.headers['content-encoding'], coding, path);
      assert.match(String(answer.headers['vary']), /Accept-Encoding/);
      assert.match(String(answer.headers['cache-control']), /no-store/);
      const text = (coding ? gunzipSync(bytes) : bytes).toString();
      assert.match(text, /^<!doctype html>[\s\S]*<\/html>\s*$/);
      if (coding) assert.ok(bytes.length < text.length / 2, `${bytes.length} of ${text.length}`);
    }
  });
}

test('a header full of spaces is parsed quickly', async () => {
  const before = process.cpuUsage();
  for (let visits = 0; visits < 8; visits += 1) {
    const headers = { 'Accept-Encoding': `gzip${' '.repeat(15_000)}x` };
    const answer = await request(`${service.url}/f/${form.id}`, { headers });
    assert.equal(answer.headers['content-encoding'], undefined);
    await answer.body.dump();
  }
  assert.ok(process.cpuUsage(before).user < 1_000_000);
});
