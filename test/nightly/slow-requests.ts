import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composite, element, structure } from '../ast/forms.ts';
import { holdStill, openWatched, type Still } from './watched-instance.ts';

/*
 * npm run test:long -- slow
 *
 * The first part: the worst known requests, one by one, and how long each blocks the event loop of the
 * server. Counts the least of three rounds, because other programs of the machine add to all of them.
 */
const rounds = 3;

const many = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => make(index));
const json = (answers: object) => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ answers }),
});
const urlencoded = (body: string) => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  body,
});
const inputs = (count: number, attrs: (index: number) => object = () => ({}), type = 'text') =>
  many(count, (index) => element(type, `t${index}`, { ...attrs(index) }));
const oneOf = { element: 'q', is: 'one_of', value: many(100, (index) => `value ${index}`) };
const groups = many(10, (group) =>
  composite(
    `g${group}`,
    many(99, (index) => element('text', `g${group}t${index}`)),
    { repeatable: true },
  ),
);

/** A form and a request to it: its path and options. */
type Case = { children: unknown[]; path?: string; request?: RequestInit };
const cases: Record<string, Case> = {
  'a full text in ten rows against values': {
    children: [
      composite('g', [element('text', 'q'), ...inputs(15, () => ({ show_when: oneOf }))], {
        repeatable: true,
      }),
    ],
    request: json({ g: many(10, () => ({ q: 'Σ'.repeat(32_768) })) }),
  },
  'a pattern with many ways on 120 fields': {
    children: inputs(120, () => ({ pattern: '(?:(?:a|a)*){40}b' })),
    request: json(Object.fromEntries(many(120, (index) => [`t${index}`, 'a'.repeat(6_000)]))),
  },
  'rows of ten groups in the address': {
    children: groups,
    path: `?${many(10, (group) => `g${group}[99][g${group}t0]=1`).join('&')}`,
  },
  'rows of ten groups in a post': {
    children: groups,
    request: urlencoded(many(10, (group) => `_row=g${group}[99]`).join('&')),
  },
  'half a million names without values': {
    children: inputs(1),
    request: urlencoded('&a'.repeat(500_000)),
  },
  'a text of pluses': { children: inputs(1), request: urlencoded('+'.repeat(1_000_000)) },
  'a hundred thousand answers': {
    children: [composite('g', inputs(900, undefined, 'number'), { repeatable: true })],
    request: json({ g: many(100, () => Object.fromEntries(many(900, (index) => [`t${index}`, 1]))) }),
  },
  'names that no question has': {
    children: inputs(900),
    request: json(Object.fromEntries(many(80_000, (index) => [`z${index}`, 1]))),
  },
  'half a million numbers': { children: inputs(1), request: json({ t0: many(500_000, () => 1) }) },
  'a part that is nearly everywhere': {
    children: inputs(200, () => ({
      show_when: { element: 'q', is: 'contains', value: `${'a'.repeat(500)}b${'a'.repeat(500)}` },
    })).concat(element('text', 'q')),
    request: json({ q: 'a'.repeat(65_000) }),
  },
  'line ends in full texts': {
    children: inputs(15, undefined, 'textarea'),
    request: json(Object.fromEntries(many(15, (index) => [`t${index}`, '\r'.repeat(30_000)]))),
  },
  'a full text that five hundred labels show': {
    children: [
      element('textarea', 'q'),
      element('text', 'missing', { required: true }),
      ...inputs(480, () => ({ label: 'About {{q}}' })),
    ],
    request: urlencoded(`q=${'a+'.repeat(32_000)}`),
  },
  'a full text that the labels of a hundred rows show': {
    children: [
      element('textarea', 'q'),
      element('text', 'missing', { required: true }),
      composite(
        'g',
        inputs(5, () => ({ label: 'About {{q}}' })),
        { repeatable: true },
      ),
    ],
    request: urlencoded(`q=${'%0Aa'.repeat(21_000)}&_row=g[99]`),
  },
  'formulas of full length in a hundred rows': {
    children: [
      composite(
        'g',
        [
          element('number', 'q'),
          ...many(9, (index) =>
            element('calculation', `c${index}`, { formula: many(150, () => '{q} * 3.7').join(' + ') }),
          ),
        ],
        { repeatable: true },
      ),
    ],
    request: json({ g: many(100, (row) => ({ q: row + 0.123456789 })) }),
  },
  'sums over a hundred rows, again and again': {
    children: [
      composite('g', [element('number', 'q')], { repeatable: true }),
      ...many(10, (index) =>
        element('calculation', `c${index}`, { formula: many(150, () => 'sum({q})').join(' + ') }),
      ),
    ],
    request: json({ g: many(100, (row) => ({ q: row + 0.123456789 })) }),
  },
  'calculations that each ask the one before': {
    children: [
      element('number', 'q'),
      ...many(199, (index) =>
        element('calculation', `c${index}`, {
          formula: `{${index === 0 ? 'q' : `c${index - 1}`}} * 1.0001 + 1`,
        }),
      ),
    ],
    request: json({ q: 7 }),
  },
  'matrices of as many options as there may be, all wrong': {
    children: many(13, (index) =>
      element('matrix', `m${index}`, {
        rows: many(30, (row) => `row ${row}`),
        options: many(12, (option) => `option ${option}`),
        multiple: true,
      }),
    ),
    request: json(
      Object.fromEntries(
        many(13, (index) => [
          `m${index}`,
          Object.fromEntries(many(30, (row) => [`row ${row}`, many(12, (option) => `other ${option}`)])),
        ]),
      ),
    ),
  },
  'a matrix of as many rows as a body has names, which formulas count and conditions ask for': {
    children: [
      element('matrix', 'm'),
      element('calculation', 'sum', { formula: many(6, () => 'count({m})').join('+') }),
      ...inputs(400, () => ({ show_when: { element: 'm', is: 'answered' } })),
    ],
    request: json({ m: Object.fromEntries(many(29_000, (index) => [`r${index}`, 'Red'])) }),
  },
  'choices that four hundred labels show': {
    children: [
      element('multiple_choice', 'q', {
        options: many(500, (index) => `${'o'.repeat(900)}${index}`),
        other: true,
      }),
      element('text', 'missing', { required: true }),
      ...inputs(400, () => ({ label: 'About {{q}}' })),
    ],
    request: urlencoded(many(1_000, (index) => `q=${'o'.repeat(900)}${index % 500}`).join('&')),
  },
  'a page with as many characters of HTML as a form may have': {
    children: inputs(900, () => ({ help_text: `${'<&"'.repeat(55)}${'a'.repeat(500)}` })),
    path: '?from=here',
  },
};

test('none of the worst known requests blocks the event loop of a server for long', async () => {
  const { instance, owner, stoodStill } = await openWatched();
  const found: [name: string, still: Still][] = [];
  for (const [name, { children, path = '', request = {} }] of Object.entries(cases)) {
    await stoodStill();
    const made = await owner.call('POST', '/forms', { structure: structure(...children), publish: true });
    assert.equal(made.status, 201, `${name}: ${JSON.stringify(made.body).slice(0, 200)}`);
    found.push([`${name}: its form is made`, await stoodStill()]);
    let least: Still = { byClock: Number.POSITIVE_INFINITY, own: Number.POSITIVE_INFINITY };
    let status = 0;
    for (let round = 0; round < rounds; round += 1) {
      await stoodStill();
      const answer = await fetch(`${instance.url}/f/${made.body.id}${path}`, request);
      await answer.text();
      ({ status } = answer);
      const still = await stoodStill();
      if (still.own < least.own) least = still;
    }
    assert.ok(status < 500, name);
    found.push([`${name} (${status})`, least]);
  }
  holdStill(found);
});
