import { attributeDefaults } from '../basics/defaults.ts';
import type { JsonSchema } from '../basics/json-schema.ts';
import { formLimits } from '../basics/limits.ts';
import { allowsOtherChoice, type ChoiceAttributes, optionIdOf, optionLabelOf } from '../basics/options.ts';
import { defineInputType } from './definition.ts';
import {
  countAttribute,
  inputAttributes,
  optionsLayout,
  questionAttributes,
  quizAttributes,
  shuffle,
} from './shared-attributes.ts';

const optionList = { kind: 'options', required: true, maxBytes: formLimits.labelBytes } as const;

const choiceAttributes = {
  ...inputAttributes,
  options: { ...optionList, title: 'Options', maxItems: formLimits.options, areChosen: true },
  shuffle: shuffle('Shuffle options'),
  other: { kind: 'boolean', title: 'Other answer', default: attributeDefaults.other },
  ...quizAttributes('string'),
} as const;

const radioAttributes = {
  ...choiceAttributes,
  options_layout: optionsLayout(attributeDefaults.options_layout),
} as const;

function choiceSchema(attrs: ChoiceAttributes): JsonSchema {
  const options = optionSchema(attrs);
  return allowsOtherChoice(attrs) ? { anyOf: [options, { type: 'string', minLength: 1 }] } : options;
}

/** Returns the schema of an option's stored value, with the label as title if it differs. */
function optionSchema({ options }: Pick<ChoiceAttributes, 'options'>): JsonSchema {
  return options.every((option) => optionIdOf(option) === optionLabelOf(option))
    ? { enum: options.map(optionIdOf) }
    : { oneOf: options.map((option) => ({ const: optionIdOf(option), title: optionLabelOf(option) })) };
}

/** Returns the schema of several different values. */
const listSchema = (items: JsonSchema, minItems: number, maxItems: number): JsonSchema => ({
  type: 'array',
  items,
  minItems,
  maxItems,
  uniqueItems: true,
});

const firstOption = ({ options }: ChoiceAttributes): string[] => options.slice(0, 1).map(optionIdOf);

export const dropdown = defineInputType({
  title: 'Dropdown',
  icon: 'M3 6h14v8H3zM11.5 9l1.5 2 1.5-2',
  words: 'select list',
  attrs: choiceAttributes,
  summary: 'options',
  control: 'select',
  schema: choiceSchema,
  samples: firstOption,
});

export const radio = defineInputType({
  title: 'Single choice',
  icon: 'M5.5 4a2 2 0 1 1 0 4 2 2 0 0 1 0-4M5.5 12a2 2 0 1 1 0 4 2 2 0 0 1 0-4M10.5 6H17M10.5 14H17',
  words: 'option buttons',
  attrs: radioAttributes,
  summary: 'options',
  schema: choiceSchema,
  samples: firstOption,
});

export const multipleChoice = defineInputType({
  title: 'Multiple choice',
  icon: 'M3.5 4h4v4h-4zM3.5 12h4v4h-4zM10.5 6H17M10.5 14H17M4.5 6l.8.9L6.6 5.2',
  words: 'checkbox boxes several',
  attrs: {
    ...radioAttributes,
    min_choices: countAttribute('Minimum choices', 0, formLimits.options + 1),
    max_choices: countAttribute('Maximum choices', 1, formLimits.options + 1),
  },
  summary: 'options',
  schema: (attrs) =>
    listSchema(
      choiceSchema(attrs),
      Math.max(1, attrs.min_choices ?? 1),
      attrs.max_choices ?? attrs.options.length + (allowsOtherChoice(attrs) ? 1 : 0),
    ),
  samples: ({ options, min_choices: least = 1, max_choices: most = 2 }) => [
    options.slice(0, Math.max(least, Math.min(most, 2))).map(optionIdOf),
  ],
});

export const yesNo = defineInputType({
  title: 'Yes or no',
  icon: 'M2.5 10.5l2.5 2.5 4-5M12 7.5l5 5M17 7.5l-5 5',
  words: 'boolean true false switch toggle',
  firstLabel: 'Do you agree?',
  attrs: { ...inputAttributes, options_layout: optionsLayout('grid_2'), ...quizAttributes('boolean') },
  summary: 'yes_no',
  columnWidth: 112,
  schema: () => ({ type: 'boolean' }),
  samples: () => [true],
});

export const pictureChoice = defineInputType({
  title: 'Picture choice',
  icon: 'M3 3.5h6v6H3zM11 3.5h6v6h-6zM3 8l2-2 2 2.5M11 8l2-2 2 2.5M3.5 13.5h5M11.5 13.5h5',
  words: 'image photo option cards gallery',
  palette: 'choice',
  firstLabel: 'Which one do you like?',
  attrs: {
    ...questionAttributes,
    options: {
      ...optionList,
      title: 'Options',
      maxItems: formLimits.pictureOptions,
      areChosen: true,
      arePictures: true,
    },
    shuffle: shuffle('Shuffle options'),
    multiple: { kind: 'boolean', title: 'Multiple choices', default: attributeDefaults.multiple },
    options_layout: optionsLayout('grid_3'),
    min_choices: countAttribute('Minimum choices', 0, formLimits.pictureOptions),
    max_choices: countAttribute('Maximum choices', 1, formLimits.pictureOptions),
    ...quizAttributes('string'),
  },
  summary: 'options',
  schema: ({ options, multiple, min_choices: least = 1, max_choices: most = options.length }) =>
    listSchema(optionSchema({ options }), multiple ? Math.max(1, least) : 1, multiple ? most : 1),
  samples: ({ options, multiple, min_choices: least = 1 }) => [
    options.slice(0, multiple ? Math.max(1, least) : 1).map(optionIdOf),
  ],
});

export const ranking = defineInputType({
  title: 'Ranking',
  icon: 'M3 4.5h2v4M3 12h2.5v2H3v2.5h2.5M9 6h8M9 14h8',
  words: 'order priority sort preference',
  palette: 'choice',
  firstLabel: 'Rank these options',
  attrs: {
    ...questionAttributes,
    options: { ...optionList, title: 'Options', maxItems: formLimits.rankedOptions, areChosen: false },
    shuffle: shuffle('Shuffle options'),
  },
  summary: 'ranking',
  columnWidth: 280,
  schema: ({ options }) => listSchema(optionSchema({ options }), options.length, options.length),
  samples: ({ options }) => [options.map(optionIdOf)],
});

export const matrix = defineInputType({
  title: 'Matrix',
  icon: 'M3 4h14v12H3zM3 8h14M3 12h14M8 4v12M12.5 4v12',
  words: 'grid table rows likert agree several',
  palette: 'choice',
  firstLabel: 'How would you rate these?',
  attrs: {
    ...questionAttributes,
    rows: { ...optionList, title: 'Rows', maxItems: formLimits.matrixRows, areChosen: false },
    options: { ...optionList, title: 'Options', maxItems: formLimits.matrixOptions, areChosen: false },
    multiple: { kind: 'boolean', title: 'Multiple answers per row', default: attributeDefaults.multiple },
  },
  summary: 'grid',
  columnWidth: 320,
  schema: ({ rows, options, multiple, required }) => {
    const one = optionSchema({ options });
    const cell: JsonSchema = multiple ? { type: 'array', items: one, minItems: 1, uniqueItems: true } : one;
    return {
      type: 'object',
      properties: Object.fromEntries(
        rows.map((row) => [optionIdOf(row), { title: optionLabelOf(row), ...cell }]),
      ),
      additionalProperties: false,
      minProperties: 1,
      ...(required && { required: rows.map(optionIdOf) }),
    };
  },
  samples: ({ rows, options, multiple }) => {
    const first = optionIdOf(options[0]!);
    return [Object.fromEntries(rows.map((row) => [optionIdOf(row), multiple ? [first] : first]))];
  },
});

export const consent = defineInputType({
  title: 'Consent',
  icon: 'M4 3h9l3 3v11H4zM7 11l2 2 4-4M7 6.5h3',
  words: 'agree terms privacy gdpr checkbox accept policy',
  palette: 'choice',
  firstLabel: 'Privacy',
  attrs: {
    ...questionAttributes,
    statement: { kind: 'string', title: 'Consent text', required: true, maxBytes: formLimits.textBytes },
  },
  first: { statement: 'I agree to the [privacy notice](https://example.com/privacy).' },
  summary: 'given',
  columnWidth: 160,
  schema: () => ({
    type: 'object',
    properties: {
      agreed: { type: 'boolean', description: 'Always true.' },
      text: { type: 'string' },
      version: { type: 'integer', minimum: 1 },
      at: { type: 'string', format: 'date-time' },
    },
    required: ['agreed', 'text', 'version', 'at'],
  }),
  samples: ({ statement }, today) => [
    { agreed: true, text: statement, version: 1, at: `${today}T09:30:00.000Z` },
  ],
});
