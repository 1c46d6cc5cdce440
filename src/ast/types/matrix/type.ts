import { attributeDefaults } from '../../basics/defaults.ts';
import type { JsonSchema } from '../../basics/json-schema.ts';
import { formLimits } from '../../basics/limits.ts';
import { optionIdOf, optionLabelOf } from '../../basics/options.ts';
import { optionSchema } from '../choice-type.ts';
import { defineInputType } from '../definition.ts';
import { questionAttributes } from '../shared-attributes.ts';

const list = { kind: 'options', required: true, maxBytes: formLimits.labelBytes, areChosen: false } as const;

export const matrix = defineInputType({
  title: 'Matrix',
  icon: 'M3 4h14v12H3zM3 8h14M3 12h14M8 4v12M12.5 4v12',
  words: 'grid table rows likert agree several',
  palette: 'choice',
  firstLabel: 'How would you rate these?',
  attrs: {
    ...questionAttributes,
    rows: { ...list, title: 'Rows', maxItems: formLimits.matrixRows },
    options: { ...list, title: 'Options', maxItems: formLimits.matrixOptions },
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
