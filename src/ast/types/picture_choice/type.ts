import { attributeDefaults } from '../../basics/defaults.ts';
import { formLimits } from '../../basics/limits.ts';
import { optionIdOf } from '../../basics/options.ts';
import { optionSchema } from '../choice-type.ts';
import { defineInputType } from '../definition.ts';
import {
  countAttribute,
  optionsLayout,
  questionAttributes,
  quizAttributes,
  shuffle,
} from '../shared-attributes.ts';

export const pictureChoice = defineInputType({
  title: 'Picture choice',
  icon: 'M3 3.5h6v6H3zM11 3.5h6v6h-6zM3 8l2-2 2 2.5M11 8l2-2 2 2.5M3.5 13.5h5M11.5 13.5h5',
  words: 'image photo option cards gallery',
  palette: 'choice',
  firstLabel: 'Which one do you like?',
  attrs: {
    ...questionAttributes,
    options: {
      kind: 'options',
      title: 'Options',
      required: true,
      maxItems: formLimits.pictureOptions,
      maxBytes: formLimits.labelBytes,
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
  schema: ({ options, multiple, min_choices: least = 1, max_choices: most = options.length }) => ({
    type: 'array',
    items: optionSchema({ options }),
    minItems: multiple ? Math.max(1, least) : 1,
    maxItems: multiple ? most : 1,
    uniqueItems: true,
  }),
  samples: ({ options, multiple, min_choices: least = 1 }) => [
    options.slice(0, multiple ? Math.max(1, least) : 1).map(optionIdOf),
  ],
});
