import { formLimits } from '../../basics/limits.ts';
import { allowsOtherChoice, optionIdOf } from '../../basics/options.ts';
import { choiceSchema, radioAttributes } from '../choice-type.ts';
import { defineInputType } from '../definition.ts';
import { countAttribute } from '../shared-attributes.ts';

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
  schema: (attrs) => ({
    type: 'array',
    items: choiceSchema(attrs),
    minItems: Math.max(1, attrs.min_choices ?? 1),
    maxItems: attrs.max_choices ?? attrs.options.length + (allowsOtherChoice(attrs) ? 1 : 0),
    uniqueItems: true,
  }),
  samples: ({ options, min_choices: least = 1, max_choices: most = 2 }) => [
    options.slice(0, Math.max(least, Math.min(most, 2))).map(optionIdOf),
  ],
});
