import { choiceAttributes, choiceSchema, firstOption } from '../choice-type.ts';
import { defineInputType } from '../definition.ts';

export const dropdown = defineInputType({
  title: 'Dropdown',
  icon: 'M3 6h14v8H3zM11.5 9l1.5 2 1.5-2',
  words: 'select list',
  attrs: choiceAttributes,
  summary: 'options',
  control: 'select',
  schema: choiceSchema,
  samples: firstOption,
});
