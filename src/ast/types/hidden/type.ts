import { attributeDefaults } from '../../basics/defaults.ts';
import { formLimits } from '../../basics/limits.ts';
import { defineInputType } from '../definition.ts';
import { id, label, visibilityAttributes } from '../shared-attributes.ts';
import { textSchema } from '../text-type.ts';

export const hidden = defineInputType({
  title: 'Hidden field',
  icon: 'M3 3l14 14M8 8.2a2.5 2.5 0 0 0 3.6 3.5M5.6 5.9A12 12 0 0 0 2.5 10c1.8 3.2 4.4 5 7.5 5 1.3 0 2.5-.3 3.6-.9M8.6 5.1C9 5 9.5 5 10 5c3.1 0 5.7 1.8 7.5 5-.5.9-1.1 1.7-1.8 2.4',
  words: 'utm source campaign parameter address tracking invisible',
  firstLabel: 'Source',
  attrs: {
    id,
    label,
    max_length: {
      kind: 'integer',
      title: 'Maximum length',
      min: 1,
      max: formLimits.hiddenCharacters,
      default: attributeDefaults.hidden_length,
    },
    ...visibilityAttributes,
  },
  summary: 'options',
  identifies: true,
  schema: (attrs) => textSchema({ max_length: attrs.max_length ?? attributeDefaults.hidden_length }),
  samples: () => ['newsletter'],
});
