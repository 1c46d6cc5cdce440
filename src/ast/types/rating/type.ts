import { attributeDefaults } from '../../basics/defaults.ts';
import { defineInputType } from '../definition.ts';
import { levelAttributes, levelSchema } from '../level-type.ts';
import { rules } from './rules.ts';

export const rating = defineInputType({
  title: 'Rating',
  icon: 'M10 3l2.1 4.5 4.9.6-3.6 3.4.9 4.9L10 14l-4.3 2.4.9-4.9L3 8.1l4.9-.6z',
  words: 'stars hearts smileys faces score satisfaction csat review',
  palette: 'choice',
  firstLabel: 'How did you like it?',
  attrs: {
    ...levelAttributes,
    levels: { kind: 'integer', title: 'Levels', min: 2, max: 10, default: attributeDefaults.levels },
    symbol: {
      kind: 'one-of',
      title: 'Symbol',
      values: ['stars', 'hearts', 'smileys', 'numbers'],
      default: attributeDefaults.symbol,
      // An enum named like a TypeScript type does not compile.
      component: 'RatingSymbol',
    },
  },
  summary: 'levels',
  columnWidth: 120,
  schema: (attrs) => levelSchema(rules.levels(attrs)),
  samples: (attrs) => [rules.levels(attrs).to],
});
