import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { OpenApi } from '#app/openapi/schemas.ts';
import { formLimits } from '#ast/basics/limits.ts';
import { composite, element, structure } from './ast/forms.ts';
import { cases } from './cases.ts';
import { holdAgainst } from './documented.ts';
import { inputTypes } from './page/read-page.ts';
import { requestText, sendRaw } from './raw.ts';
import { shareService } from './service.ts';
import { slowness } from './slowness.ts';
import { asJson, makeForm, openVisitor } from './visitor.ts';

/*
 * Hostile requests (docs/rules.md F28 to F35, C36 to C50) against the whole service. Each gets a clear 4xx
 * within a second, and the next client is served. Each test also proves that the process survived the one
 * before.
 */
const service = await shareService();
const tenant = await service.makeTenant({ rateLimit: 1_000_000, burst: 0 });
const visitor = openVisitor(service);
const documented = holdAgainst((await (await fetch(`${service.url}/api/v1/openapi.json`)).json()) as OpenApi);

const everyInput = inputTypes.map((type) => element(type, type));
const form = await makeForm(tenant, [
  ...everyInput,
  composite('rows', [element('text', 'child'), element('number', 'count')], { repeatable: true }),
]);
const absent = '01a1fde4-6fce-7e1a-a75a-2f8f8cc3c4b1';

/** The same seed for every run and machine. Change it to try other requests. */
const seed = 20_261_121;

/** Serves the next clients: an API list, and a visitor who submits. */
async function serveTheNext(): Promise<void> {
  assert.equal((await tenant.call('GET', '/forms')).status, 200);
  assert.equal((await visitor.submit(form.id, { text: 'next' })).status, 201);
}

async function withinASecond<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  const start = performance.now();
  const answer = await work();
  const ms = performance.now() - start;
  assert.ok(ms < 1_000 || ms < 1_000 * slowness(), `took ${Math.round(ms)} ms`);
  return answer;
}

type Hostile = { status: number | readonly number[]; send: () => Promise<{ status: number }> };

const post =
  (body: string): Hostile['send'] =>
  () =>
    tenant.call('POST', '/forms', body);
const create =
  (...children: unknown[]): Hostile['send'] =>
  () =>
    tenant.call('POST', '/forms', { structure: structure(...children) });
const submit =
  (answers: string): Hostile['send'] =>
  () =>
    visitor.fetch(`/f/${form.id}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: `{"answers":${answers}}`,
    });
const get =
  (path: string): Hostile['send'] =>
  () =>
    tenant.call('GET', path);
const raw =
  (text: string | Buffer): Hostile['send'] =>
  () =>
    sendRaw(service.url, text, { end: true });

const authorization = { Authorization: `Bearer ${tenant.key}` };
const deep = (levels: number): object =>
  levels === 0 ? element('text', 'inner') : composite(`c${levels}`, [deep(levels - 1)]);

function* endless(first: string): Generator<string> {
  yield first;
  for (;;) yield `10000\r\n${'x'.repeat(65_536)}\r\n`;
}
const flood =
  (path: string, type: string, length: string): Hostile['send'] =>
  () =>
    sendRaw(
      service.url,
      endless(
        `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization.Authorization}\r\nContent-Type: ${type}\r\n${length}\r\n\r\n`,
      ),
    );
const [json, html] = ['application/json', 'application/x-www-form-urlencoded'];

/** F28 and F29: too much, and too slow. */
const floods: Record<string, Hostile> = {
  '100 MB of JSON, announced': {
    status: 413,
    send: flood('/api/v1/forms', json, 'Content-Length: 104857600'),
  },
  '100 MB of JSON in chunks': {
    status: 413,
    send: flood('/api/v1/forms', json, 'Transfer-Encoding: chunked'),
  },
  '100 MB of answers, announced': {
    status: 413,
    send: flood(`/f/${form.id}`, json, 'Content-Length: 104857600'),
  },
  '100 MB of a form in chunks': {
    status: 413,
    send: flood(`/f/${form.id}`, html, 'Transfer-Encoding: chunked'),
  },
  'a body longer than its length': {
    status: [400, 422],
    send: raw(
      `POST /api/v1/forms HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization.Authorization}\r\nContent-Type: ${json}\r\nContent-Length: 2\r\n\r\n{}garbage`,
    ),
  },
  'a body shorter than its length': {
    status: [0, 400],
    send: raw(
      `POST /api/v1/forms HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization.Authorization}\r\nContent-Type: ${json}\r\nContent-Length: 200\r\n\r\n{}`,
    ),
  },
  'a header of 100 KB': {
    status: 431,
    send: raw(requestText('GET', '/api/v1/forms', { 'X-Long': 'x'.repeat(100_000) })),
  },
  'an address of 100 KB': {
    status: 431,
    send: raw(requestText('GET', `/api/v1/forms?${'x'.repeat(100_000)}`, authorization)),
  },
  'two thousand headers': {
    status: [200, 431],
    send: raw(
      requestText('GET', '/api/v1/forms', {
        ...authorization,
        ...Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`X${index}`, '1'])),
      }),
    ),
  },
};

/** F30 and F31: deep, wide and long. */
const sizes: Record<string, Hostile> = {
  '100,000 levels of JSON': { status: 422, send: post('['.repeat(100_000) + ']'.repeat(100_000)) },
  'a million levels of JSON': { status: 422, send: post('['.repeat(1_000_000)) },
  '80,000 keys': {
    status: 422,
    send: post(`{${Array.from({ length: 80_000 }, (_, index) => `"k${index}":1`).join(',')}}`),
  },
  'half a million numbers': { status: 422, send: post(`{"structure":[${'1,'.repeat(500_000)}1]}`) },
  'half a million children': {
    status: 422,
    send: post(`{"structure":{"type":"form","attrs":{"name":"x"},"children":[${'0,'.repeat(500_000)}0]}}`),
  },
  '10,000 elements': {
    status: 422,
    send: create(
      ...Array.from({ length: 10_000 }, (_, index) => ({ type: 'divider', attrs: { id: `e${index}` } })),
    ),
  },
  '10,000 options': {
    status: 422,
    send: create(
      element('radio', 'r', { options: Array.from({ length: 10_000 }, (_, index) => `o${index}`) }),
    ),
  },
  'a label of 900 KB': { status: 422, send: create(element('text', 'a', { label: 'x'.repeat(900_000) })) },
  '200 composites in each other': { status: 422, send: create(deep(200)) },
  '40,000 answers to unknown questions': {
    status: 422,
    send: submit(`{${Array.from({ length: 40_000 }, (_, index) => `"k${index}":1`).join(',')}}`),
  },
  '40,000 rows': { status: 422, send: submit(`{"rows":[${'{},'.repeat(40_000)}{}]}`) },
  'an answer of 900 KB': { status: 422, send: submit(`{"textarea":"${'x'.repeat(900_000)}"}`) },
  '5,000 fields of a form': {
    status: 422,
    send: () =>
      visitor.post(
        form.id,
        Array.from({ length: 5_000 }, (_, index) => [`f${index}`, 'x'] as const),
        asJson,
      ),
  },
};

/** F32: texts, and C49: texts made for regular expressions. */
const texts: Record<string, Hostile> = {
  'NUL in a label': { status: 422, send: create(element('text', 'a', { label: 'x\u0000' })) },
  'NUL in an unknown key': { status: 422, send: create(element('text', 'a', { 'x\u0000': 1 })) },
  'half a surrogate pair in a name': {
    status: 422,
    send: post('{"structure":{"type":"form","attrs":{"name":"\\ud800"},"children":[]}}'),
  },
  'NUL in an answer': { status: 422, send: submit('{"text":"\\u0000"}') },
  'NUL in q': { status: 400, send: get('/submissions/search?q=%00') },
  'NUL in a path': { status: 400, send: get('/forms/%00') },
  'NUL in a reference': { status: 400, send: () => visitor.submit(form.id, {}, '?a=%00') },
  'bytes that are no UTF-8': {
    status: 400,
    send: () =>
      sendRaw(
        service.url,
        Buffer.concat([
          Buffer.from(
            requestText('POST', '/api/v1/forms', {
              ...authorization,
              'Content-Type': json,
              'Content-Length': '4',
            }),
          ),
          Buffer.from([0x22, 0xff, 0xfe, 0x22]),
        ]),
      ),
  },
  'bytes that are no UTF-8 in a path': { status: 400, send: get('/forms/%ff%fe') },
  'an overlong slash in a path': { status: 400, send: get('/forms/..%c0%af..%c0%af') },
  'an email address of 64 KB': { status: 422, send: submit(`{"email":"${'a@a.'.repeat(16_000)}!"}`) },
  'an email address of dots': { status: 422, send: submit(`{"email":"a@${'a.'.repeat(30_000)}"}`) },
  'a phone number of 64 KB': { status: 422, send: submit(`{"phone":"${'1 '.repeat(32_000)}x"}`) },
  'a web address of spaces': { status: 422, send: submit(`{"url":"http://${' '.repeat(60_000)}x"}`) },
  'a date of 64 KB': { status: 422, send: submit(`{"date":"${'2026-'.repeat(13_000)}"}`) },
};

/** F33 and F34: numbers, and names with a meaning in JavaScript. */
const values: Record<string, Hostile> = {
  '1e400': { status: 422, send: submit('{"number":1e400}') },
  '-1e400': { status: 422, send: submit('{"number":-1e400}') },
  '1e-400': { status: 422, send: submit('{"number":1e-400}') },
  '2^53 + 1': { status: 422, send: submit('{"number":9007199254740993}') },
  '100,000 digits': { status: 422, send: submit(`{"number":${'9'.repeat(100_000)}}`) },
  NaN: { status: 400, send: submit('{"number":NaN}') },
  'a number as text': { status: 422, send: submit('{"number":"1"}') },
  'Infinity from a form': {
    status: 422,
    send: () => visitor.post(form.id, [['number', 'Infinity']], asJson),
  },
  'hexadecimal from a form': { status: 422, send: () => visitor.post(form.id, [['number', '0x10']], asJson) },
  '__proto__ as an answer': { status: 422, send: submit('{"__proto__":{"polluted":1}}') },
  'constructor as an answer': { status: 422, send: submit('{"constructor":{"prototype":{"polluted":1}}}') },
  // An HTML form stores fields that the form does not know in `reference`.
  'constructor from a form': {
    status: 201,
    send: () =>
      visitor.post(
        form.id,
        [
          ['constructor', 'x'],
          ['constructor[prototype]', 'x'],
        ],
        asJson,
      ),
  },
  // Names with a leading underscore are reserved for controls of the page. This name is not one of them.
  '__proto__ from a form': {
    status: 201,
    send: () =>
      visitor.post(
        form.id,
        [
          ['__proto__', 'x'],
          ['__proto__[polluted]', 'x'],
        ],
        asJson,
      ),
  },
  '__proto__ in a row': { status: 422, send: submit('{"rows":[{"__proto__":{"polluted":1}}]}') },
  '__proto__ as an id': { status: 422, send: create(element('text', '__proto__')) },
  'an empty id': { status: 422, send: create(element('text', '')) },
  'a type of the language itself': {
    status: 422,
    send: create({ type: 'constructor', attrs: {}, children: [] }),
  },
  '__proto__ as a setting': {
    status: 422,
    send: post(
      `{"structure":${JSON.stringify(structure(element('text', 'a')))},"settings":{"__proto__":{"polluted":1}}}`,
    ),
  },
  '__proto__ in the query': {
    status: 400,
    send: get('/forms?__proto__[polluted]=1&constructor[prototype][polluted]=1'),
  },
};

/** F35: parameters and paths. */
const parameters: Record<string, Hostile> = Object.fromEntries([
  ...['0', '-1', '1e9', '1e19', '1e400', '1.5', 'abc', '%00', '1%20', '+1', '9'.repeat(400)].flatMap((page) =>
    ['/forms', `/forms/${form.id}/submissions`, '/submissions/search'].map(
      (path) =>
        [
          `page=${page.slice(0, 20)} of ${path}`,
          {
            status: 400,
            send: get(`${path}?page=${page}&q=x`.replace(path.includes('search') ? ' ' : '&q=x', '')),
          },
        ] as const,
    ),
  ),
  ...[
    'per_page=0',
    'per_page=101',
    'per_page=1e9',
    'status=x',
    'status[$ne]=draft',
    'sort=name',
    'page[]=1',
    'page=1&page=2',
  ].map((query) => [query, { status: 400, send: get(`/forms?${query}`) }] as const),
  ...["'", '(', ')', '\\', '!', ':*', '!!!', 'a & ', '<->', '|', '"', '%25', '👍'].map(
    (q) => [`q=${q}`, { status: 200, send: get(`/submissions/search?q=${encodeURIComponent(q)}`) }] as const,
  ),
  ['q of 10 KB', { status: 400, send: get(`/submissions/search?q=${'x'.repeat(10_000)}`) }],
  ['100 words in 1 KB', { status: 200, send: get(`/submissions/search?q=${'ab%20'.repeat(340)}`) }],
  ...['42', '%zz', '%2e%2e', "'", absent.slice(1), `${absent}0`, 'null', '*', '{id}'].map(
    (id) => [`the id ${id}`, { status: [400, 404], send: get(`/forms/${id}`) }] as const,
  ),
]);

/** C48: requests that two parsers would understand differently. */
const smuggled: Record<string, Hostile> = {
  'two lengths': {
    status: 400,
    send: raw(
      'POST /api/v1/forms HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}x',
    ),
  },
  'a length and chunks': {
    status: 400,
    send: raw(
      'POST /api/v1/forms HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n',
    ),
  },
  'chunks twice': {
    status: 400,
    send: raw(
      'POST /api/v1/forms HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n',
    ),
  },
  'a folded header': {
    status: [400, 401],
    send: raw(
      'GET /api/v1/forms HTTP/1.1\r\nHost: localhost\r\nX-A: 1\r\n folded\r\nConnection: close\r\n\r\n',
    ),
  },
  'a space before the colon': { status: 400, send: raw('GET /api/v1/forms HTTP/1.1\r\nHost : a\r\n\r\n') },
  'bare line feeds': { status: 400, send: raw('GET /api/v1/forms HTTP/1.1\nHost: localhost\n\n') },
  'a chunk with a length that is none': {
    status: 400,
    send: raw(
      'POST /api/v1/forms HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n',
    ),
  },
  'no host': { status: 400, send: raw('GET /api/v1/forms HTTP/1.1\r\n\r\n') },
  'another version': { status: 400, send: raw('GET /api/v1/forms HTTP/9.9\r\nHost: localhost\r\n\r\n') },
  'no request at all': { status: 400, send: raw('\u0016\u0003\u0001 hello\r\n\r\n') },
  'a method that is none': {
    status: 400,
    send: raw('HACK /api/v1/forms HTTP/1.1\r\nHost: localhost\r\n\r\n'),
  },
  'a method of other servers': {
    status: [401, 404],
    send: raw('PROPFIND /api/v1/forms HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'),
  },
};

for (const [name, { status, send }] of Object.entries({
  ...floods,
  ...sizes,
  ...texts,
  ...values,
  ...parameters,
  ...smuggled,
})) {
  test(`${name}: ${[status].flat().join(' or ')} within a second, and the next client is served`, async () => {
    const answer = await withinASecond(send);
    assert.ok([status].flat().includes(answer.status), String(answer.status));
    await serveTheNext();
    assert.ok(!('polluted' in {}));
  });
}

test('the last of two equal JSON keys counts, when stored and when read', async () => {
  const { body } = await visitor.fetch(`/f/${form.id}`, {
    method: 'POST',
    headers: { 'Content-Type': json },
    body: '{"answers":{"text":1},"answers":{"text":"a","text":"b"}}',
  });
  assert.deepEqual((await tenant.call('GET', `/submissions/${body.id}`)).body.answers, { text: 'b' });
});

test('a form at every limit is created, shown and submitted within a second each', async () => {
  const options = Array.from({ length: formLimits.options }, (_, index) => `Option ${index}`);
  const nodes = Array.from({ length: formLimits.elements }, (_, index) =>
    element(index % 100 === 0 ? 'dropdown' : 'text', `e${index}`, index % 100 === 0 ? { options } : {}),
  );
  const large = await withinASecond(() => makeForm(tenant, nodes));
  await withinASecond(() => tenant.call('GET', `/forms/${large.id}`));
  assert.equal((await withinASecond(() => visitor.fetch(`/f/${large.id}`))).status, 200);
  const answers = Object.fromEntries(
    nodes.map(({ type }, index) => [`e${index}`, type === 'dropdown' ? 'Option 499' : `answer ${index}`]),
  );
  assert.equal((await withinASecond(() => visitor.submit(large.id, answers))).status, 201);
  const refused = await withinASecond(() =>
    visitor.post(
      large.id,
      Object.keys(answers).map((name) => [name, 'x\ny'] as const),
    ),
  );
  assert.equal(refused.status, 422);
  assert.equal((await withinASecond(() => tenant.call('GET', `/forms/${large.id}/submissions`))).status, 200);
});

test('three hundred connections that send nothing, or half a header, delay no other client', async () => {
  const { port } = new URL(service.url);
  const sockets: Socket[] = [];
  try {
    for (let count = 0; count < 300; count += 1) {
      const socket = connect(Number(port), '127.0.0.1');
      sockets.push(socket);
      socket.on('error', () => {});
      await once(socket, 'connect');
      if (count % 2 === 0) socket.write('GET /api/v1/forms HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
    }
    for (let count = 0; count < 10; count += 1) await withinASecond(serveTheNext);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

// Fuzzing (C36) of what fuzz.test.ts does not draw: a slice of fixed length.

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '',
    ' ',
    '0',
    '-1',
    '1e9',
    'null',
    '[]',
    '{}',
    '__proto__',
    'a\u0000b',
    '%00',
    '../..',
    "' or 1=1 --",
    'x'.repeat(2_000),
  ),
);
const answer = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  text,
  fc.constantFrom<unknown>('Red', ['Red'], '2026-01-31', '14:30', 'a@b.de', 'https://a.de', true, 3.5),
);
const questions = [...inputTypes, 'rows', 'child', 'toString', '__proto__'];

test(`300 random submissions are stored or refused by name, and stored ones are read back (seed ${seed})`, async () => {
  let stored = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(
        fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...questions) }, { weight: 1, arbitrary: text }),
        answer,
        { maxKeys: 2 },
      ),
      async (answers) => {
        const { status, body: result } = await visitor.submit(form.id, answers);
        assert.ok([201, 422].includes(status), `${status} ${JSON.stringify(result)}`);
        if (status === 422) assert.ok(result.message !== '');
        else {
          stored += 1;
          const read = await tenant.call('GET', `/submissions/${result.id}`);
          assert.deepEqual(documented.problems('GET', `/submissions/${result.id}`, read), []);
        }
      },
    ),
    { numRuns: cases(300), seed },
  );
  assert.ok(stored > cases(300) / 15, `${stored} were stored`);
});

test(`200 random HTML forms are answered by a page, a redirect or a 4xx (seed ${seed})`, async () => {
  const name = fc.oneof(
    fc.constantFrom(
      ...questions,
      'rows[0][child]',
      'rows[1][count]',
      'rows[0]',
      '_add',
      '_remove',
      '_row',
      '_file[file_upload]',
      '_drop',
      'rows[99][child]',
    ),
    text,
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(name, fc.oneof(text, fc.constantFrom('rows', 'rows[0]', 'Red', 'yes'))), {
        maxLength: 8,
      }),
      fc.boolean(),
      async (parts, multipart) => {
        const { status, text: page } = await visitor.post(form.id, parts, { multipart });
        assert.ok([200, 303, 400, 422].includes(status), `${status} ${page.slice(0, 200)}`);
      },
    ),
    { numRuns: cases(200), seed },
  );
});

test(`300 requests with a few bytes changed are answered or cut off, never with a 5xx (seed ${seed})`, async () => {
  const whole = Buffer.from(
    requestText(
      'POST',
      '/api/v1/forms',
      { ...authorization, 'Content-Type': json },
      JSON.stringify({ structure: structure(element('text', 'a')) }),
    ),
  );
  const change = fc.tuple(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 }));
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
      const bytes = Buffer.from(whole);
      for (const [at, byte] of changes) bytes[at] = byte;
      const { status } = await sendRaw(service.url, bytes, { end: true });
      assert.ok(status < 500, String(status));
    }),
    { numRuns: cases(300), seed },
  );
  await serveTheNext();
});
