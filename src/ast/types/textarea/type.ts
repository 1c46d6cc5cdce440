import { defineInputType } from '../definition.ts';
import { createTextSamples, proseAttributes, proseSchema } from '../text-type.ts';

export const textarea = defineInputType({
  title: 'Long text',
  icon: 'M3 4h14v12H3zM6 7.5h8M6 10h8M6 12.5h5',
  words: 'message comment multi-line',
  attrs: proseAttributes,
  summary: 'texts',
  columnWidth: 320,
  control: 'textarea',
  schema: proseSchema,
  samples: (attrs) =>
    createTextSamples(`This is a sample answer to “${attrs.label.slice(0, 200)}”.\nIt has two lines.`, attrs),
});
