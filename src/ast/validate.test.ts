import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codesOf, composite, element, problemsOf, structure } from '#test/ast/forms.ts';
import { formLimits } from './basics/limits.ts';
import { otherChoice } from './basics/options.ts';
import { addMissingNodeMembers, effectiveStructure } from './form/effective-form.ts';
import { elementDefinitions } from './form/elements.ts';
import { validateStructure } from './validate.ts';

const fields = (count: number) => Array.from({ length: count }, (_, index) => element('text', `f${index}`));
const bytes = (count: number) => 'x'.repeat(count);
/** Returns nested composites, the innermost with one text. */
const nested = (depth: number, attrs = {}): ReturnType<typeof element> =>
  depth === 0 ? element('text', 'inner') : composite(`c${depth}`, [nested(depth - 1, attrs)], attrs);

test('every element type is accepted with only its required attributes', () => {
  for (const type of Object.keys(elementDefinitions)) {
    assert.deepEqual(problemsOf(structure({ ...element(type, 'only') })), [], type);
  }
});

test('a complete structure is returned as the same object, with unknown attributes', () => {
  const input = structure(element('text', 'name', { newer: { version: 9 } }), {
    ...element('divider', 'line'),
    extra: 1,
  });
  const copy = structuredClone(input);
  const result = validateStructure(input);
  assert.ok(result.ok);
  assert.equal(result.form, input);
  assert.deepEqual(input, copy);
});

test('nodes without attrs or children get empty ones; everything else stays as sent', () => {
  const sent = structure(
    { type: 'divider' },
    { type: 'heading', attrs: null, children: null, extra: [null] },
    { type: 'composite', attrs: { id: 'g', label: 'G' } },
  );
  const [step] = (addMissingNodeMembers(sent) as ReturnType<typeof structure>).children!;
  assert.deepEqual(step!.children, [
    { type: 'divider', attrs: {}, children: [] },
    { type: 'heading', attrs: {}, children: [], extra: [null] },
    composite('g', [], { label: 'G' }),
  ]);
  assert.deepEqual(
    sent.children![0]!.children![0],
    { type: 'divider' },
    'the structure itself is not changed',
  );
});

test('null means absent for every optional attribute of every node, and in conditions and options', () => {
  for (const [type, { attrs }] of Object.entries(elementDefinitions)) {
    const optional = Object.entries(attrs as Record<string, { required?: true }>).filter(
      ([, spec]) => !spec.required,
    );
    const nulls = Object.fromEntries(optional.map(([name]) => [name, null]));
    const node = { ...element(type, 'only'), attrs: { ...nulls, ...element(type, 'only').attrs } };
    assert.deepEqual(problemsOf(structure(node)), [], type);
  }
  const typed = {
    type: 'form',
    attrs: { name: 'F', description: null, languages: null, translations: null },
    children: [
      {
        type: 'step',
        attrs: { id: null, title: null, description: null, layout: null, show_when: null, jumps: null },
        children: [
          element('radio', 'r', {
            options: [{ id: 'a', label: 'A', points: null, capacity: null, show_when: null }],
          }),
          element('text', 't', {
            unknown: null,
            show_when: { all: null, not: null, element: 'r', row: null, is: 'answered', value: null },
          }),
        ],
      },
    ],
  };
  assert.deepEqual(problemsOf(typed), []);
  const result = validateStructure(typed);
  assert.ok(result.ok);
  const [radio, text] = result.form.children[0]!.children;
  assert.deepEqual(radio!.attrs, { id: 'r', label: 'The r', options: [{ id: 'a', label: 'A' }] });
  assert.deepEqual(text!.attrs, {
    id: 't',
    label: 'The t',
    unknown: null,
    show_when: { element: 'r', is: 'answered' },
  });
  assert.deepEqual(codesOf(structure(element('radio', 'a', { options: ['Red', null] }))), ['invalid']);
});

test('a step with an unknown layout is a stack; a layout that is not text, or on a composite, is rejected', () => {
  const step = (layout: unknown) => ({
    type: 'form',
    attrs: { name: 'F' },
    children: [{ type: 'step', attrs: { layout }, children: [] }],
  });
  for (const layout of ['two-column', 'grid', '', 'stack'])
    assert.deepEqual(problemsOf(step(layout)), [], layout);
  assert.deepEqual(problemsOf(step(5)), [{ message: '"layout" of the step must be text.', path: [0] }]);
  assert.deepEqual(codesOf(structure(composite('c', [], { layout: 'two-column' }))), ['invalid_choice']);
});

test('a heading or paragraph needs no label, and shows its text or content instead', () => {
  const shown = (attrs: object) => {
    const sent = structure({ type: 'paragraph', attrs, children: [] });
    assert.deepEqual(problemsOf(sent), [], JSON.stringify(attrs));
    return (effectiveStructure(sent) as typeof sent).children![0]!.children![0]!.attrs!['label'];
  };
  assert.equal(shown({}), undefined);
  assert.equal(shown({ text: 'A' }), 'A');
  assert.equal(shown({ content: 'B' }), 'B');
  assert.equal(shown({ label: null, text: 5, content: 'B' }), 'B');
  assert.equal(shown({ label: 'L', text: 'A' }), 'L');
  assert.equal(shown({ label: ' ', text: 'A' }), 'A');
});

test('every problem of a structure has a code', () => {
  const wrong = { type: 'form', attrs: {}, children: [{ type: 'step', attrs: { title: 1 }, children: [] }] };
  assert.deepEqual(codesOf(wrong), ['required', 'invalid_type']);
  const codes = (...children: unknown[]) => codesOf(structure(...children));
  assert.deepEqual(codes(element('text', 'a'), element('text', 'a')), ['duplicate_id']);
  assert.deepEqual(codes(element('text', 'a', { label: bytes(2_000) })), ['too_long']);
  assert.deepEqual(codes(element('text', 'a'.repeat(129))), ['too_long']);
  assert.deepEqual(codes(element('rating', 'a', { levels: 1 })), ['too_small']);
  assert.deepEqual(codes(element('rating', 'a', { levels: 11 })), ['too_large']);
  assert.deepEqual(codes(element('slider', 'a')), ['invalid_choice']);
  assert.deepEqual(codes(element('text', 'a', { show_when: { element: 'gone', is: 'answered' } })), [
    'invalid_reference',
  ]);
  assert.deepEqual(codes(element('text', 'a', { x: 'a\0' })), ['not_storable']);
  assert.deepEqual(codesOf({ type: 'form', attrs: { name: 'F' } }), ['required']);
  assert.deepEqual(codes(...fields(1_001)), ['too_many']);
});

test('composites may contain repeatable ones, and repeatable ones may contain composites', () => {
  const inner = composite('inner', [element('text', 'a')]);
  assert.deepEqual(problemsOf(structure(composite('outer', [inner], { repeatable: true }))), []);
  const rows = composite('rows', [element('text', 'a')], { repeatable: true });
  assert.deepEqual(problemsOf(structure(composite('outer', [rows]))), []);
});

test('children of leaves, and attributes if none is required, may be omitted', () => {
  const { children: _children, ...leaf } = element('email', 'mail');
  const step = {
    type: 'step',
    children: [{ type: 'divider' }, leaf, { type: 'heading', attrs: { label: 'Hi' } }],
  };
  assert.deepEqual(problemsOf({ type: 'form', attrs: { name: 'F' }, children: [step] }), []);
});

const node = 'A node must be an object with "type", "attrs" and "children".';
const missing = (name: string) => `A required attribute is missing: "${name}".`;
const noStep = { message: 'A form must have at least one step.', path: [], field: 'steps' };

const formProblems: [name: string, input: unknown, expected: object[]][] = [
  ['not an object', 'form', [{ message: node, path: [] }]],
  ['null', null, [{ message: node, path: [] }]],
  ['a list', [], [{ message: node, path: [] }]],
  [
    'empty: type, name and step are all named at once',
    {},
    [
      { message: 'The root node must have the type "form".', path: [] },
      { message: missing('name'), path: [], field: 'name' },
      noStep,
    ],
  ],
  [
    'no name',
    { type: 'form', attrs: {}, children: [{ type: 'step', children: [] }] },
    [{ message: missing('name'), path: [], field: 'name' }],
  ],
  [
    'a blank name',
    { type: 'form', attrs: { name: ' ' }, children: [{ type: 'step', children: [] }] },
    [{ message: missing('name'), path: [], field: 'name' }],
  ],
  ['no step', { type: 'form', attrs: { name: 'F' }, children: [] }, [noStep]],
  ['children left out', { type: 'form', attrs: { name: 'F' } }, [noStep]],
  [
    'children that are no list',
    { type: 'form', attrs: { name: 'F' }, children: {} },
    [{ message: '"children" must be a list of steps.', path: [], field: 'steps' }],
  ],
  [
    'an element where a step belongs',
    { type: 'form', attrs: { name: 'F' }, children: [element('text', 'a')] },
    [{ message: 'Only nodes of the type "step" can be placed directly in a form.', path: [0] }],
  ],
  [
    'a step that is no object, and wrong attributes',
    {
      type: 'form',
      attrs: { name: 'F', description: 5 },
      children: [{ type: 'step', attrs: { title: 1 } }, 7, { type: 'step', attrs: [], children: [] }],
    },
    [
      { message: '"description" of the form must be text.', path: [], field: 'description' },
      { message: '"title" of the step must be text.', path: [0] },
      { message: node, path: [1] },
      { message: '"attrs" must be an object.', path: [2] },
    ],
  ],
];

for (const [name, input, expected] of formProblems) {
  test(`form: ${name}`, () => assert.deepEqual(problemsOf(input), expected));
}

const types = Object.keys(elementDefinitions).join(', ');
const elementProblems: [name: string, children: unknown[], expected: [string, ...number[]][]][] = [
  [
    'an unknown type',
    [element('slider', 'a')],
    [[`Unknown element type "slider". Use one of these: ${types}.`, 0, 0]],
  ],
  [
    'a type from the prototype',
    [{ type: 'constructor' }],
    [[`Unknown element type "constructor". Use one of these: ${types}.`, 0, 0]],
  ],
  ['no type', [{ attrs: {} }], [['Every node needs a "type".', 0, 0]]],
  ['a type that cannot become text', [{ type: { toString: 1 } }], [['Every node needs a "type".', 0, 0]]],
  [
    'a step in a step',
    [{ type: 'step', children: [] }],
    [['A node of the type "step" cannot be placed in a step.', 0, 0]],
  ],
  [
    'a form in a step',
    [{ type: 'form', children: [] }],
    [['A node of the type "form" cannot be placed in a step.', 0, 0]],
  ],
  ['null', [null], [[node, 0, 0]]],
  [
    'an input without attrs',
    [{ type: 'text' }],
    [
      [missing('id'), 0, 0],
      [missing('label'), 0, 0],
    ],
  ],
  ['no label', [element('text', 'a', { label: undefined })], [[missing('label'), 0, 0]]],
  ...[null, '', ' \t'].map((label): [string, unknown[], [string, ...number[]][]] => [
    `the label ${JSON.stringify(label)}`,
    [element('text', 'a', { label })],
    [[missing('label'), 0, 0]],
  ]),
  ['a label that is no text', [element('text', 'a', { label: 5 })], [['"label" of "a" must be text.', 0, 0]]],
  ['no options', [element('radio', 'a', { options: undefined })], [[missing('options'), 0, 0]]],
  [
    'an empty list of options',
    [element('radio', 'a', { options: [] })],
    [['"options" of "a" must have at least one entry.', 0, 0]],
  ],
  [
    'options that are no list',
    [element('dropdown', 'a', { options: 'Red' })],
    [['"options" of "a" must be a list of options.', 0, 0]],
  ],
  [
    'an option that is no text',
    [element('dropdown', 'a', { options: ['Red', 1] })],
    [['"options" of "a" must be a list of strings, or of objects with an "id" and a "label".', 0, 0]],
  ],
  [
    'an option twice',
    [element('multiple_choice', 'a', { options: ['Red', 'Red'] })],
    [['"options" of "a" must not repeat "Red".', 0, 0]],
  ],
  [
    'a blank option',
    [element('radio', 'a', { options: ['Red', ' '] })],
    [['"options" of "a" must not have an entry that is blank or has line breaks.', 0, 0]],
  ],
  ...(
    [
      ['must not have an entry 2 that has an "id" that is not text', { label: 'Red' }],
      ['must not have an entry 2 that has a "label" that is not text', { id: 'r' }],
      [
        'must not have an entry 2 that has an "id" that is blank or has line breaks',
        { id: ' ', label: 'Red' },
      ],
      ['must not repeat "Blue"', 'Blue'],
      ['must not repeat the id "Blue"', { id: 'Blue', label: 'Red' }],
      ['must not repeat the label "Blue"', { id: 'b', label: 'Blue' }],
      [
        'must not have an entry 2 that has a "points" that is not a number from -1000000 to 1000000',
        { id: 'r', label: 'Red', points: '3' },
      ],
      [
        'must not have an entry 2 that has a "capacity" that is not a whole number from 1 to 10000',
        { id: 'r', label: 'Red', capacity: 0.5 },
      ],
      [
        'must not have an entry 2 that has a "image" that is not the ID of an image in this workspace',
        { id: 'r', label: 'Red', image: 'https://example.org/a.png' },
      ],
    ] as const
  ).map(([problem, option]): [string, unknown[], [string, ...number[]][]] => [
    problem,
    [element('radio', 'a', { options: ['Blue', option] })],
    [[`"options" of "a" ${problem}.`, 0, 0]],
  ]),
  [
    'a capacity of ranking options',
    [element('ranking', 'a', { options: ['Blue', { id: 'r', label: 'Red', capacity: 3 }] })],
    [
      [
        '"options" of "a" must not have an entry 2 that has a "capacity", which these options do not support.',
        0,
        0,
      ],
    ],
  ],
  [
    'required as text',
    [element('text', 'a', { required: 'yes' })],
    [['"required" of "a" must be true or false.', 0, 0]],
  ],
  [
    'col_span 0 and 1.5; a span wider than the grid is accepted',
    [0, 12, 1.5].map((span) => element('text', `s${span * 2}`, { col_span: span })),
    [
      ['"col_span" of "s0" must be a whole number from 1.', 0, 0],
      ['"col_span" of "s3" must be a whole number from 1.', 0, 2],
    ],
  ],
  [
    'a least and a most that are no numbers, and a step of 0',
    [element('number', 'a', { min: '5', max: Infinity, step: 0 })],
    [
      ['"min" of "a" must be a number.', 0, 0],
      ['"max" of "a" must be a number.', 0, 0],
      ['"step" of "a" must be more than 0.', 0, 0],
    ],
  ],
  [
    'ids with a sign first, a blank, a bracket, and of other letters than they look like',
    ['-a', 'a b', 'a[0]', '{a}', 'u\u0308bung'].map((id) => element('text', id)),
    [
      [
        '"id" of "-a" must have 1 to 128 letters, digits, "_", "-", "." and ":", and begin with a letter, a digit or "_".',
        0,
        0,
      ],
      [
        '"id" of "a b" must have 1 to 128 letters, digits, "_", "-", "." and ":", and begin with a letter, a digit or "_".',
        0,
        1,
      ],
      [
        '"id" of "a[0]" must have 1 to 128 letters, digits, "_", "-", "." and ":", and begin with a letter, a digit or "_".',
        0,
        2,
      ],
      [
        '"id" of "{a}" must have 1 to 128 letters, digits, "_", "-", "." and ":", and begin with a letter, a digit or "_".',
        0,
        3,
      ],
      ['"id" of "u\u0308bung" must be in Unicode normalization form NFC.', 0, 4],
    ],
  ],
  [
    'a reserved id',
    [element('text', 'constructor'), element('text', '_key')],
    [
      ['"id" of "constructor" must not be the reserved word "constructor".', 0, 0],
      ['"id" of "_key" must not be the reserved word "_key".', 0, 1],
    ],
  ],
  ['an id that is no text', [element('text', 'a', { id: 5 })], [['"id" of the text must be text.', 0, 0]]],
  [
    'a leaf with children',
    [{ ...element('text', 'a'), children: [element('text', 'b')] }],
    [['"a" cannot have children.', 0, 0]],
  ],
  [
    'leaf children that are no list',
    [{ ...element('text', 'a'), children: 'none' }],
    [['"children" must be a list.', 0, 0]],
  ],
  [
    'a composite whose children are no list',
    [{ type: 'composite', attrs: { id: 'g', label: 'G' }, children: {} }],
    [['"children" must be a list of elements.', 0, 0]],
  ],
  [
    'a bad child of a composite',
    [element('text', 'a'), composite('g', [element('text', 'b'), { type: 'x' }])],
    [[`Unknown element type "x". Use one of these: ${types}.`, 0, 1, 1]],
  ],
  [
    'a repeatable composite in another, at any depth',
    [nested(3, { repeatable: true })],
    [
      ['A repeatable composite cannot be inside another repeatable composite.', 0, 0, 0],
      ['A repeatable composite cannot be inside another repeatable composite.', 0, 0, 0, 0],
    ],
  ],
  [
    'what is limited over all submissions, in rows',
    [
      composite(
        'g',
        [
          element('email', 'mail', { unique: true }),
          element('radio', 'shift', { options: [{ id: 'a', label: 'A', capacity: 1 }, 'B'] }),
          element('radio', 'colour'),
        ],
        { repeatable: true },
      ),
    ],
    [
      ['"unique" of "mail" cannot be set inside a repeatable composite.', 0, 0, 0],
      ['"capacity" of "shift" cannot be set inside a repeatable composite.', 0, 0, 1],
    ],
  ],
];

for (const [name, children, expected] of elementProblems) {
  test(`element: ${name}`, () => {
    const found = problemsOf(structure(...children));
    assert.deepEqual(
      found,
      expected.map(([message, ...path]) => ({ message, path })),
    );
  });
}

test('element ids must be unique across steps, composites and content; the second and later ones are reported', () => {
  const input = {
    type: 'form',
    attrs: { name: 'F' },
    children: [
      { type: 'step', children: [element('text', 'x'), composite('g', [element('email', 'x')])] },
      { type: 'step', children: [element('heading', 'x'), element('text', 'y'), element('text', 'X')] },
    ],
  };
  const message = 'Element ids must be unique: "x" is used more than once.';
  assert.deepEqual(problemsOf(input), [
    { message, path: [0, 1, 0] },
    { message, path: [1, 0] },
  ]);
});

test('every limit accepts its own value and rejects one more, with the limit in the message', () => {
  const steps = (count: number) => ({
    type: 'form',
    attrs: { name: 'F' },
    children: Array.from({ length: count }, () => ({ type: 'step', children: [] })),
  });
  const cases: [at: unknown, over: unknown, message: string, path: number[]][] = [
    [steps(formLimits.steps), steps(101), 'A form can have at most 100 steps.', []],
    [
      structure(...fields(formLimits.elements)),
      structure(...fields(1001)),
      'A form can have at most 1000 elements.',
      [0, 1000],
    ],
    [
      structure(nested(formLimits.nesting)),
      structure(nested(6)),
      'Composites can be nested at most 5 levels deep.',
      [0, 0, 0, 0, 0, 0, 0],
    ],
    ...attributeCap('text', 'label', bytes(1024), bytes(1025), 'must have at most 1 KB (1024 bytes)'),
    ...attributeCap('text', 'label', 'é'.repeat(512), 'é'.repeat(513), 'must have at most 1 KB (1024 bytes)'),
    ...attributeCap('text', 'help_text', bytes(4096), bytes(4097), 'must have at most 4 KB (4096 bytes)'),
    ...attributeCap('radio', 'options', many(500), many(501), 'must have at most 500 entries'),
    ...attributeCap(
      'radio',
      'options',
      [bytes(1024)],
      [bytes(1025)],
      'must not have an entry over 1 KB (1024 bytes)',
    ),
  ];
  for (const [at, over, message, path] of cases) {
    assert.deepEqual(problemsOf(at), [], message);
    const [problem, ...more] = problemsOf(over);
    assert.equal(problem?.message, message);
    assert.deepEqual(problem.path, path);
    assert.deepEqual(more, []);
  }
  assert.deepEqual(problemsOf(structure(element('text', bytes(128)))), []);
  assert.equal(problemsOf(structure(element('text', bytes(129)))).length, 1);
});

const many = (count: number) => Array.from({ length: count }, (_, index) => `option ${index}`);

function attributeCap(type: string, name: string, at: unknown, over: unknown, problem: string) {
  const withValue = (value: unknown) => structure(element(type, 'a', { [name]: value }));
  const row: [unknown, unknown, string, number[]] = [
    withValue(at),
    withValue(over),
    `"${name}" of "a" ${problem}.`,
    [0, 0],
  ];
  return [row];
}

test('NUL characters and lone surrogates are rejected in every text and key, including unknown attributes', () => {
  const message = '"a" contains a NUL character or an unpaired surrogate.';
  for (const bad of ['\u0000', 'x\ud800', '\udc00x']) {
    const attrs = [{ label: bad }, { unknown: [{ deep: bad }] }, { unknown: { [bad]: 1 } }, { [bad]: 1 }];
    for (const attr of attrs) {
      assert.deepEqual(problemsOf(structure(element('text', 'a', attr))), [{ message, path: [0, 0] }]);
    }
    assert.deepEqual(problemsOf(structure({ ...element('text', 'a'), [bad]: 1 })), [
      { message, path: [0, 0] },
    ]);
  }
  assert.deepEqual(problemsOf(structure(element('text', 'a', { label: 'pair 😀' }))), []);
});

test('the keys __proto__, constructor and prototype are inert', () => {
  const sent = '{"type":"text","attrs":{"__proto__":{"id":"a","label":"A"},"constructor":{"prototype":1}}}';
  const messages = problemsOf(structure(JSON.parse(sent))).map((problem) => problem.message);
  assert.deepEqual(messages, [missing('id'), missing('label')]);
  assert.equal(Object.hasOwn(Object.prototype, 'id'), false);
});

test('at most 100 problems are listed; a last one says that there are more', () => {
  const bad = (count: number) => structure(...Array.from({ length: count }, () => ({ type: 'x' })));
  assert.equal(problemsOf(bad(100)).length, 100);
  const found = problemsOf(bad(101));
  assert.equal(found.length, 101);
  assert.deepEqual(found.at(-1), {
    message: 'There are more problems. Only the first 100 are listed.',
    path: [],
  });
});

test('malicious structures are rejected in linear time and without a stack overflow', () => {
  let deepNodes: unknown = element('text', 'inner');
  let deepAttribute: unknown = 1;
  for (let level = 0; level < 100_000; level += 1) {
    deepNodes = composite(`c${level}`, [deepNodes]);
    deepAttribute = [deepAttribute];
  }
  const manyKeys = Object.fromEntries(Array.from({ length: 1_000_000 }, (_, index) => [`k${index}`, index]));
  const hostile: [string, unknown][] = [
    ['100,000 levels of composites', structure(deepNodes)],
    ['100,000 levels in an unknown attribute', structure(element('text', 'a', { deepAttribute }))],
    ['1,000,000 keys', structure(element('text', 'a', { manyKeys }))],
    ['1,000,000 options', structure(element('radio', 'a', { options: Array(1_000_000).fill('x') }))],
    [
      '1,000,000 elements',
      {
        type: 'form',
        attrs: { name: 'F' },
        children: [{ type: 'step', children: Array(1_000_000).fill(0) }],
      },
    ],
    [
      '10,000 elements with one id',
      structure(...Array.from({ length: 10_000 }, () => element('text', 'same'))),
    ],
    ['1,000,000 steps', { type: 'form', attrs: { name: 'F' }, children: Array(1_000_000).fill(0) }],
  ];
  for (const [name, input] of hostile) {
    // The CPU time of this process, without other load on the machine.
    const start = process.cpuUsage();
    const found = problemsOf(input);
    const milliseconds = process.cpuUsage(start).user / 1000;
    assert.ok(found.length > 0 && found.length <= 101, name);
    assert.ok(milliseconds < 2_000, `${name} took ${milliseconds} ms`);
  }
});

test('elements with a missing or blank id are reported for that only, not as duplicates', () => {
  const nameless = [
    { type: 'text', attrs: { label: 'A' } },
    { type: 'text', attrs: { label: 'B' } },
    element('text', ''),
    element('text', ''),
  ];
  const messages = problemsOf(structure(...nameless)).map(({ message }) => message);
  assert.equal(messages.length, 4, messages.join('\n'));
  for (const message of messages) assert.doesNotMatch(message, /unique/);
});

test('limits with no value between them are a problem of their element', () => {
  const messages = problemsOf(structure(element('number', 'age', { min: 5, max: 4 }))).map(
    ({ message }) => message,
  );
  assert.equal(messages.length, 1);
  assert.match(messages[0]!, /"min"/);
});

test('with "other", no option may have the value that stands for it', () => {
  const choice = (other: boolean) => element('radio', 'colour', { options: ['Red', otherChoice], other });
  assert.match(problemsOf(structure(choice(true)))[0]!.message, /must not have .* if "other" is true/);
  assert.deepEqual(problemsOf(structure(choice(false))), []);
});

test('too many options in total are reported once, at the first element beyond the limit', () => {
  const options = Array.from({ length: formLimits.options }, (_, index) => `Option ${index}`);
  const full = Array.from({ length: formLimits.formOptions / formLimits.options }, (_, index) =>
    element('radio', `r${index}`, { options }),
  );
  assert.deepEqual(problemsOf(structure(...full)), []);
  const more = [...full, element('radio', 'one', { options: ['A'] }), element('radio', 'two', { options })];
  assert.deepEqual(problemsOf(structure(...more)), [
    {
      message: `A form can have at most ${formLimits.formOptions} options in total.`,
      path: [0, full.length],
    },
  ]);
});

for (const [what, filling] of [
  ['values', { newer: Array.from({ length: formLimits.values }, () => 0) }],
  ['markup', { newer: Array.from({ length: 50 }, () => '<'.repeat(formLimits.markupCharacters / 40)) }],
] as const) {
  test(`too much of ${what} is reported once, and counting stops there`, () => {
    const small = [element('text', 'b', { newer: ['<'] }), element('text', 'c', { newer: ['<'] })];
    const problems = problemsOf(structure(element('text', 'a', filling), ...small));
    assert.deepEqual(
      problems.map(({ path }) => path),
      [[0, 0]],
    );
  });
}
