import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { ApiError } from './errors.ts';
import { pageParameters, readPageParameters, toPagination } from './pagination.ts';
import { compileCheck, compileQuery } from './validation.ts';

const body = Type.Object(
  {
    name: Type.String(),
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })),
    kind: Type.Optional(Type.Enum(['one', 'two'])),
    code: Type.Optional(Type.String({ minLength: 1 })),
    id: Type.Optional(Type.String({ format: 'uuid' })),
    inner: Type.Optional(Type.Object({ deep: Type.Boolean() }, { additionalProperties: false })),
    rows: Type.Optional(Type.Array(Type.Object({ cell: Type.String() }, { additionalProperties: false }))),
    notes: Type.Optional(Type.Record(Type.String(), Type.String())),
    at: Type.Optional(Type.String({ format: 'date-time' })),
  },
  { additionalProperties: false },
);
const check = compileCheck(body);

const sentences: readonly [value: unknown, errors: Record<string, string>][] = [
  [{}, { name: '"name" is required.' }],
  [{ name: 5 }, { name: '"name" must be a string.' }],
  [{ name: null }, { name: '"name" must be a string.' }],
  [{ name: '', count: 0 }, { count: '"count" must be >= 1.' }],
  [{ name: '', count: 1.5 }, { count: '"count" must be an integer.' }],
  [{ name: '', kind: 'three' }, { kind: '"kind" must be one of one, two.' }],
  [{ name: '', code: '' }, { code: '"code" must not be empty.' }],
  [{ name: '', id: '42' }, { id: '"id" must be a UUID.' }],
  [
    { name: '', extra: 1 },
    { extra: 'Unknown field "extra". Known: name, count, kind, code, id, inner, rows, notes, at.' },
  ],
  [{ name: '', inner: { deep: true, wide: 1 } }, { 'inner.wide': 'Unknown field "wide". Known: deep.' }],
  [
    { name: '', rows: [{ cell: '' }, { cell: '', row: 1 }] },
    { 'rows.1.row': 'Unknown field "row". Known: cell.' },
  ],
  [{ name: '', notes: { 'a/b~c': 1 } }, { 'notes.a/b~c': '"notes.a/b~c" must be a string.' }],
  [
    { name: '', at: '2026-02-30T00:00:00Z' },
    { at: '"at" must be a date or a timestamp, such as 2030-01-31T09:00:00Z.' },
  ],
  [
    { name: '', at: '2026-12-31T23:59:60Z' },
    { at: '"at" must be a date or a timestamp, such as 2030-01-31T09:00:00Z.' },
  ],
  [{ name: '', inner: {} }, { 'inner.deep': '"deep" is required.' }],
  [{ name: '', inner: { deep: 'yes' } }, { 'inner.deep': '"inner.deep" must be a boolean.' }],
  [
    { count: 'x', kind: 7 },
    {
      name: '"name" is required.',
      count: '"count" must be an integer.',
      kind: '"kind" must be one of one, two.',
    },
  ],
  ['text', { '': 'The body must be an object.' }],
  [[], { '': 'The body must be an object.' }],
];
test('each problem of a value is a sentence with its path, one for each property', () => {
  for (const [value, expected] of sentences) {
    const result = check(value);
    assert.ok(!result.ok, JSON.stringify(value));
    assert.deepEqual(
      Object.fromEntries(result.errors.map(({ field, message }) => [field, message])),
      expected,
      JSON.stringify(value),
    );
  }
});

test('names of the language itself are unknown names like any other', () => {
  const result = check(JSON.parse('{"name":"","__proto__":{},"toString":1}'));
  assert.ok(!result.ok);
  assert.deepEqual(
    result.errors.map(({ field }) => field),
    ['__proto__', 'toString'],
  );
});

test('the real problems are always listed, however many unknown names there are, and 800 unknown names are rejected', () => {
  const unknown = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`x${at}`, 1]));
  for (const count of [7, 8, 20]) {
    const result = check({ ...unknown(count), count: 0 });
    assert.ok(!result.ok);
    const fields = [...Object.keys(unknown(count)), 'count', 'name'];
    assert.deepEqual(result.errors.map(({ field }) => field).sort(), fields.sort());
    assert.throws(
      () => readQuery(unknown(count)),
      (error) => error instanceof ApiError && error.errors?.length === count,
    );
  }
  assert.throws(() => readQuery(unknown(800)), { code: 'bad_request' });
});

test('validation stops early at values over their limit: unknown names, lists and repeated items', () => {
  const listed = compileCheck(
    Type.Object({
      ids: Type.Optional(Type.Array(Type.String(), { maxItems: 1_000, uniqueItems: true })),
      tags: Type.Optional(
        Type.Union([Type.Null(), Type.Array(Type.String({ maxLength: 2 }), { maxItems: 20 })]),
      ),
      inner: Type.Optional(Type.Object({ deep: Type.Boolean() }, { additionalProperties: false })),
    }),
  );
  const fieldsOf = (value: object): string[] => {
    const result = listed(value);
    assert.ok(!result.ok);
    return result.errors.map(({ field = '' }) => field);
  };
  let looks = 0;
  const counted = new Proxy(Array<string>(100_000).fill('long'), {
    get: (list, name, self) => ((looks += 1), Reflect.get(list, name, self) as unknown),
  });
  assert.deepEqual(fieldsOf({ ids: counted }), ['ids']);
  assert.ok(looks < 150_000, `${looks} looks at a list of 100,000`);
  assert.equal(fieldsOf({ tags: Array(100_000).fill('long') }).length, 22);
  const names = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`x${at}`, 1]));
  const found = fieldsOf({ inner: { ...names, deep: 1 } });
  assert.equal(found.length, 101);
  assert.ok(found.includes('inner.deep'));
});

test("errors quote only a short part of the caller's text", () => {
  const result = check({ name: '', ['x'.repeat(10_000)]: 1 });
  assert.ok(!result.ok);
  assert.ok(JSON.stringify(result.errors).length < 400);
});

test('a valid value is passed on unchanged', () => {
  const value = {
    name: 'é',
    count: 9,
    kind: 'two',
    id: '01A1FDE4-6fce-7e1a-a75a-2f8f8cc3c4b1',
    inner: { deep: true },
  };
  const result = check(value);
  assert.ok(result.ok);
  assert.equal(result.value, value);
});

const readQuery = compileQuery(
  Type.Object({ ...pageParameters, q: Type.Optional(Type.String()) }, { additionalProperties: false }),
);

test('digits become integers if the schema has an integer, and stay text otherwise', () => {
  assert.deepEqual(readQuery({ page: '007', per_page: '100', q: '5' }), { page: 7, per_page: 100, q: '5' });
  assert.deepEqual(readQuery({}), {});
});

test('a time in a URL may have an offset, although its plus is decoded as a space', () => {
  const read = compileQuery(
    Type.Object({ at: Type.String({ format: 'date-time' }) }, { additionalProperties: false }),
  );
  for (const at of ['2026-01-01T00:00:00+01:00', '2026-01-01T00:00:00-01:00', '2026-01-01T00:00:00Z'])
    assert.deepEqual(read({ at: new URLSearchParams(`at=${at}`).get('at') }), { at });
  for (const at of ['0000-01-01T00:00:00Z', '2026-01-01 00:00:00Z', '2026-01-01T00:00:00'])
    assert.throws(() => read({ at }), { code: 'bad_request' });
});

const notNumbers = [
  ' 1',
  '1 ',
  '+1',
  '1.0',
  '1e3',
  '0x10',
  '-0',
  '-1',
  '0',
  '1000000001',
  '9'.repeat(30),
  'NaN',
  'Infinity',
  'one',
  '١',
  '1,000',
  'true',
  'null',
  '[1]',
];
test('a page number in any other notation is rejected', () => {
  for (const page of notNumbers) {
    assert.throws(
      () => readQuery({ page }),
      (error) =>
        error instanceof ApiError && error.code === 'bad_request' && error.errors?.[0]?.field === 'page',
      page,
    );
  }
  for (const page of [['1', '2'], { $ne: '1' }, null]) {
    assert.throws(() => readQuery({ page }), { code: 'bad_request' });
  }
});

test('a text with NUL, which PostgreSQL cannot store, is rejected', () => {
  assert.throws(() => readQuery({ q: 'a\0b' }), {
    code: 'bad_request',
    message: '"q" must not contain a NUL character.',
  });
});

test('the first problem is the message, and all problems are listed', () => {
  assert.throws(
    () => readQuery({ page: 'x', sort: 'y' }),
    (error) =>
      error instanceof ApiError && error.errors?.length === 2 && error.message === error.errors[0]!.message,
  );
});

test('a page has its defaults, and its offset is exact up to the last page', () => {
  assert.deepEqual(readPageParameters({}), { page: 1, perPage: 20, offset: 0 });
  assert.deepEqual(readPageParameters({ page: 3, per_page: 7 }), { page: 3, perPage: 7, offset: 14 });
  assert.equal(readPageParameters({ page: 1_000_000_000, per_page: 100 }).offset, 99_999_999_900);
});

test('the number of pages is rounded up, and is 0 without rows', () => {
  for (const [total, pages] of [
    [0, 0],
    [1, 1],
    [20, 1],
    [21, 2],
    [40, 2],
  ] as const) {
    assert.deepEqual(toPagination(readPageParameters({}), total), {
      page: 1,
      per_page: 20,
      total_count: total,
      total_pages: pages,
    });
  }
});
