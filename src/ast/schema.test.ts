import assert from 'node:assert/strict';
import { test } from 'node:test';
import { context, element, formOf } from '#test/ast/forms.ts';
import { checkAnswers, type FileAnswer } from './answers/check-answers.ts';
import { attributeSchema } from './attributes/attributes.ts';
import { conditionAttributeSchema } from './attributes/condition-schema.ts';
import { elementDefinitions } from './form/elements.ts';
import { structureSchemas } from './schema.ts';

test('the schemas name the structure, the step, the element, the condition, the translations and every element type', () => {
  const names = Object.keys(structureSchemas());
  assert.deepEqual(names.slice(0, 5), ['Structure', 'Step', 'Element', 'Condition', 'Translations']);
  assert.equal(names.length, 5 + Object.keys(elementDefinitions).length);
  assert.ok(names.includes('MultipleChoiceElement'));
});

test('every reference leads to a schema, and the schemas are pure JSON', () => {
  const schemas = structureSchemas();
  const text = JSON.stringify(schemas);
  assert.deepEqual(JSON.parse(text), schemas);
  for (const [, name] of text.matchAll(/#\/components\/schemas\/(\w+)/g)) {
    assert.ok(Object.hasOwn(schemas, name!), name);
  }
});

const { $ref, examples } = conditionAttributeSchema;
const conditionOrNull = { examples, anyOf: [{ $ref }, { type: 'null' }] };

test('an element schema has the required attributes, defaults and limits of the table', () => {
  assert.deepEqual(structureSchemas().RadioElement, {
    title: 'Single choice',
    type: 'object',
    properties: {
      type: { const: 'radio' },
      attrs: {
        type: 'object',
        properties: {
          id: attributeSchema(elementDefinitions.radio.attrs.id),
          label: { title: 'Label', type: 'string', maxLength: 1024, minLength: 1 },
          placeholder: { title: 'Placeholder', type: ['string', 'null'], maxLength: 4096 },
          help_text: { title: 'Help text', type: ['string', 'null'], maxLength: 4096 },
          error_message: { title: 'Error message', type: ['string', 'null'], maxLength: 1024 },
          required: { title: 'Required', type: ['boolean', 'null'], default: false },
          require_when: { title: 'Require if', ...conditionOrNull },
          valid_when: { title: 'Valid if', ...conditionOrNull },
          show_when: { title: 'Show if', ...conditionOrNull },
          hide_when: { title: 'Hide if', ...conditionOrNull },
          col_span: {
            title: 'Width',
            type: ['integer', 'null'],
            minimum: 1,
            default: 1,
            description: 'Values above 4 are treated as 4.',
          },
          translations: {
            title: 'Translations',
            anyOf: [{ $ref: '#/components/schemas/Translations' }, { type: 'null' }],
          },
          options: attributeSchema(elementDefinitions.radio.attrs.options),
          shuffle: { title: 'Shuffle options', type: ['boolean', 'null'], default: false },
          other: { title: 'Other answer', type: ['boolean', 'null'], default: false },
          correct: attributeSchema(elementDefinitions.radio.attrs.correct),
          points: { title: 'Points', type: ['integer', 'null'], minimum: 1, maximum: 1_000_000 },
          explanation: { title: 'Explanation', type: ['string', 'null'], maxLength: 4096 },
          options_layout: {
            title: 'Option layout',
            type: ['string', 'null'],
            enum: ['stack', 'row', 'grid_2', 'grid_3', 'grid_4', null],
            default: 'stack',
          },
        },
        required: ['id', 'label', 'options'],
      },
      children: { type: 'array', items: { $ref: '#/components/schemas/Element' }, maxItems: 0 },
    },
    required: ['type', 'attrs'],
  });
});

test('the schema of a number requires more than 0 if its attribute does', () => {
  const { min, step } = elementDefinitions.number.attrs;
  assert.deepEqual(attributeSchema(min), { title: 'Minimum', type: ['number', 'null'], examples: [1] });
  assert.deepEqual(attributeSchema(step), {
    title: 'Increment',
    type: ['number', 'null'],
    exclusiveMinimum: 0,
    examples: [1],
  });
});

test('optional parts are not required: attributes of a divider, children of a leaf', () => {
  const schemas = structureSchemas() as Record<string, { required: string[] }>;
  assert.deepEqual(schemas.DividerElement?.required, ['type']);
  assert.ok(!JSON.stringify(schemas.DividerElement).includes('"required":[]'));
  assert.deepEqual(schemas.Step?.required, ['type', 'children']);
  assert.deepEqual(schemas.Structure?.required, ['type', 'attrs', 'children']);
});

test('the schema of a condition refers to itself wherever conditions nest', () => {
  const text = JSON.stringify(structureSchemas().Condition);
  assert.equal(text.split('"$ref":"#/components/schemas/Condition"').length - 1, 3);
  assert.equal(text.split('"row":').length - 1, 1, 'elements alone have rows');
});

test('an option is a text, or an object with id, label and points; options of a ranking have no points', () => {
  const itemsOf = (type: 'radio' | 'ranking') =>
    (
      attributeSchema(elementDefinitions[type].attrs.options) as {
        items: { anyOf: [object, { properties: object }] };
      }
    ).items;
  const [text, object] = itemsOf('radio').anyOf;
  assert.deepEqual(text, { type: 'string', minLength: 1, maxLength: 1024 });
  assert.deepEqual(Object.keys(object.properties), [
    'id',
    'label',
    'points',
    'capacity',
    'image',
    'show_when',
  ]);
  assert.deepEqual(Object.keys(itemsOf('ranking').anyOf[1].properties), ['id', 'label', 'image']);
});

test('the schema of an answer states its limits, in words if JSON Schema cannot express them', () => {
  assert.deepEqual(elementDefinitions.number.schema({ id: 'q', label: 'Q', min: 10, step: 5 }), {
    type: 'number',
    minimum: 10,
    multipleOf: 5,
  });
  for (const [rules, words] of [
    [{ step: 0.1 }, 'In steps of 0.1 from 0.'],
    [{ min: 3, step: 5 }, 'In steps of 5 from 3.'],
  ] as const)
    assert.deepEqual(elementDefinitions.number.schema({ id: 'q', label: 'Q', ...rules }), {
      type: 'number',
      ...('min' in rules && { minimum: rules.min }),
      description: words,
    });
  assert.ok(!('description' in elementDefinitions.number.schema({ id: 'q', label: 'Q' })));
  const dayOf = (rules: object): unknown =>
    elementDefinitions.date.schema({ id: 'q', label: 'Q', ...rules }).description;
  assert.deepEqual(
    [{}, { min: 'today' }, { max: '2026-01-31' }, { min: 'today', max: '2026-01-31' }].map(dayOf),
    [undefined, 'Not before today.', 'Not after 2026-01-31.', 'Not before today. Not after 2026-01-31.'],
  );
  assert.ok(!('description' in elementDefinitions.date.schema({ id: 'q', label: 'Q' })));
});

test('the sample of a file is accepted by its form', () => {
  for (const accept of [['.docx'], ['image/*'], ['application/zip']]) {
    const [files] = elementDefinitions.file_upload.samples({ id: 'q', label: 'Q', accept }, '2026-01-31');
    const form = formOf(element('file_upload', 'q', { accept }));
    const checked = checkAnswers(form, {}, new Map([['q', files as FileAnswer[]]]), context);
    assert.ok(checked.ok, JSON.stringify(checked));
  }
});
