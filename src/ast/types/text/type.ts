import { defineInputType } from '../definition.ts';
import { quizAttributes, unique } from '../shared-attributes.ts';
import { createTextSamples, proseAttributes, proseSchema } from '../text-type.ts';
import { sampleText } from './sample-text.ts';

export const text = defineInputType({
  title: 'Short text',
  icon: 'M3 6.5h14v7H3zM6 9v2',
  words: 'input string name line',
  attrs: { ...proseAttributes, unique, ...quizAttributes('string') },
  summary: 'texts',
  control: 'text',
  schema: proseSchema,
  samples: (attrs) => createTextSamples(sampleText(`${attrs.id} ${attrs.label}`), attrs),
});
