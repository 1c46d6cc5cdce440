import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import type { OpenApi, OpenApiOperation } from '#app/openapi/schemas.ts';
import { element } from './ast/forms.ts';
import { holdAgainst } from './documented.ts';
import { fillPath, makeOneOfEach, type OneOfEach } from './one-of-each.ts';
import { openReceiver } from './receiver.ts';
import { callApi, openService } from './service.ts';
import { asJson, makeForm, openVisitor } from './visitor.ts';

/*
 * Requests drawn from the OpenAPI document (C36). Most are nearly valid, so that they pass validation and
 * reach every room. No answer is a 5xx, and each is documented, whatever the requests change or delete. npm
 * run test:long -- security sends 100,000.
 */
const count = Number(process.env['FUZZ_REQUESTS'] ?? 600);
/** After this many requests, most things are deleted. */
const freshAfter = 250;
/** The same seed for every run and machine. Change it to try other requests. */
const seed = Number(process.env['FUZZ_SEED'] ?? 20_261_122);

const service = await openService();
const receiver = await openReceiver();
const openApi = (await (await fetch(`${service.url}/api/v1/openapi.json`)).json()) as OpenApi;
const documented = holdAgainst(openApi);
const operations = Object.entries(openApi.paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([, { servers }]) => !servers)
    .map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);

/** Operations with a body are drawn more often, and operations with whole forms most often. */
const drawn = operations.flatMap((one) => {
  const asked = JSON.stringify(one.operation.requestBody?.content['application/json']?.schema);
  const takesForms = asked?.includes('Form') || asked?.includes('Structure');
  return Array.from({ length: takesForms ? 6 : asked ? 2 : 1 }, () => one);
});

type Schema = {
  $ref?: string;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  const?: unknown;
  enum?: unknown[];
  type?: string | string[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
};
/** fast-check draws the values, so that a seed reproduces a run. */
type Draw = fc.GeneratorValue;

/** Values that no client would send on purpose. */
const hostile = fc.constantFrom<unknown>(
  null,
  true,
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u202e',
  '%',
  "' or 1=1 --",
  '__proto__',
  'x'.repeat(5_000),
  -1,
  0,
  1.5,
  2 ** 53,
  1e308,
  [],
  {},
  [[]],
  { __proto__: null, constructor: 1 },
);
const moments = fc.constantFrom(
  '2026-11-22T10:00:00Z',
  '2026-11-22T10:00:00.123456+05:30',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
  '2026-02-30T00:00:00Z',
  '+275760-09-13T00:00:00Z',
  '2026-11-22',
);
const words = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('a', 'file', 'word', 'spam', 'Red', 'tag', 'ada@example.org', '1'),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
);
const conditions = fc.constantFrom<unknown>(
  { element: 'a', is: 'contains', value: 'w' },
  { all: [{ element: 'a', is: 'answered' }, { not: { element: 'a', is: 'equal', value: 'x' } }] },
  { any: [] },
  { element: 'nothing', is: 'equal', value: 1 },
  { reference: 'ref', is: 'equal', value: '1' },
);

// Created once each: fast-check takes a millisecond to create one, a sixth of the time of all requests.
const anyValue = fc.jsonValue({ maxDepth: 1 });
const anyBody = fc.oneof(fc.json(), fc.string({ unit: 'binary' }));
const matching = new Map<string, fc.Arbitrary<string>>();
function textOf(pattern: string): fc.Arbitrary<string> {
  const known = matching.get(pattern) ?? fc.stringMatching(new RegExp(pattern, 'u'));
  matching.set(pattern, known);
  return known;
}

const chance = (draw: Draw, percent: number): boolean => draw(fc.integer, { min: 1, max: 100 }) <= percent;
const pick = <T>(draw: Draw, list: readonly T[]): T => list[draw(fc.nat, list.length - 1)]!;
const from = <T>(draw: Draw, arbitrary: fc.Arbitrary<T>): T => draw(() => arbitrary);

/** Draws a value that mostly matches a schema. `ids` are ids of existing things. */
function valueFor(draw: Draw, schema: Schema, ids: readonly string[], depth = 0): unknown {
  if (chance(draw, 3)) return from(draw, hostile);
  if (schema.$ref) {
    const name = schema.$ref.replace('#/components/schemas/', '');
    if (/Condition/.test(name) && chance(draw, 70)) return from(draw, conditions);
    return valueFor(draw, openApi.components.schemas[name]!, ids, depth);
  }
  const choice = schema.anyOf ?? schema.oneOf;
  if (choice) return valueFor(draw, pick(draw, choice), ids, depth);
  if (schema.allOf)
    return Object.assign(
      {},
      ...schema.allOf.map((part) => valueFor(draw, part, ids, depth) as object),
    ) as unknown;
  if ('const' in schema) return schema.const;
  if (schema.enum) return pick(draw, schema.enum);
  const type = Array.isArray(schema.type) ? pick(draw, schema.type) : schema.type;
  if (type === 'object') return objectFor(draw, schema, ids, depth);
  if (type === 'array') {
    const { minItems = 0, maxItems = 4, items = {} } = schema;
    const length =
      depth > 6 ? minItems : draw(fc.integer, { min: minItems, max: Math.min(maxItems, minItems + 3) });
    return Array.from({ length }, () => valueFor(draw, items, ids, depth + 1));
  }
  if (type === 'integer' || type === 'number') {
    const { minimum = -5, maximum = Math.max(minimum, 1_000) } = schema;
    const whole = draw(fc.integer, {
      min: Math.ceil(minimum),
      max: Math.min(Math.floor(maximum), 2 ** 31 - 1),
    });
    return type === 'number' && chance(draw, 20) ? whole + 0.25 : whole;
  }
  if (type === 'boolean') return draw(fc.boolean);
  if (type === 'null') return null;
  return type === 'string' ? textFor(draw, schema, ids) : from(draw, anyValue);
}

function objectFor(draw: Draw, schema: Schema, ids: readonly string[], depth: number): unknown {
  const required = new Set(schema.required);
  const share = depth > 6 ? 0 : 30;
  const members = Object.entries(schema.properties ?? {})
    .filter(([name]) => chance(draw, required.has(name) ? 98 : share))
    // Every URL that the service may call points here.
    .map(([name, part]) => [name, name === 'url' ? addressFor(draw) : valueFor(draw, part, ids, depth + 1)]);
  const more = typeof schema.additionalProperties === 'object' && share > 0 ? draw(fc.nat, 2) : 0;
  for (let left = more; left > 0; left -= 1)
    members.push([from(draw, words), valueFor(draw, schema.additionalProperties as Schema, ids, depth + 1)]);
  return Object.fromEntries(members);
}

const addressFor = (draw: Draw): unknown =>
  chance(draw, 80)
    ? receiver.url
    : pick(draw, ['https://127.0.0.1:1/', 'ftp://127.0.0.1/', 'https://[::1', '', 7]);

function textFor(draw: Draw, schema: Schema, ids: readonly string[]): string {
  const { format, pattern, minLength = 0, maxLength = 200 } = schema;
  if (format === 'uuid') return pick(draw, ids);
  if (format === 'date-time' || format === 'date') return from(draw, moments);
  if (format === 'idn-email')
    return pick(draw, ['ada@example.org', 'a@b', '"a b"@example.org', 'x@localhost']);
  if (format === 'uri') return receiver.url;
  if (pattern !== undefined && chance(draw, 80)) return from(draw, textOf(pattern));
  const text = from(draw, words);
  return text.padEnd(minLength, 'x').slice(0, chance(draw, 95) ? maxLength : undefined);
}

/** Draws a parameter as text, JSON if it is not a string. */
const parameterFor = (draw: Draw, name: string, schema: Schema, ids: readonly string[]): string => {
  const value = name === 'where' && chance(draw, 80) ? from(draw, conditions) : valueFor(draw, schema, ids);
  return typeof value === 'string' ? value : JSON.stringify(value);
};

const encode = (text: string): string => encodeURIComponent(text.toWellFormed());

type Sent = { method: string; address: string; body: unknown; headers: Record<string, string> };

function drawRequest(draw: Draw, made: OneOfEach): Sent {
  const { path, method, operation } = pick(draw, drawn);
  const ids = [
    ...Object.values(made).filter((id) => id !== made.key),
    '01a1fde4-6fce-7e1a-a75a-2f8f8cc3c4b1',
  ];
  if (chance(draw, 10)) return drawAnything(draw, path);
  const place = fillPath(path, { ...made, version: '1' }).replaceAll(/\{\w+\}/g, () => pick(draw, ids));
  const where = chance(draw, 92)
    ? place
    : path.replaceAll(/\{\w+\}/g, () => encode(from(draw, words) || 'x'));
  const parameters = operation.parameters.filter((parameter) => parameter.in === 'query');
  const query = parameters
    .filter(({ required }) => chance(draw, required ? 97 : 25))
    .map(({ name, schema }) => `${name}=${encode(parameterFor(draw, name, schema as Schema, ids))}`);
  const headers = {
    ...(chance(draw, 10) && { 'If-Match': pick(draw, ['"0"', '*', 'W/"1"', 'x', '"a", "b"']) }),
    ...(chance(draw, 10) && { 'If-None-Match': pick(draw, ['"0"', '*', 'x']) }),
    ...(chance(draw, 10) && { 'Idempotency-Key': pick(draw, ['one', 'two', 'x'.repeat(255), ' ', '"q"']) }),
  };
  return {
    method,
    address: query.length > 0 ? `${where}?${query.join('&')}` : where,
    body: method === 'GET' ? undefined : bodyFor(draw, operation, ids),
    headers,
  };
}

/** Draws a request that fits no operation, or one with another content type. */
function drawAnything(draw: Draw, path: string): Sent {
  const method = pick(draw, ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
  const hasBody = method !== 'GET' && method !== 'HEAD';
  return {
    method,
    address: chance(draw, 60) ? path.replaceAll(/\{\w+\}/g, 'x') : `/${encode(from(draw, words))}`,
    body: hasBody ? from(draw, anyBody) : undefined,
    headers: hasBody
      ? { 'Content-Type': pick(draw, ['application/json', 'text/plain', 'application/json; charset=x']) }
      : {},
  };
}

/** Draws the body of an operation: from its schema, or its example with one member changed. */
function bodyFor(draw: Draw, { requestBody }: OpenApiOperation, ids: readonly string[]): unknown {
  if (!requestBody) return chance(draw, 3) ? {} : undefined;
  const asked = requestBody.content['application/json'];
  if (!asked) return Buffer.from(chance(draw, 50) ? 'no image' : '');
  const schema = asked.schema as Schema;
  if (chance(draw, 60) || typeof asked.example !== 'object') return valueFor(draw, schema, ids);
  const { properties = {} } = schema.$ref
    ? (openApi.components.schemas[schema.$ref.replace('#/components/schemas/', '')] as Schema)
    : schema;
  const names = Object.keys(properties);
  const changed = names.length > 0 ? pick(draw, names) : 'x';
  const example = { ...asked.example, ...('url' in asked.example! && { url: receiver.url }) };
  return changed === 'url'
    ? example
    : { ...example, [changed]: valueFor(draw, properties[changed] ?? {}, ids) };
}

/** Returns the bytes in use after a full garbage collection. */
function usedMemory(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

test(`${count} requests drawn from the OpenAPI document are answered as documented, never by a 5xx (seed ${seed})`, async () => {
  const seen = new Map<string, Set<number>>();
  const faults = new Map<string, string>();
  let sent = 0;
  let tenant = await service.makeTenant({ rateLimit: 1_000_000, burst: 0 });
  let made = await makeOneOfEach(service, tenant);
  let early = 0;
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (draw) => {
      sent += 1;
      if (sent === Math.ceil(count / 5)) early = usedMemory();
      if (sent % freshAfter === 0) {
        tenant = await service.makeTenant({ rateLimit: 1_000_000, burst: 0 });
        made = await makeOneOfEach(service, tenant);
      }
      const { method, address, body, headers } = drawRequest(draw, made);
      const answer = await callApi(service.url, made.key, method, address, body, headers);
      const { name = address } = documented.operationOf(method, address) ?? {};
      const problems = [
        ...(answer.status < 500 ? [] : [String(answer.status)]),
        ...documented.problems(method, address, answer),
      ];
      if (problems.length > 0)
        faults.set(
          `${name}: ${problems.join(', ')}`,
          JSON.stringify({ address, headers, body, answer: answer.body }),
        );
      seen.set(name, (seen.get(name) ?? new Set()).add(answer.status));
    }),
    { numRuns: count, seed },
  );
  assert.deepEqual(Object.fromEntries(faults), {});
  const grown = Math.round((usedMemory() - early) / 2 ** 20);
  assert.ok(grown < 40, `the memory in use grew by ${grown} MB in the last four fifths`);
  const statuses = new Set([...seen.values()].flatMap((some) => [...some]));
  for (const status of [200, 201, 204, 400, 404, 415, 422])
    assert.ok(statuses.has(status), `${status} was never answered`);
  // Requests that never succeed would prove nothing about the code behind validation.
  const entered = [...seen].filter(([, statuses]) => [...statuses].some((status) => status < 300));
  assert.ok(
    entered.length > operations.length * 0.4,
    `${entered.length} of ${operations.length} succeeded at times`,
  );
});

test('the next client creates a form, fills it in and reads the submission', async () => {
  const tenant = await service.makeTenant();
  const { id } = await makeForm(tenant, [element('text', 'a')]);
  const { status } = await openVisitor(service).post(id, [['a', 'x']], asJson);
  assert.equal(status, 201);
  assert.equal((await tenant.call('GET', `/forms/${id}/submissions`)).body.data.length, 1);
});
