import { Type } from 'typebox';

/** A moment, or a day for its beginning in UTC; validation.ts makes moments of both. */
const moment = (description: string) =>
  Type.Optional(Type.String({ format: 'date-time', description: `${description} A day, or a moment.` }));
const former = (name: string) =>
  Type.Optional(
    Type.String({ format: 'date-time', deprecated: true, description: `The former name of \`${name}\`.` }),
  );

/** A range of days or moments, under the names that every range has. */
const range = {
  created_from: moment('From this time on.'),
  created_to: moment('Before this time.'),
};

/** The range of a list, under the names that every list has and under those that this one had before. */
export const rangeParameters = {
  ...range,
  from: former('created_from'),
  to: former('created_to'),
} as const;

/** A range of days, both of which count under the former names. */
export const dayRange = {
  ...range,
  from: Type.Optional(
    Type.String({ format: 'date', deprecated: true, description: 'The former name of `created_from`.' }),
  ),
  to: Type.Optional(
    Type.String({
      format: 'date',
      deprecated: true,
      description: 'The last day, which counts. Use `created_to`.',
    }),
  ),
} as const;

/** The first and the last day that were asked for, in UTC: a moment stands for its day. */
export const readDays = (sent: Range): { from: string | null; to: string | null } => ({
  from: sent.created_from === undefined ? (sent.from ?? null) : dayOf(Date.parse(sent.created_from)),
  to: sent.created_to === undefined ? (sent.to ?? null) : dayOf(Date.parse(sent.created_to) - 1),
});

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export const replayRange = {
  ...range,
  since: former('created_from'),
  until: former('created_to'),
} as const;

type Range = {
  readonly created_from?: string;
  readonly created_to?: string;
  readonly from?: string;
  readonly to?: string;
  readonly since?: string;
  readonly until?: string;
};

/** The range that was asked for, under either name. */
export const readRange = (sent: Range): { from: string | undefined; to: string | undefined } => ({
  from: sent.created_from ?? sent.from ?? sent.since,
  to: sent.created_to ?? sent.to ?? sent.until,
});
