import { type Static, Type } from 'typebox';
import { named } from '#kit/pagination.ts';
import { dayRange } from '#kit/time-range.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });
const share = (description: string) =>
  Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()], { description });

/** Which days of the form's time zone count; all days if none is named. */
export const AnalyticsQuery = Type.Object(dayRange, { additionalProperties: false });

const Step = Type.Object({
  number: Type.Integer({ minimum: 1 }),
  title: Type.Union([Type.String(), Type.Null()], {
    description: 'As the author wrote it; null without one.',
  }),
  is_review: Type.Boolean({ description: 'It lists the answers before they are sent.' }),
  reached: count('Visits that came to it.'),
  left: count('Visits that went no further and sent nothing.'),
  drop_off: share('The share of those who came that left; null when nobody came.'),
});
const Question = Type.Object({
  id: Type.String(),
  label: Type.String(),
  type: Type.String(),
  step: Type.Integer({ minimum: 1, description: 'The number of its step.' }),
  left: count('Visits that sent nothing, and touched this question last.'),
});

/** How the visits of a form went. */
export const Analytics = named(
  'Analytics',
  Type.Object({
    is_counting: Type.Boolean({ description: 'Whether visits are counted now: the setting `analytics`.' }),
    time_zone: Type.String({ description: 'Whose days are meant: that of the form.' }),
    views: count('How often the page was shown to somebody.'),
    starts: count('Visits in which an answer was begun, as far as that is known.'),
    completions: count('Visits that ended with a submission.'),
    start_rate: share('Of the views; null without one.'),
    completion_rate: share('Of the starts; null without one.'),
    median_seconds: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
      description:
        'From when the page was opened until it was sent, with every pause: half of the completions took less. Within 5 %.',
    }),
    script_share: share(
      'The share of the starts that the script of the page told of. Without it a visit begins with its first post, and nobody knows what was touched within a step.',
    ),
    days: Type.Array(
      Type.Object({
        day: Type.String({ format: 'date' }),
        views: count('Of this day.'),
        starts: count('Of this day.'),
        completions: count('Of this day.'),
      }),
      { description: 'Days on which nothing happened are left out.' },
    ),
    steps: Type.Array(Step, { description: 'Of the live version, all of them, in its order.' }),
    questions: Type.Array(Question, { description: 'Of the live version, all of them, in its order.' }),
  }),
);
export type Analytics = Static<typeof Analytics>;
