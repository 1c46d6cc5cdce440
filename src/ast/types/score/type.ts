import { attributeDefaults } from '../../basics/defaults.ts';
import { formLimits } from '../../basics/limits.ts';
import { defineInputType } from '../definition.ts';
import { countAttribute, id, label, translations, visibilityAttributes } from '../shared-attributes.ts';

export const score = defineInputType({
  title: 'Quiz score',
  icon: 'M10 2.5a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15M6.5 10l2.5 2.5 4.5-5',
  words: 'points result test exam pass mark grade',
  palette: 'content',
  firstLabel: 'Score',
  attrs: {
    id,
    label,
    counts: {
      kind: 'one-of',
      title: 'Questions',
      values: ['form', 'section'],
      default: attributeDefaults.counts,
    },
    pass_mark: countAttribute('Pass mark', 1, formLimits.points),
    ...visibilityAttributes,
    translations,
  },
  summary: 'numbers',
  columnWidth: 160,
  schema: () => ({ type: 'number' }),
  samples: () => [8],
});
