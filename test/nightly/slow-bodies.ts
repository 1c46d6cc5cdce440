import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { isRecord } from '#ast/basics/json.ts';
import { callApi } from '#test/service.ts';
import { element } from '../ast/forms.ts';
import { holdStill, openWatched, type Still, say } from './watched-instance.ts';

/*
 * npm run test:long -- slow
 *
 * The last part: every operation with a body or parameters. Each of its texts and lists in turn is as long as
 * a request allows and made of one repeated piece.
 */
const megabyte = 1_000_000;
/** The body limit of the two operations that read a list of people. */
const largest = 7_800_000;
const addressLength = 14_000;
/** Times above this are measured again, because the first run may include compilation. */
const suspiciousMs = 35;

const pieces = ['a', '"', ' ', '\n', '<&', '{{a}}', 'a@b.example,', '../', '😀', '\u0001'];

type Schema = {
  $ref?: string;
  type?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
};
type Content = { 'application/json'?: { schema: Schema; example?: unknown } };
type Described = {
  requestBody?: { content: Content };
  parameters: { name: string; in: string; schema: Schema }[];
};
type OpenApi = {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema> };
};
type Step = string | number;

/** Returns the paths of each text, list and object in a value. */
const placesIn = (value: unknown, path: Step[] = []): Step[][] => [
  ...(typeof value === 'object' || typeof value === 'string' ? [path] : []),
  ...(Array.isArray(value) || isRecord(value)
    ? Object.entries(value).flatMap(([key, inside]) => placesIn(inside, [...path, key]))
    : []),
];

const valueAt = (value: unknown, [step, ...rest]: Step[]): unknown =>
  step === undefined ? value : valueAt((value as Record<Step, unknown>)[step], rest);

const withAt = (value: unknown, [step, ...rest]: Step[], put: unknown): unknown => {
  if (step === undefined) return put;
  const copy: Record<Step, unknown> | unknown[] = Array.isArray(value)
    ? [...value]
    : { ...(value as Record<Step, unknown>) };
  (copy as Record<Step, unknown>)[step] = withAt((copy as Record<Step, unknown>)[step], rest, put);
  return copy;
};

/** Returns how often an item fits into this many bytes of JSON. */
const timesIn = (bytes: number, item: unknown): number =>
  Math.floor(bytes / (JSON.stringify(item).length + 1));

/**
 * Yields oversized replacements of a value: texts and lists of one repeated piece, and objects with many
 * names.
 */
function* bloated(value: unknown, bytes: number): Generator<[what: string, value: unknown]> {
  if (typeof value === 'string')
    for (const piece of pieces)
      yield [JSON.stringify(piece), piece.repeat(timesIn(bytes, piece) || 1).slice(0, bytes)];
  else if (Array.isArray(value))
    for (const item of [...value.slice(0, 1), {}, 'a', randomUUID()])
      yield [`a list of ${JSON.stringify(item).slice(0, 40)}`, Array(timesIn(bytes, item)).fill(item)];
  else
    for (const item of ['a', {}])
      yield [
        `names with ${JSON.stringify(item)}`,
        Object.fromEntries(Array.from({ length: 29_000 }, (_, index) => [`n${index}`, item])),
      ];
}

/** Returns a value of a schema for a property that the example omits. */
const emptyOf = (schema: Schema, resolve: (schema: Schema) => Schema): unknown => {
  const { type, anyOf } = resolve(schema);
  if (type === 'array') return ['a'];
  if (type === 'object') return {};
  const first = anyOf?.map((each) => emptyOf(each, resolve)).find((value) => value !== undefined);
  return type === 'string' ? 'a' : first;
};

test('no text, list or object in a body or URL blocks the event loop of a server for long', {
  timeout: 1_800_000,
}, async () => {
  const { instance, owner, stoodStill } = await openWatched();
  const call = (method: string, path: string, body?: unknown) =>
    callApi(instance.url, owner.key, method, path, body, {
      ...(method === 'PATCH' && { 'Content-Type': 'application/merge-patch+json' }),
      ...(method === 'POST' && { 'Idempotency-Key': randomUUID() }),
    });
  const { body: form } = await call('POST', '/forms', {
    structure: {
      type: 'form',
      attrs: { name: 'Form' },
      children: [
        { type: 'step', attrs: {}, children: [element('textarea', 'a'), element('email', 'email')] },
      ],
    },
    publish: true,
  });
  const { body: submission } = await call('POST', `/forms/${form.id}/submissions`, {
    answers: { a: 'Word' },
  });
  const { body: webhook } = await call('POST', `/forms/${form.id}/webhooks`, {
    url: 'https://hooks.example/',
    events: ['submission.created'],
  });
  const ids: Readonly<Record<string, string>> = {
    forms: form.id,
    submissions: submission.id,
    webhooks: webhook.id,
  };
  const { body } = await call('GET', '/openapi.json');
  const { paths, components } = body as unknown as OpenApi;
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : components.schemas[schema.$ref.split('/').at(-1)!]!;

  const found: [name: string, still: Still][] = [];
  const statuses = new Map<number, number>();
  const measure = async (name: string, send: () => Promise<{ status: number }>): Promise<void> => {
    let least: Still = { byClock: Number.POSITIVE_INFINITY, own: Number.POSITIVE_INFINITY };
    for (let round = 0; round === 0 || (round < 3 && least.own > suspiciousMs); round += 1) {
      await stoodStill();
      const { status } = await send();
      const still = await stoodStill();
      if (still.own < least.own) least = still;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      assert.ok(status < 500, `${name}: ${status}`);
      assert.notEqual(status, 429, name);
    }
    found.push([name, least]);
    if (least.own > suspiciousMs) say(name, least);
  };

  for (const [template, methods] of Object.entries(paths))
    for (const [method, { requestBody, parameters }] of Object.entries(methods)) {
      const verb = method.toUpperCase();
      const thing = template.split('/')[1]!;
      const path = template.replaceAll(
        /\{\w+\}/g,
        (_, at: number) => (at === thing.length + 2 && ids[thing]) || randomUUID(),
      );
      const name = `${verb} ${template}`;
      for (const { name: parameter, in: place, schema } of parameters)
        if (place === 'query' && (resolve(schema).type ?? 'string') === 'string')
          for (const piece of pieces) {
            const text = encodeURIComponent(piece.repeat(addressLength))
              .slice(0, addressLength)
              .replace(/%.?$/, '');
            await measure(`${name}?${parameter}=${JSON.stringify(piece)}`, () =>
              call(verb, `${path}?${parameter}=${text}`),
            );
          }
      const content = requestBody?.content['application/json'];
      if (!content) continue;
      const bytes = path.includes('/imports') ? largest : megabyte - 2_000;
      const { properties = {} } = resolve(content.schema);
      const example = {
        ...Object.fromEntries(
          Object.entries(properties).map(([property, schema]) => [property, emptyOf(schema, resolve)]),
        ),
        ...(content.example as object | undefined),
      };
      for (const at of placesIn(example))
        for (const [what, value] of bloated(valueAt(example, at), bytes)) {
          // Only properties of the example are sent beside it, because many others exclude each other.
          const [top] = at;
          const base = {
            ...(content.example as object | undefined),
            ...(top !== undefined && { [top]: example[top as keyof typeof example] }),
          };
          const sent = JSON.stringify(withAt(base, at, value));
          await measure(`${name} ${at.join('.')}: ${what}`, () => call(verb, path, sent));
        }
    }
  process.stdout.write(`${found.length} requests: ${JSON.stringify(Object.fromEntries(statuses))}\n`);
  holdStill(found.toSorted(([, left], [, right]) => right.own - left.own).slice(0, 40));
});
