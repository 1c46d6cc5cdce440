import { inputType } from '../definition.ts';
import { fitText, proseAttributes, proseSchema } from '../text-type.ts';

export const textarea = inputType({
  title: 'Long text',
  icon: 'M3 4h14v12H3zM6 7.5h8M6 10h8M6 12.5h5',
  words: 'message comment multi-line',
  attrs: proseAttributes,
  summary: 'texts',
  columnWidth: 320,
  control: 'textarea',
  schema: proseSchema,
  samples: (attrs) =>
    fitText(`This is a sample answer to “${attrs.label.slice(0, 200)}”.\nIt has two lines.`, attrs),
});
