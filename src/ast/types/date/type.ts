import { defineInputType } from '../definition.ts';
import { autocomplete } from '../shared-attributes.ts';
import { momentAttributes, momentSamples, momentSchema } from '../text-type.ts';

export const date = defineInputType({
  title: 'Date',
  icon: 'M3.5 4.5h13v12h-13zM3.5 8.5h13M7 2.5v3M13 2.5v3',
  words: 'day birthday calendar deadline',
  attrs: { ...momentAttributes('date'), autocomplete },
  summary: 'months',
  columnWidth: 136,
  control: 'date',
  schema: (attrs) => momentSchema(attrs, { format: 'date' }),
  samples: (attrs, today) => momentSamples('date', '2026-01-31', attrs, today),
});
