import type { JsonSchema } from '../basics/json-schema.ts';
import type { MomentRules } from '../rules/check-rules.ts';
import { addDays, type MomentFormat, toComparableMoments } from '../rules/moments.ts';
import { defineInputType } from './definition.ts';
import { autocomplete, inputAttributes, quizAttributes, unique } from './shared-attributes.ts';

const momentAttributes = <Format extends MomentFormat>(format: Format) =>
  ({
    ...inputAttributes,
    unique,
    min: { kind: 'moment', title: 'Earliest', format },
    max: { kind: 'moment', title: 'Latest', format },
    ...quizAttributes('string', format),
  }) as const;

/** JSON Schema has no minimum and maximum for dates and times, so the description states them. */
function momentSchema({ min, max }: MomentRules, more: JsonSchema): JsonSchema {
  const words = [min && `Not before ${min}.`, max && `Not after ${max}.`].filter(Boolean);
  return { type: 'string', ...more, ...(words.length > 0 && { description: words.join(' ') }) };
}

/** Returns a typical date or time, and the limits themselves. */
function momentSamples(
  format: MomentFormat,
  usual: string,
  { min, max }: MomentRules,
  today: string,
): string[] {
  const edges = [min, max]
    .filter((edge) => edge !== undefined)
    .map((edge) => toComparableMoments('', edge, today)[1]);
  const complete = (edge: string): string => (format === 'datetime' ? `${edge}T14:30`.slice(0, 16) : edge);
  return [usual, ...edges.map(complete), ...(format === 'time' ? [] : [complete(addDays(today, 1))])];
}

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
