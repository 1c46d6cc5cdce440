import { choiceSchema, firstOption, selectionAttributes } from '../choice-type.ts';
import { inputType } from '../definition.ts';

export const dropdown = inputType({
  title: 'Dropdown',
  icon: 'M3 6h14v8H3zM11.5 9l1.5 2 1.5-2',
  words: 'select list',
  attrs: selectionAttributes,
  summary: 'options',
  control: 'select',
  schema: choiceSchema,
  samples: firstOption,
});
