import { attributeDefaults } from '../../basics/defaults.ts';
import { formLimits } from '../../basics/limits.ts';
import { defineInputType } from '../definition.ts';
import { countAttribute, questionAttributes } from '../shared-attributes.ts';

/** Visitors do not answer it, so it cannot be required. */
const {
  error_message: _error,
  required: _required,
  require_when: _when,
  valid_when: _rule,
  ...attributes
} = questionAttributes;

/** The text before or after a number, such as a currency or a unit. */
const affix = <Title extends string>(title: Title) =>
  ({ kind: 'string', title, maxBytes: formLimits.affixBytes }) as const;

export const calculation = defineInputType({
  title: 'Calculation',
  icon: 'M4.5 2.5h11v15h-11zM7 5.5h6M7 10h1M12 10h1M7 14h1M12 14h1',
  words: 'formula total sum score price points result computed',
  palette: 'content',
  firstLabel: 'Total',
  attrs: {
    ...attributes,
    formula: { kind: 'formula', title: 'Formula', required: true },
    decimals: countAttribute('Decimals', 0, 10),
    prefix: affix('Prefix'),
    suffix: affix('Suffix'),
    hidden: { kind: 'boolean', title: 'Hidden from visitors', default: attributeDefaults.hidden },
  },
  summary: 'numbers',
  columnWidth: 120,
  schema: () => ({ type: 'number' }),
  samples: () => [42],
});
