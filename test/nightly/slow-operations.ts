import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import { onlyRow } from '#kit/statement.ts';
import { permissionNames } from '#rules/permissions.ts';
import { callApi } from '#test/service.ts';
import { createKey } from '#workspaces/keys.ts';
import { listWorkspaces } from '#workspaces/workspaces.ts';
import { composite, element, structure } from '../ast/forms.ts';
import { holdStill, openWatched, type Still, say } from './watched-instance.ts';

/*
 * npm run test:long -- slow
 *
 * The second part: the worst requests of keys and members. Large responses in lists, exports, search and
 * history, large forms, long imports, and bodies made of one repeated piece.
 */
const many = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => make(index));
const answersOf = (text: string): Record<string, string> =>
  Object.fromEntries(many(15, (index) => [`t${index}`, text]));
const areas = structure(...many(15, (index) => element('textarea', `t${index}`)));
const words = 'The quick brown fox <jumps> over & the "lazy" dog. '.repeat(1_270);

/** Forms near the limits, each in another way. */
const forms: Readonly<Record<string, object>> = {
  'long help texts': structure(
    ...many(900, (index) => element('textarea', `e${index}`, { help_text: 'h'.repeat(900) })),
  ),
  'an unknown attribute of 240,000 values': structure(
    element('text', 'a', { unknown: many(240_000, () => 1) }),
  ),
  'an unknown attribute of 29,000 names': structure(
    element('text', 'a', { unknown: Object.fromEntries(many(29_000, (index) => [`n${index}`, index])) }),
  ),
  'many options': structure(
    ...many(10, (question) =>
      element('dropdown', `q${question}`, { options: many(500, (index) => `${index} ${'z'.repeat(60)}`) }),
    ),
  ),
  'many conditions': structure(
    element('text', 'q'),
    ...many(19, (index) =>
      element('text', `q${index}`, {
        show_when: {
          any: many(100, (at) => ({
            element: 'q',
            is: 'one_of',
            value: many(20, (value) => `${at} ${value}`),
          })),
        },
      }),
    ),
  ),
  'a wide group that repeats': structure(
    composite(
      'g',
      many(900, (index) => element('text', `t${index}`)),
      { repeatable: true },
    ),
  ),
  'patterns with many ways': structure(
    ...many(990, (index) => element('text', `p${index}`, { pattern: '(?:(?:a|a)*){40}b' })),
  ),
};

/** Pasted text or file content up to the import limit. */
const imports: Readonly<Record<string, { kind: 'addresses' | 'csv'; text: string }>> = {
  'ten thousand people': {
    kind: 'addresses',
    text: many(10_000, (index) => `Person ${index} <person${index}@example.org>`).join('\n'),
  },
  'a file of twenty columns': {
    kind: 'csv',
    text: `Email,${many(20, (index) => `c${index}`).join()}\n${many(9_999, (index) => `p${index}@example.org,${many(20, () => 'word word').join()}`).join('\n')}`,
  },
  'no addresses at all': {
    kind: 'addresses',
    text: many(9_999, (index) => `${index} ${'x'.repeat(300)}`).join('\n'),
  },
  'nothing but semicolons': { kind: 'addresses', text: ';'.repeat(4_900_000) },
  'nothing but quotes': { kind: 'csv', text: '"'.repeat(3_900_000) },
};

/** Bodies at the JSON limit, made of one repeated piece. */
const bodies: Readonly<Record<string, string>> = {
  escapes: `{"structure":"${'\\u0041'.repeat(170_000)}"}`,
  pairs: `{"structure":"${'\\ud83d\\ude00'.repeat(80_000)}"}`,
  objects: `{"structure":[${'{},'.repeat(340_000)}{}]}`,
  numbers: `{"structure":[${'1.5,'.repeat(250_000)}1]}`,
  digits: `{"structure":${'1'.repeat(1_000_000)}}`,
};

/** Documents of other services at the limit, each in another way. */
const documents: Readonly<Record<string, object>> = {
  'thousands of references to what is blank': {
    properties: Object.fromEntries(many(13_000, (index) => [`p${index}`, { $ref: '#/$defs/blank' }])),
    $defs: { blank: many(200_000, () => '') },
  },
  'names that nobody reads': {
    properties: {},
    ...Object.fromEntries(many(29_000, (index) => [`n${index}`, 1])),
  },
  'links that do not end': {
    elements: many(900, (index) => ({
      type: 'html',
      name: `h${index}`,
      html: '<a href="http:'.repeat(300),
    })),
  },
  'long names that begin alike': {
    fields: many(8_000, (index) => ({
      ref: `${'r'.repeat(58)}${String(index >> 1).padStart(5, 'x')}`,
      type: 'short_text',
    })),
  },
};

test('none of the worst known operations blocks the event loop of a server for long', {
  timeout: 900_000,
}, async () => {
  const { instance, stoodStill } = await openWatched();
  const database = openDatabase(
    { connectionString: instance.databaseUrl },
    { pool: 1, log: openLog('silent') },
  );
  const workspace = onlyRow(await listWorkspaces(database))!;
  const { key } = await createKey(database, {
    workspaceId: workspace.id,
    name: 'All',
    permissions: [...permissionNames],
  });
  await database.end();
  const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    callApi(instance.url, key, method, path, body, headers);
  /** Reads a response to its end. */
  const read = async (path: string): Promise<{ status: number }> => {
    const answer = await fetch(`${instance.url}/api/v1${path}`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    for await (const _ of answer.body ?? []) continue;
    return answer;
  };
  const found: [name: string, still: Still][] = [];
  const measure = async (name: string, run: () => Promise<{ status: number }>, rounds = 2): Promise<void> => {
    let least: Still = { byClock: Number.POSITIVE_INFINITY, own: Number.POSITIVE_INFINITY };
    let status = 0;
    for (let round = 0; round < rounds; round += 1) {
      await stoodStill();
      ({ status } = await run());
      const still = await stoodStill();
      if (still.own < least.own) least = still;
    }
    assert.ok(status < 500, name);
    found.push([`${name} (${status})`, least]);
    say(name, least);
  };
  const make = async (form: object): Promise<string> => {
    const { status, body } = await call('POST', '/forms', { structure: form, publish: true });
    assert.equal(status, 201, JSON.stringify(body).slice(0, 200));
    return body.id;
  };

  await measure('the first page of the reference', () => read('/docs'), 1);
  await measure('the OpenAPI document', () => read('/openapi.json'));
  const long = await make(areas);
  const escaped = await make(areas);
  // Only once, because it loads the library.
  await measure('the first workbook', () => read(`/forms/${long}/submissions/export?format=xlsx`), 1);
  let last = '';
  for (const [form, text, count] of [
    [long, words, 40],
    [escaped, '<&'.repeat(32_000), 20],
  ] as const)
    for (let index = 0; index < count; index += 1) {
      const { status, body } = await call('POST', `/forms/${form}/submissions`, { answers: answersOf(text) });
      assert.equal(status, 201);
      last = body.id;
    }
  for (const [name, form] of Object.entries({ long, escaped })) {
    for (const format of ['csv', 'ndjson', 'xlsx'])
      await measure(`answers that are ${name} as ${format}`, () =>
        read(`/forms/${form}/submissions/export?format=${format}`),
      );
    for (const path of [
      'submissions?per_page=100',
      'rows?per_page=100',
      'rows?per_page=100&q=fox',
      'summary?sample=all',
    ])
      await measure(`answers that are ${name}: ${path}`, () => read(`/forms/${form}/${path}`));
  }
  await measure('fifty workbooks at once', async () => {
    const answers = await Promise.all(many(50, () => read(`/forms/${long}/submissions/export?format=xlsx`)));
    return answers.find(({ status }) => status >= 500) ?? answers[0]!;
  });
  for (const path of [
    '/submissions?per_page=100',
    '/submissions/search?q=fox&per_page=100',
    `/submissions/${last}/view?q=jumps`,
  ])
    await measure(path, () => read(path));
  const merge = { 'Content-Type': 'application/merge-patch+json' };
  for (let index = 0; index < 30; index += 1)
    await call('PATCH', `/submissions/${last}`, { answers: answersOf(`${index} ${words}`) }, merge);
  await measure('a merge patch of every answer', () =>
    call('PATCH', `/submissions/${last}`, { answers: answersOf(`${Math.random()} ${words}`) }, merge),
  );
  await measure('the history of thirty such changes', () => read(`/submissions/${last}/timeline`));
  await measure('tags for all', () =>
    call('POST', `/forms/${long}/submissions/taggings`, { filter: {}, add: [`tag ${Math.random()}`] }),
  );

  for (const [name, form] of Object.entries(forms)) {
    const id = await make(form);
    const changed = { ...form, attrs: { name: 'Changed' } };
    const save = () => call('PUT', `/forms/${id}/draft`, { structure: changed });
    await measure(`${name}: validated`, () => call('POST', '/forms/validate', { structure: form }));
    await measure(`${name}: dry run`, () => call('PUT', `/forms/${id}?dry_run=true`, { structure: changed }));
    await measure(`${name}: changed`, () => call('PUT', `/forms/${id}`, { structure: changed }));
    await measure(`${name}: saved`, save);
    await measure(`${name}: compared`, () => call('POST', `/forms/${id}/publish?dry_run=true`, {}));
    await measure(`${name}: published`, () => call('POST', `/forms/${id}/publish`, {}));
    await measure(`${name}: a setting`, () =>
      call('PATCH', `/forms/${id}`, { settings: { time_zone: 'UTC' } }, merge),
    );
    await measure(`${name}: duplicated`, () => call('POST', `/forms/${id}/duplicate`, {}));
    await measure(`${name}: imported`, () => call('POST', '/forms/import', { structure: form }));
    await measure(`${name}: its payload`, () => read(`/forms/${id}/payload`));
    await measure(`${name}: its schema`, () => read(`/forms/${id}/schema.json`));
  }
  const importTo = async (path: string, source: (typeof imports)[string]) => {
    const answer = await call('POST', `/forms/${long}/invitations/imports${path}`, source);
    // A request that fails validation would be fast and prove nothing.
    assert.ok(answer.status < 300, JSON.stringify(answer.body).slice(0, 200));
    return answer;
  };
  for (const [name, source] of Object.entries(imports))
    await measure(`import of ${name}`, () => importTo('/preview', source));
  await measure('the import of ten thousand people', () => importTo('', imports['ten thousand people']!), 1);
  for (const [name, document] of Object.entries(documents))
    await measure(`converted: ${name}`, () => call('POST', '/forms/convert', { document }));
  for (const [name, body] of Object.entries(bodies))
    await measure(`a body of ${name}`, () => call('POST', '/forms', body));
  await measure('a hundred lines of the audit log', () => read('/audit?per_page=100'));
  holdStill(found);
});
