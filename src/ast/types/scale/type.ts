import { attributeDefaults } from '../../basics/defaults.ts';
import { defineInputType } from '../definition.ts';
import { levelAttributes, levelSchema } from '../level-type.ts';
import { rules } from './rules.ts';

export const scale = defineInputType({
  title: 'Scale',
  icon: 'M3 7h14v6H3zM6.5 7v6M10 7v6M13.5 7v6',
  words: 'nps net promoter recommend likely likert opinion score numbers slider range',
  palette: 'choice',
  firstLabel: 'How likely are you to recommend us?',
  attrs: {
    ...levelAttributes,
    from: { kind: 'integer', title: 'From', min: 0, max: 1, default: attributeDefaults.from },
    to: { kind: 'integer', title: 'To', min: 2, max: 10, default: attributeDefaults.to },
    display: {
      kind: 'one-of',
      title: 'Display',
      values: ['numbers', 'slider'],
      default: attributeDefaults.display,
    },
  },
  summary: 'recommendation',
  columnWidth: 120,
  schema: (attrs) => levelSchema(rules.levels(attrs)),
  samples: (attrs) => [rules.levels(attrs).to],
});
