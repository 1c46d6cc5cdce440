import { defineInputType } from '../definition.ts';
import { momentAttributes, momentSamples, momentSchema } from '../text-type.ts';

export const datetime = defineInputType({
  title: 'Date and time',
  icon: 'M9 16.5H3.5v-12h13V9M3.5 8.5h13M7 2.5v3M13 2.5v3M14 11a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7M14 13v1.5l1 .8',
  words: 'moment appointment timestamp calendar',
  attrs: momentAttributes('datetime'),
  summary: 'months',
  control: 'datetime-local',
  schema: (attrs) => momentSchema(attrs, { pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}$' }),
  samples: (attrs, today) => momentSamples('datetime', '2026-01-31T14:30', attrs, today),
});
