import { defaults } from '../../basics/defaults.ts';
import { limits } from '../../basics/limits.ts';
import { inputType } from '../definition.ts';
import { id, label, logic } from '../shared-attributes.ts';
import { textSchema } from '../text-type.ts';

export const hidden = inputType({
  title: 'Hidden value',
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
      max: limits.hiddenCharacters,
      default: defaults.hidden_length,
    },
    ...logic,
  },
  summary: 'options',
  identifies: true,
  schema: (attrs) => textSchema({ max_length: attrs.max_length ?? defaults.hidden_length }),
  samples: () => ['newsletter'],
});
