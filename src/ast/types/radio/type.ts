import { choiceSchema, firstOption, radioAttributes } from '../choice-type.ts';
import { defineInputType } from '../definition.ts';

export const radio = defineInputType({
  title: 'Single choice',
  icon: 'M5.5 4a2 2 0 1 1 0 4 2 2 0 0 1 0-4M5.5 12a2 2 0 1 1 0 4 2 2 0 0 1 0-4M10.5 6H17M10.5 14H17',
  words: 'option buttons',
  attrs: radioAttributes,
  summary: 'options',
  schema: choiceSchema,
  samples: firstOption,
});
