import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { isRecord } from '#ast/basics/json.ts';
import { type FormNode, walkElements } from '#ast/form/tree.ts';
import { checkSettings } from '#ast/settings.ts';
import { validateStructure } from '#ast/validate.ts';
import { cases } from '#test/cases.ts';
import { samples } from '#test/fixtures/foreign-forms.ts';
import {
  convertForm,
  convertFormText,
  detectFormSource,
  documentOfText,
  documentSources,
  formSources,
  textSources,
} from './convert.ts';
import { type ImportReportLine, openSourceDocument } from './source.ts';

/* Forms of other services become Formloom forms, and nothing is dropped silently. */

type Document = Readonly<Record<string, unknown>>;
const options = { numRuns: cases(200) };

const converted = (source: keyof typeof samples, document: Document = samples[source]) => {
  const result = convertForm(document, source);
  const checked = validateStructure(result.structure);
  assert.ok(checked.ok, JSON.stringify(checked));
  assert.ok(checkSettings(result.settings, checked.form).ok);
  return {
    ...result,
    form: checked.form,
    elements: [...walkElements(checked.form)].map(({ element }) => element as FormNode),
  };
};

const find = (elements: readonly FormNode[], id: string) =>
  elements.find(({ attrs }) => attrs?.['id'] === id)?.attrs;
const leftOut = (report: readonly ImportReportLine[]) =>
  report.filter(({ outcome }) => outcome === 'left_out').map(({ path }) => path);

test('the source of a form is detected', () => {
  for (const source of documentSources) assert.equal(detectFormSource(samples[source]), source);
  for (const source of textSources) assert.equal(detectFormSource(samples[source]), undefined);
  assert.equal(detectFormSource({ hello: 'world' }), undefined);
});

test('a Typeform form keeps its questions, logic, score, endings and answers in titles', () => {
  const { form, elements, settings, report } = converted('typeform');
  assert.deepEqual(
    elements.map(({ type }) => type),
    [
      'hidden',
      'text',
      'radio',
      'text',
      'matrix',
      'rating',
      'scale',
      'composite',
      'paragraph',
      'email',
      'phone',
      'consent',
      'calculation',
    ],
  );
  assert.deepEqual(form.children[0]!.attrs!.jumps, [
    { when: { element: 'kind', is: 'equals', value: 'A company' }, to: 'step_2' },
    { to: 'step_3' },
  ]);
  assert.deepEqual(find(elements, 'kind'), {
    id: 'kind',
    label: 'Hello {{name}}, who comes?',
    options: ['A person', { id: 'A company', label: 'A company', points: 3 }],
    other: true,
    shuffle: true,
    required: true,
  });
  assert.equal(find(elements, 'score')!['formula'], 'points({kind})');
  assert.deepEqual(settings.confirmations, [
    {
      when: { element: 'again', is: 'less_than', value: 4 },
      title: 'We’re sorry',
      message: 'We will call.',
    },
  ]);
  assert.equal(settings.theme?.confirmation_title, 'Thank you');
  assert.ok(leftOut(report).includes('fields[7]'), 'a payment is left out');
});

test('a Tally form keeps questions of several blocks, and their conditions', () => {
  const { form, elements, settings, report } = converted('tally');
  assert.deepEqual(find(elements, 'which_loom'), {
    id: 'which_loom',
    label: 'Which loom?',
    required: true,
    options: ['Small', 'Large'],
    other: true,
    shuffle: true,
  });
  assert.deepEqual(find(elements, 'how_many_people_carry_it'), {
    id: 'how_many_people_carry_it',
    label: 'How many people carry it?',
    min: 2,
    show_when: { element: 'which_loom', is: 'equals', value: 'Large' },
  });
  assert.deepEqual(find(elements, 'how_was')!['rows'], ['The room', 'The food']);
  assert.equal(
    find(elements, 'rich_text')!['text'],
    'For **one week**.\nSee [prices](https://example.org/prices).',
  );
  assert.equal(form.children[1]!.attrs!.title, 'Your visit');
  assert.equal(settings.confirmation_message, 'Thank you.');
  assert.ok(leftOut(report).includes('blocks[0].payload.logo'));
  assert.ok(leftOut(report).includes('blocks[19]'));
});

test('Tally texts are read in the pieces that its API returns; formatting is kept or reported', () => {
  const block = (type: string, group: string, payload: object) => ({
    uuid: `${type} ${group}`,
    type,
    groupUuid: group,
    groupType: type,
    payload,
  });
  const { elements, report, settings } = converted('tally', {
    blocks: [
      block('FORM_TITLE', 'f', { title: 'Hire', safeHTMLSchema: [['Hire']], button: { label: 'Send' } }),
      block('TITLE', 'a', { safeHTMLSchema: [['Who '], ['comes', [['font-weight', 'bold']]], ['?']] }),
      block('INPUT_TEXT', 'a', { isRequired: true, placeholder: 'Ada' }),
      block('TEXT', 't', {
        safeHTMLSchema: [
          ['See ', [['tag', 'span']]],
          [
            'prices & <more>',
            [
              ['tag', 'a'],
              ['href', 'https://example.org/prices'],
            ],
          ],
          ['\nor '],
          [
            'call',
            [
              ['font-weight', 'bold'],
              ['color', 'red'],
            ],
          ],
        ],
      }),
      block('TITLE', 'm', { safeHTMLSchema: [['How was']] }),
      block('MATRIX', 'm', {}),
      block('MATRIX_COLUMN', 'm', { safeHTMLSchema: [['Good']] }),
      block('MATRIX_COLUMN', 'm', { safeHTMLSchema: [['Bad']] }),
      block('MATRIX_ROW', 'm', { safeHTMLSchema: [['The food']] }),
      block('TITLE', 'e', { safeHTMLSchema: [['See you']] }),
    ],
  });
  assert.deepEqual(
    elements.map(({ type, attrs }) => [type, attrs!['label'] ?? attrs!['text']]),
    [
      ['text', 'Who comes?'],
      ['rich_text', 'See [prices & <more>](https://example.org/prices)\nor **call**'],
      ['matrix', 'How was'],
      ['heading', 'See you'],
    ],
  );
  assert.deepEqual(
    [elements[2]!.attrs!['rows'], elements[2]!.attrs!['options']],
    [['The food'], ['Good', 'Bad']],
  );
  assert.equal(settings.theme?.submit_label, 'Send');
  assert.deepEqual(leftOut(report), ['blocks[3].payload.safeHTMLSchema[3][1][1][1]']);
});

test('a Google Forms form keeps its pages, where options lead, its grids and its right answers', () => {
  const { form, elements } = converted('google_forms');
  assert.deepEqual(form.children[0]!.attrs!.jumps, [
    { when: { element: 'will_you_join_us', is: 'equals', value: 'Yes' }, to: 'your_visit' },
    { when: { element: 'will_you_join_us', is: 'equals', value: 'No' }, to: 'end' },
  ]);
  assert.equal(find(elements, 'will_you_join_us')!['other'], true);
  assert.deepEqual(find(elements, 'how_did_you_like'), {
    id: 'how_did_you_like',
    label: 'How did you like',
    required: true,
    rows: ['Tea', 'Cake'],
    options: ['Well', 'Not'],
  });
  assert.deepEqual(find(elements, 'photo')!['accept'], ['image/*', '.pdf']);
  const { correct, points } = find(elements, 'where_is_the_reed')!;
  assert.deepEqual([correct, points], [['In the beater'], 2]);
  assert.ok(find(elements, 'score'));
});

test('a SurveyJS survey keeps its expressions, rows, languages and completion texts', () => {
  const { form, elements, settings, report } = converted('surveyjs');
  assert.deepEqual(form.attrs.languages, ['en', 'de']);
  assert.deepEqual(find(elements, 'meals'), {
    id: 'meals',
    label: 'Meals',
    options_layout: 'grid_2',
    options: [{ id: 'b', label: 'Breakfast' }, 'Lunch', '3', { id: 'none', label: 'None' }],
    translations: { de: { options: { b: 'Frühstück' } } },
    other: true,
    max_choices: 2,
  });
  assert.deepEqual(find(elements, 'allergies')!['show_when'], {
    all: [
      { element: 'meals', is: 'contains', value: 'b' },
      { element: 'age', is: 'at_least', value: 18 },
    ],
  });
  assert.deepEqual(find(elements, 'cot')!['show_when'], { element: 'child', is: 'answered' });
  assert.equal(find(elements, 'plate')!['pattern'], '[A-Z]{1,3}-\\d+');
  assert.equal(settings.confirmation_message, 'Thank you');
  assert.deepEqual(settings.translations, { de: { confirmation_message: 'Danke' } });
  assert.equal(settings.review_step, true);
  assert.deepEqual(
    leftOut(report).filter((path) => path.startsWith('triggers') || path.includes('enableIf')),
    ['pages[0].elements[5].enableIf', 'triggers[1]'],
  );
});

test('a SurveyJS matrix with questions as cells becomes a group per row, with conditions on that row', () => {
  const { form, elements } = converted('surveyjs', {
    elements: [
      {
        type: 'matrixdropdown',
        name: 'looms',
        title: 'Your looms',
        choices: ['Good', 'Bad'],
        columns: [
          { name: 'has', title: 'Do you have one?', cellType: 'boolean' },
          { name: 'state', visibleIf: '{row.has} = true' },
          { name: 'parts', cellType: 'checkbox', choices: ['Reed', 'Heddle'] },
        ],
        rows: ['Small', { value: 'large', text: 'Large one' }],
      },
    ],
  });
  assert.deepEqual(
    (form.children[0]!.children as readonly FormNode[]).map(({ type, attrs }) => [type, attrs?.['label']]),
    [
      ['heading', 'Your looms'],
      ['composite', 'Small'],
      ['composite', 'Large one'],
    ],
  );
  const states = elements.filter(({ attrs }) => attrs?.['label'] === 'state');
  const has = elements.filter(({ attrs }) => attrs?.['label'] === 'Do you have one?');
  assert.deepEqual(
    states.map(({ type, attrs }) => [type, attrs?.['options'], attrs?.['show_when']]),
    has.map(({ attrs }) => [
      'dropdown',
      ['Good', 'Bad'],
      { element: attrs?.['id'], is: 'equals', value: true },
    ]),
  );
  assert.equal(states.length, 2);
});

test('contradictions, and conditions on later elements, are dropped and reported', () => {
  const { elements, report } = converted('surveyjs', {
    title: 'Late {unknown} {{unknown}}',
    pages: [
      { elements: [{ type: 'text', name: 'a', inputType: 'number', min: 5, max: 1, visibleIf: '{b} = 3' }] },
      { elements: [{ type: 'text', name: 'b', inputType: 'number', visibleIf: 'age({a}) > 3' }] },
    ],
  });
  assert.deepEqual(find(elements, 'a'), { id: 'a', label: 'a' });
  const lines = report
    .filter(({ outcome }) => outcome !== 'mapped')
    .map(({ path, message }) => `${path}: ${message}`);
  assert.ok(
    lines.some((line) => line.startsWith('pages[0].elements[0]: Part of it was left out:')),
    lines.join('\n'),
  );
  assert.ok(lines.some((line) => line.startsWith('pages[1].elements[0].visibleIf: This expression')));
});

test('an ending with two faults is dropped, and the next one is kept', () => {
  const endings = ['first', 'wrong', 'last'];
  const { settings } = converted('typeform', {
    fields: [{ ref: 'name', type: 'short_text', title: 'Name' }],
    thankyou_screens: endings.map((ref) => ({
      ref,
      title: ref,
      properties: ref === 'wrong' ? { redirect_url: 'ftp://a' } : { description: `The ${ref} one.` },
    })),
    logic: [
      {
        type: 'field',
        ref: 'name',
        actions: endings.map((ref) => ({
          action: 'jump',
          details: { to: { type: 'thankyou', value: ref } },
          condition: {
            op: ref === 'wrong' ? 'greater_than' : 'is',
            vars: [
              { type: 'field', value: 'name' },
              { type: 'constant', value: ref === 'wrong' ? true : ref },
            ],
          },
        })),
      },
    ],
  });
  assert.deepEqual(
    settings.confirmations?.map(({ message }) => message),
    ['The first one.', 'The last one.'],
  );
});

const guide = await readFile(new URL('../../../docs/guides/importing.md', import.meta.url), 'utf8');

test("the guide's example of each source becomes a form, and nothing is dropped", () => {
  for (const source of formSources) {
    const [, kind, text] = new RegExp(`^\\x60{3}(\\w+) ${source}\n(.*?)^\\x60{3}`, 'ms').exec(guide)!;
    const read =
      kind === 'json' ? { document: JSON.parse(text!) as Document } : documentOfText({ text: text! });
    assert.ok(typeof read === 'object');
    const { document } = read;
    assert.equal('source' in read ? read.source : detectFormSource(document), source);
    const { elements, report } = converted(source, document);
    assert.ok(elements.length > 0);
    assert.deepEqual(leftOut(report), [], source);
  }
});

/** Yields the path of every leaf with a value. */
function* leaves(value: unknown, path = ''): Generator<string, void> {
  if (value === null || value === undefined || value === '') return;
  if (Array.isArray(value))
    for (const [index, each] of value.entries()) yield* leaves(each, `${path}[${index}]`);
  else if (isRecord(value))
    for (const [name, each] of Object.entries(value))
      yield* leaves(each, path === '' ? name : `${path}.${name}`);
  else yield path;
}
const covers = (line: ImportReportLine, path: string): boolean =>
  line.outcome === 'left_out' &&
  (line.path === '' ||
    path === line.path ||
    path.startsWith(`${line.path}.`) ||
    path.startsWith(`${line.path}[`));

test('every leaf of a document is imported or reported as dropped', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const value = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom('x', 1, true, '', null),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).value;
  const steps = fc.array(fc.array(fc.oneof(name, fc.nat(2)), { maxLength: 4 }), { maxLength: 6 });
  fc.assert(
    fc.property(fc.dictionary(name, value, { noNullPrototype: true }), steps, (document, reads) => {
      const { root, report } = openSourceDocument(document);
      const read = new Set<string>();
      for (const steps of reads) {
        let part = root;
        for (const step of steps)
          part = typeof step === 'string' ? part.part(step) : (part.list('a')[step] ?? part);
        if (part.word() !== undefined) read.add(part.path);
      }
      const lines = report();
      for (const leaf of leaves(document))
        assert.equal(
          lines.some((line) => covers(line, leaf)),
          !read.has(leaf),
          leaf,
        );
    }),
    options,
  );
});

/** Yields the objects of a document, each with its path. */
function* objects(
  value: unknown,
  path = '',
): Generator<{ holder: Record<string, unknown>; path: string }, void> {
  if (Array.isArray(value))
    for (const [index, each] of value.entries()) yield* objects(each, `${path}[${index}]`);
  if (!isRecord(value)) return;
  yield { holder: value, path };
  for (const [name, each] of Object.entries(value))
    yield* objects(each, path === '' ? name : `${path}.${name}`);
}

const source = fc.constantFrom(...formSources);

test('an unknown property anywhere in a document is named in the report', () => {
  fc.assert(
    fc.property(source, fc.nat(), (source, at) => {
      const document = structuredClone(samples[source]) as Record<string, unknown>;
      const all = [...objects(document)];
      const { holder, path } = all[at % all.length]!;
      // Four letters, because no language tag has four.
      const added = 'zzzz';
      holder[added] = 'of tomorrow';
      const { report } = convertForm(document, source);
      const place = path === '' ? added : `${path}.${added}`;
      assert.ok(
        report.some((line) => covers(line, place)),
        place,
      );
    }),
    options,
  );
});

test('no broken form makes an importer throw, and its result can be saved as a draft', () => {
  const broken = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom(-1, 1e9, 'x'.repeat(5_000), '{{a}}', [[]], { default: {} }),
  );
  fc.assert(
    fc.property(
      source,
      fc.array(fc.tuple(fc.nat(), fc.nat(), broken), { minLength: 1, maxLength: 6 }),
      (source, changes) => {
        const document = structuredClone(samples[source]) as Record<string, unknown>;
        for (const [at, key, value] of changes) {
          const all = [...objects(document)];
          const { holder } = all[at % all.length]!;
          const names = Object.keys(holder);
          const name = names[key % Math.max(1, names.length)] ?? 'fields';
          // A copy, because inserting an object into itself would recurse forever.
          holder[name] = structuredClone(value);
        }
        const { structure, settings, report } = convertForm(document, source);
        const checked = validateStructure(structure);
        assert.ok(checkSettings(settings, checked.ok ? checked.form : undefined).ok);
        assert.ok(report.every(({ path, message }) => typeof path === 'string' && message !== ''));
      },
    ),
    options,
  );
});

test("a name on every object's prototype is not a type, format or operator, wherever it appears", () => {
  for (const source of formSources)
    for (const [at, { holder }] of [...objects(samples[source])].entries())
      for (const name of Object.keys(holder)) {
        if (typeof holder[name] !== 'string' || !/type|format|comparison|action|op$/i.test(name)) continue;
        const document = structuredClone(samples[source]) as Record<string, unknown>;
        const place = [...objects(document)][at]!;
        place.holder[name] = 'constructor';
        const { structure, settings } = convertForm(document, source);
        const what = `${source} ${place.path}.${name}`;
        assert.deepEqual(JSON.parse(JSON.stringify({ structure, settings })), { structure, settings }, what);
      }
});

test('no importer throws on any JSON object', () => {
  fc.assert(
    fc.property(
      source,
      fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }),
      (source, document) => {
        convertForm(document, source);
      },
    ),
    options,
  );
});

test('a document that needs too much work is rejected', () => {
  const choices = Array.from({ length: 200 }, (_, index) => ({ label: `c${index}` }));
  const fields = Array.from({ length: 1_000 }, (_, index) => ({
    ref: `f${index}`,
    type: 'multiple_choice',
    title: 'Which?',
    properties: { choices },
  }));
  const problem = convertFormText(JSON.stringify({ title: 'Long', fields }), 'typeform');
  assert.ok(typeof problem === 'string');
  assert.match(problem, /at most 1,000 elements and 5,000 options/);
});
