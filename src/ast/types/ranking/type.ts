import { formLimits } from '../../basics/limits.ts';
import { optionIdOf } from '../../basics/options.ts';
import { optionSchema } from '../choice-type.ts';
import { defineInputType } from '../definition.ts';
import { questionAttributes, shuffle } from '../shared-attributes.ts';

export const ranking = defineInputType({
  title: 'Ranking',
  icon: 'M3 4.5h2v4M3 12h2.5v2H3v2.5h2.5M9 6h8M9 14h8',
  words: 'order priority sort preference',
  palette: 'choice',
  firstLabel: 'Rank these options',
  attrs: {
    ...questionAttributes,
    options: {
      kind: 'options',
      title: 'Options',
      required: true,
      maxItems: formLimits.rankedOptions,
      maxBytes: formLimits.labelBytes,
      areChosen: false,
    },
    shuffle: shuffle('Shuffle options'),
  },
  summary: 'ranking',
  columnWidth: 280,
  schema: ({ options }) => ({
    type: 'array',
    items: optionSchema({ options }),
    minItems: options.length,
    maxItems: options.length,
    uniqueItems: true,
  }),
  samples: ({ options }) => [options.map(optionIdOf)],
});
