import { defineInputType } from '../definition.ts';
import { momentAttributes, momentSamples, momentSchema } from '../text-type.ts';

export const time = defineInputType({
  title: 'Time',
  icon: 'M10 3a7 7 0 1 1 0 14 7 7 0 0 1 0-14M10 6.5V10l2.5 1.5',
  words: 'clock hour minutes',
  attrs: momentAttributes('time'),
  summary: 'hours',
  columnWidth: 104,
  control: 'time',
  // The value has no seconds and no zone, so it does not have the format `time` of JSON Schema.
  schema: (attrs) => momentSchema(attrs, { pattern: '^\\d{2}:\\d{2}$' }),
  samples: (attrs, today) => momentSamples('time', '14:30', attrs, today),
});
