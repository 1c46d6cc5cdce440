import { defineInputType } from '../definition.ts';
import { inputAttributes, optionsLayout, quizAttributes } from '../shared-attributes.ts';

export const yesNo = defineInputType({
  title: 'Yes or no',
  icon: 'M2.5 10.5l2.5 2.5 4-5M12 7.5l5 5M17 7.5l-5 5',
  words: 'boolean true false switch toggle',
  firstLabel: 'Do you agree?',
  attrs: { ...inputAttributes, options_layout: optionsLayout('grid_2'), ...quizAttributes('boolean') },
  summary: 'yes_no',
  columnWidth: 112,
  schema: () => ({ type: 'boolean' }),
  samples: () => [true],
});
