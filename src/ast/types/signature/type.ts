import { schemaReference } from '../../basics/json-schema.ts';
import { defineInputType } from '../definition.ts';
import { questionAttributes } from '../shared-attributes.ts';

export const signature = defineInputType({
  title: 'Signature',
  icon: 'M3 16.5h14M4 12.5c3-7 5-9 6-8s-3 6-3 8 3-2 4-3 0 3 1 3 2-1 4-2',
  words: 'sign draw autograph name agree',
  attrs: questionAttributes,
  summary: 'given',
  identifies: true,
  schema: () => ({ type: 'array', items: schemaReference('File'), minItems: 1, maxItems: 1 }),
  samples: () => [
    [
      {
        id: '00000000-0000-7000-8000-000000000000',
        filename: 'signature.png',
        size: 8_213,
        content_type: 'image/png',
      },
    ],
  ],
});
